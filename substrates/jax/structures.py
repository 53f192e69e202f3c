"""Conversion to arrays, the dtype rule, and classes as structures of arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import dtypes
from phasic.substrates.jax.internal import raw_arguments
from phasic.substrates.jax.internal import static
from phasic.substrates.jax.internal.arrays import Result

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
  # Either checks it as well.
  own = (dtypes.numeric if dtype else dtypes.kept)(x, name)
  dtype = dtype or own
  if copy and isinstance(x, onp.ndarray):
    # JAX may share the memory, or copy it only later, by jnp.array too.
    x = onp.array(x)
  return jnp.asarray(x, dtype=jax.dtypes.canonicalize_dtype(dtype))


def cast(x: Any, dtype: Any = None) -> Any:
  """Returns an array, or numbers of the host, as an array of a dtype, or its own.

  Derivatives go through it.
  """
  return jnp.asarray(x, dtype=dtype)


def as_result(x: Any) -> Result:
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
