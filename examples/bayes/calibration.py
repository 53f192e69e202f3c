"""Simulation-based calibration of NUTS, on two rates and censored times.

Parameters are drawn from the prior and data from the model: the rank of a
parameter among draws from its posterior is then uniform, if likelihood and
sampler are right.

  S. Talts, M. Betancourt, D. Simpson, A. Vehtari, A. Gelman, Validating
    Bayesian inference algorithms with simulation-based calibration, 2018.
"""

from typing import Any, NamedTuple

import blackjax
import jax
import jax.numpy as jnp

from phasic.substrates.jax import distributions
from phasic.substrates.jax import graphs
from phasic.substrates.jax import inference

GRAPH = graphs.models.island_coalescent([2, 1])
NUM_TIMES = 30
CENSORED_AT = 2.0
NUM_DRAWS = 63
_PRIOR_SD = 0.5
_THINNING = 2
_NUM_WARMUP = 150


class Case(NamedTuple):
  """Logarithms of coalescence and migration rate, (2,), and data."""

  log_rates: jax.Array
  times: jax.Array
  censored: jax.Array


def coalescent(log_rates: Any) -> distributions.GraphPhaseType:
  return distributions.GraphPhaseType(GRAPH, jnp.exp(log_rates))


def simulate(key: jax.Array) -> Case:
  """Draws from the prior, log-normal with a sd of 0.5, and from the model."""
  rates_key, times_key = jax.random.split(key)
  log_rates = _PRIOR_SD * jax.random.normal(rates_key, (2,))
  times = coalescent(log_rates).sample(NUM_TIMES, seed=times_key)
  return Case(log_rates, jnp.minimum(times, CENSORED_AT), times > CENSORED_AT)


@jax.jit
def ranks(keys: jax.Array, cases: Case) -> jax.Array:
  """Ranks of the two rates in each of n cases, (n, 2).

  One case after the other: in a batch all would wait at each step for the one
  with the longest path.
  """
  return jax.lax.map(lambda args: _ranks(*args), (keys, cases))


def _ranks(key: jax.Array, case: Case) -> jax.Array:
  """Ranks of the two rates among NUM_DRAWS draws from their posterior, (2,)."""
  data = inference.Observations(
    case.times, jnp.where(case.censored, jnp.inf, case.times)
  )

  def log_density(log_rates: Any) -> Any:
    prior = -0.5 * jnp.sum((log_rates / _PRIOR_SD) ** 2)
    return prior + data.log_likelihood(coalescent(log_rates))

  warmup_key, key = jax.random.split(key)
  warmup = blackjax.window_adaptation(blackjax.nuts, log_density)
  found, _ = warmup.run(warmup_key, jnp.zeros(2), _NUM_WARMUP)
  nuts = blackjax.nuts(log_density, **found.parameters)

  def step(state: Any, key: jax.Array) -> Any:
    state, _ = nuts.step(key, state)
    return state, state.position

  keys = jax.random.split(key, _THINNING * NUM_DRAWS)
  _, draws = jax.lax.scan(step, found.state, keys)
  return jnp.sum(draws[::_THINNING] < case.log_rates, axis=0)
