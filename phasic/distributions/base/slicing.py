"""Slicing of a distribution's batch."""

from __future__ import annotations

from collections.abc import Mapping
import operator
import types
from typing import SupportsIndex, TypeAlias

import numpy as np
import numpy as onp

from phasic.distributions.base import parameter_properties
from phasic.distributions.base import structure
from phasic.internal import static

MODE = "numpy"
_Item: TypeAlias = SupportsIndex | slice | types.EllipsisType | None
# The index in `distribution[index]`.
Index: TypeAlias = _Item | tuple[_Item, ...]


def slice_parameters(
  properties: parameter_properties.Properties,
  parameters: Mapping[str, parameter_properties.ParameterValue],
  index: Index,
  batch: static.Shape | None = None,
) -> dict[str, object]:
  """Returns the array parameters of the sliced batch; None for absent ones.

  Args:
    properties: of the array parameters.
    parameters: all parameters.
    index: what stands in the brackets: integers, NumPy's among them, slices,
      `...` and None. Bools, which mean a new dimension or a selection to
      NumPy, are refused. In a graph of TensorFlow integers may be tensors.
    batch: the batch shape, which the parameters' broadcast to; None for theirs.

  Raises:
    IndexError: more dimensions are indexed than the batch has, an integer is
      out of range, or there is more than one `...`.
    TypeError: the index has something else in it.
  """
  if batch is None:
    shapes = parameter_properties.batch_shapes(properties, parameters)
    batch = static.broadcast_shapes(*shapes)
  items = _checked_index(index, batch)
  sliced: dict[str, object] = {}
  for name, prop in properties.items():
    value = parameters[name]
    if value is None:
      sliced[name] = None
      continue
    _, event = parameter_properties.split_shape(prop, value)
    full = np.broadcast_to(structure.array_of(value), (*batch, *event))
    part = full[(*items, *(slice(None) for _ in event))]
    sliced[name] = structure.with_array(value, part)
  return sliced


def _checked_index(index: Index, batch: static.Shape) -> tuple[_Item, ...]:
  """Checks an index, and returns it as ints, slices, None and one `...`."""
  items: list[_Item] = [
    item
    if item is None or item is ... or isinstance(item, slice)
    else _integer(item)
    for item in (index if isinstance(index, tuple) else (index,))
  ]
  # Tensors among them have no truth value when they are compared.
  cuts = [i for i, item in enumerate(items) if item is ...]
  if len(cuts) > 1:
    raise IndexError(f"index is {index!r}: it must have at most one ...")
  used = [
    i for i, item in enumerate(items) if item is not None and item is not ...
  ]
  if len(used) > len(batch):
    raise IndexError(
      f"index has {len(used)} entries: it must have at most one for each "
      f"dimension of the batch shape {batch}"
    )
  if not cuts:
    items.append(...)
  cut = cuts[0] if cuts else len(items) - 1
  for place, i in enumerate(used):
    axis = place if i < cut else place - len(used) + len(batch)
    _check_range(items[i], axis, batch)
  return tuple(items)


def _integer(item: SupportsIndex) -> SupportsIndex:
  """Converts one integer of an index to int; raises TypeError for others.

  A scalar of a graph of TensorFlow, which checks its range, is kept.
  """
  unknown = False
  if MODE == "tf":
    unknown = _is_unknown_integer(item)
  if unknown:
    return item
  if not isinstance(item, (bool, onp.bool_)):
    try:
      return operator.index(item)
    except TypeError:
      pass
  raise TypeError(
    f"index is {item!r}: it must be made of integers, slices, Ellipsis and None"
  )


def _is_unknown_integer(item: object) -> bool:
  if static.concrete(item) is not None:
    return False
  return static.rank(item) == 0 and "int" in static.dtype_name(item)


def _check_range(item: object, axis: int, batch: static.Shape) -> None:
  """Raises IndexError for an int out of range, which JAX would clip."""
  size = batch[axis]
  if not isinstance(item, int) or not isinstance(size, int):
    return
  if not -size <= item < size:
    raise IndexError(
      f"index {item} is out of range: dimension {axis} of the batch shape "
      f"{batch} has size {size}"
    )
