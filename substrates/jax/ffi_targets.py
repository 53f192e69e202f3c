"""Loading of the native library, and registration of its XLA FFI targets.

`exporting` calls it when the package is imported. A handler built for a newer
FFI than the running jaxlib's would break JAX's entire CPU backend, so it is not
registered.
"""

from __future__ import annotations

from collections.abc import Mapping
import ctypes
import functools
import threading
import types

import jax
import jaxlib.version

from phasic.substrates.jax.internal import native_module
from phasic.substrates.jax.internal.native import ffi_versions

_lock = threading.Lock()
# The path of the library of each registered user op, by target name and
# platform.
_registered: dict[tuple[str, str], str] = {}


def names() -> list[str]:
  """Returns the names of all FFI targets that exported programs may call."""
  kernel, _ = load()
  kernels = () if kernel is None else kernel.ffi_targets()
  return [*kernels, *dict.fromkeys(name for name, _ in _registered)]


def register(
  name: str, library: str, handler: ctypes._FuncPointer, platform: str = "cpu"
) -> None:
  """Registers the FFI handler of a user's library, once.

  Args:
    name: the name of the target.
    library: the path of the library.
    handler: the function of the library.
    platform: "cpu" or "CUDA".

  Raises:
    ImportError: the function is not a handler, or was compiled for a newer FFI
      than the running jaxlib's.
    ValueError: another library has registered the name.
  """
  with _lock:
    known = _registered.get((name, platform))
    if known == library:
      return
    if known is not None:
      raise ValueError(
        f"{name} of {library} is already registered by {known}: names of ops "
        "must be unique; give one of the ops another name"
      )
    built = ffi_versions.handler_version(handler)
    running = ffi_versions.running()
    if built < 0:
      raise ImportError(
        f"{name} of {library} is not a handler of XLA's FFI, or has another "
        f"major version than jaxlib {jaxlib.version.__version__}: compile it with the "
        "headers of jax.ffi.include_dir()"
      )
    if running < 0:
      raise ImportError(f"{name} of {library}: {_unreadable()}")
    if not ffi_versions.can_run(built, running):
      raise ImportError(
        f"{name} of {library} was compiled for XLA's FFI "
        f"{ffi_versions.dotted(built)}, but jaxlib {jaxlib.version.__version__} has "
        f"{ffi_versions.dotted(running)}: compile it with the headers of "
        "jax.ffi.include_dir()"
      )
    jax.ffi.register_ffi_target(
      name, jax.ffi.pycapsule(handler), platform=platform
    )
    _registered[name, platform] = library


def load() -> tuple[types.ModuleType | None, str]:
  """Loads the native module; returns it and "", or None and a reason."""
  with _lock:
    return _load()


@functools.cache
def _load() -> tuple[types.ModuleType | None, str]:
  kernel, reason = native_module.load()
  if kernel is None:
    return None, reason
  try:
    targets = kernel.ffi_targets()
    reason = _misfit(targets)
    if reason:
      return None, reason
    for name, capsule in targets.items():
      jax.ffi.register_ffi_target(name, capsule, platform="cpu")
  except Exception as error:
    text = " ".join(str(error).split())
    return None, (
      f"jaxlib {jaxlib.version.__version__} refuses the kernel's handlers: {text}; "
      "upgrade both: pip install --upgrade 'phasic-substrates[jax]'"
    )
  return kernel, ""


def _misfit(targets: Mapping[str, object]) -> str:
  """Returns why the kernel's handlers must not be registered; "" if they may.

  One handler is checked, as all are compiled with the same headers.
  """
  if not targets:
    return (
      f"the native library was built without JAX; {native_module.REINSTALL}"
    )
  built = ffi_versions.capsule_version(next(iter(targets.values())))
  return version_reason(built, ffi_versions.running())


def version_reason(built: int, running: int) -> str:
  """Returns why a jaxlib cannot run the kernel's handlers; "" if it can.

  Args:
    built: the version of XLA's FFI for which they were compiled, -1 if unknown.
    running: the version of the running jaxlib, -1 if unknown.
  """
  if ffi_versions.can_run(built, running):
    return ""
  if running < 0:
    return _unreadable()
  start = (
    f"jaxlib is {jaxlib.version.__version__} with XLA's FFI "
    f"{ffi_versions.dotted(running)}"
  )
  if built < 0:
    return (
      f"{start}, and the kernel's handlers do not report the version for which "
      f"they were compiled; {native_module.REINSTALL}"
    )
  remedy = "upgrade it: pip install --upgrade jax jaxlib"
  if built < running:  # Then the major version of the handlers is older.
    remedy = "upgrade phasic: pip install --upgrade phasic-substrates"
  return (
    f"{start}: it must have {ffi_versions.dotted(built)}, for which the "
    f"kernel's handlers were compiled, or a later minor version; {remedy}"
  )


def _unreadable() -> str:
  return (
    f"jaxlib is {jaxlib.version.__version__}, whose version of XLA's FFI cannot be read "
    f"from {ffi_versions.header()}: it must be known, as a handler for a newer "
    "one stops JAX's CPU backend; reinstall it: pip install --force-reinstall "
    "--no-deps jaxlib"
  )
