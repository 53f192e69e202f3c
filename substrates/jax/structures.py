"""Conversion to arrays, the dtype rule, and classes as structures of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import raw_arguments
from phasic.substrates.jax.internal import static

FLOATS = ("float32", "float64")
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
  structured: Any = cls

  def flatten_with_keys(obj: Any) -> tuple[Any, Any]:
    names = tuple(structured._children())
    parts = dict(obj._parts())
    children = [
      (jax.tree_util.GetAttrKey(name), parts.pop(name)) for name in names
    ]
    return children, (names, tuple(sorted(parts.items())))

  def unflatten(structure: Any, children: Any) -> Any:
    names, others = structure
    arrays = zip(names, children, strict=True)
    return structured._unflatten({**dict(others), **dict(arrays)})

  jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten)
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
  own = _numeric_dtype(x, name)
  if dtype is None:
    keep = own in FLOATS and not _is_weak(x)
    dtype = own if keep else static.wide_float()
  if copy and isinstance(x, onp.ndarray):
    # JAX may share the memory, or copy it only later, by jnp.array too.
    x = onp.array(x)
  return jnp.asarray(x, dtype=jax.dtypes.canonicalize_dtype(dtype))


def cast(x: Any, dtype: Any = None) -> Any:
  """Returns an array, or numbers of the host, as an array of a dtype, or its own.

  Derivatives go through it.
  """
  return jnp.asarray(x, dtype=dtype)


def as_result(x: Any) -> Any:
  """Returns what a public method returns: what it computed.

  In NumPy that is a scalar where there are no dimensions, as it is of NumPy's
  own functions; arrays of the other backends stay what they are.
  """
  return x


def as_index_array(x: Any, name: str) -> Any:
  """Converts `x` to an array of int32.

  Traced entries are not looked at: what does not fit wraps round.

  Raises:
    TypeError: `x` holds anything but integers.
    ValueError: `x` is ragged, or an integer does not fit into 32 bits.
  """
  is_array = isinstance(x, jax.Array)
  array = x if is_array else raw_arguments.host_array(x, name)
  if array.dtype.kind not in "iu":
    raise TypeError(f"{name} has dtype {array.dtype.name}: it must be integers")
  known = static.concrete(array)
  if known is not None and not onp.array_equal(known.astype(onp.int32), known):
    raise ValueError(f"{name} has an entry that does not fit into 32 bits")
  return jnp.asarray(array, dtype=onp.int32)


def _is_weak(x: Any) -> bool:
  """Whether `x` has no dtype of its own: a Python number, say, or a list.

  A list with JAX arrays in it has the dtype of these.
  """
  if hasattr(x, "dtype"):
    return isinstance(x, jax.Array) and jax.typeof(x).weak_type
  arrays = [leaf for leaf in jax.tree.leaves(x) if isinstance(leaf, jax.Array)]
  return all(_is_weak(array) for array in arrays)


def _numeric_dtype(x: Any, name: str) -> str:
  """The dtype's name of `x`, if it is float32, float64 or an integer.

  With 64-bit numbers switched off JAX takes NumPy's float64 as float32.
  """
  raw_arguments.check_nesting(x, name)
  raw_arguments.refuse_none(x, name)
  try:
    dtype = x.dtype if hasattr(x, "dtype") else jnp.asarray(x).dtype
  except ValueError:
    raise raw_arguments.ragged(name) from None
  except OverflowError:
    dtype = onp.asarray(x).dtype  # An int wider than JAX's own.
  except TypeError:
    raw_arguments.refuse_objects(onp.asarray(x).dtype, name)
    raise TypeError(f"{name} is {type(x).__name__}: not an array") from None
  if isinstance(dtype, onp.dtype):
    raw_arguments.refuse_objects(dtype, name)
  numeric = isinstance(dtype, onp.dtype) and dtype.kind in "iuf"
  if not numeric or (dtype.kind == "f" and dtype.name not in FLOATS):
    raise TypeError(
      f"{name} has dtype {dtype}: it must be float32, float64 or an integer"
    )
  return jax.dtypes.canonicalize_dtype(dtype).name
