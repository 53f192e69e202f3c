"""Checks of shared library files before they are loaded.

Loading runs code, and a truncated library ends the process. All substrates
share this file.
"""

from __future__ import annotations

import os
import platform
import re
import struct

_ELF_64 = b"\x7fELF\x02\x01"  # A 64-bit, little-endian ELF file.
# The names of processors, by their codes in ELF headers.
_PROCESSORS = {62: "x86_64", 183: "aarch64"}
_SYMBOL = re.compile(rb"\0phasic_op_(\w+)_(declaration|register)(?=\0)")


def whole_path(op: str, argument: str, path: str | os.PathLike[str]) -> str:
  """Returns a library's full path, as loaders search folders for a bare name.

  Args:
    op: the op's name, for messages.
    argument: the argument of `bind_native` that has the path.
    path: a path.

  Raises:
    TypeError: it is not a path.
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


def ops(
  op: str, argument: str, path: str, *, for_tensorflow: bool
) -> list[str]:
  """Lists the names of the native ops in a library file.

  Args:
    op: the op's name, for messages.
    argument: the argument of `bind_native` that has the path.
    path: the path of the library.
    for_tensorflow: whether it must be the library for TensorFlow.

  Raises:
    FileNotFoundError: there is no such file.
    ValueError: the file is truncated, or compiled for another framework.
  """
  start = f"op {op}: {argument} is {path}"
  if not os.path.exists(path):
    raise FileNotFoundError(f"{start}, which does not exist")
  if not os.path.isfile(path):
    raise ValueError(
      f"{start}, which is not a file: it must be a shared library"
    )
  try:
    with open(path, "rb") as file:
      content = file.read()
  except OSError as error:
    raise OSError(f"{start}, which cannot be read: {error.strerror}") from None
  if is_cut_off(path):
    raise ValueError(
      f"{start}: a part of the file is missing; compile the library again"
    )
  symbols = {(name.decode(), what) for name, what in _SYMBOL.findall(content)}
  names = sorted(name for name, what in symbols if what == b"declaration")
  registered = any(what == b"register" for _, what in symbols)
  if for_tensorflow and names and not registered:
    raise ValueError(
      f"{start}, which was not compiled for TensorFlow: compile it with "
      "-DPHASIC_WITH_TENSORFLOW"
    )
  if registered and not for_tensorflow:
    raise ValueError(
      f"{start}, which was compiled for TensorFlow: it must be the library for "
      "JAX and NumPy, compiled without -DPHASIC_WITH_TENSORFLOW; for TensorFlow "
      "alone pass None, and this file as tf_library"
    )
  return names


def cannot_load(op: str, argument: str, path: str, error: Exception) -> OSError:
  """Returns the exception for a library that the loader rejects."""
  return OSError(
    f"op {op}: {argument} is {path}, which cannot be loaded: {error}"
  )


def damage(path: str) -> str:
  """Returns why a library must not be loaded; "" if loading may be tried.

  The loader reports most problems of a file. But a truncated file ends the
  process, and for a library of another processor the loader reports "No such
  file".
  """
  try:
    if is_cut_off(path):
      return "a part of the file is missing"
    with open(path, "rb") as file:
      header = file.read(20)
  except OSError as error:
    return f"it cannot be read: {error.strerror}"
  if not header.startswith(_ELF_64) or len(header) < 20:
    return ""  # The loader will report the problem.
  built = _PROCESSORS.get(struct.unpack_from("<H", header, 18)[0])
  runs = platform.machine()
  if built is None or runs not in _PROCESSORS.values() or built == runs:
    return ""
  return f"it was built for {built}, and this processor is {runs}"


def is_cut_off(path: str) -> bool:
  """Returns whether a library file is truncated: shorter than its segments.

  Raises:
    OSError: the file cannot be read.
  """
  total = os.path.getsize(path)
  with open(path, "rb") as file:
    header = file.read(64)
    if not header.startswith(_ELF_64):
      return False  # The loader will report the problem.
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
