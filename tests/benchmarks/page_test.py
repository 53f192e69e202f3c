"""Pages of figures: what runs measured is written, and pages are as written."""

import pathlib
import re
import tempfile

from absl.testing import absltest
from absl.testing import parameterized

from benchmarks import cost_page
from benchmarks import page
from benchmarks import results
from benchmarks import words

_REASON = "A gradient is more work."
_GROUPS = {
  "Densities": (
    results.Row("Erlang: log density", 2e-6, 30e-6, "JAX scan"),
    results.Row("dense: log density", 1e-6, 1.25e-3, "C++", "Never shown."),
  ),
  "Overheads": (
    results.Row("Erlang: gradient", 6e-6, 2e-6, "log density", _REASON),
    results.Row("dense: gradient", 4e-6, 1e-6, "log density", _REASON),
    results.Row("a call", 4e-6, 1e-6, "an empty call"),
  ),
}
_CURVES = (
  results.Curve("n", "times", (1, 2, 4, 8, 16), (1, 2, 4, 8, 16)),
  results.Curve("p", "phases (all)", (1024, 2048), (1e-3, 3e-3)),
  results.Curve("d", "parameters", (1, 2, 4), (2e-6, 2e-6, 2e-6)),
)
_SECONDS = (
  {"value": 1e-6, "gradient": 4e-6, "jvp": 2e-6},
  {"value": 2e-6, "gradient": 6e-6, "jvp": 6e-6},
  {"value": 3e-6, "gradient": 9e-6, "jvp": 3e-6},
)
_COSTS = (
  results.cost("ring", 1000, "1", _SECONDS),
  results.cost("dense", 2, "10", _SECONDS),
  results.cost("ring", 2, "10", [*_SECONDS, dict.fromkeys(_SECONDS[0], 1e-3)]),
)
_PAGES = [(words.BENCHMARKS,), (words.PEERS,), (words.PANEL,), (words.COST,)]


def _written(write, *arguments) -> list[str]:
  """Returns the texts of the files that a function writes."""
  with tempfile.TemporaryDirectory() as folder:
    paths = write(*arguments, pathlib.Path(folder))
    return [path.read_text(encoding="utf-8") for path in paths]


def _page() -> list[str]:
  lists = {"Nothing": {}, "Machine": {"machine": "a machine"}}
  return _written(page.write, words.BENCHMARKS, _GROUPS, lists)


def _page_of_costs() -> list[str]:
  return _written(cost_page.write, _CURVES, _COSTS, {"machine": "a machine"})


def _in_docs(name: str) -> str:
  return pathlib.Path(f"docs/{name}.md").read_text(encoding="utf-8")


class ResultsTest(parameterized.TestCase):
  def test_ratio_is_above_one_where_phasic_is_faster(self):
    faster, slower = (rows[0] for rows in _GROUPS.values())
    self.assertAlmostEqual(faster.ratio(), 15.0)
    self.assertAlmostEqual(slower.ratio(), 1 / 3)

  @parameterized.parameters(
    (12.34, "12.3 s"),
    (0.01234, "12.3 ms"),
    (1.5e-6, "1.5 us"),
    (2e-9, "2 ns"),
  )
  def test_duration(self, seconds, text):
    self.assertEqual(results.duration(seconds), text)

  @parameterized.parameters((0.01234, "0.0123"), (1.0, "1"), (1234.5, "1230"))
  def test_number(self, x, text):
    self.assertEqual(results.number(x), text)

  def test_growth_is_a_power_of_the_size(self):
    self.assertEqual(
      [curve.growth() for curve in _CURVES], ["n^1", "p^1.6", "d^0"]
    )
    self.assertEqual(
      _CURVES[1].sentence(),
      "Cost grows as p^1.6 with phases (all): 1 ms, 3 ms for p = 1,024 and "
      "2,048.",
    )

  def test_cost_has_the_largest_ratios(self):
    cost = _COSTS[0]
    self.assertEqual(cost.last, 2)
    self.assertEqual(str(cost.gradient), "4 at 2^0")
    self.assertEqual(str(cost.jvp), "3 at 2^1")
    self.assertEqual(str(cost.value_rise), "2 at 2^0")
    self.assertEqual(str(cost.gradient_rise), "1.5 at 2^0")


class PageTest(absltest.TestCase):
  def test_page_has_every_line(self):
    text, picture = _page()
    for line in (
      "| Erlang: log density | 2 us | 30 us | JAX scan | 15 |",
      "| dense: log density | 1 us | 1.25 ms | C++ | 1250 |",
      "| Erlang: gradient | 6 us | 2 us | log density | 0.333 |",
      "- machine: a machine",
    ):
      self.assertIn(f"{line}\n", text)
    self.assertNotIn("Nothing", text)
    for title in _GROUPS:
      self.assertIn(title, picture)

  def test_slower_rows_have_their_reasons(self):
    text, _ = _page()
    self.assertIn(f"- Erlang: gradient; dense: gradient. *{_REASON}*\n", text)
    self.assertIn("- a call. *No reason is known.*\n", text)
    self.assertNotIn("Never shown.", text)

  def test_the_picture_comes_first_and_has_words(self):
    text, _ = _page()
    before, _, _ = text.partition("\n## ")
    self.assertRegex(
      before,
      r"!\[How .*\. Densities: 15 to 1250; Overheads: 0\.25 to 0\.333\]"
      r"\(benchmarks\.svg\)",
    )

  def test_page_of_costs_has_every_line(self):
    text, picture = _page_of_costs()
    for line in (
      f"- {_CURVES[1].sentence()}",
      "| 2 | 10 | 1 us | 3 us to 1 ms | 2^2 to 2^3 | 4 | 3 |",
      "| 1,000 | 1 | 1 us | 3 us | 2^2 | 4 | 3 |",
      "- machine: a machine",
    ):
      self.assertIn(f"{line}\n", text)
    for curve in _CURVES:
      self.assertIn(curve.growth(), picture)
    # The steep one is listed twice.
    for cost, count in zip(_COSTS, (1, 1, 2), strict=True):
      self.assertEqual(text.count(" | ".join(cost.cells())), count)

  def test_the_same_figures_give_the_same_files(self):
    self.assertEqual(_page(), _page())
    self.assertEqual(_page_of_costs(), _page_of_costs())


class DocsTest(parameterized.TestCase):
  """The pages are as the programs write them."""

  @parameterized.parameters(*_PAGES)
  def test_words_are_the_programs(self, page_words):
    text = _in_docs(page_words.name)
    self.assertTrue(text.startswith(page_words.introduction))
    self.assertTrue(text.endswith(page_words.method))

  @parameterized.parameters(*_PAGES)
  def test_results_come_first(self, page_words):
    text = _in_docs(page_words.name)
    self.assertLess(text.index("\n!["), text.index("\n## "))
    self.assertLess(text.rindex("\n| "), text.index("\n## Machine"))

  @parameterized.parameters(*_PAGES)
  def test_pages_have_no_goals(self, page_words):
    text = _in_docs(page_words.name)
    found = re.findall(r"(?i)\b(?:floors?|goals?|asked|met)\b", text)
    self.assertEmpty(found)

  @parameterized.parameters(*_PAGES[:2])
  def test_every_slower_row_has_its_sentence(self, page_words):
    text = _in_docs(page_words.name)
    tables = re.findall(r"^\| (.*) \|\n\| ---", text, re.MULTILINE)
    self.assertEqual(set(tables), {" | ".join(results.HEADINGS)})
    rows = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    cells = [row.split(" | ") for row in rows if row not in tables]
    slower = {row[0] for row in cells if row[-1].startswith("0.")}
    reasons = re.findall(r"^- (.*)\. \*(.*\.)\*$", text, re.MULTILINE)
    explained = {what for line, _ in reasons for what in line.split("; ")}
    self.assertEqual(explained, slower)
    self.assertFalse("No reason is known." in text)


if __name__ == "__main__":
  absltest.main()
