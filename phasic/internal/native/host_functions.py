"""Python functions of NumPy arrays that a framework's program calls.

What all substrates share: how a function is run on a batch, what is said of one
that cannot be, and where its last exception is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import functools
import threading
import traceback
from typing import Any, NamedTuple

import numpy as onp

from phasic.internal.native import host_results


class BatchLevel(NamedTuple):
  """A vectorization: which arrays have its dimension in front."""

  mapped: tuple[bool, ...]


# How a batch is called. Takes a function of flat lists and keyword arguments,
# arrays with the levels' dimensions in front, outermost first, and the levels,
# innermost first; returns results with all the levels' dimensions in front.
Batching = Callable[
  [Callable[..., Sequence[Any]], Sequence[Any], Sequence[BatchLevel]],
  Sequence[Any],
]


@dataclasses.dataclass(frozen=True, eq=False)
class HostFunction:
  """A Python function of trees of NumPy arrays.

  Attributes:
    name: what messages call it.
    f: the function.
    batching: how it is called for a batch; None for each example.
    kept: what `keeping` keeps.
  """

  name: str
  f: Callable[..., Any]
  batching: Batching | None = None
  kept: dict[Any, Any] = dataclasses.field(
    default_factory=dict, init=False, repr=False
  )

  def keeping(self, make: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that keeps its results as long as this is there.

    Those would keep this one alive in a cache of a module.
    """
    if make not in self.kept:
      self.kept[make] = functools.lru_cache(maxsize=1024)(make)
    return self.kept[make]


@dataclasses.dataclass(frozen=True)
class Missing:
  """A rule that was not given, and what is said to whoever needs it."""

  message: str


# A function and its transposes.
Functions = Sequence[HostFunction | Missing]


def expand(
  call: Callable[..., Sequence[Any]],
  arrays: Sequence[onp.ndarray],
  levels: Sequence[BatchLevel],
) -> Sequence[Any]:
  """One call, where arrays have a dimension for each level, if of size one."""
  expanded = []
  for i, x in enumerate(arrays):
    missing = [
      axis for axis, level in enumerate(reversed(levels)) if not level.mapped[i]
    ]
    expanded.append(onp.expand_dims(x, missing))
  return call(expanded)


def run(
  function: HostFunction,
  call: Callable[..., Sequence[Any]],
  arrays: Sequence[onp.ndarray],
  specs: Sequence[host_results.ArraySpec],
  levels: Sequence[BatchLevel] = (),
  canonical: Callable[[Any], Any] = onp.dtype,
) -> list[onp.ndarray]:
  """Returns a function's results for a batch, checked, as contiguous arrays.

  Args:
    function: the function.
    call: takes and returns flat lists, and calls it; keyword arguments go to it
      with its own.
    arrays: its arguments, with the levels' dimensions in front, outermost
      first.
    specs: what results have to be for one example.
    levels: of the batch, innermost first.
    canonical: returns the dtype that the framework has in a dtype's place.

  Raises:
    TypeError: a result has another shape or dtype, or they are too few or many.
  """
  if not levels:
    return host_results.checked(function.name, call(arrays), specs, canonical)
  if function.batching is not None:
    sizes = level_sizes(arrays, levels)
    specs = [host_results.ArraySpec((*sizes, *s.shape), s.dtype) for s in specs]
    results = function.batching(call, arrays, levels)
    return host_results.checked(function.name, results, specs, canonical)
  outer, inner = levels[-1], levels[:-1]
  size = level_sizes(arrays, [outer])[0]
  if size == 0:
    sizes = level_sizes(arrays, levels)
    return [onp.empty((*sizes, *s.shape), s.dtype) for s in specs]
  name, pairs = function.name, list(zip(arrays, outer.mapped, strict=True))
  found: list[onp.ndarray] = []
  for k in range(size):
    # Arrays, not numbers; and its own, which it may write to.
    row = [x[k, ...] if mapped else onp.array(x) for x, mapped in pairs]
    if inner:
      results = run(function, call, row, specs, inner, canonical)
    else:
      results = call(row)
    if not found:
      results = (
        results
        if inner
        else host_results.checked(name, results, specs, canonical)
      )
      found = [onp.empty((size, *x.shape), x.dtype) for x in results]
      # Sizes that were not known are the same in all rows.
      specs = [
        host_results.ArraySpec(x.shape[len(inner) :], x.dtype) for x in results
      ]
    elif not inner and not _are_plain(results, specs):
      results = host_results.checked(name, results, specs, canonical)
    for column, x in zip(found, results, strict=True):
      column[k] = x
  return found


def _are_plain(
  results: Sequence[Any], specs: Sequence[host_results.ArraySpec]
) -> bool:
  """Whether results are arrays as they have to be: quicker than `checked`."""
  if len(results) != len(specs):
    return False
  for x, spec in zip(results, specs, strict=True):
    if type(x) is not onp.ndarray:
      return False
    if x.dtype != spec.dtype or x.shape != spec.shape:
      return False
  return True


def level_sizes(
  arrays: Sequence[onp.ndarray], levels: Sequence[BatchLevel]
) -> tuple[int, ...]:
  """Returns the levels' sizes, outermost first."""
  sizes = []
  used = [0] * len(arrays)
  for level in reversed(levels):
    index = level.mapped.index(True)
    sizes.append(arrays[index].shape[used[index]])
    used = [n + own for n, own in zip(used, level.mapped, strict=True)]
  return tuple(sizes)


def unknown_sizes(name: str) -> str:
  """Returns the message of a program for several sizes."""
  return (
    f"{name} is called with sizes that are not known: bind it with the rule "
    "`abstract`"
  )


def no_derivative(name: str) -> str:
  """Returns the message of a derivative in what a function is not linear in."""
  rule = name.split(" of ")[0]
  if rule in ("jvp", "vjp"):
    return (
      f"{name} has no derivative, which derivatives of second order need: give "
      f"the rule in array code, {rule}=array_code(rule), or with rules of its "
      f"own, {rule}=bind(rule, jvp=..., vjp=...)"
    )
  return (
    f"{name} has no derivative in its first arguments, the fixed ones: it was "
    "bound as linear in the others; `bind` takes rules for all"
  )


def text_of(error: BaseException) -> str:
  """Returns an exception's text, also of one that raises when asked for it."""
  try:
    return str(error)
  except BaseException:
    return f"{type(error).__name__}, whose text cannot be had"


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
    message = f"{name} raised {type(error).__name__}: {text_of(error)}\n{trace}"
    # What frameworks can keep: UTF-8 without a zero.
    message = message.replace("\0", "\\0")
    return message.encode(errors="backslashreplace").decode()

  def last(self) -> BaseException | None:
    with self._lock:
      return self._last


errors = _Errors()


def last_error() -> BaseException | None:
  """Returns the last exception of a function that compiled code called."""
  return errors.last()
