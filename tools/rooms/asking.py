"""Inference and the adapters ask a distribution, never its class.

So a family is one file: what they need to know of it is a method that it has, or
what its declaration says. Ruff sees that they use no private members.
"""

import ast
from collections.abc import Iterator
import pathlib

_ROOMS = ("phasic/inference", "phasic/interop")
_CLASSES = "phasic.distributions."
# Of every distribution.
_BASE = "phasic.distributions.base.distribution.Distribution"


def check(root: pathlib.Path) -> list[str]:
  """Returns the errors of a tree, as `file:line: message`."""
  return [
    f"{path.relative_to(root)}:{line}: asks for the class {name}: ask the"
    " distribution, see phasic/distributions/base/inferring.py"
    for room in _ROOMS
    for path in sorted((root / room).rglob("*.py"))
    for line, name in _classes(ast.parse(path.read_text(encoding="utf-8")))
  ]


def _classes(tree: ast.Module) -> Iterator[tuple[int, str]]:
  """Yields the classes of distributions that a module asks for."""
  modules = {
    alias.asname or alias.name: f"{node.module}.{alias.name}"
    for node in ast.walk(tree)
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
  }
  for node in ast.walk(tree):
    if isinstance(node, ast.Call) and ast.unparse(node.func) in (
      "isinstance",
      "issubclass",
    ):
      kinds = node.args[1]
      for part in kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]:
        first, dot, rest = ast.unparse(part).partition(".")
        origin = modules.get(first, "") + dot + rest
        is_name = isinstance(part, (ast.Name, ast.Attribute))
        if is_name and origin.startswith(_CLASSES) and origin != _BASE:
          yield node.lineno, origin.rpartition(".")[2]
