"""Pickles that say which version of phasic wrote them."""

from __future__ import annotations

from typing import ClassVar

from phasic.internal import late_names
from phasic.internal import user_warnings

_VERSION = late_names.version()
_KEY = "_phasic_version"
_warned_of: set[object] = set()


class Versioned:
  """An object whose pickles have the version of phasic that wrote them."""

  # Names of attributes that pickles and copies do not have.
  _NOT_PICKLED: ClassVar[tuple[str, ...]] = ()

  def __getstate__(self) -> dict[str, object]:
    kept = {k: x for k, x in vars(self).items() if k not in self._NOT_PICKLED}
    return {**kept, _KEY: _VERSION}

  def __setstate__(self, state: dict[str, object]) -> None:
    kept = dict(state)
    _check_version(type(self), kept.pop(_KEY, None))
    vars(self).update(kept)


def reduce(x: tuple[object, ...]) -> tuple[object, ...]:
  """Returns what `__reduce__` of a named tuple returns, with the version."""
  return _rebuild, (type(x), _VERSION, *x)


def _rebuild(cls: type, version: object, *fields: object) -> object:
  _check_version(cls, version)
  return cls(*fields)


def _check_version(cls: type, written: object) -> None:
  """Warns once of each other version of phasic that wrote a pickle."""
  if written == _VERSION or written in _warned_of:
    return
  _warned_of.add(written)
  by = "a phasic before 0.1.0" if written is None else f"phasic {written}"
  user_warnings.warn(
    f"a pickle of {cls.__name__} was written by {by} and is read by phasic "
    f"{_VERSION}: pickles need not work between versions; pickle the object "
    "again, or write it by to_json, whose text is checked when it is read"
  )
