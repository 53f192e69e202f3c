"""Checks what a wheel says of itself, and closes with a line of JSON.

    python -m tools.wheel.shipped WHEEL

That pip takes it, of all wheels beside it, for its Python and processor, and that
no library in it asks for a later glibc than its name says.
"""

import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

from elftools.elf import elffile
from elftools.elf import gnuversions

_NAME = re.compile(r"-cp3(\d+)-cp3\d+-(manylinux_2_(\d+)_(\w+))\.whl$")


def glibc_versions(library: bytes) -> list[tuple[int, ...]]:
  """Returns the versions of glibc's symbols that a library asks for."""
  needed = elffile.ELFFile(io.BytesIO(library)).get_section_by_name(
    ".gnu.version_r"
  )
  versions = []
  if isinstance(needed, gnuversions.GNUVerNeedSection):
    for _, symbols in needed.iter_versions():
      for symbol in symbols:
        if symbol.name.startswith("GLIBC_2."):
          parts = symbol.name.removeprefix("GLIBC_").split(".")
          versions.append(tuple(int(part) for part in parts))
  return versions


def newer_symbols(wheel: pathlib.Path, minor: int) -> list[str]:
  """Names the wheel's libraries that ask for more than glibc 2.`minor`."""
  problems = []
  with zipfile.ZipFile(wheel) as archive:
    libraries = [name for name in archive.namelist() if name.endswith(".so")]
    for name in libraries:
      latest = max(glibc_versions(archive.read(name)), default=(0,))
      if latest > (2, minor):
        version = ".".join(map(str, latest))
        problems.append(f"{name} needs glibc {version}, not 2.{minor}")
  return problems if libraries else [f"{wheel.name} has no libraries"]


def taken_by_pip(folder: pathlib.Path, python: str, platform: str) -> str:
  """Returns the name of the wheel that pip takes from a folder."""
  with tempfile.TemporaryDirectory() as output:
    subprocess.run(
      [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-index"),
        *("--no-deps", "--only-binary=:all:", "--find-links", str(folder)),
        *("--python-version", python, "--platform", platform),
        *("--dest", output, "phasic-substrates"),
      ],
      check=True,
    )
    (taken,) = pathlib.Path(output).iterdir()
    return taken.name


def main(argv: list[str]) -> None:
  """Checks the wheel and prints problems and the line of JSON."""
  wheel = pathlib.Path(argv[1])
  name = _NAME.search(wheel.name)
  if name is None:
    raise SystemExit(f"{wheel.name} has no tag of manylinux")
  python = f"3.{name[1]}"
  symbols = newer_symbols(wheel, int(name[3]))
  print(*symbols, sep="\n")
  taken = taken_by_pip(wheel.parent, python, name[2])
  print(f"pip takes {taken} for Python {python} on {name[2]}")
  failed = bool(symbols) + (taken != wheel.name)
  counts = {"passed": 2 - failed, "failed": failed, "skipped": 0}
  print(json.dumps({"versions": {"python": python}, "skips": [], **counts}))


if __name__ == "__main__":
  main(sys.argv)
