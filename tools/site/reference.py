"""Generates the reference at build: a page for each public class and function.

The objects are those of the NumPy substrate, or of JAX where only that has them,
under short names: `phasic.distributions.PhaseType`.
"""

import functools
import inspect
import pathlib
import sys
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import inspect as sphinx_inspect

from tools.site import annotations
from tools.site import docstrings
from tools.site import names
from tools.site import reference_pages

GENERATED = "reference/generated"
# The prefix of the names under which classes are defined.
_DEFINED = "phasic.substrates."


def alias_modules() -> None:
  """Makes the public modules importable by their short names."""
  root = sys.modules["phasic"]
  for name, of_substrate in names.short_modules().items():
    module = next(iter(of_substrate.values()))
    parent, _, last = name.rpartition(".")
    sys.modules[name] = module
    if parent == "phasic":
      setattr(root, last, module)


def write_pages(folder: pathlib.Path) -> None:
  """Writes the pages that differ from what is there, and deletes others."""
  folder.mkdir(parents=True, exist_ok=True)
  public = names.public_names()
  pages = {name.page: reference_pages.page(name) for name in public}
  for module in {name.module for name in public}:
    listed = [name for name in public if name.module == module]
    pages[module] = reference_pages.module_page(module, listed)
  for path in folder.glob("*.rst"):
    if path.stem not in pages:
      path.unlink()
  for page, text in pages.items():
    path = folder / f"{page}.rst"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
      path.write_text(text, encoding="utf-8")


def _generate(app: Sphinx) -> None:
  import phasic  # noqa: F401

  alias_modules()
  for name in names.public_names():
    if name.kind == "class":
      for _, member, _ in names.members(name.value):
        annotations.keep_type(member)
  write_pages(pathlib.Path(app.srcdir, GENERATED))


def _signature(
  app: Sphinx,
  what: str,
  name: str,
  value: Any,
  options: Any,
  signature: str | None,
  returned: str | None,
) -> tuple[str, str | None] | None:
  """Returns parameters and result with types as the source writes them."""
  del app, name, options, returned
  if signature is None:
    return None
  try:
    found = inspect.signature(value)
  except (TypeError, ValueError):
    return None
  parameters = [
    parameter
    for parameter in found.parameters.values()
    if not parameter.name.startswith("_")  # private fields
  ]
  if what == "method" and parameters and parameters[0].name in ("self", "cls"):
    parameters = parameters[1:]
  result = found.return_annotation
  if what in ("class", "exception"):
    result = inspect.Signature.empty
  shown = sphinx_inspect.stringify_signature(
    inspect.Signature(parameters, return_annotation=result)
  )
  shown = annotations.without_modules(shown)
  arguments, arrow, result = shown.partition(") -> ")
  return (f"{arguments})", result) if arrow else (shown, None)


def _docstring(
  app: Sphinx,
  what: str,
  name: str,
  value: Any,
  options: Any,
  lines: list[str],
) -> None:
  """Writes plain docstrings as reStructuredText."""
  del app, name, options
  lines[:] = docstrings.as_restructured_text(lines)
  if what == "class":
    types = annotations.of_attributes(value)
    lines[:] = docstrings.with_types("\n".join(lines), types).split("\n")


def _missing(
  app: Sphinx,
  env: BuildEnvironment,
  node: addnodes.pending_xref,
  contnode: nodes.Element,
) -> nodes.Element | None:
  """Finds `math.phase_type.log_prob`, as docstrings name it, and `ArrayLike`."""
  if node.get("refdomain") != "py":
    return None
  target = str(node["reftarget"]).removeprefix("ph.")
  domain = env.domains.python_domain
  found = domain.objects.get(f"phasic.{target}")
  if found is not None:
    document, anchor = found.docname, found.node_id
  elif target in _explained(pathlib.Path(app.srcdir)):
    document, anchor = annotations.EXPLANATION
  else:
    return None
  page = app.builder.get_relative_uri(str(node["refdoc"]), document)
  return nodes.reference(
    "", "", contnode, internal=True, refuri=f"{page}#{anchor}"
  )


@functools.cache
def _explained(docs: pathlib.Path) -> set[str]:
  page = docs / f"{annotations.EXPLANATION[0]}.md"
  return annotations.explained(page.read_text(encoding="utf-8"))


def _short_titles(app: Sphinx, document: nodes.document, name: str) -> None:
  """Names what a link leads to by the name that users import."""
  del app, name
  for link in document.findall(nodes.reference):
    if str(link.get("reftitle", "")).startswith(_DEFINED):
      link["reftitle"] = str(link["refuri"]).partition("#")[2]


def setup(app: Sphinx) -> dict[str, bool]:
  """Adds the generator to Sphinx."""
  app.connect("builder-inited", _generate)
  app.connect("autodoc-process-signature", _signature)
  # Before Napoleon, whose output has markup.
  app.connect("autodoc-process-docstring", _docstring, priority=400)
  app.connect("missing-reference", _missing)
  app.connect("doctree-resolved", _short_titles)
  return {"parallel_read_safe": True, "parallel_write_safe": True}
