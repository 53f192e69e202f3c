"""Python functions of NumPy arrays that a framework's program calls.

What all substrates share: how a function is run on a batch, how its results are
checked, and where its last exception is kept.
"""

from collections.abc import Callable, Sequence
import dataclasses
import functools
import math
import operator
import threading
import traceback
from typing import Any, NamedTuple

import numpy as onp


@dataclasses.dataclass(frozen=True)
class ArraySpec:
  """A shape and a dtype: what rules `abstract` take and return.

  Attributes:
    shape: a tuple of sizes. In a program for several sizes they may be None
      (TensorFlow) or symbols (JAX's export).
    dtype: a NumPy dtype, or what makes one.
  """

  shape: tuple[Any, ...]
  dtype: Any

  def __post_init__(self) -> None:
    """Makes a tuple of Python's integers, and a NumPy dtype."""
    object.__setattr__(self, "shape", tuple(map(_size, self.shape)))
    object.__setattr__(self, "dtype", onp.dtype(self.dtype))

  def __str__(self) -> str:
    return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"

  @property
  def ndim(self) -> int:
    """How many dimensions there are."""
    return len(self.shape)

  @property
  def size(self) -> Any:
    """How many elements there are; None where a size is not known."""
    if any(size is None for size in self.shape):
      return None
    return math.prod(self.shape)

  def fits(self, shape: Sequence[int]) -> bool:
    """Returns whether a shape is this one, where sizes are known."""
    return len(shape) == len(self.shape) and all(
      own == size or not isinstance(own, int)
      for own, size in zip(self.shape, shape, strict=True)
    )


def _size(size: Any) -> Any:
  """Returns a size as Python's integer; what it is not stays."""
  try:
    return operator.index(size)
  except TypeError:
    pass
  if isinstance(size, (float, onp.floating)):
    raise TypeError(f"a size is {size}: it must be an integer")
  return size


class BatchLevel(NamedTuple):
  """A vectorisation: which arrays have its dimension in front."""

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
  specs: Sequence[ArraySpec],
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
    return checked(function.name, call(arrays), specs, canonical)
  if function.batching is not None:
    sizes = level_sizes(arrays, levels)
    specs = [ArraySpec((*sizes, *s.shape), s.dtype) for s in specs]
    results = function.batching(call, arrays, levels)
    return checked(function.name, results, specs, canonical)
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
      results = results if inner else checked(name, results, specs, canonical)
      found = [onp.empty((size, *x.shape), x.dtype) for x in results]
      # Sizes that were not known are the same in all rows.
      specs = [ArraySpec(x.shape[len(inner) :], x.dtype) for x in results]
    elif not inner and not _are_plain(results, specs):
      results = checked(name, results, specs, canonical)
    for column, x in zip(found, results, strict=True):
      column[k] = x
  return found


def _are_plain(results: Sequence[Any], specs: Sequence[ArraySpec]) -> bool:
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


def checked(
  name: str,
  results: Sequence[Any],
  specs: Sequence[ArraySpec],
  canonical: Callable[[Any], Any] = onp.dtype,
) -> list[onp.ndarray]:
  """Returns results as contiguous arrays; see `run`."""
  if len(results) != len(specs):
    raise TypeError(
      f"{name} returned {len(results)} arrays: there must be {len(specs)}"
    )
  found = []
  for i, (result, spec) in enumerate(zip(results, specs, strict=True)):
    check_unmasked(name, f"result {i}", result)
    array = onp.asarray(result)
    if (
      array.dtype == spec.dtype
      and array.shape == spec.shape
      and array.flags.c_contiguous
    ):
      found.append(array)
      continue
    if not spec.fits(array.shape) or canonical(array.dtype) != spec.dtype:
      own = ArraySpec(array.shape, array.dtype)
      raise TypeError(
        f"{name} returned {own} as result {i}: it must be {spec}, as its rule "
        "`abstract`, its result for zeros or its arguments say"
      )
    # Not ascontiguousarray, which makes vectors of numbers.
    found.append(onp.array(array, dtype=spec.dtype, order="C", copy=None))
  return found


def result_of_zeros(
  name: str, f: Callable[..., Any], zeros: Sequence[Any], options: Any
) -> Any:
  """Returns a function's result for arrays of zeros, of its shapes and dtypes.

  Raises:
    TypeError: the function raised an exception.
  """
  try:
    with onp.errstate(all="ignore"):
      return f(*zeros, **options)
  except Exception as error:
    raise TypeError(
      f"{name} was called with zeros to see its result's shapes and dtypes, and "
      f"raised {type(error).__name__}: {error}. Bind it with the rule `abstract`"
    ) from error


def spec_of(name: str, x: Any) -> ArraySpec:
  """Returns the shape and dtype of what a rule `abstract` returned.

  Raises:
    TypeError: it has none, or the dtype is not one of numbers.
    ValueError: a size is negative, or there cannot be as many bytes.
  """
  if not hasattr(x, "shape") or not hasattr(x, "dtype"):
    raise TypeError(
      f"`abstract` of {name} returned a {type(x).__name__}: it must return what "
      "has a shape and a dtype, such as ArraySpec"
    )
  spec = ArraySpec(x.shape, x.dtype)
  rule = f"`abstract` of {name} returned {spec}: "
  if not _has_numbers(spec.dtype):
    raise TypeError(f"{rule}its dtype must be one of numbers")
  if any(isinstance(size, int) and size < 0 for size in spec.shape):
    raise ValueError(f"{rule}its sizes must be at least 0")
  check_bytes(name, spec)
  return spec


def check_bytes(name: str, spec: ArraySpec) -> None:
  """Raises ValueError where a result has more bytes than there can be."""
  if not all(isinstance(size, int) for size in spec.shape):
    return  # Known when a program runs.
  if math.prod(spec.shape) * spec.dtype.itemsize >= 2**63:
    raise ValueError(
      f"{name} cannot return {spec}: there cannot be as many bytes"
    )


def array_of(name: str, result: Any) -> onp.ndarray:
  """Returns a result of a function as an array.

  Raises:
    TypeError: it is none of numbers.
  """
  check_unmasked(name, "a result", result)
  array = onp.asarray(result)
  if not _has_numbers(array.dtype):
    raise TypeError(
      f"{name} returned {array.dtype.name} ({type(result).__name__}): results "
      "must be arrays of numbers, or tuples, lists and dicts of them"
    )
  return array


def check_unmasked(name: str, what: str, x: Any) -> None:
  """Raises TypeError for a masked array, whose mask would be lost."""
  if isinstance(x, onp.ma.MaskedArray):
    raise TypeError(
      f"{name}: {what} is a masked array: masks are not used, `filled` gives a "
      "plain one"
    )


def _has_numbers(dtype: onp.dtype) -> bool:
  """Whether it is neither of objects, of texts or times, nor of records."""
  return dtype.kind not in "OSUMm" and not issubclass(dtype.type, onp.void)


def unwritten(spec: ArraySpec) -> onp.ndarray:
  """Returns an array of NaN, or of zeros for integers."""
  if spec.dtype.kind in "biu":
    return onp.zeros(spec.shape, spec.dtype)
  return onp.full(spec.shape, onp.nan, spec.dtype)


def unknown_sizes(name: str) -> str:
  """Returns the message of a program for several sizes."""
  return (
    f"{name} is called with sizes that are not known: bind it with the rule "
    "`abstract`"
  )


def no_derivative(name: str) -> str:
  """Returns the message of a derivative in what a function is not linear in."""
  return (
    f"{name} has no derivative in these arguments: it was bound without a rule "
    "for one, or they are among the first `num_fixed`. Rules of derivatives "
    "have derivatives where they are bound functions with rules of their own"
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
