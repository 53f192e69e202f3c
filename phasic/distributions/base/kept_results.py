"""Results that distributions keep between calls, and the memory these take.

Only what is computed from arrays that never change is kept, see
`structures.are_lasting`: nothing of variables, of traced arrays, or of tensors
that a gradient tape may watch.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar
import weakref

from phasic.distributions.base import structure
from phasic.internal import structures

_T = TypeVar("_T")
# At most this many distributions keep results, which bounds the memory.
_MOST = 512


class Keeper(Protocol):
  """A distribution that keeps a result."""

  # The objects that the result was derived from, and the result.
  _kept: tuple[tuple[object, ...], object] | None


# The distributions that keep results, the oldest first.
_keepers: collections.deque[weakref.ref[Keeper]] = collections.deque()


def derived(
  keeper: Keeper,
  origin: tuple[object, ...],
  derive: Callable[[], _T],
  is_fixed: Callable[[], bool],
  arrays_of: Callable[[_T], Iterable[object]],
) -> _T:
  """Derives a result of a distribution's parameters, or returns a kept one.

  Args:
    keeper: the distribution.
    origin: all objects that the result is derived from.
    derive: makes the result.
    is_fixed: returns whether the values of `origin` can never change.
    arrays_of: lists the arrays of a result.
  """
  kept = keeper._kept
  if kept is not None:
    found: _T = kept[1]
    if structure.are_same(kept[0], origin) and structures.are_lasting(
      arrays_of(found)
    ):
      return found
    object.__setattr__(keeper, "_kept", None)
  found = derive()
  if is_fixed() and structures.make_lasting(arrays_of(found)):
    _make_room()
    _keepers.append(weakref.ref(keeper))
    # In TensorFlow distributions are modules, whose attributes are tracked.
    object.__setattr__(keeper, "_kept", (origin, found))
  return found


def _make_room() -> None:
  """Drops the results of the oldest keeper, if there are many."""
  if len(_keepers) < _MOST:
    return
  oldest = _keepers.popleft()()
  if oldest is not None:
    for name in structure.DERIVED:
      vars(oldest).pop(name, None)
