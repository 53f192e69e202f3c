"""The rate of coalescence, from times to the common ancestor of four."""

from collections.abc import Callable
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpyro
from numpyro import distributions as priors
import optax

from bayes import samplers
from phasic.substrates.jax import distributions
from phasic.substrates.jax import graphs
from phasic.substrates.jax import inference

TRUTH = 0.7
NUM_TIMES = 200
GRAPH = graphs.models.kingman(4)
PRIOR = priors.LogNormal(0.0, 1.0)

MeanAndSd = tuple[float, float]

SAMPLERS: dict[str, Callable[..., Any]] = {
  "NumPyro NUTS": samplers.nuts_by_numpyro,
  "BlackJAX NUTS, model": samplers.nuts_by_blackjax,
  "BlackJAX SVGD, model": samplers.svgd_by_blackjax,
}


def key(seed: int) -> jax.Array:
  return jax.random.key(seed)


def coalescent(rate: Any) -> distributions.GraphPhaseType:
  """The time until the common ancestor, for a rate of coalescence (...)."""
  return distributions.GraphPhaseType(GRAPH, {"coalescence": rate})


def simulate(key: jax.Array) -> jax.Array:
  return coalescent(TRUTH).sample(NUM_TIMES, seed=key)


def log_density(times: jax.Array) -> Callable[[Any], Any]:
  """The log posterior density of the rate's logarithm, up to a constant."""

  def of_log_rate(log_rate: Any) -> Any:
    rate = jnp.exp(log_rate)
    prior = PRIOR.log_prob(rate) + log_rate
    return prior + jnp.sum(coalescent(rate).log_prob(times))

  return of_log_rate


def model(times: jax.Array) -> Callable[[], None]:
  """The same as a model of NumPyro."""
  data = inference.Observations.exact(times)

  def of_data() -> None:
    rate = numpyro.sample("rate", PRIOR)
    numpyro.factor("times", data.log_likelihood(coalescent(rate)))

  return of_data


def by_grid(times: jax.Array) -> MeanAndSd:
  """Mean and standard deviation of the rate, by 4001 points."""
  log_rates = jnp.linspace(jnp.log(TRUTH) - 1.0, jnp.log(TRUTH) + 1.0, 4001)
  values = jax.lax.map(log_density(times), log_rates, batch_size=200)
  weights = jax.nn.softmax(values)
  rates = jnp.exp(log_rates)
  mean = jnp.sum(weights * rates)
  return float(mean), float(jnp.sqrt(jnp.sum(weights * (rates - mean) ** 2)))


def by_optax(times: jax.Array) -> MeanAndSd:
  """The most likely rate and its standard error, by L-BFGS and the Hessian."""

  def loss(log_rate: Any) -> Any:
    return -jnp.sum(coalescent(jnp.exp(log_rate)).log_prob(times))

  solver = optax.lbfgs()
  value_and_slope = optax.value_and_grad_from_state(loss)

  @jax.jit
  def step(log_rate: Any, state: Any) -> Any:
    value, slope = value_and_slope(log_rate, state=state)
    update, state = solver.update(
      slope, state, log_rate, value=value, grad=slope, value_fn=loss
    )
    return optax.apply_updates(log_rate, update), state, slope

  log_rate = jnp.asarray(0.0)
  state, slope = solver.init(log_rate), jnp.inf
  while abs(slope) > 1e-6:
    log_rate, state, slope = step(log_rate, state)
  rate = jnp.exp(log_rate)
  error = rate / jnp.sqrt(jax.hessian(loss)(log_rate))
  return float(rate), float(error)


def by_blackjax(
  times: jax.Array, key: jax.Array, progress: bool = False
) -> MeanAndSd:
  """NUTS directly on `log_prob`: 300 steps of warm-up, then 2000."""
  density = log_density(times)
  warmup_key, key = jax.random.split(key)
  warmup = blackjax.window_adaptation(blackjax.nuts, density)
  found, _ = jax.jit(lambda k: warmup.run(k, jnp.asarray(0.0), 300))(warmup_key)
  nuts = blackjax.nuts(density, **found.parameters)

  def step(state: Any, key: jax.Array) -> tuple[Any, Any]:
    state, _ = nuts.step(key, state)
    return state, state.position

  _, log_rates = samplers.steps(step, found.state, key, 2000, progress)
  rates = jnp.exp(log_rates)
  return float(rates.mean()), float(rates.std())


def by_sampler(
  sampler: Callable[..., Any],
  times: jax.Array,
  key: jax.Array,
  progress: bool = False,
) -> MeanAndSd:
  """Mean and standard deviation of what a sampler finds for the model."""
  found = sampler(model(times), key, progress=progress)
  rates = found.posterior["rate"]
  return float(rates.mean()), float(rates.std())
