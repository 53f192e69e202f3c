"""Python functions of NumPy arrays that a framework's program calls.

What all substrates share: how a function is run on a batch, how its results are
checked, and where its last exception is kept.
"""

from collections.abc import Callable, Sequence
import dataclasses
import threading
import traceback
from typing import Any, NamedTuple

import numpy as onp

SEQUENTIAL, EXPAND = "sequential", "expand"
BATCHINGS = (SEQUENTIAL, EXPAND)


class ArraySpec(NamedTuple):
  """A shape and a dtype."""

  shape: tuple[Any, ...]
  dtype: Any

  def __str__(self) -> str:
    return f"{onp.dtype(self.dtype).name}{list(self.shape)}"


@dataclasses.dataclass(frozen=True, eq=False)
class HostFunction:
  """A Python function of trees of NumPy arrays.

  Attributes:
    name: what messages call it.
    f: the function.
    batching: "sequential", it is called for each example; or "expand", it is
      called once with the batch's dimensions in front of all arguments, of
      size one where an argument has none, and its results have them in full.
  """

  name: str
  f: Callable[..., Any]
  batching: str = SEQUENTIAL


class BatchLevel(NamedTuple):
  """A vectorisation: its size, and which arrays have it in front."""

  size: int
  mapped: tuple[bool, ...]


def run(
  function: HostFunction,
  call: Callable[[Sequence[Any]], Sequence[Any]],
  arrays: Sequence[onp.ndarray],
  specs: Sequence[ArraySpec],
  levels: Sequence[BatchLevel] = (),
  canonical: Callable[[Any], Any] = onp.dtype,
) -> list[onp.ndarray]:
  """Returns a function's results for a batch, checked, as contiguous arrays.

  Args:
    function: the function.
    call: takes and returns flat lists, and calls it.
    arrays: its arguments, with the levels' dimensions in front, outermost
      first.
    specs: what results have to be for one example.
    levels: of the batch, innermost first.
    canonical: returns the dtype that the framework has in a dtype's place.

  Raises:
    TypeError: a result has another shape or dtype, or they are too few or many.
  """
  sizes = tuple(level.size for level in reversed(levels))
  if levels and function.batching == EXPAND:
    expanded = [_expanded(x, i, levels) for i, x in enumerate(arrays)]
    specs = [ArraySpec((*sizes, *s.shape), s.dtype) for s in specs]
    return _checked(function.name, call(expanded), specs, canonical)
  if not levels:
    return _checked(function.name, call(arrays), specs, canonical)
  outer, inner = levels[-1], levels[:-1]
  rows = []
  for k in range(outer.size):
    row = [
      x[k] if mapped else x
      for x, mapped in zip(arrays, outer.mapped, strict=True)
    ]
    rows.append(run(function, call, row, specs, inner, canonical))
  if not rows:
    return [onp.empty((*sizes, *s.shape), s.dtype) for s in specs]
  return [onp.stack(column) for column in zip(*rows, strict=True)]


def _expanded(
  x: onp.ndarray, index: int, levels: Sequence[BatchLevel]
) -> onp.ndarray:
  """Returns an array with a dimension for each level."""
  missing = [
    axis
    for axis, level in enumerate(reversed(levels))
    if not level.mapped[index]
  ]
  return onp.expand_dims(x, missing)


def _checked(
  name: str,
  results: Sequence[Any],
  specs: Sequence[ArraySpec],
  canonical: Callable[[Any], Any],
) -> list[onp.ndarray]:
  if len(results) != len(specs):
    raise TypeError(
      f"{name} returned {len(results)} arrays: there must be {len(specs)}"
    )
  found = []
  for i, (result, spec) in enumerate(zip(results, specs, strict=True)):
    array = onp.asarray(result)
    shape = tuple(spec.shape)
    if array.shape != shape or canonical(array.dtype) != spec.dtype:
      own = ArraySpec(array.shape, array.dtype)
      raise TypeError(
        f"{name} returned {own} as result {i}: it must be {spec}, as its rule "
        "`abstract` or its arguments say"
      )
    # Not ascontiguousarray, which makes vectors of numbers.
    found.append(onp.array(array, dtype=spec.dtype, order="C", copy=None))
  return found


class _Errors:
  """The last exception of a bound function."""

  def __init__(self) -> None:
    self._lock = threading.Lock()
    self._last: BaseException | None = None

  def keep(self, name: str, error: BaseException) -> str:
    """Keeps an exception and returns a message with its traceback."""
    with self._lock:
      self._last = error
    trace = "".join(traceback.format_exception(error))
    return f"{name} raised {type(error).__name__}: {error}\n{trace}"

  def last(self) -> BaseException | None:
    with self._lock:
      return self._last


errors = _Errors()
