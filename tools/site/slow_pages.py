"""Pages that take long: `phasic: {slow: true}` in their front matter.

With PHASIC_SITE_QUICK set they are built without running their cells, so that
links to them hold. Their kernelspec needs `language: python`, by which unexecuted
cells are colored.
"""

from __future__ import annotations

import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from sphinx.application import Sphinx


_HEADER = re.compile(r"\A---\n(.*?)^---$", re.MULTILINE | re.DOTALL)
_SLOW = re.compile(r"^phasic:\s*(?:\{\s*|\n\s+)slow:\s*true\b", re.MULTILINE)


def is_slow(text: str) -> bool:
  """Returns whether the front matter of a page says that the page is slow."""
  header = _HEADER.match(text)
  return header is not None and _SLOW.search(header.group(1)) is not None


def slow_pages(docs: pathlib.Path) -> list[str]:
  """Returns the slow pages of a folder, relative to it."""
  return sorted(
    path.relative_to(docs).as_posix()
    for path in docs.glob("*/*.md")
    if is_slow(path.read_text(encoding="utf-8"))
  )


def _exclude(app: Sphinx, config: Any) -> None:
  if os.environ.get("PHASIC_SITE_QUICK"):
    config.nb_execution_excludepatterns = [
      *config.nb_execution_excludepatterns,
      *slow_pages(pathlib.Path(app.srcdir)),
    ]


def setup(app: Sphinx) -> dict[str, bool]:
  """Adds the patterns to the settings of MyST-NB."""
  app.connect("config-inited", _exclude, priority=100)
  return {"parallel_read_safe": True, "parallel_write_safe": True}
