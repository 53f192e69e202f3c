"""Rows of phasic in JAX, in double precision.

A graph is kept; `jit`, `gradient` and `vmap` compute densities and moments with
a rate of its own in each call. Compilations are of a new function each time,
without JAX's cache on the disk.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from phasic.substrates import jax as ph
from phasic.substrates.jax import binding

_START = np.array([1.0, 0.0, 0.0])
_SUBGENERATOR = np.array([[-2.0, 2.0, 0.0], [0.0, -2.0, 2.0], [0.0, 0.0, -2.0]])


def _graph(lineages):
  return ph.graphs.models.block_counting(lineages)


def _rates():
  return (1.0 + 1e-7 * k for k in itertools.count())


def jit(lineages, times):
  graph, times, rates = _graph(lineages), jnp.array(times), _rates()

  @jax.jit
  def compiled(theta):
    log_probs, raw = ph.graphs.log_prob_and_moments(graph, theta, times)
    return jnp.exp(log_probs), raw

  return lambda: jax.block_until_ready(compiled(jnp.array([next(rates)])))


def gradient(lineages, times):
  graph, times, rates = _graph(lineages), jnp.array(times), _rates()

  @jax.jit
  @jax.grad
  def compiled(theta):
    log_probs, raw = ph.graphs.log_prob_and_moments(graph, theta, times)
    return jnp.sum(log_probs) + raw[0]

  return lambda: jax.block_until_ready(compiled(jnp.array([next(rates)])))


def vmap(lineages, times):
  graph, times, rates = _graph(lineages), jnp.array(times), _rates()

  @jax.jit
  @jax.vmap
  def compiled(theta):
    log_probs, raw = ph.graphs.log_prob_and_moments(graph, theta, times)
    return jnp.exp(log_probs), raw

  def call():
    theta = next(rates) * jnp.linspace(1.0, 2.0, 8)
    return jax.block_until_ready(compiled(theta[:, None]))

  return call


def jit_density(lineages, times):
  graph, times, rates = _graph(lineages), jnp.array(times), _rates()

  @jax.jit
  def compiled(theta):
    dist = ph.distributions.PhaseType.from_graph(graph, params=theta)
    return dist.prob(times)

  return lambda: jax.block_until_ready(compiled(jnp.array([next(rates)])))


def jit_moments(lineages):
  graph, rates = _graph(lineages), _rates()
  initial_probs = graph.initial_probs()

  @jax.jit
  def compiled(theta):
    edges = graph.edge_weights(theta)
    return ph.math.phase_type.raw_moments(2, initial_probs, edges)

  return lambda: jax.block_until_ready(compiled(jnp.array([next(rates)])))


def log_prob(times):
  dist = ph.distributions.PhaseType(jnp.array(_START), jnp.array(_SUBGENERATOR))
  times = jnp.array(times)
  return lambda: dist.log_prob(times).block_until_ready()


def _functions():
  """The functions to compile, of the rates and of a time or probability."""

  def dist(subgenerator):
    return ph.distributions.PhaseType(_START, subgenerator)

  def log_prob(subgenerator, x):
    return dist(subgenerator).log_prob(x).sum()

  def quantile(subgenerator, x):
    return dist(subgenerator).quantile(x).sum()

  def sample(subgenerator, x):
    del x
    return dist(subgenerator).sample(10, seed=jax.random.key(0)).sum()

  return {
    "log_prob": log_prob,
    "quantile": quantile,
    "sample": sample,
    "quantile_gradient": jax.grad(quantile),
    "sample_gradient": jax.grad(sample),
  }


def _compilation(function):
  subgenerator, x = jnp.array(_SUBGENERATOR), jnp.linspace(0.05, 0.95, 10)

  def call():
    return jax.jit(_functions()[function]).lower(subgenerator, x).compile()

  # The results of two programs are not the same thing: there are no values.
  return call, lambda: []


def compilation_of_log_prob():
  return _compilation("log_prob")


def compilation_of_quantile():
  return _compilation("quantile")


def compilation_of_quantile_gradient():
  return _compilation("quantile_gradient")


def compilation_of_sample():
  return _compilation("sample")


def compilation_of_sample_gradient():
  return _compilation("sample_gradient")


def _sine():
  return binding.bind(
    np.sin,
    jvp=lambda args, tangents: np.cos(args[0]) * tangents[0],
    vjp=lambda args, cotangent: (np.cos(args[0]) * cotangent,),
    abstract=lambda x: x,
  )


def bound_loop(calls, size):
  sine = _sine()

  @jax.jit
  def loop(start):
    return jax.lax.fori_loop(0, calls, lambda _, x: sine(x) + 1.0, start)

  start = jnp.ones(size)
  return lambda: loop(start).block_until_ready()


def bound_gradient_loop(calls, size):
  sine = _sine()
  slope = jax.grad(lambda x: jnp.sum(sine(x)))

  @jax.jit
  def loop(start):
    return jax.lax.fori_loop(0, calls, lambda _, x: slope(x) + 1.0, start)

  start = jnp.ones(size)
  return lambda: loop(start).block_until_ready()
