"""Loads the native library and registers its XLA FFI targets, once.

`exporting` does it when the package is imported. A handler built for a newer
FFI than the running jaxlib's would take JAX's whole CPU backend down, so it is
not registered.
"""

from __future__ import annotations

import functools
import re
import threading
from typing import Any

import jax
import jaxlib

from phasic.substrates.jax.internal import ffi_versions
from phasic.substrates.jax.internal import kernel_common

FORWARD = "phasic_phase_type_forward"
ADJOINT = "phasic_phase_type_adjoint"
STATISTICS = "phasic_phase_type_statistics"
ELIMINATE = "phasic_eliminate"
MOMENTS = "phasic_moments"
CALL_PYTHON = "phasic_call_python"
TARGETS = (FORWARD, ADJOINT, STATISTICS, ELIMINATE, MOMENTS, CALL_PYTHON)

_lock = threading.Lock()
# The libraries of ops that users have bound, by the names of their targets.
_registered: dict[tuple[str, str], str] = {}


def names() -> list[str]:
  """All that exported programs may call."""
  return [*TARGETS, *dict.fromkeys(name for name, _ in _registered)]


def register(
  name: str, library: str, handler: Any, platform: str = "cpu"
) -> None:
  """Registers the handler of a library of a user's, once.

  Args:
    name: the target's.
    library: its path.
    handler: the function of the library.
    platform: "cpu" or "CUDA".

  Raises:
    ImportError: it was compiled for a newer FFI than that of the jaxlib that
      runs, whose whole backend would not start, or is no handler.
    ValueError: another library has registered the name.
  """
  with _lock:
    known = _registered.get((name, platform))
    if known == library:
      return
    if known is not None:
      raise ValueError(f"{name} of {library} is there already, of {known}")
    built, running = ffi_versions.of_handler(handler), ffi_versions.running()
    if built < 0:
      raise ImportError(
        f"{name} of {library} is no handler of XLA's FFI, or one of another "
        f"major version than jaxlib {jaxlib.__version__} has: compile it with "
        "the headers of jax.ffi.include_dir()"
      )
    if built > running:
      raise ImportError(
        f"{name} of {library} was compiled for XLA's FFI "
        f"{ffi_versions.dotted(built)} and jaxlib {jaxlib.__version__} has "
        f"{ffi_versions.dotted(running)}: compile it with the headers of "
        "jax.ffi.include_dir()"
      )
    jax.ffi.register_ffi_target(
      name, jax.ffi.pycapsule(handler), platform=platform
    )
    _registered[name, platform] = library


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
