"""Pages before Sphinx and after: slowness, links, downloads."""

import json
import pathlib

from absl.testing import absltest

from tools.site import downloads
from tools.site import repository
from tools.site import slow_pages


class PagesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.docs = self.root / "docs"
    (self.docs / "how-to").mkdir(parents=True)

  def _write(self, *pages, text=""):
    for page in pages:
      (self.docs / page).write_text(text)

  def test_slow_pages(self):
    for header in ("phasic: {slow: true}", "phasic:\n  slow: true"):
      self._write("how-to/one.md", text=f"---\n{header}\n---\n# One\n")
      self.assertEqual(slow_pages.slow_pages(self.docs), ["how-to/one.md"])
    for text in ("# One\n", "---\nphasic: {slow: false}\n---\n"):
      self._write("how-to/one.md", text=text)
      self.assertEmpty(slow_pages.slow_pages(self.docs))

  def test_links(self):
    (self.root / "CHANGELOG.md").touch()
    folder = self.docs / "how-to"
    for target, found in (
      ("../../CHANGELOG.md#new", "CHANGELOG.md"),
      ("CHANGELOG.md", "CHANGELOG.md"),
      ("../how-to", "docs/how-to"),
      ("missing.md", None),
      ("https://example.org", None),
      ("#here", None),
    ):
      self.assertEqual(repository.find(self.root, folder, target), found)

  def test_notebooks_stand_alone(self):
    text = (
      "Fit by {py:obj}`phasic.inference.fit_mle`, see [fits](../fitting.md#data)\n"
      "and [others](https://example.org). ![Picture](here.svg)\n"
    )
    code = 'read("../../examples/data/veterans.csv")\nread("../other.csv")'
    self.assertEqual(downloads.data_files(code), ["examples/data/veterans.csv"])
    cells = [
      {"cell_type": "markdown", "source": text.splitlines(keepends=True)},
      {"cell_type": "code", "source": code.splitlines(keepends=True)},
    ]
    notebook = json.loads(downloads.portable(json.dumps({"cells": cells})))
    self.assertEqual(
      ["".join(cell["source"]) for cell in notebook["cells"]],
      [
        "*This notebook reads `veterans.csv` from its own folder.*\n",
        "Fit by `phasic.inference.fit_mle`, see fits\n"
        "and [others](https://example.org). ![Picture](here.svg)\n",
        'read("veterans.csv")\nread("../other.csv")',
      ],
    )


if __name__ == "__main__":
  absltest.main()
