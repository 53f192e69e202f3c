"""Loads the native library and registers its XLA FFI targets, once.

Nothing happens at import. A handler built for a newer FFI than the running
jaxlib's would take JAX's whole CPU backend down, so it is not registered.
"""

from __future__ import annotations

import functools
import re
import threading
from typing import Any

import jax
import jaxlib

from phasic.substrates.jax.internal import kernel_common

FORWARD = "phasic_phase_type_forward"
ADJOINT = "phasic_phase_type_adjoint"
STATISTICS = "phasic_phase_type_statistics"
ELIMINATE = "phasic_eliminate"
MOMENTS = "phasic_moments"
CALL_PYTHON = "phasic_call_python"
TARGETS = (FORWARD, ADJOINT, STATISTICS, ELIMINATE, MOMENTS, CALL_PYTHON)

_lock = threading.Lock()


def load() -> tuple[Any, str]:
  """Returns the native module and "", or None and why it cannot be used."""
  with _lock:
    return _load()


@functools.cache
def _load() -> tuple[Any, str]:
  kernel, reason = kernel_common.load()
  if reason:
    return None, reason
  reason = version_reason(kernel.build_info().get("jaxlib", ""))
  if reason:
    return None, reason
  try:
    targets = kernel.ffi_targets()
    for name in TARGETS:
      jax.ffi.register_ffi_target(name, targets[name], platform="cpu")
  except Exception as error:
    return None, f"the FFI targets cannot be registered: {error}"
  return kernel, ""


def version_reason(built: str, running: str = jaxlib.__version__) -> str:
  """Returns why handlers built with a jaxlib cannot be used, "" if they can.

  Args:
    built: the version of jaxlib whose headers the handlers were built with,
      "" if they were built without JAX.
    running: the version that runs.
  """
  if not built:
    return "the native library was built without JAX"
  if _numbers(running) < _numbers(built):
    return (
      f"the native library was built with jaxlib {built} and jaxlib {running}"
      " is older: its XLA FFI may lack what the handlers need"
    )
  return ""


def _numbers(version: str) -> tuple[int, ...]:
  return tuple(int(n) for n in re.findall(r"\d+", version)[:3])
