"""phasic's own ways to log f and its gradient: JAX and NumPy.

All that the benchmark asks of phasic is here.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as onp

from benchmarks import alternatives
from benchmarks import coxian
from benchmarks import models
from phasic.substrates.jax import graphs
from phasic.substrates.jax import inference
from phasic.substrates.jax import math as jax_math
from phasic.substrates.jax.distributions import PhaseType
from phasic.substrates.jax.math.likelihood import observations
from phasic.substrates.numpy import math as numpy_math


def uniformization_rate(model: models.Model) -> float:
  """phasic's q: a power of two (docs/decisions/0003)."""
  subgenerator, _ = model.at(model.theta)
  return float(2.0 ** onp.ceil(onp.log2(onp.max(-onp.diag(subgenerator)))))


def is_sparse(model: models.Model) -> bool:
  """Whether fewer than a quarter of all rates are there."""
  p = len(model.states)
  return 4 * int(onp.sum(onp.any(model.rates != 0.0, axis=2))) < p * p


def edges(model: models.Model, kind, theta):
  """The model's rates as edges, for the module `math` of a substrate."""
  p = len(model.states)
  sources, targets = onp.nonzero(onp.any(model.rates != 0.0, axis=2))
  (exiting,) = onp.nonzero(onp.any(model.exits != 0.0, axis=1))
  return kind.EdgeRates(
    sources=onp.concatenate([sources, exiting]),
    targets=onp.concatenate([targets, onp.full(len(exiting), p)]),
    parameters=theta,
    coefficients=onp.concatenate(
      [model.rates[sources, targets], model.exits[exiting]]
    ),
  )


def log_prob(model: models.Model):
  """Parameters [d] and times [n] to log f [n].

  By edges where the model is sparse, else by PhaseType.log_prob.
  """
  if is_sparse(model):
    alpha = jnp.asarray(model.initial_probs)
    return lambda theta, times: jax_math.phase_type.log_prob(
      times, alpha, edges(model, jax_math, theta)
    )
  rates, exits = jnp.asarray(model.rates), jnp.asarray(model.exits)
  alpha = jnp.asarray(model.initial_probs)

  def at(theta, times):
    # With exits given, the diagonal is not read.
    return PhaseType(alpha, rates @ theta, exits @ theta).log_prob(times)

  return at


def mean_and_variance(model: models.Model):
  """Parameters [d] to the mean and the variance."""
  alpha = jnp.asarray(model.initial_probs)

  def at(theta):
    rates = edges(model, jax_math, theta)
    return jax_math.phase_type.mean(alpha, rates), jax_math.phase_type.variance(
      alpha, rates
    )

  return at


class PhasicMoments:
  """Mean plus variance of a tandem queue, at other parameters in every call."""

  def __init__(self, capacity: int):
    graph = graphs.models.tandem_queue(capacity)

    def total(theta):
      dist = PhaseType.from_graph(graph, params=theta)
      return dist.mean() + dist.variance()

    thetas = [
      jnp.asarray([0.8, 1.0, 1.1]) * (1.0 - k / 64.0) for k in range(16)
    ]
    self._after = itertools.cycle(thetas)
    self._both = jax.jit(jax.value_and_grad(total))

  def value_and_gradient(self):
    return jax.block_until_ready(self._both(next(self._after)))


def edges_log_prob(model: models.EdgeModel):
  """Parameters [d] and times [n] to log f [n], from the first phase."""
  alpha = jnp.zeros(model.phases).at[0].set(1.0)

  def at(theta, times):
    rates = jax_math.EdgeRates(
      sources=model.sources,
      targets=model.targets,
      parameters=theta,
      coefficients=model.coefficients,
    )
    return jax_math.phase_type.log_prob(times, alpha, rates)

  return at


def phasic_observations(
  model: models.Model, lower: onp.ndarray, upper: onp.ndarray
) -> alternatives.JaxMethod:
  """Log likelihoods of observations, exact where lower == upper."""
  alpha = jnp.asarray(model.initial_probs)
  return alternatives.JaxMethod(
    model.theta,
    lambda theta, lower, upper: observations.log_likelihood_terms(
      alpha, edges(model, jax_math, theta), lower, upper
    ),
    jnp.asarray(lower),
    jnp.asarray(upper),
  )


def log_likelihood(model: models.Model, times: onp.ndarray):
  """Parameters [d] to the log likelihood of exact observations."""
  found = edges(model, jax_math, jnp.asarray(model.theta))
  names = (*model.states, graphs.ABSORBED)
  triples = [
    (names[source], names[target], tuple(coefficients))
    for source, target, coefficients in zip(
      found.sources, found.targets, found.coefficients
    )
  ]
  (first,) = onp.nonzero(model.initial_probs)[0]
  graph = graphs.Graph.from_edges(
    triples, model.states[first], params=len(model.theta)
  )
  data = inference.Observations(times)
  return lambda theta: data.log_likelihood(
    PhaseType.from_graph(graph, params=theta)
  )


def phasic_data(
  model: models.Model, times: onp.ndarray
) -> alternatives.JaxMethod:
  """The log likelihood of a graph's distribution, and its gradient."""
  return alternatives.JaxMethod(model.theta, log_likelihood(model, times))


def phasic_jax(
  model: models.Model, times: onp.ndarray
) -> alternatives.JaxMethod:
  """log f under jit, with jax.value_and_grad."""
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
  """The same in NumPy, with the vjp companion."""

  def __init__(self, model: models.Model, times: onp.ndarray):
    self._model, self._times = model, times
    self._thetas = itertools.cycle(models.nearby(model.theta))
    p, d = model.exits.shape
    self._rates = model.rates.reshape(p * p, d)

  def _arguments(self):
    model, theta = self._model, next(self._thetas)
    alpha = model.initial_probs
    if is_sparse(model):
      return self._times, alpha, edges(model, numpy_math, theta)
    off = (self._rates @ theta).reshape(len(alpha), len(alpha))
    return self._times, alpha, off, model.exits @ theta

  def log_prob(self) -> onp.ndarray:
    """log f at all times."""
    return numpy_math.phase_type.log_prob(*self._arguments())

  def value_and_gradient(self) -> tuple[float, onp.ndarray]:
    """sum log f and its derivatives in theta."""
    times, alpha, rates, *exits = self._arguments()
    if is_sparse(self._model):
      value, gradient = numpy_math.value_and_gradient(
        lambda x: numpy_math.phase_type.log_prob(
          times, alpha, rates._replace(parameters=x)
        ),
        rates.parameters,
      )
      return onp.sum(value), gradient
    value, (of_rates, of_exits) = numpy_math.value_and_gradient(
      lambda x, y: numpy_math.phase_type.log_prob(times, alpha, x, y),
      rates,
      *exits,
    )
    gradient = onp.ravel(of_rates) @ self._rates + of_exits @ self._model.exits
    return onp.sum(value), gradient
