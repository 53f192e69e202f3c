"""Checks the rooms of phasic and of native code, and writes their tables.

The tables follow from imports, and Bazel reads them. Prints each error as
`file:line: message` and exits with 1 if there is one.

Usage: python -m tools.rooms.check [--write] [ROOT]
"""

import argparse
from collections.abc import Mapping
import json
import pathlib
import sys

from tools.rooms import asking
from tools.rooms import circles
from tools.rooms import native_rooms
from tools.rooms import order
from tools.rooms import phasic_rooms
from tools.rooms import shared_tests
from tools.rooms import systems
from tools.rooms import test_files

_NOTE = "Written by `make format`; do not edit."


def _check_tables(root: pathlib.Path, write: bool) -> list[str]:
  """Checks rooms, and the tables that follow from them; may write the tables.

  They are left as they are where something else is wrong.
  """
  native = native_rooms.Rooms(root)
  try:
    rooms = phasic_rooms.Rooms(root)
    needs = shared_tests.Needs(root, rooms)
  except ValueError as error:
    return [*native.errors, str(error)]
  seam, seam_errors = _seam(root)
  errors = [*native.errors, *rooms.errors, *needs.errors, *seam_errors]
  errors += circles.check(rooms.project)
  if errors:
    return errors
  texts = {
    "native/rooms.bzl": _text(
      "The rooms of native code, lowest first, and what each includes.",
      {"ROOMS": native.includes, "TESTS": native.tests},
    ),
    "phasic/rooms.bzl": _text(
      "The rooms of phasic, lowest first, and what each imports.",
      {
        "PACKAGES": rooms.packages,
        "WINGS": rooms.wings,
        "ROOMS": rooms.imports,
      },
    ),
    "substrates/seam.bzl": _text(
      "The files of the seam: of all substrates, shared ones, and others.",
      seam,
    ),
    "tests/needs.bzl": _text(
      "What the tests that are written once import.",
      {"HELPERS": needs.helpers, "TESTS": needs.tests},
    ),
    "tests/README.md": test_files.page(rooms.project, _NOTE),
  }
  for name, text in texts.items():
    path = root / name
    if not path.exists() or path.read_text(encoding="utf-8") != text:
      if write:
        path.write_text(text, encoding="utf-8")
      else:
        errors.append(f"{name}:1: it does not follow from imports: make format")
  return errors


def _seam(root: pathlib.Path) -> tuple[dict[str, object], list[str]]:
  """Returns the table of the files of the seam, and its errors."""
  files = {
    folder: {
      path.relative_to(root / folder).with_suffix("").as_posix()
      for path in (root / folder).rglob("*.py")
    }
    for folder in ("phasic/internal", "substrates/jax", "substrates/tf")
  }
  numpy, jax, tf = files.values()
  errors = [
    f"phasic/internal/{name}.py:1: only one of substrates/jax and substrates/tf"
    " has a file of this name: add the other, or none"
    for name in sorted(numpy & (jax ^ tf))
  ]
  seam = numpy & jax & tf
  tape = {name for name in numpy if name.startswith("tape/")}
  extras = {"jax": jax - seam, "numpy": tape, "tf": tf - seam}
  table: dict[str, object] = {
    "SEAM": sorted(seam),
    "SHARED": sorted(numpy - seam - tape),
    "EXTRAS": {name: sorted(found) for name, found in extras.items()},
  }
  return table, errors


def _text(title: str, tables: Mapping[str, object]) -> str:
  """Returns a Starlark file with tables."""
  parts = [f'"""{title}\n\n{_NOTE}\n"""\n']
  for name, table in tables.items():
    parts.append(f"{name} = {json.dumps(table, indent=4)}\n")
  return "\n".join(parts)


def main(argv: list[str]) -> int:
  """Prints the errors; returns the exit status."""
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("--write", action="store_true", help="write the tables")
  parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
  arguments = parser.parse_args(argv[1:])
  root = arguments.root
  errors = order.check(root) + asking.check(root) + systems.check(root)
  errors += _check_tables(root, arguments.write)
  print("\n".join(errors), end="\n" if errors else "")
  return int(bool(errors))


if __name__ == "__main__":
  sys.exit(main(sys.argv))
