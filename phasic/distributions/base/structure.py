"""Static parameters, and the arrays of parameters.

Static parameters are numbers of phases, and sources and targets of edges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import operator
from typing import Any, Self, TypeGuard

import numpy as onp

from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.internal.arrays import Array, Integer
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Edges, Model

# A larger number of phases is refused before arrays are allocated.
MAX_PHASES = 2**20
# Attributes in which distributions keep results between calls. `KEPT` has all,
# `DERIVED` those that `kept_results` drops to make room.
DERIVED = ("_kept", "_valid", "_moments", "_is_keeper")
KEPT = (*DERIVED, "_single", "_in_single", "_stages_of_call")


def static_count(name: str, value: Integer) -> int:
  """Checks a count of phases, and returns it as an int.

  Args:
    name: the argument's name.
    value: an integer of Python or NumPy, > 0, at most `MAX_PHASES`.

  Raises:
    TypeError: it is something else, an array or a traced number say.
    ValueError: it is not positive, or too large.
  """
  if isinstance(value, bool) or not isinstance(value, (int, onp.integer)):
    raise TypeError(
      f"{name} is {type(value).__name__}: it must be a Python int, since it "
      "sets the number of phases; arrays and traced values are not allowed"
    )
  if not 1 <= value <= MAX_PHASES:
    raise ValueError(
      f"{name} is {raw_arguments.shown(value)}: it must be at least 1 and at "
      f"most {MAX_PHASES}"
    )
  return int(value)


def static_counts(name: str, values: Sequence[Integer]) -> tuple[int, ...]:
  """Checks a list or tuple of counts of phases, and returns ints.

  Their sum is bounded as well.
  """
  if not isinstance(values, (list, tuple)):
    raise TypeError(
      f"{name} is {type(values).__name__}: it must be a list or tuple of "
      "Python ints, since they set the number of phases"
    )
  if not values:
    raise ValueError(f"{name} is empty: it must have a count per component")
  counts = tuple(
    static_count(f"{name}[{i}]", value) for i, value in enumerate(values)
  )
  if sum(counts) > MAX_PHASES:
    raise ValueError(
      f"{name} sum to {sum(counts)}: this sum is the number of phases and must "
      f"be at most {MAX_PHASES}"
    )
  return counts


@structures.register
class StaticIndices:
  """A hashable tuple of integers in host memory.

  Distributions that share them share a compilation: to JAX they are structure,
  and not a leaf. NumPy's functions take them as an array.

  Attributes:
    values: int32 (m,), read-only.
  """

  def __init__(self, values: onp.ndarray):
    own: onp.ndarray = onp.array(values, dtype=onp.int32)
    own.flags.writeable = False
    self.values = own
    self._hash = hash(own.tobytes())

  def __eq__(self, other: object) -> bool:
    if self is other:
      return True
    if not isinstance(other, StaticIndices) or self._hash != other._hash:
      return False
    return onp.array_equal(self.values, other.values)

  def __hash__(self) -> int:
    return self._hash

  def __repr__(self) -> str:
    return f"StaticIndices({len(self.values)} integers)"

  def __len__(self) -> int:
    return len(self.values)

  def __array__(
    self, dtype: onp.typing.DTypeLike | None = None, copy: bool | None = None
  ) -> onp.ndarray:
    return onp.array(self.values, dtype=dtype, copy=copy)

  def __reduce__(self) -> tuple[object, ...]:
    # The hash is not pickled, as hashes of bytes differ between processes.
    return StaticIndices, (self.values,)

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return ()

  def _parts(self) -> Mapping[str, object]:
    return {"indices": self}

  @classmethod
  def _unflatten(cls, parts: Mapping[str, Self]) -> Self:
    return parts["indices"]


def static_indices(name: str, values: object) -> StaticIndices:
  """Checks an array of indices, and returns it as `StaticIndices`.

  Args:
    name: the argument's name.
    values: integers (m,) with m > 0, or `StaticIndices`.

  Raises:
    TypeError: they are traced, or no integers.
    ValueError: they have another shape, or do not fit into 32 bits.
  """
  if isinstance(values, StaticIndices):
    return values
  found = dtypes.concrete(values, name)
  if found is None:
    raise TypeError(
      f"{name} are traced: the edges of a chain must be concrete; make them "
      "outside jit and close over them"
    )
  known: onp.ndarray = found
  if known.dtype.kind not in "iu":
    raise TypeError(f"{name} have dtype {known.dtype}: they must be integers")
  if known.ndim != 1 or known.size == 0:
    raise ValueError(
      f"{name} have shape {known.shape}: they must be (m,) with m > 0"
    )
  if onp.any(known != known.astype(onp.int32)):
    raise ValueError(f"{name} has an entry that does not fit into 32 bits")
  return StaticIndices(known)


# The types of edges. A parameter that is a matrix may be given as edges.
EDGES = edge_rates.EDGES
# The fields of edges with indices of phases, and the fields with weights.
_ENDS = ("sources", "targets")
_ARRAYS = ("parameters", "coefficients", "constants")


def is_edges(value: object) -> TypeGuard[Edges]:
  """Returns whether a parameter's value is edges instead of a matrix."""
  return isinstance(value, EDGES)


def array_of(value: Array | Edges) -> Array:
  """Returns a parameter's array; for edges it is their field `parameters`."""
  return value.parameters if isinstance(value, EDGES) else value


def with_array(value: object, array: object) -> object:
  """Replaces a parameter's array; for edges it is their field `parameters`."""
  return value._replace(parameters=array) if is_edges(value) else array


def leaves(arrays: Mapping[str, object]) -> dict[str, object]:
  """Flattens mappings of arrays: entry "a" of params is named params['a'].

  Arrays of edges get names such as subgenerator.parameters.
  """
  found: dict[str, object] = {}
  for name, value in arrays.items():
    if value is None:
      found[name] = None
    elif isinstance(value, Mapping):
      found |= leaves({f"{name}[{k!r}]": v for k, v in value.items()})
    elif isinstance(value, EDGES):
      found |= {f"{name}.{own}": getattr(value, own) for own in _ARRAYS}
    else:
      found[name] = value
  return found


def mapped(
  convert: Callable[[str, object], object], name: str, value: object
) -> object:
  """Applies a conversion to a parameter's array, or to all arrays of edges.

  The ends of edges are on the host.

  Args:
    convert: maps the name and the value of an array, or None, to another one.
    name: the parameter's name.
    value: the parameter.
  """
  if isinstance(value, EDGES):
    return _mapped_edges(convert, name, value)
  return convert(name, value)


def _mapped_edges(
  convert: Callable[[str, object], object], name: str, edges: Edges
) -> Edges:
  arrays = {
    own: convert(f"{name}.{own}", getattr(edges, own)) for own in _ARRAYS
  }
  return shown(edges)._replace(**arrays)


def stored(
  convert: Callable[[str, object], object], name: str, edges: Edges
) -> Edges:
  """Returns edges as stored: sources and targets become `StaticIndices`.

  Arguments are those of `mapped`.

  Raises:
    TypeError: the ends are traced, or no integers.
    ValueError: shapes do not fit.
  """
  ends = {end: static_indices(end, getattr(edges, end)) for end in _ENDS}
  found = _mapped_edges(convert, name, edges._replace(**ends))
  edge_probs.check_shapes(found)
  return found._replace(**ends)


def shown(value: Any) -> Any:
  """Returns a parameter as users read it: sources and targets are arrays."""
  if not is_edges(value) or not isinstance(value.sources, StaticIndices):
    return value
  ends = {end: getattr(value, end).values for end in _ENDS}
  return value._replace(**ends)


def chain_arrays(model: Model) -> tuple[object, ...]:
  """Returns the arrays of a chain, with None for each absent one."""
  initial, rates, exits, atom = model
  if isinstance(rates, edge_rates.EDGES):
    return (initial, *rates, exits, atom)
  return initial, rates, exits, atom


def are_same(kept: tuple[object, ...], arrays: tuple[object, ...]) -> bool:
  """Returns whether two tuples hold the very same objects."""
  return len(kept) == len(arrays) and all(map(operator.is_, kept, arrays))
