"""Libraries of native ops, and what is in them; the same in every substrate."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from phasic.internal import native_declarations


@functools.cache
def load(path: str) -> ctypes.CDLL:
  """Returns a shared library.

  Raises:
    FileNotFoundError: there is none.
    OSError: it cannot be loaded.
  """
  if not os.path.exists(path):
    raise FileNotFoundError(f"the native library {path} is not there")
  return ctypes.CDLL(path)


def symbol(path: str, name: str) -> Any:
  """Returns a function of a library, None where it has none of this name."""
  try:
    return getattr(load(path), name)
  except AttributeError:
    return None


def declaration(path: str, name: str) -> native_declarations.Declaration:
  """Returns what an op that is made with our headers says of itself.

  Raises:
    ValueError: the library has no such op, or its declaration cannot be read.
  """
  text = symbol(path, f"phasic_op_{name}_declaration")
  if text is None:
    raise ValueError(
      f"{path} has no op {name}: its source must have PHASIC_OP({name}, ...)"
    )
  text.restype = ctypes.c_char_p
  return native_declarations.parse(name, text().decode())
