"""Graphs that are shared by three substrates."""

from absl.testing import absltest
import jax
import numpy as onp

from phasic.substrates.jax import graphs as in_jax
from phasic.substrates.numpy import graphs as in_numpy
from phasic.substrates.tf import graphs as in_tf

jax.config.update("jax_enable_x64", True)

SUBSTRATES = (in_numpy, in_jax, in_tf)


def transitions(state):
  """Yields transitions with NumPy's ABSORBED, in every substrate."""
  absorbed = in_numpy.ABSORBED
  if state == "up":
    yield "down", {"wear": 0.25, 1: 0.125}
    yield absorbed("scrap"), {"wear": 1.0}
  else:
    yield "up", 3.0
    yield absorbed, {"wear": -0.5, 1: 1.0}


def graphs():
  return [
    ph.Graph.from_transitions(transitions, "up", params=("wear",))
    for ph in SUBSTRATES
  ]


class CrossTest(absltest.TestCase):
  def test_hashes_and_texts(self):
    first, *others = graphs()
    self.assertEqual(first.causes, ("scrap", None))
    for graph in others:
      self.assertEqual(graph.content_hash(), first.content_hash())
      self.assertEqual(graph.to_json(), first.to_json())
      again = type(graph).from_json(first.to_json())
      self.assertEqual(again.content_hash(), first.content_hash())
      self.assertEqual(
        graph.edges, type(graph).from_json(first.to_json()).edges
      )

  def test_weights(self):
    first, *others = (graph.edge_values([0.7]) for graph in graphs())
    for values in others:
      onp.testing.assert_allclose(onp.asarray(values), first, rtol=1e-13)

  def test_absorbed(self):
    for ph in SUBSTRATES:
      absorbed = ph.ABSORBED("a")
      self.assertEqual(absorbed, in_numpy.ABSORBED("a"))
      self.assertEqual(hash(absorbed), hash(in_numpy.ABSORBED("a")))


if __name__ == "__main__":
  absltest.main()
