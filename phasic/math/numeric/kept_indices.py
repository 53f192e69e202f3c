"""Keeps results that depend on the indices of a chain's edges alone.

A fit evaluates one chain at many rates. The larger chains that such evaluations
need have the same edges each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
import functools
from typing import TypeGuard, TypeVar

import numpy as onp

from phasic.internal import structures
from phasic.internal.arrays import Array

_T = TypeVar("_T", bound=tuple[Array, ...])
MODE = "numpy"
# The number of results that are kept.
_MOST = 128
# Results for more edges than this are not kept, which bounds the memory. To
# compute them anew is fast compared to the evaluation of such a large chain.
_LARGEST = 4096
_INT32 = onp.dtype(onp.int32)


def evaluate(
  function: Callable[..., _T],
  sources: Array | onp.ndarray,
  targets: Array | onp.ndarray,
  *options: Hashable,
) -> _T:
  """Computes `function(sources, targets, *options)`, or returns a kept result.

  Results are kept in NumPy only, by the values of the indices: arrays of the
  other backends may belong to a trace.

  Args:
    function: a function defined at the top of a module, whose result depends on
      its arguments alone.
    sources: the sources of edges, (m,).
    targets: their targets, (m,).
    *options: further arguments.

  Returns:
    A tuple of arrays. They may be read-only.
  """
  if _is_kept(sources) and _is_kept(targets):
    ends = _contents(sources), _contents(targets)
    return _computed(function, *ends, *options)
  return function(sources, targets, *options)


def _is_kept(x: object) -> TypeGuard[onp.ndarray]:
  """Returns whether `x` is an int32 array of few numbers, in NumPy."""
  if MODE == "numpy":
    return type(x) is onp.ndarray and x.dtype is _INT32 and len(x) <= _LARGEST
  else:
    return False


def _contents(x: onp.ndarray) -> bytes:
  return x.tobytes()


@functools.lru_cache(maxsize=_MOST)
def _computed(
  function: Callable[..., _T],
  sources: bytes,
  targets: bytes,
  *options: Hashable,
) -> _T:
  """Computes a result that is kept, from the bytes of int32 indices."""
  ends = (onp.frombuffer(x, onp.int32) for x in (sources, targets))
  result = function(*ends, *options)
  structures.make_lasting(result)
  return result
