"""Pages before Sphinx and after: links, downloads."""

import json
import pathlib

from absl.testing import absltest

from tools.site import downloads
from tools.site import repository


class PagesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.docs = self.root / "docs"
    (self.docs / "how-to").mkdir(parents=True)

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
