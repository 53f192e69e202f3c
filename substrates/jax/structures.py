"""Conversion to arrays, the dtype rule, and registration of pytree classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, Self, TypeAlias, TypeGuard, TypeVar

import jax
import jax.core
import jax.numpy as jnp
from jax.tree_util import GetAttrKey
import numpy as onp

from phasic.substrates.jax.internal import dtypes
from phasic.substrates.jax.internal import raw_arguments
from phasic.substrates.jax.internal import static
from phasic.substrates.jax.internal.arrays import BCOO, Array, Result
from phasic.substrates.jax.internal.static import Shape


class _Structured(Protocol):
  """The methods that a class needs to be registered, see NumPy's `register`."""

  @classmethod
  def _children(cls) -> Iterable[str]: ...

  def _parts(self) -> Mapping[str, object]: ...

  @classmethod
  def _unflatten(cls, parts: dict[str, object]) -> Self: ...


_T = TypeVar("_T", bound=type)
# The auxiliary data of a pytree: the names of its children, and its other parts
# by name.
_Aux: TypeAlias = tuple[tuple[str, ...], tuple[tuple[str, object], ...]]


def register(cls: _T) -> _T:
  """Registers the decorated class as a structure of arrays (pytree)."""
  structured: type[_Structured] = cls

  def flatten_with_keys(
    obj: _Structured,
  ) -> tuple[list[tuple[GetAttrKey, object]], _Aux]:  # pyright: ignore[reportInvalidTypeForm]
    names = tuple(structured._children())
    parts = dict(obj._parts())
    children = [(GetAttrKey(name), parts.pop(name)) for name in names]
    return children, (names, tuple(sorted(parts.items())))

  def unflatten(structure: _Aux, children: Iterable[object]) -> _Structured:
    names, constants = structure
    arrays = zip(names, children, strict=True)
    return structured._unflatten({**dict(constants), **dict(arrays)})

  jax.tree_util.register_pytree_with_keys(
    structured, flatten_with_keys, unflatten
  )
  return cls


def is_variable(x: object) -> bool:
  """Returns whether `x` is a variable, whose value may change between uses."""
  return False


def freezes_variables(x: object) -> bool:
  """Returns whether arrays computed from `x` now freeze values of variables."""
  return False


def is_like(x: object, array: object) -> TypeGuard[Array]:
  """Returns whether `x` is a backend array with the dtype of `array`."""
  return (
    isinstance(x, jax.Array)
    and x.dtype == getattr(array, "dtype", None)
    and x.ndim <= raw_arguments.MAX_DIMENSIONS
  )


def as_array(
  x: object, dtype: str | None = None, name: str = "value", copy: bool = False
) -> Array:
  """Converts `x` to an array of the backend."""
  # `numeric` and `kept` also check that `x` is numeric.
  x_dtype = (dtypes.numeric if dtype else dtypes.kept)(x, name)
  dtype = dtype or x_dtype
  if copy and isinstance(x, onp.ndarray):
    # Copy now: even after jnp.array, JAX may share or read the memory later.
    x = onp.array(x)
  return jnp.asarray(x, dtype=jax.dtypes.canonicalize_dtype(dtype))


def are_lasting(arrays: Iterable[object]) -> bool:
  """Returns whether the values of arrays are known and never change.

  JAX's own arrays do not count under a mesh, to which results would belong.
  """
  has_own = False
  for x in arrays:
    if isinstance(x, jax.Array):
      if isinstance(x, jax.core.Tracer) or x.is_deleted():
        return False
      has_own = True
    elif x is not None and not raw_arguments.is_read_only(x):
      return False
  return not has_own or jax.sharding.get_abstract_mesh().empty


def make_lasting(arrays: Iterable[object]) -> bool:
  """Returns whether computed arrays can be kept, as they never change."""
  return are_lasting(arrays)


def _is_bcoo(x: object) -> TypeGuard[BCOO]:
  return type(x).__name__ == "BCOO"


def sparse_entries(
  x: object, name: str
) -> tuple[onp.ndarray, onp.ndarray, Any, Shape] | None:
  """Returns row and column indices, values and shape of a sparse matrix."""
  if not _is_bcoo(x):
    return raw_arguments.entries_of_scipy(x)
  if x.n_batch or x.n_dense:
    raise ValueError(
      f"{name} has {x.n_batch} batch and {x.n_dense} dense dimensions: a sparse "
      "matrix must have none"
    )
  places = static.concrete(x.indices)
  if places is None:
    raise raw_arguments.traced_places(name)
  rows, columns = places.T
  # Padding entries of a BCOO matrix have indices out of range; drop them.
  (inside,) = onp.nonzero((rows < x.shape[0]) & (columns < x.shape[1]))
  return rows[inside], columns[inside], x.data[inside], x.shape


def cast(x: object, dtype: Any = None) -> Array:
  """Converts `x` to an array; a dtype of None keeps the dtype of `x`.

  It is differentiable.
  """
  return jnp.asarray(x, dtype=dtype)


def constant(x: object, dtype: str) -> Array:
  """Converts host numbers to an array whose values are known while tracing."""
  with jax.ensure_compile_time_eval():
    return jnp.asarray(x, dtype=dtype)


def empty(shape: tuple[int, ...], like: Array) -> Array:
  """Returns an array without entries, which stands for an absent operand."""
  if not all(type(d) is int for d in shape):
    return jnp.zeros(shape, like.dtype)  # In an export, sizes may be symbolic.
  # Return a host array, as it belongs to no device, mesh or trace.
  host: Any = onp.zeros(shape, like.dtype)
  return host


def as_result(x: Any) -> Result:
  """Converts a public method's result; in NumPy 0-d arrays become scalars."""
  return x


def as_index_array(x: object, name: str) -> Array:
  """Converts `x` to an int32 array.

  Traced entries are not checked: integers that do not fit wrap around.

  Raises:
    TypeError: `x` holds anything but integers.
    ValueError: `x` is ragged, or an integer does not fit into 32 bits.
  """
  if static.has_tracers(x):
    x = jnp.asarray(x)  # In a jitted function, lists have traced numbers.
  array = x if isinstance(x, jax.Array) else raw_arguments.host_array(x, name)
  if array.dtype.kind not in "iu":
    raise TypeError(f"{name} has dtype {array.dtype.name}: it must be integers")
  known = static.concrete(array)
  if known is not None and not onp.array_equal(known.astype(onp.int32), known):
    raise ValueError(f"{name} has an entry that does not fit into 32 bits")
  if isinstance(array, jax.Array):
    return jnp.asarray(array, dtype=onp.int32)
  # Convert host indices at once, so that a traced function knows their values.
  with jax.ensure_compile_time_eval():
    return jnp.asarray(array, dtype=onp.int32)
