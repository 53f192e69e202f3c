"""Results of users' Python functions on the host: checks and specs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import math
import operator
from typing import Any, SupportsIndex, TypeAlias, TypeVar

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal.frameworks import Foreign

_T = TypeVar("_T")

# The size of a dimension: an int. In a program for several sizes it may also be
# None (TensorFlow) or a symbol (JAX's export; JAX has no public type of
# symbols).
Size: TypeAlias = Any


@dataclasses.dataclass(frozen=True, init=False)
class ArraySpec:
  """The shape and dtype of an array, e.g. for the rule `abstract`.

  Attributes:
    shape: a tuple of sizes. In a program for several sizes they may be None
      (TensorFlow) or symbols (JAX's export).
    dtype: a NumPy dtype.

  Example:

    >>> from phasic import binding
    >>> spec = binding.ArraySpec((2, 3), "float32")
    >>> print(spec)
    float32[2, 3]
    >>> spec.ndim, spec.size, spec.fits((2, 4))
    (2, 6, False)
  """

  shape: tuple[int, ...]
  dtype: onp.dtype

  def __init__(
    self, shape: Iterable[SupportsIndex], dtype: onp.typing.DTypeLike
  ):
    """Converts the shape to Python integers and the dtype to NumPy's.

    Raises:
      TypeError: the shape has something else than sizes, or there is no such
        dtype.
    """
    is_other = isinstance(shape, (str, bytes, Mapping))
    if is_other or not isinstance(shape, Iterable):
      raise TypeError(
        f"shape is {raw_arguments.shown(shape)}: it must be a tuple of sizes"
      )
    object.__setattr__(self, "shape", tuple(map(_size, shape)))
    object.__setattr__(self, "dtype", _numpy_dtype(dtype))

  def __str__(self) -> str:
    return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"

  @property
  def ndim(self) -> int:
    """Returns the number of dimensions."""
    return len(self.shape)

  @property
  def size(self) -> int | None:
    """Returns the number of elements; None if a size is unknown."""
    if any(size is None for size in self.shape):
      return None
    return math.prod(self.shape)

  def fits(self, shape: Sequence[int]) -> bool:
    """Returns whether `shape` agrees with the spec in all known sizes."""
    return len(shape) == len(self.shape) and all(
      known == size or not isinstance(known, int)
      for known, size in zip(self.shape, shape, strict=True)
    )


def _numpy_dtype(dtype: onp.typing.DTypeLike) -> onp.dtype:
  """Returns NumPy's dtype of an argument; raises TypeError if there is none."""
  try:
    if dtype is not None and not isinstance(dtype, Mapping):
      return onp.dtype(dtype)
  except (TypeError, ValueError, SyntaxError):
    pass
  raise TypeError(
    f"dtype is {raw_arguments.shown(dtype)}: it must be a dtype of NumPy"
  )


def _size(size: Size) -> int:
  """Converts a size to a Python integer; returns unknown sizes unchanged."""
  try:
    return operator.index(size)
  except TypeError:
    pass
  if isinstance(size, (float, onp.floating, complex, bytes, list, tuple)):
    raise TypeError(
      f"shape has the size {raw_arguments.shown(size)}: sizes must be integers"
    )
  return size


def checked(
  name: str,
  results: Sequence[object],
  specs: Sequence[ArraySpec],
  canonical: Callable[[onp.dtype], object] = onp.dtype,
) -> list[onp.ndarray]:
  """Checks results against their specs; returns contiguous arrays."""
  if len(results) != len(specs):
    raise TypeError(
      f"{name} returned {len(results)} arrays: it must return {len(specs)}"
    )
  arrays = []
  for i, (result, spec) in enumerate(zip(results, specs, strict=True)):
    check_unmasked(name, f"result {i}", result)
    array = onp.asarray(result)
    if (
      array.dtype == spec.dtype
      and array.shape == spec.shape
      and array.flags.c_contiguous
    ):
      arrays.append(array)
      continue
    if not spec.fits(array.shape) or canonical(array.dtype) != spec.dtype:
      actual = ArraySpec(array.shape, array.dtype)
      raise TypeError(
        f"{name} returned {actual} as result {i}: it must be {spec}, which "
        "follows from its rule `abstract`, a call with zeros, or its arguments"
      )
    # np.ascontiguousarray would turn scalars into vectors.
    arrays.append(onp.array(array, dtype=spec.dtype, order="C", copy=None))
  return arrays


def result_of_zeros(
  name: str,
  f: Callable[..., _T],
  zeros: Sequence[object],
  options: Mapping[str, object],
) -> _T:
  """Calls a function with zeros, to learn the structure of its result.

  Raises:
    TypeError: the function raised an exception.
  """
  try:
    with onp.errstate(all="ignore"):
      return f(*zeros, **options)
  except Exception as error:
    raise TypeError(
      f"{name} was called with zeros to find the shapes of its result, and "
      f"raised {type(error).__name__}: {error}. Bind it with the rule `abstract`"
    ) from error


def spec_of(name: str, x: Foreign) -> ArraySpec:
  """Converts an object that a rule `abstract` returned to an ArraySpec.

  Raises:
    TypeError: it has no shape or dtype, or the dtype is not numeric.
    ValueError: a size is negative, or there are too many bytes.
  """
  if not hasattr(x, "shape") or not hasattr(x, "dtype"):
    raise TypeError(
      f"`abstract` of {name} returned a {type(x).__name__}: it must return "
      "objects with a shape and a dtype, such as ArraySpec"
    )
  spec = ArraySpec(x.shape, x.dtype)
  rule = f"`abstract` of {name} returned {spec}: "
  if not _has_numbers(spec.dtype):
    raise TypeError(f"{rule}its dtype must be numeric")
  if any(isinstance(size, int) and size < 0 for size in spec.shape):
    raise ValueError(f"{rule}its sizes must be at least 0")
  check_bytes(name, spec)
  return spec


def check_bytes(name: str, spec: ArraySpec) -> None:
  """Raises ValueError if a result exceeds the address space."""
  if not all(isinstance(size, int) for size in spec.shape):
    return  # An unknown size is checked when the program runs.
  if math.prod(spec.shape) * spec.dtype.itemsize >= 2**63:
    raise ValueError(
      f"{name} cannot return {spec}: it must have fewer than 2^63 bytes"
    )


def array_of(name: str, result: object) -> onp.ndarray:
  """Converts a function's result to a NumPy array.

  Raises:
    TypeError: it is not numeric.
  """
  check_unmasked(name, "a result", result)
  array = onp.asarray(result)
  if not _has_numbers(array.dtype):
    raise TypeError(
      f"{name} returned {array.dtype.name} ({type(result).__name__}): results "
      "must be arrays of numbers, or tuples, lists and dicts of them"
    )
  return array


def check_unmasked(name: str, what: str, x: object) -> None:
  """Raises TypeError for a masked array, whose mask would be lost."""
  if isinstance(x, onp.ma.MaskedArray):
    raise TypeError(
      f"{name}: {what} is a masked array: masks are not used; return "
      "x.filled(value)"
    )


def _has_numbers(dtype: onp.dtype) -> bool:
  """Returns whether a dtype is numeric."""
  return dtype.kind not in "OSUMm" and not issubclass(dtype.type, onp.void)


def unwritten(spec: ArraySpec) -> onp.ndarray:
  """Returns an output array, initially NaN, or 0 for integers."""
  if spec.dtype.kind in "biu":
    return onp.zeros(spec.shape, spec.dtype)
  return onp.full(spec.shape, onp.nan, spec.dtype)
