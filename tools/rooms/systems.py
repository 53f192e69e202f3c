"""The package runs on any system: it names no place of one of them.

What imports of modules and functions would need POSIX, ruff sees (`banned-api`
in pyproject.toml). Here are texts that are paths of Linux or names of its C
library.
"""

import ast
from collections.abc import Iterator
import pathlib
import re

_FOLDERS = ("phasic", "substrates/jax", "substrates/tf")
_PLACES = re.compile(r"^/(proc|sys|dev|etc|tmp|usr|var)(/|$)|^libc(\.so|$)")


def check(root: pathlib.Path) -> list[str]:
  """Returns the errors of a tree, as `file:line: message`."""
  return [
    f"{path.relative_to(root)}:{line}: has {text!r}, which other systems lack:"
    " the package runs on any"
    for folder in _FOLDERS
    for path in sorted((root / folder).rglob("*.py"))
    for line, text in _places(ast.parse(path.read_text(encoding="utf-8")))
  ]


def _places(tree: ast.Module) -> Iterator[tuple[int, str]]:
  for node in ast.walk(tree):
    if not isinstance(node, ast.Constant):
      continue
    text = node.value
    if isinstance(text, str) and _PLACES.match(text):
      yield node.lineno, text
