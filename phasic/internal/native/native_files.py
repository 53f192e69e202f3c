"""Files of native libraries, looked at before they are loaded.

Loading runs code, and a library that was cut off ends the process. The same in
every substrate.
"""

from __future__ import annotations

import os
import re
import struct
from typing import Any

_ELF_64 = b"\x7fELF\x02\x01"  # little-endian
_SYMBOL = re.compile(rb"\0phasic_op_(\w+)_(declaration|register)(?=\0)")


def whole_path(op: str, argument: str, path: Any) -> str:
  """Returns a path without links: names without a slash are looked for elsewhere.

  Args:
    op: the op's name, for messages.
    argument: what `bind_native` calls the path.
    path: a path.

  Raises:
    TypeError: it is no path.
  """
  try:
    plain = os.fspath(path)
  except TypeError:
    plain = None
  if not isinstance(plain, str):
    raise TypeError(
      f"op {op}: {argument} is {path!r}: it must be the path of a shared library"
    )
  return os.path.realpath(plain)


def ops(op: str, argument: str, path: str, *, of_tensorflow: bool) -> list[str]:
  """Returns the names of the ops that a library has.

  Args:
    op: the op's name, for messages.
    argument: what `bind_native` calls the path.
    path: the library's.
    of_tensorflow: whether it is to be the library for TensorFlow.

  Raises:
    FileNotFoundError: there is no such file.
    ValueError: it is no whole file, or was compiled for another framework.
  """
  start = f"op {op}: {argument} is {path}"
  if not os.path.exists(path):
    raise FileNotFoundError(f"{start}, which is not there")
  if not os.path.isfile(path):
    raise ValueError(f"{start}: it must be a shared library, and is no file")
  try:
    with open(path, "rb") as file:
      content = file.read()
  except OSError as error:
    raise OSError(f"{start}, which cannot be read: {error.strerror}") from None
  if _is_cut_off(content):
    raise ValueError(
      f"{start}: a part of the file is missing, compile it again"
    )
  found = {(name.decode(), what) for name, what in _SYMBOL.findall(content)}
  names = sorted(name for name, what in found if what == b"declaration")
  registered = any(what == b"register" for _, what in found)
  if of_tensorflow and names and not registered:
    raise ValueError(
      f"{start}, which was not compiled for TensorFlow: compile it with "
      "-DPHASIC_WITH_TENSORFLOW"
    )
  if registered and not of_tensorflow:
    raise ValueError(
      f"{start}, which was compiled for TensorFlow: it must be the library for "
      "JAX and NumPy, compiled without -DPHASIC_WITH_TENSORFLOW"
    )
  return names


def cannot_load(op: str, argument: str, path: str, error: Exception) -> OSError:
  """Returns the exception for what the loader refuses."""
  return OSError(
    f"op {op}: {argument} is {path}, which cannot be loaded: {error}"
  )


def _is_cut_off(content: bytes) -> bool:
  """Whether a library ends before what is mapped of it."""
  if not content.startswith(_ELF_64):
    return False  # The loader knows.
  if len(content) < 64:
    return True
  (table,) = struct.unpack_from("<Q", content, 32)
  size, count = struct.unpack_from("<HH", content, 54)
  if table + size * count > len(content) or size < 56:
    return True
  for i in range(count):
    (offset,) = struct.unpack_from("<Q", content, table + size * i + 8)
    (length,) = struct.unpack_from("<Q", content, table + size * i + 32)
    if offset + length > len(content):
      return True
  return False
