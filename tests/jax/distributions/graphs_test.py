"""Graphs as pytrees: what JAX sees of them."""

import copy
import itertools
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import jax
import numpy as onp

from phasic.substrates.jax import graphs

jax.config.update("jax_enable_x64", True)

ABSORBED = graphs.ABSORBED


def chain(order, rate, discrete=False):
  """A chain through states, each left at a rate."""
  after = dict(itertools.pairwise(order))
  return graphs.Graph.from_transitions(
    lambda state: [(after.get(state, ABSORBED), {"a": rate})],
    order[0],
    params=("a",),
    discrete=discrete,
  )


class GraphTest(parameterized.TestCase):
  @parameterized.parameters(False, True)
  def test_one_compilation_for_graphs_of_one_size(self, discrete):
    traced = []

    @jax.jit
    def values(graph, params):
      traced.append(graph)
      return graph.edge_values(params), graph.initial_probs(params)

    for graph, rate in (
      (chain("abc", 0.25, discrete), 0.25),
      (chain((7, 9, 8), 0.5, discrete), 0.5),
    ):
      found, alpha = values(graph, onp.asarray([1.0]))
      onp.testing.assert_array_equal(found, onp.full(3, rate))
      onp.testing.assert_array_equal(alpha, [1.0, 0.0, 0.0])
    self.assertLen(traced, 1)
    with self.assertRaisesRegex(ValueError, "has no states"):
      _ = traced[0].states

  def test_leaves(self):
    graph = chain("abc", 0.5)
    leaves, structure = jax.tree.flatten(graph)
    self.assertEqual(
      [(leaf.shape, leaf.dtype.name) for leaf in leaves],
      [
        *[((3,), "int32")] * 2,
        *[((3,), "float64"), ((3, 1), "float64")],
        *[((4,), "float64"), ((4, 1), "float64")],
      ],
    )
    rebuilt = jax.tree.unflatten(structure, leaves)
    self.assertEqual(repr(rebuilt), repr(graph))
    self.assertNotEqual(structure, jax.tree.structure(chain("ab", 0.5)))
    self.assertNotEqual(structure, jax.tree.structure(chain("abc", 0.5, True)))
    paths = jax.tree_util.tree_leaves_with_path(graph)
    self.assertEqual(jax.tree_util.keystr(paths[0][0]), ".sources")
    repr(jax.tree.map(lambda leaf: None, graph))

  def test_copies_keep_the_states(self):
    graph = chain("abc", 0.5)
    for other in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
      self.assertEqual(other.states, graph.states)

  def test_traced(self):
    graph = chain("abc", 0.5)

    def build(rate):
      chain("abc", rate)

    with self.assertRaisesRegex(TypeError, "not a number; .* as edge_values="):
      jax.jit(build)(0.5)
    with self.assertRaisesRegex(TypeError, "initial_probs is traced"):
      jax.jit(lambda x: graphs.Graph.from_matrices(x, [[-1.0]]))(onp.ones(1))
    for method in ("to_json", "content_hash", "describe", "plot"):
      with self.assertRaisesRegex(ValueError, "the graph is traced"):
        jax.jit(lambda graph, name=method: getattr(graph, name)())(graph)

  def test_transformations_say_what_is_traced(self):
    graph = chain("abc", 0.5)
    params = {"a": 2.0}
    rewards = onp.ones(3)

    for function, name in (
      (lambda x: graphs.with_event_counts(graph, x, rewards, params), "rate"),
      (
        lambda x: graphs.with_event_counts(graph, 1.0, [x] * 3, params),
        "rewards",
      ),
      (lambda x: graphs.with_event_counts(graph, 1.0, None, [x]), "params"),
      (lambda x: graphs.embedded_jump_chain(graph, {"a": x}), r"params\['a'\]"),
    ):
      with self.assertRaisesRegex(TypeError, f"^{name} is traced: .* outside"):
        jax.jit(function)(1.0)
    # Nothing is traced here, but array functions would make tracers.
    jax.jit(lambda: len(graphs.embedded_jump_chain(graph, params).rewards))()

  def test_derivatives(self):
    graph = chain("abc", 0.5)

    def total(graph, params):
      return graph.edge_values(params).sum()

    slope = jax.grad(total, argnums=1)(graph, onp.asarray([2.0]))
    onp.testing.assert_allclose(slope, [1.5])


if __name__ == "__main__":
  absltest.main()
