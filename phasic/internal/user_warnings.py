"""Warnings that point to the line of the user's code."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import contextvars
import sys
import threading
import types
import warnings

# Stack frames of these packages are skipped, to find the user's line.
_NOT_CALLERS = ("contextlib", "importlib", "jax", "phasic", "tensorflow")
_issued = threading.local()
_is_derived = contextvars.ContextVar("is_derived", default=False)
_is_searching = contextvars.ContextVar("is_searching", default=False)


def warn(message: str) -> None:
  """Issues a RuntimeWarning at the line of the user's code."""
  _issued.count = count() + 1
  level, frame = 1, sys._getframe()
  while frame.f_back is not None and _is_ours(frame):
    # The frames of an import are not counted by `warnings`.
    level += not _is_of_import(frame.f_back)
    frame = frame.f_back
  warnings.warn(message, RuntimeWarning, stacklevel=level)


def count() -> int:
  """Returns how many warnings this thread has issued."""
  return getattr(_issued, "count", 0)


def _is_of_import(frame: types.FrameType) -> bool:
  name = frame.f_code.co_filename
  return "importlib" in name and "_bootstrap" in name


def _is_ours(frame: types.FrameType) -> bool:
  module = str(frame.f_globals.get("__name__", ""))
  return _is_of_import(frame) or module.partition(".")[0] in _NOT_CALLERS


def derived() -> contextlib.AbstractContextManager[None]:
  """Disables value checks within a `with` block.

  It is for objects that are derived from an object that was checked before.
  """
  return _set(_is_derived)


def is_derived() -> bool:
  """Returns whether value checks are disabled by `derived`."""
  return _is_derived.get()


def searching() -> contextlib.AbstractContextManager[None]:
  """Disables warnings about NaN within a `with` block; checks stay enabled.

  It is for searches, which step back from NaN.
  """
  return _set(_is_searching)


@contextlib.contextmanager
def _set(flag: contextvars.ContextVar[bool]) -> Iterator[None]:
  """Sets a flag within a `with` block."""
  token = flag.set(True)
  try:
    yield
  finally:
    flag.reset(token)


def warns_of_nan() -> bool:
  """Returns whether to warn about NaN: not within `derived` or `searching`."""
  return not (_is_derived.get() or _is_searching.get())
