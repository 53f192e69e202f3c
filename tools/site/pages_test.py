"""What is read of pages before Sphinx: contents, slowness, links."""

import pathlib

from absl.testing import absltest

from tools.site import repository
from tools.site import slow_pages
from tools.site import toctrees

_INDEX = """\
# Title

```{toctree}
:maxdepth: 1

one
two
*
```
"""


class PagesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.docs = self.root / "docs"
    (self.docs / "how-to").mkdir(parents=True)

  def _write(self, *pages, text=""):
    for page in pages:
      (self.docs / page).write_text(text)

  def _entries(self):
    text = toctrees.without_missing(_INDEX, "how-to/index", self.docs)
    return text.splitlines()[5:-1]

  def test_entries_without_a_page_are_left_out(self):
    self._write("how-to/index.md", "how-to/two.md")
    self.assertEqual(self._entries(), ["two"])

  def test_pattern_stays_if_it_finds_others(self):
    self._write("how-to/index.md", "how-to/one.md", "how-to/three.md")
    self.assertEqual(self._entries(), ["one", "*"])

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


if __name__ == "__main__":
  absltest.main()
