"""Compiles the libraries into the package.

`pip install .` does it on the way, `python setup.py build_native` in place. What
is not installed is left out: without JAX the library is for NumPy alone, without
TensorFlow there is none for it, and without nvcc no kernel for CUDA.
KEPLER_CUDA_ARCHS names the GPUs' architectures.
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Command
from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

ROOT = pathlib.Path(__file__).resolve().parent
SOURCE = ROOT / "native" / "kepler_op.cc"
CUDA_SOURCE = ROOT / "native" / "kepler_op.cu"
FLAGS = ["-std=c++17", "-O3", "-fPIC", "-shared", "-fvisibility=hidden"]


def folder_of(package):
  """The folder of an installed package; None if there is none."""
  spec = importlib.util.find_spec(package)
  return (
    pathlib.Path(next(iter(spec.submodule_search_locations))) if spec else None
  )


def run(*command):
  """Runs a compiler."""
  print(*command, file=sys.stderr)
  subprocess.run([str(x) for x in command], check=True)


def compile_libraries(folder):
  """Compiles libkepler.so and libkepler_tf.so into a folder."""
  includes = ["-I", ROOT / "native", "-I", folder_of("phasic") / "include"]
  compiler = os.environ.get("CXX", "g++")
  jaxlib, tensorflow = folder_of("jaxlib"), folder_of("tensorflow")
  with_xla = []
  if jaxlib is not None:
    with_xla = ["-DPHASIC_WITH_XLA", "-isystem", jaxlib / "include"]
  target = folder / "libkepler.so"
  if jaxlib is not None and shutil.which("nvcc"):
    with_cuda(folder, target, compiler, includes, with_xla)
  else:
    run(compiler, *FLAGS, *with_xla, *includes, SOURCE, "-o", target)
  if tensorflow is not None:
    run(
      *(compiler, *FLAGS, "-DPHASIC_WITH_TENSORFLOW", *includes),
      *("-isystem", tensorflow / "include", SOURCE),
      *(f"-L{tensorflow}", "-l:libtensorflow_framework.so.2"),
      *("-o", folder / "libkepler_tf.so"),
    )


def with_cuda(folder, target, compiler, includes, with_xla):
  """Compiles the library with a kernel for CUDA; nvcc links its runtime."""
  parts = [folder / "kepler_cpu.o", folder / "kepler_cuda.o"]
  run(compiler, *FLAGS[:3], *with_xla, *includes, "-fvisibility=hidden",
      "-c", SOURCE, "-o", parts[0])  # fmt: skip
  archs = os.environ.get("KEPLER_CUDA_ARCHS", "75,80,90").split(",")
  run(
    *("nvcc", "-std=c++17", "-O3", "-Xcompiler", "-fPIC", *includes, *with_xla),
    *("--expt-relaxed-constexpr", "-c", CUDA_SOURCE, "-o", parts[1]),
    *(f"-gencode=arch=compute_{a},code=sm_{a}" for a in archs),
    # For GPUs newer than all of these.
    f"-gencode=arch=compute_{archs[-1]},code=compute_{archs[-1]}",
  )
  run("nvcc", "-shared", "-cudart", "static", *parts, "-o", target)
  for part in parts:
    part.unlink()


class BuildNative(Command):
  """Compiles in place."""

  user_options = []  # noqa: RUF012

  def initialize_options(self):
    """Nothing to do."""

  def finalize_options(self):
    """Nothing to do."""

  def run(self):
    """Compiles."""
    compile_libraries(ROOT / "kepler")


class BuildPy(build_py):
  """Compiles into what becomes the wheel."""

  def run(self):
    """Copies the modules, and compiles beside them."""
    super().run()
    compile_libraries(pathlib.Path(self.build_lib) / "kepler")


class BinaryDistribution(Distribution):
  """The wheel is for this platform."""

  def has_ext_modules(self):
    """There are libraries."""
    return True


setup(
  packages=["kepler"],
  cmdclass={"build_py": BuildPy, "build_native": BuildNative},
  distclass=BinaryDistribution,
)
