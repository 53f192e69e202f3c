"""Three samplers for a model of NumPyro, a few lines each.

Each returns ArviZ's InferenceData, and shows a progress bar if asked to.
"""

from collections.abc import Callable
import logging
from typing import Any
import warnings

import blackjax
import jax
import jax.numpy as jnp
from numpyro import infer
import optax
import tqdm

# ArviZ announces its next version by a warning, and names its absent parts.
logging.getLogger("arviz.preview").setLevel(logging.WARNING)
with warnings.catch_warnings():
  warnings.simplefilter("ignore", FutureWarning)
  import arviz

# Steps that are compiled into one program, between two looks of the bar.
_STEPS = 50


def nuts_by_numpyro(
  model: Callable[[], Any],
  key: jax.Array,
  *,
  num_chains: int = 4,
  num_warmup: int = 300,
  num_samples: int = 500,
  progress: bool = False,
) -> arviz.InferenceData:
  """NUTS of NumPyro, with its own bar; chains are vectorized."""
  sampler = infer.MCMC(
    infer.NUTS(model),
    num_warmup=num_warmup,
    num_samples=num_samples,
    num_chains=num_chains,
    chain_method="vectorized",
    progress_bar=progress,
  )
  sampler.run(key)
  # The log-likelihood is a factor here, so ArviZ finds no observations.
  return arviz.from_numpyro(sampler, log_likelihood=False)


def nuts_by_blackjax(
  model: Callable[[], Any],
  key: jax.Array,
  *,
  num_chains: int = 4,
  num_warmup: int = 300,
  num_samples: int = 500,
  progress: bool = False,
) -> arviz.InferenceData:
  """NUTS of BlackJAX, after its window adaptation; chains are vectorized."""
  start_key, warmup_key, key = jax.random.split(key, 3)
  log_density, starts, constrain = of_model(model, start_key, num_chains)
  warmup = blackjax.window_adaptation(blackjax.nuts, log_density)

  def adapt(key: jax.Array, start: Any) -> Any:
    found, _ = warmup.run(key, start, num_warmup)
    return found.state, found.parameters

  states, parameters = jax.jit(jax.vmap(adapt))(
    jax.random.split(warmup_key, num_chains), starts
  )

  def step(states: Any, key: jax.Array) -> tuple[Any, Any]:
    def of_chain(key: jax.Array, state: Any, parameters: Any) -> Any:
      return blackjax.nuts(log_density, **parameters).step(key, state)

    keys = jax.random.split(key, num_chains)
    states, infos = jax.vmap(of_chain)(keys, states, parameters)
    return states, (states.position, infos.is_divergent)

  _, (positions, diverging) = steps(step, states, key, num_samples, progress)
  positions = jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), positions)
  return arviz.from_dict(
    posterior=constrain(positions),
    sample_stats={"diverging": jnp.swapaxes(diverging, 0, 1)},
  )


def svgd_by_blackjax(
  model: Callable[[], Any],
  key: jax.Array,
  *,
  num_particles: int = 100,
  num_steps: int = 500,
  learning_rate: float = 0.1,
  progress: bool = False,
) -> arviz.InferenceData:
  """Stein variational gradient descent of BlackJAX, by Adam of optax.

  All particles are one batch of the kernel. They are one chain of the result.
  """
  start_key, key = jax.random.split(key)
  log_density, starts, constrain = of_model(model, start_key, num_particles)
  svgd = blackjax.svgd(jax.grad(log_density), optax.adam(learning_rate))

  def step(state: Any, key: jax.Array) -> tuple[Any, None]:
    del key
    return svgd.step(state), None

  state, _ = steps(step, svgd.init(starts), key, num_steps, progress)
  particles = jax.tree.map(lambda x: x[None], state.particles)
  return arviz.from_dict(posterior=constrain(particles))


def of_model(
  model: Callable[[], Any], key: jax.Array, num_starts: int
) -> tuple[Callable[[Any], Any], Any, Callable[[Any], Any]]:
  """Returns what samplers of others need of a model of NumPyro.

  Args:
    model: without arguments.
    key: for the starts.
    num_starts: how many there are.

  Returns:
    The log density of unconstrained parameters, a dict of arrays; starts with
    one axis in front; and the function that takes parameters with two axes in
    front to what the model samples and computes.
  """
  found = infer.util.initialize_model(
    jax.random.split(key, num_starts), model, dynamic_args=False
  )
  one = jax.jit(jax.vmap(jax.vmap(found.postprocess_fn)))
  return (lambda z: -found.potential_fn(z)), found.param_info.z, one


def steps(
  step: Callable[[Any, jax.Array], tuple[Any, Any]],
  state: Any,
  key: jax.Array,
  num_steps: int,
  progress: bool,
) -> tuple[Any, Any]:
  """Scans over steps in pieces, and moves a bar after each of them."""
  scan = jax.jit(lambda state, keys: jax.lax.scan(step, state, keys))
  keys = jax.random.split(key, num_steps)
  outputs = []
  with tqdm.tqdm(total=num_steps, disable=not progress) as bar:
    for i in range(0, num_steps, _STEPS):
      part = keys[i : i + _STEPS]
      state, output = jax.block_until_ready(scan(state, part))
      outputs.append(output)
      bar.update(len(part))
  return state, jax.tree.map(lambda *x: jnp.concatenate(x), *outputs)
