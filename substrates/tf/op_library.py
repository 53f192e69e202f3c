"""Loading of the native ops of TensorFlow, and their settings.

Importing this module loads the op library, so a SavedModel that uses the ops
can be loaded, run and differentiated after `import phasic.substrates.tf`. The
import does not fail if the library is missing: `load_error()` returns why.
"""

from __future__ import annotations

import ctypes
import os
import sysconfig
import types

import tensorflow as tf

from phasic import _native
from phasic.substrates.tf.internal import native_files
from phasic.substrates.tf.internal import native_module
from phasic.substrates.tf.internal import xla_calls


def _path() -> str:
  return os.path.join(next(iter(_native.__path__)), "libphasic_tf.so")


def _load() -> tuple[types.ModuleType | None, str]:
  """Loads the module of native ops; returns (module, "") or (None, reason)."""
  path = _path()
  if not os.path.exists(path):
    return None, (
      f"there is no op library {path} for {sysconfig.get_platform()}; "
      f"{native_module.BUILD}"
    )
  damage = native_files.damage(path)
  if damage:
    return None, f"{path} cannot be loaded: {damage}; {native_module.REINSTALL}"
  try:
    ops = tf.load_op_library(path)
  except (tf.errors.OpError, OSError, RuntimeError) as error:
    return None, native_module.cannot_load(
      f"TensorFlow {tf.__version__}", path, getattr(error, "message", error)
    )
  name = "phasic_phase_type_forward"
  if not hasattr(ops, name):
    return None, (
      f"{path} does not register the op {name}; {native_module.REINSTALL}"
    )
  return ops, ""


_OPS, _LOAD_ERROR = _load()


def load_error() -> str:
  """Returns why the native ops cannot be used; "" if they can."""
  return _LOAD_ERROR


def native_ops() -> types.ModuleType:
  """Returns the module of native ops; `load_error` must have returned ""."""
  assert _OPS is not None, _LOAD_ERROR
  return _OPS


def in_xla() -> bool:
  """Returns whether a program is being compiled with XLA.

  Then calls must use the FFI handlers, which are registered here.

  Raises:
    NotImplementedError: calls must use it, but loading fails.
  """
  if not xla_calls.is_compiling():
    return False
  if _LOAD_ERROR:
    raise NotImplementedError(f"jit_compile=True: {_LOAD_ERROR}")
  _register_handlers()
  return True


def _register_handlers() -> None:
  symbol = getattr(library(), "PhasicRegisterWithXla", None)
  if symbol is None:
    raise NotImplementedError(
      f"jit_compile=True: {_path()} was built without handlers for XLA. Call "
      "phasic outside of jit_compile=True, or take the portable path: "
      "config.use_path('portable')"
    )
  xla_calls.register(symbol, xla_calls.OURS)


def num_threads() -> int:
  """Returns the largest number of threads that an op may use."""
  return library().PhasicNumThreads()


def set_num_threads(count: int) -> None:
  """Sets `num_threads` to `count`, which the caller has checked."""
  library().PhasicSetNumThreads(count)


def set_max_work(multiply_adds: float) -> None:
  """Sets the limit on multiply-adds of a model; the caller has checked it."""
  library().PhasicSetMaxWork(ctypes.c_double(multiply_adds))


def library() -> ctypes.CDLL:  # noqa: TID251  (the wheel's)
  """Returns the native library that TensorFlow has loaded."""
  return ctypes.CDLL(_path())  # noqa: TID251  (the wheel's)
