"""Finds the public names of a module without importing it."""

from __future__ import annotations

import ast


def public_names(text: str, package: str) -> frozenset[str]:
  """Returns the names that `module.<name>` may use.

  `__all__` decides where there is one. Otherwise these are the functions,
  classes, assignments and names imported from `package` that do not start
  with an underscore. A class's own public names are added as `class.name`, so
  that a namespace such as `linalg` can be written as a class.

  Args:
    text: the module's source.
    package: the package whose imported names count as re-exports.
  """
  names: set[str] = set()
  listed: frozenset[str] | None = None
  for node in ast.parse(text).body:
    targets: list[ast.expr] = []
    if isinstance(node, ast.FunctionDef):
      names.add(node.name)
    elif isinstance(node, ast.ClassDef):
      names.add(node.name)
      names |= {f"{node.name}.{name}" for name in _class_names(node)}
    elif isinstance(node, ast.Assign):
      targets = node.targets
    elif isinstance(node, ast.AnnAssign):
      targets = [node.target]
    elif isinstance(node, ast.ImportFrom):
      own = (node.module or "").startswith(package)
      for alias in node.names:
        if own or alias.asname == alias.name:
          names.add(alias.asname or alias.name)
    for target in targets:
      for name in ast.walk(target):
        if isinstance(name, ast.Name):
          names.add(name.id)
          if name.id == "__all__" and isinstance(node, ast.Assign):
            listed = frozenset(ast.literal_eval(node.value))
  if listed is not None:
    return listed | {n for n in names if n.partition(".")[0] in listed}
  return frozenset(name for name in names if not name.startswith("_"))


def _class_names(node: ast.ClassDef) -> set[str]:
  names = set()
  for inner in node.body:
    if isinstance(inner, ast.FunctionDef):
      names.add(inner.name)
    elif isinstance(inner, ast.Assign):
      names |= {t.id for t in inner.targets if isinstance(t, ast.Name)}
  return {name for name in names if not name.startswith("_")}
