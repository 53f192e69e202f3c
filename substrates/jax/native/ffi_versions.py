"""Versions of XLA's FFI in jaxlib and in compiled handlers.

A version is the headers' `XLA_FFI_API_MAJOR * 1000 + XLA_FFI_API_MINOR`.
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
import re

import jax

_METADATA = 1  # The number of XLA's metadata extension.
_NUM_FUNCTIONS = 64  # At least as many as XLA's API has.


class _Version(ctypes.Structure):
  _fields_ = (
    ("struct_size", ctypes.c_size_t),
    ("extension", ctypes.c_void_p),
    ("major", ctypes.c_int),
    ("minor", ctypes.c_int),
  )


class _Metadata(ctypes.Structure):
  _fields_ = (
    ("struct_size", ctypes.c_size_t),
    ("version", _Version),
    ("traits", ctypes.c_uint32),
    ("state_type", ctypes.c_int64),
  )


class _Extension(ctypes.Structure):
  _fields_ = (
    ("struct_size", ctypes.c_size_t),
    ("type", ctypes.c_int),
    ("next", ctypes.c_void_p),
    ("metadata", ctypes.POINTER(_Metadata)),
  )


class _CallFrame(ctypes.Structure):
  _fields_ = (
    ("struct_size", ctypes.c_size_t),
    ("extension", ctypes.POINTER(_Extension)),
    ("api", ctypes.c_void_p),
    ("context", ctypes.c_void_p),
    ("stage", ctypes.c_int),
    ("operands", ctypes.c_int64 * 16),
    ("future", ctypes.c_void_p),
  )


class _Api(ctypes.Structure):
  _fields_ = (
    ("struct_size", ctypes.c_size_t),
    ("extension", ctypes.c_void_p),
    ("version", _Version),
    ("internal", ctypes.c_void_p),
    ("functions", ctypes.c_void_p * _NUM_FUNCTIONS),
  )


Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_CallFrame))
_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def handler_version(handler: ctypes._FuncPointer | int) -> int:
  """Returns the FFI version with which a handler was compiled.

  The handler is queried as XLA does it, by an extension of the call frame (see
  xla/ffi/api/c_api.h). The result is -1 if it does not answer.

  Args:
    handler: a function of a library, or its address.
  """
  metadata = _Metadata(ctypes.sizeof(_Metadata))
  metadata.version.major = -1
  extension = _Extension(
    ctypes.sizeof(_Extension), _METADATA, None, ctypes.pointer(metadata)
  )
  # A handler calls this function to report an error, which is ignored.
  nothing = _Function(lambda _: None)
  api = _Api(ctypes.sizeof(_Api))
  for i in range(_NUM_FUNCTIONS):
    api.functions[i] = ctypes.cast(nothing, ctypes.c_void_p)
  frame = _CallFrame(
    _CallFrame.future.offset,  # The struct's size in XLA's headers.
    ctypes.pointer(extension),
    ctypes.addressof(api),
  )
  ctypes.cast(handler, Handler)(ctypes.byref(frame))
  version = metadata.version
  return version.major * 1000 + version.minor if version.major >= 0 else -1


def capsule_version(capsule: object) -> int:
  """Returns the FFI version of a handler in an unnamed capsule."""
  pointer = ctypes.pythonapi.PyCapsule_GetPointer
  pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
  pointer.restype = ctypes.c_void_p
  return handler_version(pointer(capsule, None))


def header() -> pathlib.Path:
  """Returns the path of the header in jaxlib that defines the FFI version."""
  return pathlib.Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")


@functools.cache
def running() -> int:
  """Returns the FFI version of the running jaxlib; -1 if unknown."""
  try:
    text = header().read_text(encoding="utf-8")
  except OSError:
    return -1
  parts = dict(re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", text))
  if len(parts) < 2:
    return -1
  return int(parts["MAJOR"]) * 1000 + int(parts["MINOR"])


def can_run(handler: int, jaxlib: int) -> bool:
  """Returns whether a jaxlib of one FFI version can run a handler of another.

  Args:
    handler: the version of the handler.
    jaxlib: the version of the jaxlib.
  """
  is_known = handler >= 0 and jaxlib >= 0
  return is_known and handler // 1000 == jaxlib // 1000 and handler <= jaxlib


def dotted(version: int) -> str:
  """Formats a version as major.minor."""
  return f"{version // 1000}.{version % 1000}"
