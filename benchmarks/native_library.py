"""Compiled parts of the benchmark: Bazel's, or compiled when first used."""

import atexit
from collections.abc import Sequence
import ctypes
import functools
import pathlib
import subprocess
import tempfile

# As in native/copts.bzl.
_FLAGS = (
  "-std=c++17",
  "-O3",
  "-fvisibility=hidden",
  "-ffp-contract=fast",
  "-fno-math-errno",
)
_FOLDER = pathlib.Path(__file__).parent


def path(name: str) -> pathlib.Path:
  """Where Bazel puts the library called `name`: beside this file."""
  return _FOLDER / f"lib{name}.so"


def load(name: str, includes: Sequence[str] = ()) -> ctypes.CDLL:
  """The library called `name`; arguments are those of `compiled`."""
  return ctypes.CDLL(str(compiled(name, includes)))


def compiled(
  name: str, includes: Sequence[str] = (), defines: Sequence[str] = ()
) -> pathlib.Path:
  """The library called `name`, compiled now from `name`.cc without Bazel's.

  Args:
    name: of the library and of its one source file.
    includes: folders of headers.
    defines: macros that are set.

  Returns:
    Its path, as long as the process lives.
  """
  if path(name).exists():
    return path(name)
  target = pathlib.Path(_scratch()) / path(name).name
  flags = [*_FLAGS, *(f"-isystem{include}" for include in includes)]
  flags += [f"-D{define}" for define in defines]
  source = str(_FOLDER / f"{name}.cc")
  subprocess.run(
    ["g++", *flags, "-shared", "-fPIC", source, "-o", str(target)], check=True
  )
  return target


@functools.cache
def _scratch() -> str:
  folder = tempfile.TemporaryDirectory()
  atexit.register(folder.cleanup)
  return folder.name
