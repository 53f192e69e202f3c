"""Users' Python functions on NumPy arrays, called by compiled programs.

All substrates share this file: calls of a function on a batch, messages about
missing rules, and the last exception of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import functools
import threading
import traceback
from typing import Any, NamedTuple, TypeGuard, TypeVar

import numpy as onp

from phasic.internal.native import batch_checks
from phasic.internal.native import host_results

_T = TypeVar("_T")


class BatchLevel(NamedTuple):
  """A level of vmap, with a flag for each array: whether it is mapped over."""

  mapped: tuple[bool, ...]


# The type of functions that evaluate a whole batch. The first argument is the
# function to call, which takes a list of arrays. The second argument is this
# list. The leading dimensions of its arrays are the levels of vmap, outermost
# first. The third argument is the levels, innermost first. Each result has all
# levels as leading dimensions.
Batching = Callable[
  [
    Callable[..., Sequence[object]],
    Sequence[onp.ndarray],
    Sequence[BatchLevel],
  ],
  Sequence[object],
]


@dataclasses.dataclass(frozen=True, eq=False)
class HostFunction:
  """A Python function whose arguments are trees of NumPy arrays.

  Attributes:
    name: its name in messages.
    f: the function.
    batching: the function that calls it for a batch; None calls it for each
      example.
    kept: the cached functions that `keeping` has made.
    checked: the kinds of batches for which `batch_checks` has run.
  """

  name: str
  f: Callable[..., object]
  batching: Batching | None = None
  kept: dict[object, Callable[..., Any]] = dataclasses.field(
    default_factory=dict, init=False, repr=False
  )
  checked: set[object] = dataclasses.field(
    default_factory=set, init=False, repr=False
  )

  def keeping(self, make: Callable[..., _T]) -> Callable[..., _T]:
    """Returns `make` with a cache that is deleted with this HostFunction.

    A cache at module level would keep the HostFunction alive.
    """
    if make not in self.kept:
      self.kept[make] = functools.lru_cache(maxsize=1024)(make)
    return self.kept[make]


@dataclasses.dataclass(frozen=True)
class Missing:
  """A stand-in for a derivative rule that the user did not give."""

  message: str


# A function f, followed by the transposes of f in each of its arguments.
Functions = Sequence[HostFunction | Missing]


def transposed(
  target: int, slot: int, others: Sequence[_T], cotangent: _T
) -> tuple[int, list[_T]]:
  """Transposes a function f, or one of the transposes of f, in one slot.

  Target 0 is f, and target i + 1 is the transpose of f in slot i. The slots of
  this transpose are f's other slots and the cotangent.

  Args:
    target: the target that is transposed.
    slot: the slot in which the target is transposed.
    others: the other slots of the target.
    cotangent: the cotangent of the target's results.

  Returns:
    The target of the transpose, and its slots.
  """
  if target == 0:
    return slot + 1, [*others, cotangent]
  first = target - 1
  if slot == len(others):
    # The transpose in the slot of the cotangent is f itself. The new cotangent
    # is f's argument in the slot of the first transposition.
    return 0, [*others[:first], cotangent, *others[first:]]
  # The transpose in another slot is f's transpose in that slot. The new
  # cotangent is f's argument in the slot of the first transposition.
  index = slot if slot < first else slot + 1
  kept = [i for i in range(len(others) + 1) if i not in (first, index)]
  args = dict(zip(kept, others[:-1], strict=True))
  args[first] = cotangent
  return index + 1, [*(args[i] for i in sorted(args)), others[-1]]


def expand(
  call: Callable[..., Sequence[object]],
  arrays: Sequence[onp.ndarray],
  levels: Sequence[BatchLevel],
) -> Sequence[object]:
  """Calls a function once for a batch; the arrays' batch sizes broadcast.

  An array over which a level of vmap does not map gets a dimension of size one.
  """
  expanded = []
  for i, x in enumerate(arrays):
    missing = [
      axis for axis, level in enumerate(reversed(levels)) if not level.mapped[i]
    ]
    expanded.append(onp.expand_dims(x, missing))
  return call(expanded)


def run(
  function: HostFunction,
  call: Callable[..., Sequence[object]],
  arrays: Sequence[onp.ndarray],
  specs: Sequence[host_results.ArraySpec],
  levels: Sequence[BatchLevel] = (),
  canonical: Callable[[onp.dtype], object] = onp.dtype,
) -> list[onp.ndarray]:
  """Calls a function for a batch; returns checked, contiguous results.

  Args:
    function: the function.
    call: a function of flat lists and keyword arguments that calls it.
    arrays: its arguments, with the dimensions of levels in front, outermost
      first.
    specs: the specs of results for one example.
    levels: the levels of the batch, innermost first.
    canonical: a function that returns the framework's dtype for a dtype.

  Raises:
    TypeError: a result has another shape or dtype, or the number of results is
      wrong.
  """
  if not levels:
    return host_results.checked(function.name, call(arrays), specs, canonical)
  if function.batching is not None:
    sizes = level_sizes(arrays, levels)
    batch_checks.check(function, call, arrays, specs, levels, sizes, canonical)
    specs = [host_results.ArraySpec((*sizes, *s.shape), s.dtype) for s in specs]
    results = function.batching(call, arrays, levels)
    return host_results.checked(function.name, results, specs, canonical)
  outer, inner = levels[-1], levels[:-1]
  size = level_sizes(arrays, [outer])[0]
  if size == 0:
    sizes = level_sizes(arrays, levels)
    return [onp.empty((*sizes, *s.shape), s.dtype) for s in specs]
  name, pairs = function.name, list(zip(arrays, outer.mapped, strict=True))
  columns: list[onp.ndarray] = []
  for k in range(size):
    # Copy arrays that all rows share: the function may write to its arguments.
    row = [x[k, ...] if mapped else onp.array(x) for x, mapped in pairs]
    if inner:
      results = run(function, call, row, specs, inner, canonical)
    else:
      returned = call(row)
      results = (
        returned
        if columns and _are_plain(returned, specs)
        else host_results.checked(name, returned, specs, canonical)
      )
    if not columns:
      columns = [onp.empty((size, *x.shape), x.dtype) for x in results]
      # The first row determines the sizes that the specs leave unknown: they
      # must be the same for all rows.
      specs = [
        host_results.ArraySpec(x.shape[len(inner) :], x.dtype) for x in results
      ]
    for column, x in zip(columns, results, strict=True):
      column[k] = x
  return columns


def _are_plain(
  results: Sequence[object], specs: Sequence[host_results.ArraySpec]
) -> TypeGuard[Sequence[onp.ndarray]]:
  """Returns whether results match their specs exactly; a fast check."""
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
  """Returns the batch sizes of the vmap levels, outermost first."""
  sizes = []
  used = [0] * len(arrays)
  for level in reversed(levels):
    index = level.mapped.index(True)
    sizes.append(arrays[index].shape[used[index]])
    used = [
      n + is_mapped for n, is_mapped in zip(used, level.mapped, strict=True)
    ]
  return tuple(sizes)


def unknown_sizes(name: str) -> str:
  """Returns the error message about unknown array sizes in a program."""
  return (
    f"{name} is called with unknown sizes: bind it with the rule `abstract`"
  )


def no_derivative(name: str) -> str:
  """Returns the error message about differentiating fixed arguments."""
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
  """Returns an exception's text; a placeholder if `str` fails."""
  try:
    return str(error)
  except BaseException:
    return f"{type(error).__name__}, whose text cannot be had"


class _Errors:
  """Storage of the last exception that a bound function raised."""

  def __init__(self) -> None:
    self._lock = threading.Lock()
    self._last: BaseException | None = None

  def keep(self, name: str, error: BaseException) -> str:
    """Stores an exception; returns a message that includes its traceback."""
    with self._lock:
      self._last = error
    trace = "".join(traceback.format_exception(error))
    message = f"{name} raised {type(error).__name__}: {text_of(error)}\n{trace}"
    # Frameworks accept only UTF-8 messages without null characters.
    message = message.replace("\0", "\\0")
    return message.encode(errors="backslashreplace").decode()

  def last(self) -> BaseException | None:
    with self._lock:
      return self._last


errors = _Errors()


def last_error() -> BaseException | None:
  """Returns the last exception of a function called by compiled code.

  Example: raises the function's own exception instead of the framework's.

    >>> from phasic import binding
    >>> def run(program, *args):
    ...   try:
    ...     return program(*args)
    ...   except Exception as error:
    ...     raise binding.last_error() or error
    >>> run(abs, -2.0)
    2.0
  """
  return errors.last()
