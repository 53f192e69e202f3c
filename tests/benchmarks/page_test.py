"""The benchmark page says what a run has found."""

import pathlib
import tempfile

from absl.testing import absltest
from absl.testing import parameterized

from benchmarks import page
from benchmarks import results

_ROWS = (
  results.Row(
    "Erlang: log f",
    "2 us",
    "30 us",
    15.0,
    floor=20.0,
    goal=40.0,
    reference_name="JAX scan",
  ),
  results.Row("a call", "3 us", "2 us", 1.5, floor=2.0, goal=1.2, at_most=True),
  results.Row("memory", "12 MB", "", 12.0, unit=" MB", at_most=True),
)
_CURVES = (
  results.Curve("n", "times", 1.0, (1, 2, 4, 8, 16), (1, 2, 4, 8, 16)),
  results.Curve("p", "phases", 1.0, (2, 4, 8), (1e-3, 4e-3, 16e-3)),
  results.Curve("d", "parameters", 0.0, (1, 2, 4), (2e-6, 2e-6, 2e-6)),
)
_REPORT = results.Report({"machine": "a machine"}, _ROWS, _CURVES)


def _written() -> tuple[str, str]:
  """The texts of the page and of its plots."""
  with tempfile.TemporaryDirectory() as folder:
    paths = page.write(_REPORT, pathlib.Path(folder))
    return tuple(path.read_text(encoding="utf-8") for path in paths)


class RowTest(parameterized.TestCase):
  @parameterized.parameters(
    (25.0, False, "no"),
    (30.0, False, "floor"),
    (59.0, False, "floor"),
    (60.0, False, "goal"),
    (70.0, True, "no"),
    (60.0, True, "floor"),
    (31.0, True, "floor"),
    (30.0, True, "goal"),
  )
  def test_verdict(self, ratio, at_most, verdict):
    floor, goal = (60.0, 30.0) if at_most else (30.0, 60.0)
    row = results.Row(
      "", "", "", ratio, floor=floor, goal=goal, at_most=at_most
    )
    self.assertEqual(row.verdict(), verdict)

  def test_floors_of_speed_are_lower_without_avx512(self):
    least, most, free = _ROWS
    self.assertEqual(least.for_vectors(8), least)
    self.assertAlmostEqual(least.for_vectors(4).floor, 14.0)
    self.assertEqual(least.verdict(), "no")
    self.assertEqual(least.for_vectors(4).verdict(), "floor")
    self.assertEqual(most.for_vectors(4), most)
    self.assertEqual(free.for_vectors(4), free)

  def test_nothing_is_asked_for(self):
    self.assertEqual(_ROWS[2].verdict(), "")

  @parameterized.parameters(
    (12.34, "12.3 s"),
    (0.01234, "12.3 ms"),
    (1.5e-6, "1.5 us"),
    (2e-9, "2 ns"),
  )
  def test_duration(self, seconds, text):
    self.assertEqual(results.duration(seconds), text)


class CurveTest(absltest.TestCase):
  def test_exponent(self):
    exponents = [curve.exponent() for curve in _CURVES]
    for found, expected in zip(exponents, (1.0, 2.0, 0.0)):
      self.assertAlmostEqual(found, expected)
    self.assertEqual(
      [curve.cells()[-1] for curve in _CURVES], ["yes", "no", "yes"]
    )


class PageTest(absltest.TestCase):
  def test_page_has_every_line(self):
    text, plot = _written()
    self.assertIn("| machine | a machine |", text)
    self.assertIn(
      "| Erlang: log f | 2 us | 30 us | JAX scan | 15x | 20x | 40x | no |",
      text,
    )
    self.assertIn(
      "| a call | 3 us | 2 us |  | 1.5x | 2x | 1.2x | floor |", text
    )
    self.assertIn("| memory | 12 MB |  |  | 12 MB |  |  |  |", text)
    self.assertIn(
      "| p | phases | 2, 4, 8 | 1 ms, 4 ms, 16 ms | 2.00 | 1 |", text
    )
    self.assertIn(f"]({page.PLOT})", text)
    for curve in _CURVES:
      self.assertIn(f"{curve.size}: {curve.meaning}", plot)

  def test_the_same_figures_give_the_same_files(self):
    self.assertEqual(_written(), _written())


if __name__ == "__main__":
  absltest.main()
