"""phasic's own ways to log f and its gradient: JAX and NumPy."""

import jax.numpy as jnp
import numpy as onp

from benchmarks import alternatives
from benchmarks import models
from phasic.substrates.jax.distributions import PhaseType
from phasic.substrates.numpy import math as numpy_math
from phasic.substrates.numpy.distributions import PhaseType as NumpyPhaseType


def phasic_jax(
  model: models.Model, times: onp.ndarray
) -> alternatives.JaxMethod:
  """PhaseType.log_prob under jit, with jax.value_and_grad."""
  rates, exits = jnp.asarray(model.rates), jnp.asarray(model.exits)
  alpha, times = jnp.asarray(model.initial_probs), jnp.asarray(times)

  def log_prob(theta):
    # With exits given, the diagonal is not read.
    dist = PhaseType(alpha, rates @ theta, exits @ theta)
    return dist.log_prob(times)

  return alternatives.JaxMethod(model, log_prob)


class PhasicNumpy:
  """PhaseType.log_prob in NumPy, with the vjp companion."""

  def __init__(self, model: models.Model, times: onp.ndarray):
    self._model, self._times = model, times
    p, d = model.exits.shape
    self._rates = model.rates.reshape(p * p, d)
    self._cotangent = onp.ones(len(times))

  def _operands(self):
    model = self._model
    p = len(model.initial_probs)
    off = (self._rates @ model.theta).reshape(p, p)
    return model.initial_probs, off, model.exits @ model.theta

  def log_prob(self) -> onp.ndarray:
    """log f at all times."""
    return NumpyPhaseType(*self._operands()).log_prob(self._times)

  def value_and_gradient(self) -> tuple[float, onp.ndarray]:
    """sum log f and its derivatives in theta."""
    alpha, off, leave = self._operands()
    value, bars = numpy_math.log_density_vjp(
      alpha, off, self._times, leave, cotangent=self._cotangent
    )
    off_bar, exits_bar = bars[1], bars[3]
    gradient = onp.ravel(off_bar) @ self._rates + exits_bar @ self._model.exits
    return onp.sum(value), gradient
