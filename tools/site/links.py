"""Links of pages to files of the repository that are outside of `docs`.

Pages link to sources and to documents of the root as they are read in the
repository. On the site a document that has a page becomes a link to that page; a
source becomes a download, which MyST does itself; a folder becomes plain text.
"""

import pathlib
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from tools.site import repository


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
        target = f"{docs / target}.md#{link.get('reftargetid') or ''}"
      elif link.get("reftype") != "myst":
        continue
      found = repository.find(docs.parent, folder, target)
      if found is None:
        continue
      if found in repository.PAGES:
        link.replace_self(self._to_page(link, repository.PAGES[found], target))
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
