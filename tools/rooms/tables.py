"""The tables that follow from imports, which Bazel reads.

Nobody edits them: `python -m tools.rooms.check --write` writes them.
"""

from collections.abc import Mapping
import json
import pathlib

from tools.rooms import native_rooms
from tools.rooms import phasic_rooms
from tools.rooms import shared_tests
from tools.rooms import test_files

COMMAND = "make format"
_NOTE = f"Written by `{COMMAND}`; do not edit."


def check(root: pathlib.Path, write: bool = False) -> list[str]:
  """Checks the rooms, and the tables that follow from them.

  Args:
    root: of the repository.
    write: whether to write tables that differ instead of reporting them. They
      are left as they are where something else is wrong.

  Returns:
    The errors, each as `file:line: message`.
  """
  native = native_rooms.Rooms(root)
  try:
    rooms = phasic_rooms.Rooms(root)
    needs = shared_tests.Needs(root, rooms)
  except ValueError as error:
    return [*native.errors, str(error)]
  seam, seam_errors = _seam(root)
  errors = [*native.errors, *rooms.errors, *needs.errors, *seam_errors]
  if errors:
    return errors
  texts = {
    "native/rooms.bzl": _text(
      "The rooms of native code, lowest first, and what each includes.",
      {"ROOMS": native.includes, "TESTS": native.tests},
    ),
    "phasic/rooms.bzl": _text(
      "The rooms of phasic, lowest first, and what each imports.",
      {"PACKAGES": rooms.packages, "ROOMS": rooms.imports},
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
        errors.append(f"{name}:1: it does not follow from imports: {COMMAND}")
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
