"""Results that distributions keep between calls, and the memory these take.

Only what is computed from arrays that never change is kept, see
`structures.are_lasting`: nothing of variables or of traced arrays, and in
TensorFlow nothing while a gradient tape is open.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable
import operator
from typing import Any, ClassVar, TypeVar
import weakref

from phasic.distributions.base import structure
from phasic.internal import static
from phasic.internal import structures

_T = TypeVar("_T")
# At most this many distributions keep results, which bounds the memory.
_MOST = 512


class Keeper:
  """A distribution that keeps a result computed from its parameters."""

  # A tuple of the objects that the result was derived from, the result, and the
  # arrays of both; None if no result is kept.
  _kept: ClassVar[Any] = None
  # Whether this distribution is in the queue `_keepers`.
  _is_keeper: ClassVar[bool] = False

  def _origin(self) -> tuple[object, ...]:
    """Returns all objects from which the result is derived."""
    raise NotImplementedError

  def _origin_arrays(self) -> tuple[object, ...]:
    """Returns the arrays among them, also in mappings and edges."""
    raise NotImplementedError


# The distributions that keep results, the oldest first.
_keepers: collections.deque[weakref.ref[Keeper]] = collections.deque()


def derived(
  keeper: Keeper,
  derive: Callable[[], _T],
  arrays_of: Callable[[_T], Iterable[object]],
) -> _T:
  """Derives a result of a distribution's parameters, or returns a kept one.

  Args:
    keeper: the distribution.
    derive: makes the result.
    arrays_of: lists the arrays of a result.
  """
  # The test of `is_current` is repeated here without a function call, because
  # every call of a method pays for it.
  context = (*keeper._origin(), static.wide_float())
  kept = keeper._kept
  if kept is not None:
    is_same = all(map(operator.is_, kept[0], context))
    if (
      is_same
      and len(kept[0]) == len(context)
      and structures.are_lasting(kept[2])
    ):
      return kept[1]
    object.__setattr__(keeper, "_kept", None)
  result = derive()
  _keep(keeper, context, result, arrays_of)
  return result


def is_current(keeper: Keeper) -> bool:
  """Returns whether the kept result was derived from the current parameters."""
  kept = keeper._kept
  return (
    kept is not None
    and structure.are_same(kept[0], (*keeper._origin(), static.wide_float()))
    and structures.are_lasting(kept[2])
  )


def keep(
  keeper: Keeper, result: _T, arrays_of: Callable[[_T], Iterable[object]]
) -> None:
  """Keeps a result, unless the values that it was derived from may change."""
  # The widest dtype is part of the context, because users of JAX can change it.
  context = (*keeper._origin(), static.wide_float())
  _keep(keeper, context, result, arrays_of)


def _keep(
  keeper: Keeper,
  context: tuple[object, ...],
  result: _T,
  arrays_of: Callable[[_T], Iterable[object]],
) -> None:
  given = keeper._origin_arrays()
  if not structures.are_lasting(given):
    return
  arrays = tuple(arrays_of(result))
  if not structures.make_lasting(arrays):
    return
  if not keeper._is_keeper:
    if len(_keepers) >= _MOST:
      _make_room()
    _keepers.append(weakref.ref(keeper))
    object.__setattr__(keeper, "_is_keeper", True)
  # In TensorFlow distributions are modules, whose ordinary assignment would
  # track the attribute.
  object.__setattr__(keeper, "_kept", (context, result, (*given, *arrays)))


def _make_room() -> None:
  """Drops the results of the oldest keeper."""
  oldest = _keepers.popleft()()
  if oldest is not None:
    for name in structure.DERIVED:
      vars(oldest).pop(name, None)
