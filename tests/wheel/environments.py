"""Clean virtual environments with some of this environment's packages.

Each has its own interpreter and site-packages, in which the wanted packages
and all that they require are links; everything else is really absent.
"""

import importlib.metadata
import pathlib
import subprocess
import sys
import venv

from packaging import requirements
from packaging import utils


def closure(names: list[str]) -> set[str]:
  """The packages and everything they require here, by canonical name."""
  found: set[str] = set()
  pending = [requirements.Requirement(name) for name in names]
  seen: set[tuple[str, frozenset[str]]] = set()
  while pending:
    wanted = pending.pop()
    name = utils.canonicalize_name(wanted.name)
    if (name, frozenset(wanted.extras)) in seen:
      continue
    seen.add((name, frozenset(wanted.extras)))
    found.add(name)
    for line in importlib.metadata.requires(name) or []:
      required = requirements.Requirement(line)
      extras = wanted.extras or {""}
      if required.marker is None or any(
        required.marker.evaluate({"extra": extra}) for extra in extras
      ):
        pending.append(required)
  return found


def _entries(name: str) -> set[pathlib.Path]:
  """The top-level entries of a package in site-packages."""
  distribution = importlib.metadata.distribution(name)
  entries = set()
  for path in distribution.files or []:
    top = path.parts[0]
    if top not in ("..", "__pycache__"):
      entries.add(pathlib.Path(str(distribution.locate_file(top))))
  return entries


def create(directory: pathlib.Path, names: list[str]) -> pathlib.Path:
  """Makes an environment with `names` and what they require.

  Returns:
    Its interpreter.
  """
  venv.create(directory, with_pip=False, symlinks=True)
  version = f"python{sys.version_info.major}.{sys.version_info.minor}"
  site = directory / "lib" / version / "site-packages"
  for name in sorted(closure(names)):
    for entry in _entries(name):
      link = site / entry.name
      if not link.exists():
        link.symlink_to(entry)
  return directory / "bin" / "python"


def install(python: pathlib.Path, wheel: pathlib.Path) -> None:
  """Installs a wheel with pip, without its dependencies and the network.

  Raises:
    subprocess.CalledProcessError: if pip refuses.
  """
  subprocess.run(
    [
      *(sys.executable, "-m", "pip", "--python", str(python), "--isolated"),
      *("install", "--quiet", "--no-deps", "--no-index", str(wheel)),
      *("--disable-pip-version-check",),
    ],
    check=True,
  )
