"""The comparison with peers: its processes, its checks and its page."""

import ast
import pathlib
import types

from absl.testing import absltest
from absl.testing import parameterized

from benchmarks.peers import cases
from benchmarks.peers import client
from benchmarks.peers import comparisons
from benchmarks.peers import measure
from benchmarks.peers import panel_cases
from benchmarks.peers import worker

_TIMES = [0.5, 1.0, 1.5]
_CASE = comparisons.Case(
  "density", "SciPy", "density", "density", {}, reason="It is a test."
)


def _unavailable():
  raise NotImplementedError("no derivatives")


def _counted():
  calls = iter(range(10**9))
  return lambda: next(calls)


_ROWS = types.SimpleNamespace(
  counted=_counted,
  pair=lambda x: (lambda: None, lambda: [x, [x]]),
  broken=lambda: 1 / 0,
  unavailable=_unavailable,
)


class WorkerTest(absltest.TestCase):
  def test_values_are_of_the_first_call(self):
    answers = worker.Answers(_ROWS)
    for _ in range(2):
      answer = answers.answer({"row": "counted", "repeats": 0})
      self.assertEqual(answer, {"values": 0.0, "seconds": []})
      answer = answers.answer({"row": "counted", "repeats": 3})
      self.assertLen(answer["seconds"], 3)
      self.assertGreater(min(answer["seconds"]), 0.0)

  def test_values_may_be_computed_by_a_function_of_their_own(self):
    request = {"row": "pair", "arguments": {"x": 2}, "repeats": 0}
    answer = worker.Answers(_ROWS).answer(request)
    self.assertEqual(answer["values"], [2.0, [2.0]])

  def test_what_cannot_be_computed_has_a_reason(self):
    answers = worker.Answers(_ROWS)
    self.assertEqual(
      answers.answer({"row": "unavailable"}), {"unavailable": "no derivatives"}
    )
    self.assertIn("ZeroDivision", answers.answer({"row": "broken"})["error"])


class ProcessTest(absltest.TestCase):
  def test_two_ways_to_a_density_agree(self):
    arguments = {"lineages": 4, "times": _TIMES}
    with (
      client.Worker("rows_phasic") as ours,
      client.Worker("rows_scipy") as peer,
    ):
      row = measure.compare(
        _CASE._replace(arguments=arguments), ours, peer, repeats=1
      )
      self.assertGreater(row.ratio(), 0.0)
      self.assertEqual(row.reason, _CASE.reason)
      with self.assertRaisesRegex(RuntimeError, "no_such_row"):
        peer.values("no_such_row", {})

  def test_values_that_differ_are_an_error(self):
    arguments = {"lineages": 4, "times": _TIMES}
    case = _CASE._replace(peer_row="cdf", arguments=arguments)
    with (
      client.Worker("rows_phasic") as ours,
      self.assertRaisesRegex(measure.Disagreement, "density: phasic and"),
    ):
      measure.compare(case, ours, ours, repeats=1)


class MeasureTest(parameterized.TestCase):
  def test_difference_is_relative_to_the_largest_value_of_an_array(self):
    self.assertEqual(measure.difference([], []), 0.0)
    self.assertEqual(measure.difference([1.0, 4.0], [2.0, 4.0]), 0.25)
    self.assertEqual(
      measure.difference([[1.0, 4.0], [8.0]], [[1.0, 4.0], [4.0]]), 1.0
    )

  @parameterized.parameters(
    ([1.0], [1.0, 2.0]),
    ([[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.0], [1.0]]),
    ([float("nan")], [1.0]),
  )
  def test_values_that_cannot_be_compared(self, values, others):
    with self.assertRaisesRegex(measure.Disagreement, "density, SciPy"):
      measure.check(_CASE, values, others)


class CasesTest(absltest.TestCase):
  def test_rows_exist_and_take_the_arguments(self):
    folder = pathlib.Path(client.__file__).parent
    for section in [*cases.sections(), *panel_cases.sections()]:
      files = [section.rows, section.peer_rows]
      rows = [
        {
          node.name: [argument.arg for argument in node.args.args]
          for node in ast.parse((folder / f"{file}.py").read_text()).body
          if isinstance(node, ast.FunctionDef)
        }
        for file in files
      ]
      for case in section.cases:
        for found, name in zip(rows, (case.row, case.peer_row), strict=True):
          self.assertEqual(found[name], list(case.arguments), case.what)


if __name__ == "__main__":
  absltest.main()
