"""Compiled libraries of native ops: Bazel's, or compiled when first used."""

import atexit
from collections.abc import Sequence
import functools
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")
_OPS = pathlib.Path(__file__).parent / "ops.cc"
_KEPLER = _ROOT / "examples" / "kepler"


def package(name: str) -> pathlib.Path | None:
  """The folder of an installed package, or None."""
  spec = importlib.util.find_spec(name)
  if spec is None or not spec.submodule_search_locations:
    return None
  return pathlib.Path(next(iter(spec.submodule_search_locations)))


def include_dir() -> pathlib.Path:
  """Our own headers."""
  folder = package("phasic.include")
  assert folder is not None
  return folder


def compile_xla(
  source: pathlib.Path, target: pathlib.Path, includes: Sequence[str] = ()
) -> None:
  """Compiles a library for JAX and NumPy; without JAX for NumPy alone."""
  jaxlib = package("jaxlib")
  xla = []
  if jaxlib is not None:
    xla = ["-DPHASIC_WITH_XLA", f"-isystem{jaxlib / 'include'}"]
  _run([*_FLAGS, *xla, *includes, str(source), "-o", str(target)])


def compile_tf(
  source: pathlib.Path, target: pathlib.Path, includes: Sequence[str] = ()
) -> None:
  """Compiles a library for TensorFlow."""
  tensorflow = package("tensorflow")
  assert tensorflow is not None
  link = [f"-L{tensorflow}", "-l:libtensorflow_framework.so.2"]
  headers = ["-DPHASIC_WITH_TENSORFLOW", f"-isystem{tensorflow / 'include'}"]
  _run([*_FLAGS, *headers, *includes, str(source), *link, "-o", str(target)])


def ops() -> str:
  """The path of the library of test ops for JAX and NumPy."""
  return _found("ops", compile_xla, _OPS)


def ops_tf() -> str:
  """That for TensorFlow."""
  return _found("ops_tf", compile_tf, _OPS)


@functools.cache
def kepler() -> None:
  """Makes the example's package `kepler` importable, compiled."""
  if package("kepler") is None:
    sys.path.insert(0, str(_KEPLER))
  from kepler import library

  if not library.PATH.exists():
    source = library.PATH.parents[1] / "native" / "kepler_op.cc"
    folder = pathlib.Path(_scratch())
    compile_xla(source, folder / "libkepler.so", [f"-I{source.parent}"])
    if package("tensorflow") is not None:
      compile_tf(source, folder / "libkepler_tf.so", [f"-I{source.parent}"])
    library.PATH = folder / "libkepler.so"


@functools.cache
def _found(name: str, build: object, source: pathlib.Path) -> str:
  built = source.parent / f"lib{name}.so"
  if not built.exists():
    built = pathlib.Path(_scratch()) / built.name
    build(source, built)  # type: ignore[operator]
  return str(built)


@functools.cache
def _scratch() -> str:
  folder = tempfile.TemporaryDirectory()
  atexit.register(folder.cleanup)
  return folder.name


def _run(arguments: Sequence[str]) -> None:
  command = ["g++", f"-I{include_dir()}", *arguments]
  subprocess.run(command, check=True)
