"""Conversion to arrays, the dtype rule, and classes as structures of arrays."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.tape import modes

FLOATS = ("float32", "float64")
_MAY_BE_TRACED = (modes.Traced, list, tuple)
# NumPy reads a name anew at each use.
_DTYPES = {name: onp.dtype(name) for name in (*FLOATS, "int32")}
_T = TypeVar("_T", bound=type)


def register(cls: _T) -> _T:
  """Class decorator: makes a class a structure that the backend sees through.

  The class has to have `_children()`, a class method that names its parts that
  are arrays or structures of arrays; `_parts()`, a method that returns these
  and all else by name; and `_unflatten(parts)`, a class method that builds an
  instance from such a mapping without looking at the values.

  NumPy has no such structures, so nothing happens. JAX makes a pytree of the
  class, TensorFlow finds the variables in it.
  """
  return cls


def is_variable(x: Any) -> bool:
  """Returns whether `x` is a variable, which is read anew at each use."""
  del x
  return False


def common_dtype(values: Mapping[str, Any], default: str | None = None) -> str:
  """Returns the name of the floating dtype that the values share.

  Python numbers, lists of them and integer arrays adopt the dtype of the
  floating arrays. None values are skipped.

  Args:
    values: the values by argument name, which the messages use.
    default: the dtype where no value is a floating array; the widest one if
      None.

  Raises:
    TypeError: two values differ in their floating dtype (both are named), or
      one is complex, bool, half precision, masked or not numeric.
    ValueError: one is ragged or has too many dimensions.
  """
  found: tuple[str, str] | None = None
  for name, value in values.items():
    if value is None:
      continue
    dtype = _numeric_dtype(value, name)
    if dtype not in FLOATS or _is_weak(value):
      continue
    if found is not None and found[1] != dtype:
      raise TypeError(
        f"{found[0]} is {found[1]} and {name} is {dtype}: floating arguments "
        "must have one dtype"
      )
    found = found or (name, dtype)
  if found is not None:
    return found[1]
  return default or static.wide_float()


def as_array(
  x: Any, dtype: str | None = None, name: str = "value", copy: bool = False
) -> Any:
  """Converts `x` to an array of the backend.

  Args:
    x: an array, a number or nested lists of numbers.
    dtype: "float32" or "float64"; None keeps a floating array's own and turns
      all else into the widest.
    name: the argument's name, for the messages.
    copy: whether the result must not change when the caller's array does.

  Raises:
    TypeError: `x` is complex, bool, half precision, masked or not numeric.
    ValueError: `x` is ragged or has too many dimensions.
  """
  if type(x) is onp.ndarray and x.dtype == dtype and not copy:
    raw_arguments.check_nesting(x, name)
    return x
  own = _numeric_dtype(x, name)
  if dtype is None:
    keep = own in FLOATS and not _is_weak(x)
    dtype = own if keep else static.wide_float()
  if isinstance(x, _MAY_BE_TRACED) and modes.holds_traced(x):
    return modes.cast(modes.joined(x), dtype)
  return onp.array(x, dtype=dtype, copy=copy or None)


def cast(x: Any, dtype: Any = None) -> Any:
  """Returns an array, or numbers of the host, as an array of a dtype, or its own.

  Derivatives go through it, which they do not through `np.asarray`: that makes
  constants of what is on the host.
  """
  dtype = _DTYPES.get(dtype, dtype)
  if type(x) is onp.ndarray:
    return x if x.dtype is dtype else onp.asarray(x, dtype)
  if isinstance(x, _MAY_BE_TRACED) and modes.holds_traced(x):
    x = modes.joined(x)
    return x if dtype is None else modes.cast(x, dtype)
  return onp.asarray(x, dtype)


def as_result(x: Any) -> Any:
  """Returns what a public method returns: what it computed.

  In NumPy that is a scalar where there are no dimensions, as it is of NumPy's
  own functions; arrays of the other backends stay what they are.
  """
  return x[()] if isinstance(x, onp.ndarray) and x.ndim == 0 else x


def as_index_array(x: Any, name: str) -> Any:
  """Converts `x` to an array of int32.

  Raises:
    TypeError: `x` holds anything but integers.
    ValueError: `x` is ragged, or an integer does not fit into 32 bits.
  """
  array = raw_arguments.host_array(x, name)
  if array.dtype.kind not in "iu":
    raise TypeError(f"{name} has dtype {array.dtype.name}: it must be integers")
  result = onp.asarray(array, dtype=onp.int32)
  if not onp.array_equal(result, array):
    raise ValueError(f"{name} has an entry that does not fit into 32 bits")
  return result


def _is_weak(x: Any) -> bool:
  """Whether `x` has no dtype of its own: a Python number or a list."""
  return not hasattr(x, "dtype")


def _numeric_dtype(x: Any, name: str) -> str:
  """The dtype's name of `x`, if it is float32, float64 or an integer."""
  raw_arguments.check_nesting(x, name)
  raw_arguments.refuse_none(x, name)
  try:
    if type(x) is onp.ndarray:
      dtype = x.dtype
    elif isinstance(x, _MAY_BE_TRACED) and modes.holds_traced(x):
      dtype = modes.joined(x).dtype
    else:
      dtype = onp.asarray(x).dtype
  except ValueError:
    raise raw_arguments.ragged(name) from None
  found = static.dtype_name(dtype)
  if found in FLOATS or dtype.kind in "iu":
    return found
  raw_arguments.refuse_objects(dtype, name)
  raise TypeError(
    f"{name} has dtype {found}: it must be float32, float64 or an integer"
  )
