"""Rates of coalescence and migration from many times, some cut off."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType
import numpy as np

from bayes import sharded
from phasic.substrates.jax import distributions
from phasic.substrates.jax import graphs
from phasic.substrates.jax import inference

TRUTH = (1.0, 0.5)
CENSORED_AT = 4.0


def coalescent(log_rates: Any) -> distributions.GraphPhaseType:
  graph = graphs.models.island_coalescent([2, 1])
  return distributions.GraphPhaseType(graph, jnp.exp(log_rates))


def read(num_times: int) -> inference.Observations:
  """The part of the data that is this process's: every so many-th time.

  They are simulated, so that there is no file; a real program would read one.
  """
  rng = np.random.default_rng(1997)
  times = np.empty(num_times)
  for i in range(num_times):
    times[i] = _time(rng)
  times = times[jax.process_index() :: jax.process_count()]
  return inference.Observations.right_censored(
    np.minimum(times, CENSORED_AT), times <= CENSORED_AT
  )


def _time(rng: np.random.Generator) -> float:
  """One time to the ancestor of two lineages on one island and one beyond."""
  coalescence, migration = TRUTH
  here, there, time = 2, 1, 0.0
  while here + there > 1:
    pairs = np.array([here * (here - 1) / 2, there * (there - 1) / 2])
    rates = np.append(coalescence * pairs, migration * np.array([here, there]))
    time += rng.exponential(1 / rates.sum())
    event = rng.choice(4, p=rates / rates.sum())
    here += (-1, 0, -1, 1)[event]
    there += (0, -1, 1, -1)[event]
  return time


def tell(num_times: int, posterior: bool) -> None:
  """Prints log-likelihood and gradient at the truth, and the posterior."""
  devices = jax.devices()
  mesh = jax.make_mesh(
    (len(devices),), ("data",), (AxisType.Auto,), devices=devices
  )
  data = sharded.split(read(num_times), mesh)
  likelihood = sharded.log_likelihood(coalescent, mesh)
  print(
    f"{num_times} times, {len(devices)} devices of {jax.process_count()} "
    f"process{'es' if jax.process_count() > 1 else ''}"
  )
  value, slope = jax.jit(jax.value_and_grad(likelihood))(np.log(TRUTH), data)
  print(f"log-likelihood  {float(value):.17g}")
  print("gradient       ", *(f"{float(x):.17g}" for x in slope))
  if not posterior:
    return

  def log_density(log_rates: Any, data: Any) -> Any:
    return likelihood(log_rates, data) - 0.5 * jnp.sum(log_rates**2)

  starts = np.random.default_rng(1).normal(scale=0.5, size=(100, 2))
  _print("SVGD", sharded.svgd(log_density, starts, data))
  key = jax.random.PRNGKey(2)
  _print("NUTS", sharded.nuts(log_density, np.zeros(2), data, key))


def _print(name: str, log_rates: Any) -> None:
  rates = np.exp(np.asarray(log_rates))
  for i, rate in enumerate(("coalescence", "migration")):
    mean, sd = rates[:, i].mean(), rates[:, i].std()
    print(f"{name} {rate:12s} {mean:.6f} +- {sd:.6f}")
