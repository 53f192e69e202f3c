"""Per-time uniformization with central differences, compiled C++."""

import ctypes
import pathlib
import subprocess
import tempfile

import numpy as onp

from benchmarks import models

# As in native/copts.bzl.
_FLAGS = (
  "-std=c++17",
  "-O3",
  "-fvisibility=hidden",
  "-ffp-contract=fast",
  "-fno-math-errno",
)
EPSILON = 1e-7


def library_path() -> pathlib.Path:
  """Where Bazel puts the compiled method: beside this file."""
  return pathlib.Path(__file__).parent / "libper_time_uniformization.so"


def _library() -> ctypes.CDLL:
  """Bazel's library; without one it is compiled now."""
  built = library_path()
  if built.exists():
    return ctypes.CDLL(str(built))
  with tempfile.TemporaryDirectory() as folder:
    target = pathlib.Path(folder) / built.name
    source = built.with_name("per_time_uniformization.cc")
    command = ["g++", *_FLAGS, "-shared", "-fPIC", str(source), "-o", target]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


class PerTimeMethod:
  """log f and its gradient for one model at fixed times."""

  def __init__(self, model: models.Model, times: onp.ndarray):
    self._library = _library()
    present = onp.any(model.rates != 0.0, axis=2).T  # [target, source]
    targets, sources = onp.nonzero(present)
    counts = onp.bincount(targets, minlength=len(model.states))
    arrays = (
      onp.concatenate([[0], onp.cumsum(counts)]).astype(onp.int64),
      sources.astype(onp.int32),
      onp.ascontiguousarray(model.rates[sources, targets]),
      onp.ascontiguousarray(model.exits),
      onp.ascontiguousarray(model.initial_probs),
      onp.ascontiguousarray(model.theta),
      onp.ascontiguousarray(times),
    )
    self._kept = arrays  # The pointers below need them.
    self._pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]
    self._sizes = (
      ctypes.c_int64(len(model.states)),
      ctypes.c_int64(len(model.theta)),
    )
    self._count = ctypes.c_int64(len(times))
    self._values = onp.empty(len(times))
    self._gradient = onp.empty(1 + len(model.theta))

  def log_prob(self) -> onp.ndarray:
    """log f at all times."""
    self._library.per_time_log_density(
      *self._sizes,
      *self._pointers,
      self._count,
      self._values.ctypes.data_as(ctypes.c_void_p),
    )
    return self._values

  def value_and_gradient(self) -> tuple[float, onp.ndarray]:
    """sum log f and its derivatives in theta."""
    self._library.per_time_value_and_gradient(
      *self._sizes,
      *self._pointers,
      self._count,
      ctypes.c_double(EPSILON),
      self._gradient.ctypes.data_as(ctypes.c_void_p),
    )
    return self._gradient[0], self._gradient[1:]
