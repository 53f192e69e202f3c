"""What a user would write without phasic: JAX and SciPy."""

import itertools

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as onp
import scipy.linalg

from benchmarks import jax_scan
from benchmarks import models


class JaxMethod:
  """A function of parameters with its gradient, jitted.

  Calls take turns with parameters that differ by some 1e-15, as phasic goes on
  from what it has kept of a large model.

  Args:
    theta: the parameters.
    log_prob: parameters to log f, of any shape.
    data: further arguments of `log_prob`; constants would be folded.
  """

  def __init__(self, theta, log_prob, *data):
    self._thetas = itertools.cycle(map(jnp.asarray, models.nearby(theta)))
    self._data = data
    self._log_prob = jax.jit(log_prob)
    self._both = jax.jit(
      jax.value_and_grad(lambda *arguments: jnp.sum(log_prob(*arguments)))
    )

  def log_prob(self):
    """All log f."""
    return self._log_prob(next(self._thetas), *self._data).block_until_ready()

  def value_and_gradient(self):
    """sum log f and its derivatives in theta."""
    return jax.block_until_ready(self._both(next(self._thetas), *self._data))


def jax_expm(model: models.Model, times: onp.ndarray) -> JaxMethod:
  """vmapped jax.scipy.linalg.expm."""
  rates, exits = jnp.asarray(model.rates), jnp.asarray(model.exits)
  alpha = jnp.asarray(model.initial_probs)

  def log_prob(theta):
    off, leave = rates @ theta, exits @ theta
    subgenerator = off - jnp.diag(jnp.sum(off, axis=1) + leave)

    def density(t):
      return alpha @ jax.scipy.linalg.expm(subgenerator * t) @ leave

    return jnp.log(jax.vmap(density)(jnp.asarray(times)))

  return JaxMethod(model.theta, log_prob)


def scan(
  form,
  model: models.Model,
  times: onp.ndarray,
  thetas: onp.ndarray,
  at=jax_scan.at_times,
) -> JaxMethod:
  """One form of the scan at a batch of parameters [B, d]: log f [B, n]."""
  return JaxMethod(thetas, at(form, model, times))


def jax_scan_dense(model: models.Model, times: onp.ndarray) -> JaxMethod:
  """The dense scan at the model's own parameters."""
  log_prob = jax_scan.at_times(jax_scan.dense, model, times)
  return JaxMethod(model.theta, lambda theta: log_prob(theta[None])[0])


class ScipyMethod:
  """scipy.linalg.expm at each time; derivatives by expm_frechet."""

  def __init__(self, model: models.Model, times: onp.ndarray):
    self._times = times
    self._alpha = model.initial_probs
    self._subgenerator, self._exits = model.at(model.theta)
    units = onp.eye(len(model.theta))
    self._moves = [model.at(unit) for unit in units]

  def log_prob(self) -> onp.ndarray:
    """log f at all times."""
    return onp.log(
      [
        self._alpha @ scipy.linalg.expm(self._subgenerator * t) @ self._exits
        for t in self._times
      ]
    )

  def value_and_gradient(self) -> tuple[float, onp.ndarray]:
    """sum log f and its derivatives in theta."""
    value, gradient = 0.0, onp.zeros(len(self._moves))
    for t in self._times:
      terms = []
      for matrix, exits in self._moves:
        power, moved = scipy.linalg.expm_frechet(
          self._subgenerator * t, matrix * t, check_finite=False
        )
        left = self._alpha @ power
        terms.append(self._alpha @ moved @ self._exits + left @ exits)
      density = left @ self._exits
      value += onp.log(density)
      gradient += onp.array(terms) / density
    return value, gradient
