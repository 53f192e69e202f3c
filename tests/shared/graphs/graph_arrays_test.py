"""Mistakes in a graph's arrays and causes."""

import math
import types

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import graphs
from tests.helpers import test_case

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph


class AbsorbedTest(test_case.TestCase):
  def test_equality(self):
    self.assertEqual(ABSORBED("a"), ABSORBED("a"))
    self.assertNotEqual(ABSORBED("a"), ABSORBED)
    self.assertNotEqual(ABSORBED, None)
    self.assertLen({ABSORBED, ABSORBED("a"), ABSORBED("a")}, 2)
    self.assertEqual(repr(ABSORBED("a")), "ABSORBED('a')")

  @parameterized.parameters((None,), ("",), (3,))
  def test_cause(self, cause):
    with self.assertRaisesRegex(TypeError, "cause is .*must be a string"):
      ABSORBED(cause)

  def test_one_cause_only(self):
    with self.assertRaisesRegex(TypeError, "already has a cause"):
      ABSORBED("a")("b")


class ArraysTest(test_case.TestCase):
  """Tests the checks of the constructor."""

  good = types.MappingProxyType(
    {
      "sources": [0, 0, 1],
      "targets": [1, 2, 2],
      "constants": [1.0, 0.5, 1.0],
      "coefficients": onp.zeros((3, 0)),
      "initial_constants": [1.0, 0.0, 0.0],
      "initial_coefficients": onp.zeros((3, 0)),
    }
  )

  @parameterized.named_parameters(
    ("float_index", {"sources": [0.0, 0.0, 1.0]}, TypeError, "sources has dty"),
    ("wide", {"targets": [1, 2, 2**40]}, ValueError, "fit into 32 bits"),
    ("bool", {"constants": [True] * 3}, TypeError, "constants has dtype bool"),
    (
      "negative_index",
      {"sources": [-1, 0, 1]},
      ValueError,
      r"sources\[0\] = -1",
    ),
    (
      "source",
      {"sources": [0, 0, 2]},
      ValueError,
      r"sources\[2\] = 2: .*2 pha",
    ),
    (
      "target",
      {"targets": [1, 2, 3]},
      ValueError,
      r"targets\[2\] = 3: .*1 cau",
    ),
    ("order", {"sources": [1, 0, 1]}, ValueError, "sources must be ascending"),
    ("loop", {"targets": [0, 2, 2]}, ValueError, "from a state to itself"),
    ("parallel", {"targets": [2, 2, 2]}, ValueError, "edge 1 .*parallel"),
    (
      "ragged",
      {"coefficients": [[], [1], []]},
      ValueError,
      "coefficients is ragged",
    ),
    ("complex", {"constants": [1j] * 3}, TypeError, "constants has dtype comp"),
    (
      "empty",
      {"sources": onp.zeros(0, int)},
      ValueError,
      "the graph has no edges",
    ),
    ("sizes", {"targets": [1, 2]}, ValueError, r"targets have shape \(2,\)"),
    ("rank", {"sources": [[0, 0, 1]]}, ValueError, "sources have shape"),
    (
      "table",
      {"coefficients": onp.zeros(3)},
      ValueError,
      r"they must be \(m, d",
    ),
    ("no_phase", {"initial_constants": [1.0]}, ValueError, r"\(p \+ 1,\)"),
    (
      "nan",
      {"constants": [1.0, math.nan, 1.0]},
      ValueError,
      "edge 1 from phas",
    ),
    ("negative", {"constants": [1.0, 0.5, -1.0]}, ValueError, "is negative"),
    (
      "initial",
      {"initial_constants": [-1.0, 1, 1]},
      ValueError,
      "initial state",
    ),
    ("mass", {"initial_constants": [1.0, 1, 0]}, ValueError, "sum to 2.0"),
    (
      "names",
      {"parameter_names": ("a",)},
      ValueError,
      "one for each of 0 parameters",
    ),
    ("no_cause", {"causes": ()}, ValueError, "causes is empty"),
    (
      "cause",
      {"causes": (3,)},
      TypeError,
      "cause is 3: it must be None or a string",
    ),
    ("causes", {"causes": ("a", "a")}, ValueError, "'a' more than once"),
    ("discrete", {"discrete": 1}, TypeError, "discrete is 1"),
    ("above", {"discrete": True}, ValueError, "from phase 0 sum to 1.5"),
    ("states", {"states": (1,)}, ValueError, "states has 1 entries"),
    ("twice", {"states": (1, 1)}, ValueError, "states has 1 2 times"),
  )
  def test_constructor(self, changed, error, message):
    Graph(**self.good)
    with self.assertRaisesRegex(error, message):
      Graph(**{**self.good, **changed})

  def test_arrays_stay_as_they_were_checked(self):
    constants = onp.asarray([1.0, 0.5, 1.0])
    graph = Graph(**{**self.good, "constants": constants})
    constants[0] = -1.0
    self.assert_close(graph.constants, [1.0, 0.5, 1.0])
    with self.assertRaisesRegex(ValueError, "read-only"):
      graph.constants[0] = -1.0


if __name__ == "__main__":
  absltest.main()
