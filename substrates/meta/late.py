"""Rewrites public modules to import their names on first use.

A program or a test that uses one package then does not import all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
import textwrap

from substrates.meta import source as source_lib
from substrates.meta import tables

_PATHS = frozenset(
  [
    *(f"phasic/{package}/__init__.py" for package in tables.PUBLIC_PACKAGES),
    *(f"phasic/{module}" for module in tables.PUBLIC_MODULES),
  ]
)
# For some public modules, another module whose function `checked` wraps all of
# their functions.
_WRAPPERS = {
  f"phasic/math/{name}.py": "math.calls.checked_calls"
  for name in ("discrete_phase_type", "phase_type")
}


def is_late(path: str) -> bool:
  """Returns whether a source is a public module, which only imports names."""
  return path in _PATHS


def rewrite(text: str, path: str, substrate: str) -> str:
  """Rewrites a public module so that only type checkers see its imports.

  Args:
    text: the module, rewritten for the substrate: a docstring, imports of
      names, and `__all__`.
    path: of its source.
    substrate: one of `tables.SUBSTRATES`.

  Raises:
    RewriteError: if the module contains anything else.
  """
  module = path.removeprefix("phasic/").removesuffix(".py")
  module = module.removesuffix("/__init__").replace("/", ".")
  package = f"phasic.substrates.{substrate}.{module}"
  body = list(ast.parse(text).body)
  if body and _is_docstring(body[0]):
    body.pop(0)
  imports = [node for node in body if isinstance(node, ast.ImportFrom)]
  others = [node for node in body if not isinstance(node, ast.ImportFrom)]
  problems = [
    source_lib.Problem(
      path,
      node.lineno,
      node.col_offset + 1,
      "a public module only imports names, and lists them in __all__",
    )
    for node in others
    if not _is_all(node)
  ]
  if problems:
    raise source_lib.RewriteError(problems)
  if not imports:
    return text
  wrapper = _WRAPPERS.get(path)
  if wrapper is not None:
    wrapper = f"phasic.substrates.{substrate}.{wrapper}"
  lines = text.split("\n")
  first, last = imports[0].lineno - 1, imports[-1].end_lineno or 0
  shown = textwrap.indent("\n".join(lines[first:last]), "  ")
  head = [
    "import typing",
    "",
    f"from phasic.substrates.{substrate}.internal import late_names",
    "",
    "if typing.TYPE_CHECKING:",
  ]
  return "\n".join(
    [
      *lines[:first],
      *head,
      shown,
      *lines[last:],
      *resolver_lines(_names(package, imports), wrapper),
      "",
    ]
  )


def _is_docstring(node: ast.stmt) -> bool:
  return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_all(node: ast.stmt) -> bool:
  return (
    isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
  )


def resolver_lines(
  names: Mapping[str, tuple[str, str | None]], wrapper: str | None = None
) -> list[str]:
  """Returns the code lines that import names on first use.

  The lines are hidden from type checkers, which would assume that a module with
  `__getattr__` has every name.

  Args:
    names: as `resolvers` of phasic/internal/late_names.py has them.
    wrapper: the same.
  """
  lines = [
    "if not typing.TYPE_CHECKING:",
    "  __getattr__, __dir__ = late_names.resolvers(",
    "    __name__,",
    "    {",
  ]
  for name, (module, attribute) in names.items():
    last = "None" if attribute is None else f'"{attribute}"'
    lines.append(f'      "{name}": ("{module}", {last}),')
  lines.append("    },")
  if wrapper is not None:
    lines.append(f'    "{wrapper}",')
  return [*lines, "  )"]


def _names(
  package: str, imports: list[ast.ImportFrom]
) -> dict[str, tuple[str, str | None]]:
  """Returns the module and attribute of each imported name.

  The attribute is None if the name is a module of the package.
  """
  names: dict[str, tuple[str, str | None]] = {}
  for node in imports:
    for alias in node.names:
      own = node.module == package
      names[alias.asname or alias.name] = (
        (f"{package}.{alias.name}", None)
        if own
        else (str(node.module), alias.name)
      )
  return names
