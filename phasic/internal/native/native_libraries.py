"""Loading of shared libraries with native ops, and their symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import ctypes
import functools
import os
from typing import Any

import numpy as onp

from phasic.internal import native_files
from phasic.internal.native import native_declarations

_MESSAGE_SIZE = 4096


class Buffer(ctypes.Structure):
  """An array for a native op, as the C struct in phasic/op/buffer.h."""

  _fields_ = (
    ("data", ctypes.c_void_p),
    ("dims", ctypes.POINTER(ctypes.c_int64)),
    ("rank", ctypes.c_int32),
    ("type", ctypes.c_int32),
  )


def load(op: str, library: str | os.PathLike[str] | None) -> str:
  """Loads an op's library for JAX and NumPy; returns its resolved path.

  Args:
    op: the op's name, for messages.
    library: a path.

  Raises:
    FileNotFoundError: there is no such file.
    OSError: it cannot be loaded.
    TypeError: it is not a path.
    ValueError: the file is truncated, or compiled for TensorFlow.
  """
  if library is None:
    raise TypeError(
      f"op {op}: library is None: it must be the path of a shared library; only "
      "TensorFlow takes an op of tf_library alone"
    )
  path = native_files.whole_path(op, "library", library)
  native_files.ops(op, "library", path, for_tensorflow=False)
  try:
    _load(path)
  except OSError as error:
    raise native_files.cannot_load(op, "library", path, error) from None
  return path


_load = functools.cache(ctypes.CDLL)  # noqa: TID251  (the user's)


def symbol(path: str, name: str) -> Any:
  """Returns a symbol of a library as a function; None if it does not exist."""
  try:
    return getattr(_load(path), name)
  except AttributeError:
    return None


def declaration(path: str, name: str) -> native_declarations.Declaration:
  """Reads the declaration of an op that was built with phasic's headers.

  Raises:
    ValueError: the library has no such op, or its declaration is invalid.
  """
  text = symbol(path, f"phasic_op_{name}_declaration")
  if text is None:
    raise ValueError(
      f"op {name}: library is {path}, which has no such op: its source must "
      f"have PHASIC_OP({name}, ...)"
    )
  text.restype = ctypes.c_char_p
  return native_declarations.parse(name, text().decode())


@functools.cache
def entry(
  path: str, declaration: native_declarations.Declaration
) -> Callable[..., int]:
  """Returns an op's C entry point as a Python function.

  Raises:
    ValueError: the library has no such op.
  """
  function = symbol(path, f"phasic_op_{declaration.name}_call")
  if function is None:
    raise ValueError(f"{path} has no op {declaration.name}")
  function.restype = ctypes.c_int32
  function.argtypes = (
    ctypes.POINTER(Buffer),
    ctypes.c_int32,
    ctypes.POINTER(Buffer),
    ctypes.c_int32,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_int64,
  )
  return function


def plain(x: object) -> onp.ndarray:
  """Converts an array to row-major, aligned memory in native byte order."""
  array = onp.asarray(x)
  flags = array.flags
  if flags.c_contiguous and flags.aligned and array.dtype.isnative:
    return array
  return onp.array(array, array.dtype.newbyteorder("="), order="C")


def run(
  path: str,
  declaration: native_declarations.Declaration,
  inputs: Sequence[onp.ndarray],
  outputs: Sequence[onp.ndarray],
  options: str,
) -> str:
  """Calls an op on host arrays; returns its error message, "" on success."""
  message = ctypes.create_string_buffer(_MESSAGE_SIZE)
  failed = entry(path, declaration)(
    _buffers(inputs),
    len(inputs),
    _buffers(outputs),
    len(outputs),
    options.encode(),
    message,
    _MESSAGE_SIZE,
  )
  return message.value.decode(errors="replace") if failed else ""


@functools.cache
def _type_number(dtype: onp.dtype) -> int:
  return native_declarations.TYPES.index(dtype.name)


def _buffers(arrays: Sequence[onp.ndarray]) -> ctypes.Array[Buffer]:
  buffers = (Buffer * len(arrays))()
  for buffer, array in zip(buffers, arrays, strict=True):
    buffer.data = array.__array_interface__["data"][0]
    buffer.dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    buffer.rank = array.ndim
    buffer.type = _type_number(array.dtype)
  return buffers
