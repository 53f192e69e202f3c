"""Checks that identifiers and files have the field's words.

The glossary is `glossary.py`. `allowed.txt` lists honest uses, and folders that
are not checked yet.

Prints each error as `file:line: message` and exits with 1 if there is one.

Usage: python -m tools.words.check [ROOT]
"""

import ast
from collections.abc import Iterator
import pathlib
import re
import sys
from typing import NamedTuple

from tools.words import glossary

_FOLDERS = (
  *("benchmarks", "examples", "native", "phasic", "substrates", "tests"),
  "tools",
)
_SUFFIXES = {".cc", ".cu", ".h", ".py"}
_ALLOWED = "tools/words/allowed.txt"
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Allowed(NamedTuple):
  """A line of `allowed.txt`.

  Attributes:
    line: its number.
    prefix: the path of a file or folder.
    word: a word of the glossary, or "*" for a folder that is not checked yet.
  """

  line: int
  prefix: str
  word: str


def check(root: pathlib.Path) -> list[str]:
  """Returns the errors of a tree, as `file:line: message`."""
  allowed = read_allowed(root / _ALLOWED)
  used: set[Allowed] = set()
  errors = []
  for name, line, identifier in _identifiers(root):
    for word, better in found_words(identifier):
      uses = [
        x
        for x in allowed
        if _is_within(name, x.prefix) and x.word in (word, "*")
      ]
      used.update(uses)
      if not uses:
        errors.append(f"{name}:{line}: {identifier} has {word}: use {better}")
  errors += [
    f"{_ALLOWED}:{x.line}: {x.prefix} has no {x.word}: delete this line"
    for x in allowed
    if x.word != "*" and x not in used
  ]
  return errors


def found_words(identifier: str) -> list[tuple[str, str]]:
  """Returns the words of the glossary in an identifier, and better ones."""
  name = identifier.strip("_")
  found = []
  if name in glossary.NAMES:
    found.append((name, glossary.NAMES[name]))
  for part in _PARTS.findall(name):
    word = part.lower()
    if word in glossary.WORDS:
      found.append((word, glossary.WORDS[word]))
    for stem, better in glossary.STEMS.items():
      if word.startswith(stem) and name not in glossary.NAMES:
        found.append((stem, better))
  return found


def read_allowed(path: pathlib.Path) -> list[Allowed]:
  """Reads lines `path word`; # starts a comment."""
  if not path.exists():
    return []
  found = []
  for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
    fields = line.partition("#")[0].split()
    if fields:
      prefix, word = fields
      found.append(Allowed(i, prefix, word))
  return found


def _is_within(name: str, prefix: str) -> bool:
  return name == prefix or name.startswith(f"{prefix.rstrip('/')}/")


def _identifiers(root: pathlib.Path) -> Iterator[tuple[str, int, str]]:
  """Yields the file, the line and the identifier of each definition."""
  for folder in _FOLDERS:
    for path in sorted((root / folder).rglob("*")):
      if path.suffix not in _SUFFIXES or "testdata" in path.parts:
        continue
      name = path.relative_to(root).as_posix()
      yield name, 1, path.stem.removesuffix("_test")
      if path.suffix == ".py":
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from ((name, line, x) for line, x in _defined(tree))


def _defined(tree: ast.Module) -> Iterator[tuple[int, str]]:
  """Yields the names that a module defines, and their lines."""
  for node in ast.walk(tree):
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
      yield node.lineno, node.name
    elif isinstance(node, ast.arg):
      yield node.lineno, node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
      yield node.lineno, node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
      yield node.lineno, node.attr
    elif isinstance(node, ast.alias) and node.asname:
      yield node.lineno, node.asname


def main(argv: list[str]) -> int:
  """Prints the errors; returns the exit status."""
  errors = check(pathlib.Path(argv[1] if len(argv) > 1 else "."))
  for error in errors:
    print(error)
  return int(bool(errors))


if __name__ == "__main__":
  sys.exit(main(sys.argv))
