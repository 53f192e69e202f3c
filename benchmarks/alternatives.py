"""What a user would write without phasic: JAX and SciPy."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jax.scipy.special
import numpy as onp
import scipy.linalg

from benchmarks import models


def _linear(model: models.Model):
  rates, exits = jnp.asarray(model.rates), jnp.asarray(model.exits)

  def at(theta):
    off, leave = rates @ theta, exits @ theta
    return off - jnp.diag(jnp.sum(off, axis=1) + leave), leave

  return at


class JaxMethod:
  """A function theta -> log f at all times, jitted, with its gradient."""

  def __init__(self, model: models.Model, log_prob):
    self._theta = jnp.asarray(model.theta)
    self._log_prob = jax.jit(log_prob)
    self._both = jax.jit(jax.value_and_grad(lambda x: jnp.sum(log_prob(x))))

  def log_prob(self):
    """log f at all times."""
    return self._log_prob(self._theta).block_until_ready()

  def value_and_gradient(self):
    """sum log f and its derivatives in theta."""
    return jax.block_until_ready(self._both(self._theta))


def jax_expm(model: models.Model, times: onp.ndarray) -> JaxMethod:
  """vmapped jax.scipy.linalg.expm."""
  at, alpha = _linear(model), jnp.asarray(model.initial_probs)

  def log_prob(theta):
    subgenerator, exits = at(theta)

    def density(t):
      return alpha @ jax.scipy.linalg.expm(subgenerator * t) @ exits

    return jnp.log(jax.vmap(density)(jnp.asarray(times)))

  return JaxMethod(model, log_prob)


def jax_scan(model: models.Model, times: onp.ndarray) -> JaxMethod:
  """Uniformization: one scan over the power sequence serves all times."""
  at, alpha = _linear(model), jnp.asarray(model.initial_probs)
  subgenerator, _ = model.at(model.theta)
  # The value does not depend on the rate: a constant a little above what is
  # needed, and as many steps as its largest mean needs.
  rate = 1.05 * float(onp.max(-onp.diag(subgenerator)))
  mean = rate * float(onp.max(times))
  steps = int(mean + 9.0 * onp.sqrt(mean) + 30.0)
  counts = jnp.arange(steps, dtype=jnp.float64)
  means = rate * jnp.asarray(times)[:, None]
  log_weights = (
    counts * jnp.log(means) - means - jax.scipy.special.gammaln(counts + 1.0)
  )
  weights = jnp.exp(log_weights)

  def log_prob(theta):
    subgenerator, exits = at(theta)
    step = jnp.eye(len(alpha)) + subgenerator / rate

    def body(v, _):
      return v @ step, v @ exits

    _, sequence = jax.lax.scan(body, alpha, None, length=steps)
    return jnp.log(weights @ sequence)

  return JaxMethod(model, log_prob)


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
