"""Files of native libraries, looked at before they are loaded.

Loading runs code, and a library that was cut off ends the process. The same in
every substrate.
"""

from __future__ import annotations

import os
import platform
import re
import struct
from typing import Any

_ELF_64 = b"\x7fELF\x02\x01"  # little-endian
# Numbers of processors in the headers of files.
_PROCESSORS = {62: "x86_64", 183: "aarch64"}
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
  if is_cut_off(path):
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


def damage(path: str) -> str:
  """Returns why a library must not be loaded, "" where the loader may try.

  The loader reports most of what is wrong with a file. It does not report a
  part that is missing, which ends the process, and says "No such file" of a
  library for another processor.
  """
  try:
    if is_cut_off(path):
      return "a part of the file is missing"
    with open(path, "rb") as file:
      header = file.read(20)
  except OSError as error:
    return f"it cannot be read: {error.strerror}"
  if not header.startswith(_ELF_64) or len(header) < 20:
    return ""  # The loader knows.
  built = _PROCESSORS.get(struct.unpack_from("<H", header, 18)[0])
  runs = platform.machine()
  if built is None or runs not in _PROCESSORS.values() or built == runs:
    return ""
  return f"it was built for {built}, and this processor is {runs}"


def is_cut_off(path: str) -> bool:
  """Whether a library ends before the last byte that is mapped of it.

  Raises:
    OSError: the file cannot be read.
  """
  total = os.path.getsize(path)
  with open(path, "rb") as file:
    header = file.read(64)
    if not header.startswith(_ELF_64):
      return False  # The loader knows.
    if len(header) < 64:
      return True
    (table,) = struct.unpack_from("<Q", header, 32)
    size, count = struct.unpack_from("<HH", header, 54)
    if table + size * count > total or size < 56:
      return True
    file.seek(table)
    segments = file.read(size * count)
  for i in range(count):
    (offset,) = struct.unpack_from("<Q", segments, size * i + 8)
    (length,) = struct.unpack_from("<Q", segments, size * i + 32)
    if offset + length > total:
      return True
  return False
