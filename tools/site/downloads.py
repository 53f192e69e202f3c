"""Downloads of pages with cells: the notebook, and the data that it reads.

MyST-NB writes a notebook of each page, with outputs. Here it is made fit for
other folders: it reads data from its own folder, and its text has neither roles
nor links to other pages. A line below the title of the page leads to the notebook
and to the data. The page shows the names of data alone, too.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from docutils import nodes
  from sphinx.application import Sphinx

_DATA = re.compile(r"(?:\.\./)+(examples/data/([\w.-]+))")
_ROLE = re.compile(r"\{[\w:-]+\}(`[^`]+`)")
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!https?:)[^)]*\)")


def data_files(code: str) -> list[str]:
  """Returns the files of `examples/data` that code names, from the root."""
  return list(dict.fromkeys(path for path, _ in _DATA.findall(code)))


def beside(code: str) -> str:
  """Returns code that has data in its own folder."""
  return _DATA.sub(r"\2", code)


def portable(notebook: str) -> str:
  """Returns the text of a notebook that can be read and run in any folder."""
  content = json.loads(notebook)
  code = ""
  for cell in content["cells"]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":
      code += source + "\n"
      source = beside(source)
    elif cell["cell_type"] == "markdown":
      source = _LINK.sub(r"\1", _ROLE.sub(r"\1", source))
    cell["source"] = source.splitlines(keepends=True)
  if files := data_files(code):
    names = ", ".join(f"`{pathlib.Path(path).name}`" for path in files)
    text = f"*This notebook reads {names} from its own folder.*\n"
    note = {"cell_type": "markdown", "id": "data", "metadata": {}}
    content["cells"].insert(0, {**note, "source": [text]})
  return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _add_downloads(app: Sphinx, doctree: nodes.document) -> None:
  from docutils import nodes
  from sphinx import addnodes

  page = app.env.docname
  blocks: list[nodes.literal_block] = [
    block
    for cell in doctree.findall(nodes.container)
    if cell.get("nb_element") == "cell_code_source"
    for block in cell.findall(nodes.literal_block)
  ]
  title = next(iter(doctree.findall(nodes.title)), None)
  if page == app.config.root_doc or title is None or not blocks:
    return
  if any("../" in beside(block.astext()) for block in blocks):
    return  # It reads other files of the repository.

  notebook = pathlib.Path(app.env.mystnb_config.output_folder, f"{page}.ipynb")
  notebook.write_text(
    portable(notebook.read_text(encoding="utf-8")), encoding="utf-8"
  )
  root = pathlib.Path(app.srcdir).parent
  data = data_files("\n".join(block.astext() for block in blocks))
  for block in blocks:
    block.rawsource = beside(block.astext())
    block[:] = [nodes.Text(block.rawsource)]

  line = nodes.paragraph("", "Download: ")
  for place, file in enumerate([notebook, *(root / path for path in data)]):
    target = "/" + os.path.relpath(file, app.srcdir)
    link = addnodes.download_reference("", reftarget=target, refdoc=page)
    link += nodes.literal("", file.name, classes=["xref", "download"])
    line += [nodes.Text(", " if place else ""), link]
  title.parent.insert(title.parent.index(title) + 1, line)


def setup(app: Sphinx) -> dict[str, Any]:
  """Changes pages once they are read, before their downloads are collected."""
  app.connect("doctree-read", _add_downloads, priority=100)
  return {"parallel_read_safe": True, "parallel_write_safe": True}
