"""Graphs to JSON and back."""

import collections
import json
import sys
import time

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
    (b"\xff\xfe\xfa", "the text is not JSON: .* codec can't decode"),
  )
  def test_no_graph(self, text, message):
    with self.assertRaisesRegex(ValueError, message):
      Graph.from_json(text)

  def test_large_integers(self):
    largest = int(sys.float_info.max)
    for number in (2**1023, largest):
      text = graph_cases.small().to_json().replace("0.125", str(number))
      (constant,) = (
        edge.constant
        for edge in Graph.from_json(text).edges
        if edge.constant > 1.0
      )
      self.assertEqual(constant, float(number))
      text = text.replace(str(number), str(largest + 1))
      with self.assertRaisesRegex(ValueError, "it must be a finite number"):
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

  @parameterized.parameters(300, 500, 900, 3000)
  def test_deep_states(self, depth):
    state = "[" * depth + "]" * depth
    text = graph_cases.small().to_json().replace('"well"', state)
    try:  # How deep is too deep depends on the version of Python.
      graph = Graph.from_json(text)
    except ValueError as error:
      self.assertRegex(str(error), "nested too deeply")
    else:
      self.assertLen(graph.states, 2)

  @parameterized.parameters((1000, False), (1001, True))
  def test_states_with_equal_hashes(self, count, refused):
    step = (1 << 61) - 1  # Python's modulus: multiples have the hash 0.
    graph = Graph.from_transitions(
      lambda s: [(s + 1 if s + 1 < count else ABSORBED, 1.0)], 0
    )
    found = json.loads(graph.to_json())
    found["states"] = [step * i for i in range(count)]
    if refused:
      with self.assertRaisesRegex(ValueError, "1001 entries with equal hashes"):
        Graph.from_json(json.dumps(found))
    else:
      again = Graph.from_json(json.dumps(found))
      self.assertEqual(again.index_of(3 * step), 3)

  @parameterized.parameters("causes", "parameter_names")
  def test_work_is_in_proportion_to_the_text(self, name):
    count = 50_000
    names = [f"name {i}" for i in range(count)]
    if name == "causes":
      graph = Graph.from_edges(
        [(0, ABSORBED(cause), 1.0) for cause in names[:2]], 0
      )
      found = json.loads(graph.to_json()) | {
        "causes": names,
        "sources": [0] * count,
        "targets": [*range(1, count + 1)],
        "constants": [1.0] * count,
        "coefficients": [[]] * count,
      }
    else:
      graph = Graph.from_edges([(0, ABSORBED, {"a": 1.0})], 0, ("a",))
      row = [1.0] + [0.0] * (count - 1)
      found = json.loads(graph.to_json()) | {
        "num_params": count,
        "parameter_names": names,
        "coefficients": [row],
        "initial_coefficients": [[0.0] * count] * 2,
      }
    start = time.monotonic()
    again = Graph.from_json(json.dumps(found))
    # To compare each name with all others took more than a minute.
    self.assertLess(time.monotonic() - start, 20.0)
    self.assertEqual(list(getattr(again, name)), names)

  def test_no_text(self):
    with self.assertRaisesRegex(TypeError, "text is dict"):
      Graph.from_json({})


if __name__ == "__main__":
  absltest.main()
