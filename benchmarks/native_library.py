"""Compiled parts of the benchmark: Bazel's, or compiled when first used."""

from collections.abc import Sequence
import ctypes
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
  """The library called `name`, compiled now from `name`.cc without Bazel's.

  Args:
    name: of the library and of its one source file.
    includes: folders of headers.

  Returns:
    The library.
  """
  if path(name).exists():
    return ctypes.CDLL(str(path(name)))
  with tempfile.TemporaryDirectory() as folder:
    target = str(pathlib.Path(folder) / path(name).name)
    flags = [*_FLAGS, *(f"-isystem{include}" for include in includes)]
    source = str(_FOLDER / f"{name}.cc")
    subprocess.run(
      ["g++", *flags, "-shared", "-fPIC", source, "-o", target], check=True
    )
    return ctypes.CDLL(target)
