"""A log-likelihood whose observations are split among devices or processes."""

from collections.abc import Callable
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec
import numpy as np
import optax

from phasic.substrates import jax as ph
from phasic.substrates.jax.inference import Observations


def split(data: Observations, mesh: jax.sharding.Mesh) -> Observations:
  """Lays observations out over the devices of a mesh with one axis.

  Args:
    data: (n,), what this process has read; each must have about the same n.
    mesh: all devices of all processes.

  Returns:
    The observations of all processes, filled up to a multiple of the number of
    devices with some of weight zero.
  """
  sizes = np.asarray([data.lower.shape[0]])
  if jax.process_count() > 1:
    from jax.experimental import multihost_utils

    sizes = multihost_utils.process_allgather(sizes)
  own = mesh.devices.size // jax.process_count()
  missing = -(-int(np.max(sizes)) // own) * own - data.lower.shape[0]

  def fill(x: Any) -> Any:
    return None if x is None else np.pad(np.asarray(x), (0, missing), "edge")

  weights = np.ones(data.lower.shape) if data.weights is None else data.weights
  filled = Observations(
    fill(data.lower),
    fill(data.upper),
    np.pad(np.asarray(weights), (0, missing)),
    fill(data.entry),
    fill(data.cause),
  )
  sharding = NamedSharding(mesh, PartitionSpec(mesh.axis_names[0]))
  return jax.tree.map(
    lambda x: jax.make_array_from_process_local_data(sharding, np.asarray(x)),
    filled,
  )


def log_likelihood(
  distribution: Callable[[Any], Any], mesh: jax.sharding.Mesh
) -> Callable[[Any, Observations], Any]:
  """Returns the log-likelihood as a function of parameters and split data.

  Each device has the sum over its part; only these sums are sent around, and
  for the gradient those of the parameters' derivatives. Of arrays on other
  machines no constants can be made: give `data` to `jax.jit` as an argument.

  Args:
    distribution: a function of the parameters.
    mesh: as `split` had it.
  """
  parts = ph.shard_batches(
    lambda parameters, data: data.log_likelihood(distribution(parameters))[
      None
    ],
    mesh,
    in_axes=(None, 0),
  )
  return lambda parameters, data: jnp.sum(parts(parameters, data))


def svgd(
  log_density: Callable[[Any, Observations], Any],
  particles: Any,
  data: Observations,
  num_steps: int = 300,
) -> Any:
  """Stein variational gradient descent; each step sums over all devices."""

  @jax.jit
  def run(particles: Any, data: Observations) -> Any:
    slope = jax.grad(log_density)
    sampler = blackjax.svgd(lambda z: slope(z, data), optax.adam(0.1))
    state = sampler.init(particles)
    return jax.lax.fori_loop(
      0, num_steps, lambda _, state: sampler.step(state), state
    ).particles

  return run(particles, data)


def nuts(
  log_density: Callable[[Any, Observations], Any],
  start: Any,
  data: Observations,
  key: jax.Array,
  num_warmup: int = 300,
  num_samples: int = 500,
) -> Any:
  """NUTS; each process runs the same chain on sums over all devices."""

  @jax.jit
  def run(start: Any, data: Observations, keys: jax.Array) -> Any:
    def of_data(z: Any) -> Any:
      return log_density(z, data)

    warmup = blackjax.window_adaptation(blackjax.nuts, of_data)
    found, _ = warmup.run(keys[0], start, num_warmup)
    sampler = blackjax.nuts(of_data, **found.parameters)

    def step(state: Any, key: jax.Array) -> Any:
      state, _ = sampler.step(key, state)
      return state, state.position

    return jax.lax.scan(step, found.state, keys[1:])[1]

  # Keys as numbers: an array of one process would not be one of all of them.
  return run(start, data, np.asarray(jax.random.split(key, num_samples + 1)))
