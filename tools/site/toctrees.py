"""Tables of contents that may name pages that are not written yet.

An index of a section lists its pages in their order, closed by `*` for those
that it does not name. Sphinx warns of entries without a page; here they are left
out before it reads them.
"""

from __future__ import annotations

import pathlib
import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from sphinx.application import Sphinx
  from sphinx.environment import BuildEnvironment

_TOCTREE = re.compile(r"(?<=^```\{toctree\}\n)(.*?)(?=^```$)", re.M | re.S)
_OPTION = re.compile(r":[a-z]+:")


def without_missing(text: str, docname: str, docs: pathlib.Path) -> str:
  """Leaves out the entries of toctrees that no page belongs to.

  Args:
    text: the text of a page.
    docname: the name of the page.
    docs: the folder of all pages.
  """
  named = {docname}

  def reduced(match: re.Match[str]) -> str:
    lines = match.group(1).splitlines(keepends=True)
    return "".join(line for line in lines if keeps(line.strip()))

  def keeps(entry: str) -> bool:
    if not entry or _OPTION.match(entry):
      return True
    pattern = posixpath.normpath(
      posixpath.join(posixpath.dirname(docname), entry)
    )
    found = {
      path.relative_to(docs).with_suffix("").as_posix()
      for suffix in (".md", ".rst")
      for path in docs.glob(pattern + suffix)
    }
    new = found - named
    named.update(found)
    return bool(new)

  return _TOCTREE.sub(reduced, text)


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
  if posixpath.basename(docname) == "index":
    source[0] = without_missing(source[0], docname, pathlib.Path(app.srcdir))


def _outdated(
  app: Sphinx,
  env: BuildEnvironment,
  added: set[str],
  changed: set[str],
  removed: set[str],
) -> list[str]:
  """Returns the indexes, if there are other pages than at the last build."""
  del app, changed
  if not added | removed:
    return []
  return [
    name for name in env.found_docs if posixpath.basename(name) == "index"
  ]


def setup(app: Sphinx) -> dict[str, bool]:
  """Adds the reader to Sphinx."""
  app.connect("source-read", _read)
  app.connect("env-get-outdated", _outdated)
  return {"parallel_read_safe": True, "parallel_write_safe": True}
