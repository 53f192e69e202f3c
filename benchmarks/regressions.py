"""Log likelihoods of regressions, and what users would write instead."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from benchmarks import timing
from benchmarks.results import Row
from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import inference
from phasic.substrates.jax import regression

_SUBJECTS, _CHAINS = 50_000, 2_000
_VMAPPED = "jax.vmap of expm, compiled"


def effects_on_time(repeats: int) -> Iterator[Row]:
  """Distinct times of many subjects, with and without ten covariates."""
  random = onp.random.RandomState(65)
  data, covariates = _data(random, _SUBJECTS, 10)
  rates = jnp.asarray([1.0, 2.0, 3.0, 4.0])
  exits = jnp.asarray([0.3, 0.2, 0.1, 0.5, 2.0])
  model, laid_out = regression.Regression(
    pd.Coxian(rates, exits), time=covariates
  ).with_data(data, None)

  @jax.jit
  @jax.value_and_grad
  def with_covariates(x: Any) -> Any:
    parameters = {"distribution": pd.Coxian(*x[:2]), "time": x[2]}
    return jnp.sum(model.log_likelihood_terms(parameters, laid_out))

  @jax.jit
  @jax.value_and_grad
  def without(x: Any) -> Any:
    return data.log_likelihood(pd.Coxian(*x))

  effects = jnp.asarray(0.1 * random.standard_normal(10))
  seconds = timing.interleaved(
    {
      "with": _ready(with_covariates, (rates, exits, effects)),
      "without": _ready(without, (rates, exits)),
    },
    repeats,
  )
  yield Row(
    f"Coxian-5, {_SUBJECTS:,} censored times, 10 covariates on time: value and "
    "gradient",
    seconds["with"],
    seconds["without"],
    "no covariates",
    "Times are rescaled, and so are their derivatives.",
  )


def effects_on_rates(repeats: int) -> Iterator[Row]:
  """A chain for each subject, against matrix exponentials."""
  random = onp.random.RandomState(66)
  data, covariates = _data(random, _CHAINS, 3)
  rates = jnp.asarray([1.0, 2.0, 3.0, 4.0, 5.0])
  model, laid_out = regression.Regression(
    pd.Hypoexponential(rates), params={"rates[1]": covariates}
  ).with_data(data, None)
  times = jnp.asarray(data.lower)
  seen = jnp.isfinite(jnp.asarray(data.upper))
  x = jnp.asarray(covariates)

  @jax.jit
  @jax.value_and_grad
  def of_phasic(given: Any) -> Any:
    dist = pd.Hypoexponential(given[0])
    parameters = {"distribution": dist, "log rates[1]": given[1]}
    return jnp.sum(model.log_likelihood_terms(parameters, laid_out))

  def one(rates: Any, b: Any, row: Any, time: Any, is_event: Any) -> Any:
    rates = rates.at[1].multiply(jnp.exp(row @ b))
    matrix = jnp.diag(rates[:-1], 1) - jnp.diag(rates)
    probs = jax.scipy.linalg.expm(matrix * time)[0]
    last = jnp.where(is_event, probs[-1] * rates[-1], jnp.sum(probs))
    return jnp.log(last)

  @jax.jit
  @jax.value_and_grad
  def of_expm(given: Any) -> Any:
    mapped = jax.vmap(one, in_axes=(None, None, 0, 0, 0))
    return jnp.sum(mapped(*given, x, times, seen))

  given = (rates, jnp.asarray([0.1, 0.2, -0.1]))

  def check(results: dict[str, Any]) -> None:
    onp.testing.assert_allclose(results["phasic"][0], results["expm"][0], 1e-9)

  seconds = timing.interleaved(
    {"phasic": _ready(of_phasic, given), "expm": _ready(of_expm, given)},
    repeats,
    check=check,
  )
  yield Row(
    f"{_CHAINS:,} subjects, effects on a rate of 5: value and gradient",
    seconds["phasic"],
    seconds["expm"],
    _VMAPPED,
  )


def _data(
  random: onp.random.RandomState, size: int, num_covariates: int
) -> tuple[Any, onp.ndarray]:
  """Returns censored times, and covariates."""
  times = random.standard_exponential(size)
  covariates = random.standard_normal((size, num_covariates))
  seen = random.random_sample(size) < 0.7
  return inference.Observations.right_censored(times, seen), covariates


def _ready(f: Callable[[Any], Any], x: Any) -> Callable[[], Any]:
  """Returns a call that waits for its result."""
  return lambda: jax.block_until_ready(f(x))
