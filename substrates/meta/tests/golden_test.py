"""Tests of the rewriter's output against the golden files."""

from __future__ import annotations

import ast

from absl.testing import absltest
from absl.testing import parameterized

from substrates.meta import goldens
from substrates.meta import late
from substrates.meta import paths
from substrates.meta import tables


class GoldenTest(parameterized.TestCase):
  """Tests that outputs equal golden files and keep line numbers."""

  def test_outputs_equal_golden_files(self):
    expected, actual = goldens.expected(), goldens.actual()
    hint = "run `make golden`"
    self.assertCountEqual(expected, actual, hint)
    for name, text in actual.items():
      with self.subTest(name):
        self.assertMultiLineEqual(expected[name], text, hint)

  @parameterized.parameters(*tables.SUBSTRATES)
  def test_lines_and_comments_are_kept(self, substrate):
    outputs = goldens.outputs(substrate, goldens.sources(substrate))
    for name in goldens.sources(substrate):
      if late.is_late(name):
        continue  # Imports move into `if typing.TYPE_CHECKING`.
      with self.subTest(name):
        before = (goldens.SOURCE / f"{name}.txt").read_text(encoding="utf-8")
        after = outputs[paths.output_path(name, substrate)]
        kept = after.split("\n# Generated for")[0]
        self.assertEqual(before.count("\n"), kept.count("\n"))
        for old, new in zip(before.split("\n"), kept.split("\n"), strict=True):
          if "#" in old and new:
            self.assertEqual(old[old.index("#") :], new[new.index("#") :])

  @parameterized.parameters(*tables.SUBSTRATES)
  def test_public_packages_import_late(self, substrate):
    name = "phasic/distributions/__init__.py"
    text = goldens.outputs(substrate, [name])[
      paths.output_path(name, substrate)
    ]
    tree = ast.parse(text)
    eager = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    self.assertEqual([node.names[0].name for node in eager], ["late_names"])
    source = (goldens.SOURCE / f"{name}.txt").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
      if isinstance(node, ast.ImportFrom):
        for alias in node.names:
          self.assertIn(f'"{alias.asname or alias.name}": (', text)


if __name__ == "__main__":
  absltest.main()
