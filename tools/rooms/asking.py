"""Inference and the adapters ask a distribution, never its class.

So a family is one file: what they need to know of it is a method that it has, or
what its declaration says.
"""

import ast
from collections.abc import Iterator
import pathlib

_ROOMS = ("phasic/inference", "phasic/interop")
_CLASSES = "phasic.distributions."
# Of every distribution.
_BASE = "phasic.distributions.base.distribution.Distribution"
_OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}
_TESTS = ("isinstance", "issubclass")


def check(root: pathlib.Path) -> list[str]:
  """Returns the errors of a tree, as `file:line: message`."""
  found = []
  for room in _ROOMS:
    for path in sorted((root / room).rglob("*.py")):
      tree = ast.parse(path.read_text(encoding="utf-8"))
      name = path.relative_to(root)
      found += [
        f"{name}:{line}: {message}" for line, message in sorted(_errors(tree))
      ]
  return found


def _errors(tree: ast.Module) -> Iterator[tuple[int, str]]:
  modules = _imported(tree)
  own = _own_names(tree)
  for node in ast.walk(tree):
    if isinstance(node, ast.Call) and _name(node.func) in _TESTS:
      kinds = node.args[1]
      for part in kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]:
        origin = _origin(part, modules)
        if origin.startswith(_CLASSES) and origin != _BASE:
          yield (
            node.lineno,
            f"asks for the class {origin.rpartition('.')[2]}: ask the "
            "distribution, see phasic/distributions/base/inferring.py",
          )
    if (
      isinstance(node, ast.Attribute)
      and _is_private(node.attr)
      and node.attr not in own | _OF_NAMED_TUPLES
    ):
      yield node.lineno, f"{node.attr} is private to another module"


def _imported(tree: ast.Module) -> dict[str, str]:
  """What names stand for modules, or for what is in them."""
  return {
    alias.asname or alias.name: f"{node.module}.{alias.name}"
    for node in ast.walk(tree)
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
  }


def _own_names(tree: ast.Module) -> set[str]:
  """The private names that a module defines, as functions and attributes."""
  found = set()
  for node in ast.walk(tree):
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
      found.add(node.name)
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(
      node.ctx, ast.Store
    ):
      is_self = isinstance(node, ast.Attribute) and _name(node.value) == "self"
      if isinstance(node, ast.Name):
        found.add(node.id)
      elif is_self:
        found.add(node.attr)
  return found


def _origin(node: ast.AST, modules: dict[str, str]) -> str:
  """The dotted name of what a node stands for, "" if it is none."""
  if isinstance(node, ast.Name):
    return modules.get(node.id, "")
  if isinstance(node, ast.Attribute):
    before = _origin(node.value, modules)
    return f"{before}.{node.attr}" if before else ""
  return ""


def _name(node: ast.AST) -> str:
  return node.id if isinstance(node, ast.Name) else ""


def _is_private(name: str) -> bool:
  return name.startswith("_") and not name.startswith("__")
