"""Rows of the incumbent: the package that is called phasic on PyPI.

Graphs are built with their vertices and edges one by one, which takes half as
long as the constructor that calls a function for each state. Its cache of
graphs on the disk is not used: a graph that is read is not built. Parameters
change by `update_weights`, after which densities are computed anew; else they
are looked up. Densities have the step that the library chooses, `granularity=0`,
with an error of up to 0.7 % of the largest one at the rates here; a finer step
takes longer in proportion.

In JAX the wheel has one function that works, `pmf_and_moments_from_graph`, on
which jit, grad and vmap are used; the others need its C++ sources, or a build with
XLA's headers. Derivatives are the library's own central differences.
"""

import itertools

import jax
import jax.numpy as jnp
import kingman
import numpy as np

import phasic


def _graph(lineages):
  graph = phasic.Graph(lineages)
  first = graph.find_or_create_vertex(kingman.initial(lineages))
  graph.starting_vertex().add_edge(first, 1.0)
  index = 1
  # There are more vertices with each state that is found.
  while index < graph.vertices_length():
    vertex = graph.vertex_at(index)
    index += 1
    counts = [int(count) for count in vertex.state()]
    if sum(counts) > 1:
      for merged, pairs in kingman.transitions(counts):
        vertex.add_edge(graph.find_or_create_vertex(merged), [pairs])
  return graph


def _rates():
  return (1.0 + 1e-7 * k for k in itertools.count())


def build(lineages):
  def values():
    graph = _graph(lineages)
    return [graph.vertices_length() - 2]  # The start and absorption.

  return lambda: _graph(lineages), values


def density(lineages, times):
  graph, times, rates = _graph(lineages), np.array(times), _rates()

  def call():
    graph.update_weights([next(rates)])
    return graph.pdf(times)

  return call


def cdf(lineages, times):
  graph, times, rates = _graph(lineages), np.array(times), _rates()

  def call():
    graph.update_weights([next(rates)])
    return graph.cdf(times)

  return call


def density_again(lineages, times):
  graph, times = _graph(lineages), np.array(times)
  graph.update_weights([1.0])
  return lambda: graph.pdf(times)


def moments(lineages):
  graph, rates = _graph(lineages), _rates()

  def call():
    graph.update_weights([next(rates)])
    mean, second = graph.moments(2)
    return [mean, second - mean**2]

  return call


def samples(lineages):
  graph = _graph(lineages)
  graph.update_weights([1.0])

  def values():
    drawn = graph.sample(20_000)
    return [np.mean(drawn), np.std(drawn)]

  return lambda: graph.sample(1000), values


def _model(lineages):
  return phasic.Graph.pmf_and_moments_from_graph(_graph(lineages))


def jit(lineages, times):
  model, times, rates = _model(lineages), jnp.array(times), _rates()
  compiled = jax.jit(lambda theta: model(theta, times))
  return lambda: jax.block_until_ready(compiled(jnp.array([next(rates)])))


def gradient(lineages, times):
  model, times, rates = _model(lineages), jnp.array(times), _rates()

  def loss(theta):
    densities, raw = model(theta, times)
    return jnp.sum(jnp.log(densities)) + raw[0]

  compiled = jax.jit(jax.grad(loss))
  return lambda: jax.block_until_ready(compiled(jnp.array([next(rates)])))


def vmap(lineages, times):
  model, times, rates = _model(lineages), jnp.array(times), _rates()
  compiled = jax.jit(jax.vmap(lambda theta: model(theta, times)))

  def call():
    theta = next(rates) * jnp.linspace(1.0, 2.0, 8)
    return jax.block_until_ready(compiled(theta[:, None]))

  return call


def jit_density(lineages, times):
  times, rates = jnp.array(times), _rates()
  try:
    model = phasic.Graph.pmf_from_graph(_graph(lineages))
    compiled = jax.jit(lambda theta: model(theta, times))
    compiled(jnp.ones(1))
  except phasic.PTDBackendError as error:
    raise NotImplementedError(_first_line("pmf_from_graph", error)) from error
  return lambda: jax.block_until_ready(compiled(jnp.array([next(rates)])))


def jit_moments(lineages):
  rates = _rates()
  try:
    compiled = jax.jit(phasic.Graph.moments_from_graph(_graph(lineages)))
  except RuntimeError as error:
    raise NotImplementedError(
      _first_line("moments_from_graph", error)
    ) from error
  return lambda: jax.block_until_ready(compiled(jnp.array([next(rates)])))


def _first_line(name, error):
  return f"{name}: {str(error).splitlines()[0]}"
