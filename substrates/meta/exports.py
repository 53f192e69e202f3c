"""Finds which `np.` names a substrate has, without importing its modules."""

from __future__ import annotations

import ast
import pathlib

from substrates.meta import array_names
from substrates.meta import source as source_lib

_TF_ARRAYS = "substrates/tf/array_functions.py"


def array_names_of(substrate: str, source_root: pathlib.Path) -> frozenset[str]:
  """Returns the `np.` names that a substrate has.

  For TensorFlow these are the public names of its hand-written array
  functions, so that table and code cannot drift apart.

  Raises:
    RewriteError: if that file is missing below `source_root`.
  """
  if substrate != "tf":
    return array_names.NAMES[substrate]
  path = source_root / _TF_ARRAYS
  if not path.exists():
    raise source_lib.RewriteError(
      [source_lib.Problem(_TF_ARRAYS, 1, 1, "is missing")]
    )
  text = path.read_text(encoding="utf-8")
  return public_names(text, "phasic.substrates.tf.internal")


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
