"""Uniformization as JAX has it: one scan over the sequence serves all times.

The value does not depend on the rate: it is a constant a little above what is
needed, and the scan has as many steps as its largest mean needs. There are
several ways to write the step; which one is fastest depends on the model and
on whether there is a gradient, so that a benchmark tries them all.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as onp

from benchmarks import models

# Parameters [B, d] to log f [B, n].
LogProb = Callable[[jax.Array], jax.Array]
# The sequence v_k . s, [steps, ...], to densities [n, ...].
Mix = Callable[[jax.Array], jax.Array]


class Chain(NamedTuple):
  """The constants of a scan, with edges in the order of their targets."""

  model: models.Model
  rate: float
  steps: int
  sources: onp.ndarray  # [m]
  targets: onp.ndarray  # [m]
  coefficients: onp.ndarray  # [m, d], over the rate
  leaving: onp.ndarray  # [p, d], over the rate


def chain(model: models.Model, last: float) -> Chain:
  """The chain of a model, with steps for times up to `last`."""
  subgenerator, _ = model.at(model.theta)
  rate = 1.05 * float(onp.max(-onp.diag(subgenerator)))
  mean = rate * last
  steps = int(mean + 9.0 * onp.sqrt(mean) + 30.0)
  targets, sources = onp.nonzero(onp.any(model.rates != 0.0, axis=2).T)
  return Chain(
    model,
    rate,
    steps,
    sources,
    targets,
    model.rates[sources, targets] / rate,
    (model.rates.sum(axis=1) + model.exits) / rate,
  )


def poisson_weights(chain: Chain, times: jax.Array) -> jax.Array:
  """[n, steps]."""
  counts = jnp.arange(chain.steps, dtype=jnp.float64)
  means = chain.rate * times[:, None]
  return jnp.exp(
    counts * jnp.log(means) - means - jax.scipy.special.gammaln(counts + 1.0)
  )


def dense(chain: Chain, mix: Mix) -> LogProb:
  """A matrix and a vector for each model."""
  rates, exits = jnp.asarray(chain.model.rates), jnp.asarray(chain.model.exits)
  alpha, leaving = chain.model.initial_probs, jnp.asarray(chain.leaving)

  def log_prob(theta):
    step = rates @ theta / chain.rate + jnp.diag(1.0 - leaving @ theta)
    leave = exits @ theta

    def body(v, _):
      return v @ step, v @ leave

    _, sequence = jax.lax.scan(
      body, jnp.asarray(alpha), None, length=chain.steps
    )
    return jnp.log(mix(sequence))

  def batch(thetas):
    # A batch axis of length one would make products of it.
    if len(thetas) == 1:
      return log_prob(thetas[0])[None]
    return jax.vmap(log_prob)(thetas)

  return batch


def one_product(chain: Chain, mix: Mix) -> LogProb:
  """All models' states times one matrix, which holds a block per parameter."""
  rates, exits = chain.model.rates / chain.rate, jnp.asarray(chain.model.exits)
  p, d = chain.leaving.shape
  blocks = onp.array([onp.diag(column) for column in chain.leaving.T])
  matrix = jnp.asarray(onp.hstack(list(onp.moveaxis(rates, 2, 0) - blocks)))

  def log_prob(thetas):
    leave = thetas @ exits.T

    def body(v, _):
      moves = (v @ matrix).reshape(-1, d, p)
      inflow = jnp.einsum("bd,bdp->bp", thetas, moves)
      return v + inflow, jnp.sum(v * leave, axis=1)

    start = jnp.broadcast_to(chain.model.initial_probs, (len(thetas), p))
    _, sequence = jax.lax.scan(body, start, None, length=chain.steps)
    return jnp.log(mix(sequence)).T

  return log_prob


def _sparse(chain: Chain, mix: Mix, weigh, inflow) -> LogProb:
  """Edges, with the models of a batch innermost.

  What is kept per edge for the reverse sweep would be many times the states:
  it is made again.

  Args:
    chain: the chain.
    mix: from the sequence to densities.
    weigh: parameters [d, B] to the weights of the edges.
    inflow: weights and state [p, B] to what moves along the edges, [p, B].
  """
  exits, leaving = jnp.asarray(chain.model.exits), jnp.asarray(chain.leaving)
  alpha = jnp.asarray(chain.model.initial_probs)[:, None]

  def log_prob(thetas):
    weights = weigh(thetas.T)
    stay, leave = 1.0 - leaving @ thetas.T, exits @ thetas.T

    @jax.checkpoint
    def body(v, _):
      return v * stay + inflow(weights, v), jnp.sum(v * leave, axis=0)

    start = jnp.broadcast_to(alpha, stay.shape)
    _, sequence = jax.lax.scan(body, start, None, length=chain.steps)
    return jnp.log(mix(sequence)).T

  return log_prob


def segments(chain: Chain, mix: Mix) -> LogProb:
  """All edges at once, then a segment sum by target."""
  sources, targets = jnp.asarray(chain.sources), jnp.asarray(chain.targets)
  coefficients, p = jnp.asarray(chain.coefficients), len(chain.leaving)

  def inflow(weights, v):
    return jax.ops.segment_sum(
      weights * v[sources], targets, p, indices_are_sorted=True
    )

  return _sparse(chain, mix, lambda theta: coefficients @ theta, inflow)


def in_edges(chain: Chain, mix: Mix) -> LogProb:
  """The k-th edges into all phases at once, padded with edges of rate zero."""
  p, d = chain.leaving.shape
  firsts = onp.searchsorted(chain.targets, onp.arange(p))
  ranks = onp.arange(len(chain.targets)) - firsts[chain.targets]
  depth = int(onp.max(ranks, initial=-1)) + 1
  sources = onp.zeros((depth, p), onp.int32)
  sources[ranks, chain.targets] = chain.sources
  coefficients = onp.zeros((depth, p, d))
  coefficients[ranks, chain.targets] = chain.coefficients
  coefficients = jnp.asarray(coefficients)

  def inflow(weights, v):
    return sum(weights[k] * v[sources[k]] for k in range(depth))

  return _sparse(chain, mix, lambda theta: coefficients @ theta, inflow)


def vmapped(form: Callable[[Chain, Mix], LogProb]):
  """The form as written for one model, with its batch left to jax.vmap."""

  def make(chain, mix):
    log_prob = form(chain, mix)
    return jax.vmap(lambda theta: log_prob(theta[None])[0])

  return make


# Names of the scan of a batch, in the rows of tables.
VMAPPED = "JAX scan, by jax.vmap"
BY_HAND = "JAX scan, models laid out by hand"
# Ways to write the step.
DENSE = {"dense": dense, "one product": one_product}
SPARSE = {"segments": segments, "in-edges": in_edges}
SPARSE_VMAPPED = {
  "segments": vmapped(segments),
  "in-edges": vmapped(in_edges),
}


def at_times(form, model: models.Model, times: onp.ndarray) -> LogProb:
  """One form with the Poisson weights of fixed times made beforehand."""
  constants = chain(model, float(onp.max(times)))
  weights = poisson_weights(constants, jnp.asarray(times))
  return form(constants, lambda sequence: weights @ sequence)


def at_own_rates(form, model: models.Model, times: onp.ndarray) -> LogProb:
  """One form with the rate that each model needs, and its Poisson weights.

  The chain's rate serves for the number of steps only. Times are stretched in
  place of rates. The value does not depend on the rate, hence nothing is
  differentiated in it.
  """
  constants = chain(model, float(onp.max(times)))
  leaving = jnp.asarray(constants.leaving)

  def log_prob(theta):
    own = jax.lax.stop_gradient(jnp.max(leaving @ theta))
    weights = poisson_weights(constants, own * jnp.asarray(times))
    mixed = form(constants, lambda sequence: own * (weights @ sequence))
    return mixed(theta[None] / own)[0]

  return jax.vmap(log_prob)


def many_times(form, model: models.Model, last: float, chunk: int):
  """One form for times that are an argument, `chunk` of them at once.

  Args:
    form: of the step.
    model: the model.
    last: the largest time there may be.
    chunk: divides the number of times.

  Returns:
    Parameters [B, d] and times [n] to log f [B, n].
  """
  constants = chain(model, last)

  def log_prob(thetas, times):
    def mix(sequence):
      densities = jax.lax.map(
        lambda some: poisson_weights(constants, some) @ sequence,
        times.reshape(-1, chunk),
      )
      return densities.reshape(len(times), -1)

    return form(constants, mix)(thetas)

  return log_prob


def with_table(form, model: models.Model, last: float):
  """The same with weights [n, steps] as the argument in place of times.

  Returns:
    The function, and the one from times to weights.
  """
  constants = chain(model, last)

  def log_prob(thetas, weights):
    return form(constants, lambda sequence: weights @ sequence)(thetas)

  return log_prob, lambda times: poisson_weights(constants, times)
