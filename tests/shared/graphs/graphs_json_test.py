"""Graphs to JSON and back."""

import collections
import json

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import graphs
from tests.helpers import graph_cases

ABSORBED = graphs.ABSORBED
Graph = graphs.Graph

Point = collections.namedtuple("Point", "x y")


class JsonTest(graph_cases.SameGraphCase):
  @parameterized.parameters(
    ({},),
    ({"discrete": True},),
    ({"initial": {"well": {"sick": 1.0}, "ill": {1: 1.0, "sick": -1.0}}},),
  )
  def test_round_trip(self, changes):
    graph = graph_cases.small(**changes)
    again = Graph.from_json(graph.to_json())
    self.assert_same(again, graph)
    self.assert_same(Graph.from_json(graph.to_json().encode()), graph)
    self.assertEqual(again.content_hash(), graph.content_hash())

  def test_states(self):
    order = [Point(1, 2), (3, ("a", None)), 4, 2.5, "x", True, onp.int64(7)]
    after = dict(zip(order, [*order[1:], ABSORBED], strict=True))
    graph = Graph.from_transitions(lambda s: [(after[s], 0.1)], order[0])
    again = Graph.from_json(graph.to_json())
    self.assertEqual(again.states, graph.states)
    self.assertEqual(again.index_of(Point(1, 2)), 0)

  def test_states_that_have_no_json(self):
    graph = Graph.from_transitions(lambda s: [(ABSORBED, 0.1)], frozenset([1]))
    again = Graph.from_json(graph.to_json())
    self.assert_same(again, graph, states=False)
    with self.assertRaisesRegex(ValueError, "has no states"):
      _ = again.states

  @parameterized.named_parameters(
    ("format", {"format": "other"}, "format is 'other'"),
    ("version", {"version": 2}, "version is 2: it must be 1"),
    ("version_bool", {"version": True}, "version is True"),
    ("version_float", {"version": 1.0}, "version is 1.0"),
    ("discrete", {"discrete": 0}, "discrete is 0: it must be true"),
    ("phases", {"num_phases": 3}, "states has 2 entries: it must have 3"),
    ("phases_bool", {"num_phases": True}, "num_phases is True"),
    ("no_phases", {"num_phases": 0}, "num_phases is 0: .* >= 1"),
    ("huge", {"num_phases": 2**40}, "num_phases is 1099511627776"),
    (
      "huge_too",
      {"num_phases": 2**30, "states": None},
      "initial_constants has 3 entries: it must",
    ),
    ("params", {"num_params": 1}, "parameter_names has 2 entries"),
    (
      "params_too",
      {"num_params": 10**9, "parameter_names": None},
      r"coefficients\[0\] has 2 entries",
    ),
    ("name", {"parameter_names": [1, 2]}, r"parameter_names\[0\] is a number"),
    ("cause", {"causes": [1, "a"]}, r"causes .*\[0\] is a number"),
    (
      "no_cause",
      {"causes": []},
      "targets.* = 2: it must be in|causes is empty",
    ),
    ("source", {"sources": [0, 0, 1, 2]}, r"sources\[3\] = 2: it must be in"),
    ("source_sign", {"sources": [-1, 0, 1, 1]}, r"sources\[0\] is -1"),
    ("source_float", {"sources": [0.0, 0, 1, 1]}, r"sources\[0\] is 0.0"),
    ("source_bool", {"sources": [False, 0, 1, 1]}, r"sources\[0\] is False"),
    ("target", {"targets": [1, 2, 0, 4]}, r"targets\[3\] = 4: it must be in"),
    ("target_wide", {"targets": [1, 2, 0, 2**33]}, r"targets\[3\] is"),
    ("order", {"sources": [0, 1, 0, 1]}, "sources must be ascending"),
    ("few_targets", {"targets": [1, 2]}, "targets has 2 entries: .* have 4"),
    ("constant", {"constants": [0.0] * 3}, "constants has 3 entries"),
    ("bool", {"constants": [True] * 4}, r"constants\[0\] is True"),
    ("text", {"constants": ["1"] * 4}, r"constants\[0\] is '1'"),
    ("null", {"constants": None}, "constants is null: it must be an array"),
    ("integer", {"constants": [10**400] * 4}, r"constants\[0\] is 1000"),
    ("rows", {"coefficients": [[0.0, 0.0]]}, "coefficients has 1 entries"),
    ("row", {"coefficients": [1.0] * 4}, r"coefficients\[0\] is a number"),
    ("initial", {"initial_constants": [0.5, 0, 0]}, "sum to 0.5"),
    ("states", {"states": ["well", "well"]}, "states has 'well' 2 times"),
    ("state", {"states": ["well", {}]}, "state {} is a JSON object"),
    ("more", {"comment": "x"}, r"the unknown keys \['comment'\]"),
  )
  def test_refused(self, changes, message):
    found = {**json.loads(graph_cases.small().to_json()), **changes}
    with self.assertRaisesRegex(ValueError, message):
      Graph.from_json(json.dumps(found))

  def test_every_key_is_needed(self):
    found = json.loads(graph_cases.small().to_json())
    for key in found:
      less = {name: x for name, x in found.items() if name != key}
      with self.assertRaisesRegex(ValueError, key):
        Graph.from_json(json.dumps(less))

  @parameterized.parameters(
    ("", "is not JSON"),
    ("[1, 2]", "is an array: it must be an object"),
    ("null", "is null: it must be an object"),
    ('{"format": 1, "format": 2}', "the key 'format' more than once"),
    ("[" * 100_000, "nested too deeply|is not JSON"),
    ("[" + "1" * 10_000 + "]", "digits"),
    (b"\xff\xfe\xfa", "codec can't decode|is not JSON"),
  )
  def test_no_graph(self, text, message):
    with self.assertRaisesRegex(ValueError, message):
      Graph.from_json(text)

  @parameterized.parameters("NaN", "Infinity", "-Infinity", "1e999")
  def test_not_finite(self, number):
    text = graph_cases.small().to_json().replace("0.125", number)
    with self.assertRaisesRegex(ValueError, f"{number} is in|is inf"):
      Graph.from_json(text)

  def test_state_that_is_not_finite(self):
    text = graph_cases.small().to_json().replace('"well"', "1e999")
    with self.assertRaisesRegex(ValueError, "state inf is not finite"):
      Graph.from_json(text)

  def test_no_text(self):
    with self.assertRaisesRegex(TypeError, "text is dict"):
      Graph.from_json({})


if __name__ == "__main__":
  absltest.main()
