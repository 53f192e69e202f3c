"""Conversion to arrays, and registration of classes as pytrees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard, TypeVar

import numpy as onp

from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal.arrays import Array, Result
from phasic.internal.tape import modes

# Dtypes by name. The table is faster than NumPy, which parses each name.
_DTYPES: dict[object, onp.dtype] = {
  name: onp.dtype(name) for name in (*dtypes.FLOATS, "int32")
}
_FLOATS = frozenset(_DTYPES[name] for name in dtypes.FLOATS)
_T = TypeVar("_T", bound=type)


def register(cls: _T) -> _T:
  """Registers the decorated class as a structure of arrays (pytree).

  The class must have `_children()`, a class method that lists the names of
  parts that are arrays or structures of arrays; `_parts()`, a method that
  returns all parts by name; and `_unflatten(parts)`, a class method that builds
  an instance from such a mapping without checking values.

  NumPy has no such structures, so the class is unchanged. JAX registers a
  pytree, and TensorFlow finds the variables in it.
  """
  return cls


def is_variable(x: object) -> bool:
  """Returns whether `x` is a variable, whose value may change between uses."""
  return False


def freezes_variables(x: object) -> bool:
  """Returns whether arrays computed from `x` now freeze values of variables.

  They do in TensorFlow's eager code, outside of gradient tapes, where `x` is a
  variable, or a module that has some. NumPy and JAX have no variables.
  """
  return False


def is_like(x: object, array: object) -> TypeGuard[Array]:
  """Returns whether `x` is a backend array with the dtype of `array`."""
  return (
    type(x) is onp.ndarray
    and x.dtype == getattr(array, "dtype", None)
    and x.ndim <= raw_arguments.MAX_DIMENSIONS
  )


def as_array(
  x: object, dtype: str | None = None, name: str = "value", copy: bool = False
) -> Array:
  """Converts `x` to an array of the backend.

  Args:
    x: an array, a number or nested lists of numbers.
    dtype: "float32" or "float64"; None keeps the dtype of a floating array, and
      converts everything else to the widest floating dtype.
    name: the argument's name, for the messages.
    copy: whether to copy, so that later changes of `x` have no effect; the copy
      is read-only.

  Raises:
    TypeError: `x` is complex, bool, half precision, masked or not numeric.
    ValueError: `x` is ragged or has too many dimensions.
  """
  if type(x) is onp.ndarray and not copy:
    x_dtype = x.dtype
    if x_dtype in _FLOATS if dtype is None else x_dtype is _DTYPES.get(dtype):
      raw_arguments.check_nesting(x, name)
      return x
  if type(x) is float and not copy:
    return onp.asarray(x, dtype or "float64")
  # `numeric` and `kept` also check that `x` is numeric.
  x_dtype = (dtypes.numeric if dtype else dtypes.kept)(x, name)
  dtype = dtype or x_dtype
  if isinstance(x, modes.MAY_HOLD_TRACED) and modes.holds_traced(x):
    return modes.cast(modes.joined(x), dtype)
  array = onp.array(x, dtype=dtype, copy=copy or None)
  if copy:
    array.setflags(write=False)
  return array


def are_lasting(arrays: Iterable[object]) -> bool:
  """Returns whether the values of arrays are known and never change.

  Results that are computed from such arrays may be kept. In NumPy they are
  read-only arrays, in JAX those that are not traced, in TensorFlow eager
  tensors while no gradient tape is open, which may watch them.

  Args:
    arrays: arrays and Nones.
  """
  # This is a loop, since a generator expression takes several times as long.
  for x in arrays:
    if x is not None and (type(x) is not onp.ndarray or x.flags.writeable):
      return False
  return True


def make_lasting(arrays: Iterable[object]) -> bool:
  """Makes arrays read-only; returns whether all of them can be kept.

  Args:
    arrays: arrays and Nones that were computed from lasting arrays.
  """
  host_arrays: list[onp.ndarray] = []
  for x in arrays:
    if type(x) is onp.ndarray:
      host_arrays.append(x)
    elif x is not None:
      return False
  for array in host_arrays:
    array.setflags(write=False)
  return True


def sparse_entries(
  x: object, name: str
) -> tuple[Array, Array, Array, tuple[int, int]] | None:
  """Returns row and column indices, values and shape of a sparse matrix.

  The result is None if `x` is not sparse. Entries with equal indices add up.

  Raises:
    TypeError: the indices are traced.
  """
  return raw_arguments.entries_of_scipy(x)


def cast(x: object, dtype: onp.typing.DTypeLike | None = None) -> Array:
  """Converts `x` to an array; a dtype of None keeps the dtype of `x`.

  It is differentiable, unlike `np.asarray`, which returns constants.
  """
  dtype = _DTYPES.get(dtype, dtype)
  if type(x) is onp.ndarray:
    return x if x.dtype is dtype else onp.asarray(x, dtype)
  if isinstance(x, modes.MAY_HOLD_TRACED) and modes.holds_traced(x):
    joined = modes.joined(x)
    return joined if dtype is None else modes.cast(joined, dtype)
  return onp.asarray(x, dtype)


def constant(x: object, dtype: str) -> Array:
  """Converts host numbers to an array whose values are known while tracing."""
  return onp.asarray(x, dtype)


def empty(shape: tuple[int, ...], like: Array) -> Array:
  """Returns an array without entries, which stands for an absent operand.

  Args:
    shape: its shape, with a zero.
    like: an array of the same dtype.
  """
  return onp.zeros(shape, like.dtype)


def as_result(x: object) -> Result:
  """Converts a public method's result; in NumPy 0-d arrays become scalars.

  NumPy's own functions do the same. Arrays of other backends are unchanged.
  """
  return x[()] if isinstance(x, onp.ndarray) and x.ndim == 0 else x


def as_index_array(x: object, name: str) -> Array:
  """Converts `x` to an int32 array.

  Raises:
    TypeError: `x` holds anything but integers.
    ValueError: `x` is ragged, or an integer does not fit into 32 bits.
  """
  if type(x) is onp.ndarray and x.dtype is _DTYPES["int32"]:
    return x
  array = raw_arguments.host_array(x, name)
  if array.dtype.kind not in "iu":
    raise TypeError(f"{name} has dtype {array.dtype.name}: it must be integers")
  result = onp.asarray(array, dtype=onp.int32)
  if not onp.array_equal(result, array):
    raise ValueError(f"{name} has an entry that does not fit into 32 bits")
  return result
