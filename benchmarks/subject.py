"""phasic's own ways to log f and its gradient: JAX and NumPy.

All that the benchmark asks of phasic is here.
"""

import jax
import jax.numpy as jnp
import numpy as onp

from benchmarks import alternatives
from benchmarks import coxian
from benchmarks import models
from phasic.substrates.jax.distributions import PhaseType
from phasic.substrates.numpy import math as numpy_math
from phasic.substrates.numpy.distributions import PhaseType as NumpyPhaseType


def uniformization_rate(model: models.Model) -> float:
  """phasic's q: a power of two (docs/decisions/0003)."""
  subgenerator, _ = model.at(model.theta)
  return float(2.0 ** onp.ceil(onp.log2(onp.max(-onp.diag(subgenerator)))))


def log_prob(model: models.Model):
  """Parameters [d] and times [n] to log f [n], by PhaseType.log_prob."""
  rates, exits = jnp.asarray(model.rates), jnp.asarray(model.exits)
  alpha = jnp.asarray(model.initial_probs)

  def at(theta, times):
    # With exits given, the diagonal is not read.
    return PhaseType(alpha, rates @ theta, exits @ theta).log_prob(times)

  return at


def phasic_jax(
  model: models.Model, times: onp.ndarray
) -> alternatives.JaxMethod:
  """PhaseType.log_prob under jit, with jax.value_and_grad."""
  return alternatives.JaxMethod(
    model.theta, log_prob(model), jnp.asarray(times)
  )


def phasic_batch(
  model: models.Model, times: onp.ndarray, thetas: onp.ndarray
) -> alternatives.JaxMethod:
  """The same at a batch of parameters [B, d]: log f [B, n]."""
  batched = jax.vmap(log_prob(model), in_axes=(0, None))
  return alternatives.JaxMethod(thetas, batched, jnp.asarray(times))


def phasic_coxian(data: coxian.Regression) -> alternatives.JaxMethod:
  """log f [B] of Coxian models, one time each."""
  alpha, upper = jnp.eye(coxian.PHASES)[0], jnp.arange(coxian.PHASES - 1)

  def at(rates, times):
    moves, exits = rates[:, :3], rates[:, 3:]
    shape = (len(rates), coxian.PHASES, coxian.PHASES)
    off = jnp.zeros(shape).at[:, upper, upper + 1].set(moves)
    return PhaseType(alpha, off, exits).log_prob(times)

  return alternatives.JaxMethod(data.rates, at, jnp.asarray(data.times))


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
