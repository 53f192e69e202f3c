"""The dtype rule: all floating arguments must share one dtype.

Python numbers, lists and integer arrays take this dtype. So do float32 values
and data of float64 parameters, except in TensorFlow, where distributions of
Python numbers alone adopt float32 (`distributions.base.adopted_dtypes`).
"""

from __future__ import annotations

from collections.abc import Mapping
import functools

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Tree

MODE = "numpy"
FLOATS = ("float32", "float64")


def common_dtype(
  values: Mapping[str, object], default: str | None = None
) -> str:
  """Returns the name of the common floating dtype of the values.

  Python numbers, lists of them and integer arrays adopt the dtype of the
  floating arrays. None values are skipped. Half precision counts as float32 in
  JAX, see `halves`, and is refused elsewhere.

  Args:
    values: the values by argument name, which the messages use.
    default: the dtype if no value is a floating array; None for the widest.

  Raises:
    TypeError: the floating dtypes of two values differ (both are named), or a
      value is complex, bool, half precision, masked or not numeric.
    ValueError: a value is ragged or has too many dimensions.
  """
  first: tuple[str, str] | None = None
  for name, value in values.items():
    # Skip Python floats without a check: they take the dtype of the arrays.
    if value is None or type(value) is float:
      continue
    dtype = numeric(value, name)
    if dtype not in FLOATS or static.is_weak(value):
      continue
    if first is not None and first[1] != dtype:
      raise TypeError(
        f"{first[0]} is {first[1]} and {name} is {dtype}: floating arguments "
        "must have one dtype"
      )
    first = first or (name, dtype)
  if first is not None:
    return first[1]
  return default or static.wide_float()


def is_narrower(x: object, name: str, dtype: str) -> bool:
  """Returns whether a float32 value may be promoted to the parameters' float64.

  NumPy and JAX promote such values, and no digit is lost. The other way round
  digits would be, of the value or of sums of parameters; it is an error. In
  TensorFlow it is one both ways.

  Args:
    x: values or data.
    name: the argument's name.
    dtype: the dtype of the parameters.

  Raises:
    TypeError, ValueError: as `numeric`.
  """
  if MODE == "tf":
    return False
  else:
    return dtype == "float64" and numeric(x, name) == "float32"


def check_fits(x: object, name: str, dtype: str, of: str) -> None:
  """Raises TypeError unless the dtype rule lets `x` be converted to a dtype.

  Args:
    x: the argument.
    name: its name.
    dtype: the dtype that it takes.
    of: the owner of this dtype, for the message.

  Raises:
    TypeError: `x` is float64 and the dtype is float32, or in TensorFlow the
      other way round; or as `numeric`.
    ValueError: as `numeric`.
  """
  if not is_narrower(x, name, dtype):
    common_dtype({of: onp.zeros((), dtype), name: x})


def numeric(x: Tree, name: str) -> str:
  """Returns the name of the dtype of `x`; raises TypeError if unsupported.

  It is float32, float64, or an integer dtype. With 64-bit numbers switched off,
  JAX converts NumPy's float64 to float32.

  Raises:
    TypeError: the dtype is not supported, or `x` is masked or not an array.
    ValueError: `x` is ragged or has too many dimensions.
  """
  raw_arguments.check_nesting(x, name)
  try:
    dtype = static.given_dtype(x, name)
  except ValueError:
    raise raw_arguments.ragged(name) from None
  if dtype is None:
    return common_dtype({f"{name}[{i}]": item for i, item in enumerate(x)})
  # Dtypes of other packages may not be instances of `numpy.dtype`, and then
  # have no `kind`.
  is_own = isinstance(dtype, onp.dtype)
  dtype_name = _name(dtype)
  if dtype_name in FLOATS or (is_own and dtype.kind in "iu"):
    return dtype_name
  if is_own:
    raw_arguments.refuse_objects(dtype, name)
  raise TypeError(
    f"{name} has dtype {dtype_name}: it must be float32, float64 or an integer"
  )


def concrete(x: object, name: str) -> onp.ndarray | None:
  """Returns an argument's values on the host, or None while it is traced.

  Raises:
    TypeError: it is None, masked or a sparse matrix.
    ValueError: it is ragged or has too many dimensions.
  """
  raw_arguments.check_nesting(x, name)
  try:
    return static.concrete(x)
  except ValueError:
    raise raw_arguments.ragged(name) from None


@functools.cache
def _name(dtype: object) -> str:
  """Returns the dtype's name; cached, since NumPy formats it at each use."""
  return dtype.name if isinstance(dtype, onp.dtype) else str(dtype)


def kept(x: object, name: str) -> str:
  """Returns the dtype name of a floating array, else the widest floating dtype.

  Errors are as in `numeric`.
  """
  dtype = numeric(x, name)
  keeps = dtype in FLOATS and not static.is_weak(x)
  return dtype if keeps else static.wide_float()
