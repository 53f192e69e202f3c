"""Links of pages to files of the repository that are outside of `docs`.

Pages link to sources and to documents of the root as they are read in the
repository. On the site a document that has a page becomes a link to that page; a
source becomes a download, which MyST does itself; a folder becomes plain text.
"""

import os
import pathlib
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

# Documents of the root, and their pages.
PAGES = {
  "CHANGELOG.md": "changelog",
  "CONTRIBUTING.md": "contributing",
  "README.md": "index",
  "docs/decisions/README.md": "decisions",
}


def in_repository(
  root: pathlib.Path, folder: pathlib.Path, target: str
) -> str | None:
  """Finds the file or folder that a link of a page means.

  Args:
    root: the root of the repository.
    folder: the folder of the page.
    target: what the link says, with or without an anchor. A page that includes
      a document of the root has links that start at the root.

  Returns:
    A path that starts at the root, or None if nothing is there.
  """
  path = target.partition("#")[0]
  if not path or "://" in path:
    return None
  for start in (folder, root):
    found = pathlib.Path(os.path.normpath(start / path))
    if found.exists() and found.is_relative_to(root):
      return found.relative_to(root).as_posix()
  return None


class RepositoryLinks(SphinxTransform):
  """Redirects the links of a page to files outside of `docs`."""

  default_priority = 200

  def apply(self, **kwargs: Any) -> None:
    """Changes the links of the document."""
    del kwargs
    docs = pathlib.Path(self.env.srcdir)
    folder = docs.joinpath(self.env.docname).parent
    links = [
      *self.document.findall(addnodes.download_reference),
      *self.document.findall(addnodes.pending_xref),
    ]
    for link in links:
      target = str(link["reftarget"])
      if link.get("refdomain") == "doc":
        if target in self.env.found_docs:
          continue
        # MyST takes Markdown outside of `docs` for a page of this name.
        target = f"{target}.md#{link.get('reftargetid') or ''}"
      elif link.get("reftype") != "myst":
        continue
      found = in_repository(docs.parent, folder, target)
      if found is None:
        continue
      if found in PAGES:
        link.replace_self(self._to_page(link, PAGES[found], target))
      elif not isinstance(link, addnodes.download_reference):
        link.replace_self(nodes.inline("", "", *link.children))

  def _to_page(
    self, link: nodes.Element, page: str, target: str
  ) -> addnodes.pending_xref:
    return addnodes.pending_xref(
      "",
      *link.children,
      refdomain="doc",
      reftarget=page,
      reftargetid=target.partition("#")[2] or None,
      refdoc=self.env.docname,
      reftype="myst",
      refexplicit=True,
    )


def setup(app: Sphinx) -> dict[str, bool]:
  """Adds the transform to Sphinx."""
  app.add_transform(RepositoryLinks)
  return {"parallel_read_safe": True, "parallel_write_safe": True}
