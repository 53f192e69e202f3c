"""Results of Python functions of NumPy arrays: what they are to be, and are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import math
import operator
from typing import Any

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


def checked(
  name: str,
  results: Sequence[Any],
  specs: Sequence[ArraySpec],
  canonical: Callable[[Any], Any] = onp.dtype,
) -> list[onp.ndarray]:
  """Returns results as contiguous arrays; see `host_functions.run`."""
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
