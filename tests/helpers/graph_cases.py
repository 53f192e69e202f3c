"""Graphs for several tests."""

import numpy as onp

from phasic import graphs
from tests.helpers import test_case

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph


def one_edge(weight, target=ABSORBED):
  """Returns a function of transitions with one edge."""
  return lambda state: [(target, weight)]


def illness(state):
  """Builds a model of illness and two causes of death."""
  if state == "well":
    yield "ill", {"sick": 1.0}
    yield ABSORBED("age"), 0.125
  else:
    yield "well", {"heal": 2.0}
    yield ABSORBED("illness"), {"heal": -0.5, 1: 1.0}


def small(**changes):
  """Builds a small graph with all features."""
  arguments = {
    "initial": {"well": 0.75, ABSORBED: 0.25},
    "params": ("sick", "heal"),
    **changes,
  }
  return Graph.from_transitions(illness, **arguments)


class SameGraphCase(test_case.TestCase):
  def assert_same(self, actual, expected, states=True):
    """Asserts that two graphs agree, except in notes."""
    for name, x in expected._parts().items():
      y = actual._parts()[name]
      if isinstance(x, onp.ndarray):
        self.assertEqual(y.dtype, x.dtype)
        onp.testing.assert_array_equal(y, x)
      else:
        self.assertEqual(y, x)
    if states:
      self.assertEqual(actual.states, expected.states)
