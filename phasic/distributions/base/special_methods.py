"""The text that `repr` shows of a distribution, and slices of its batch."""

from __future__ import annotations

from collections.abc import Mapping
import contextlib
import math
import operator
import types
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
import numpy as onp

from phasic.distributions.base import parameter_properties
from phasic.distributions.base import structure
from phasic.internal import static
from phasic.internal import structures
from phasic.math.model.model_types import Edges

# `repr` shows arrays of at most this many numbers.
_FEW = 9
# `repr` shows at most this many graphs of a tuple.
_FEW_STRUCTURES = 3


def text_of(distribution: Any, parameters: Mapping[str, object]) -> str:
  """Returns the text of `repr`: shapes, dtype, small concrete parameters."""
  kind, name = type(distribution).__name__, distribution.name
  names = distribution.parameter_properties()
  arrays = structure.leaves({name: parameters[name] for name in names})
  # This text is shown if parameters are not arrays, e.g. placeholders in a tree
  # of JAX.
  facts = "parameters unknown"
  if all(x is None or hasattr(x, "shape") for x in arrays.values()):
    with contextlib.suppress(TypeError, ValueError):
      facts = (
        f"batch_shape={distribution.batch_shape}, "
        f"event_shape={distribution.event_shape}, dtype={distribution.dtype}"
        f"{_shown(parameters)}"
      )
  return f"<{kind} {name!r} {facts}>"


def _shown(parameters: Mapping[str, object]) -> str:
  """Returns the short and concrete parameters as text."""
  found = ((name, _text(x)) for name, x in parameters.items())
  return "".join(f", {name}={text}" for name, text in found if text)


def _text(x: object) -> str | None:
  """Returns an integer, small array, graph or distribution as text, or None."""
  if isinstance(x, int) and not isinstance(x, bool):
    return str(x)
  if isinstance(x, Mapping):
    return _text_of_mapping(x)
  if structure.is_edges(x):
    return _text_of_edges(structure.shown(x))
  if isinstance(x, tuple) and x and all(map(_is_structure, x)):
    shown = [repr(one) for one in x[:_FEW_STRUCTURES]]
    more = ["..."] if len(x) > len(shown) else []
    return f"({', '.join(shown + more)})"
  if _is_structure(x):
    return repr(x)
  if not hasattr(x, "shape") or structures.is_variable(x):
    return None
  return _text_of_array(x)


def _is_structure(x: object) -> bool:
  return hasattr(type(x), "_children")


def _text_of_mapping(x: Mapping[str, object]) -> str | None:
  """Returns a mapping of arrays as text, as a list if its keys are numbers."""
  # JAX sorts keys as text, "10" before "9": numbers are sorted by length first.
  order = sorted(x, key=lambda name: (len(name) if name.isdigit() else 0, name))
  texts = {k: "None" if x[k] is None else _text(x[k]) for k in order}
  if any(text is None for text in texts.values()):
    return None
  if all(name.isdigit() for name in texts):
    return f"[{', '.join(map(str, texts.values()))}]"
  named = (f"{name!r}: {text}" for name, text in texts.items())
  return f"{{{', '.join(named)}}}"


def _text_of_edges(x: Edges) -> str:
  """Returns edges as text if their arrays are small, else their `repr`."""
  given = {k: one for k, one in x._asdict().items() if one is not None}
  texts = {k: _text(one) for k, one in given.items()}
  if any(text is None for text in texts.values()):
    return repr(x)
  named = ", ".join(f"{k}={text}" for k, text in texts.items())
  return f"{type(x).__name__}({named})"


def _text_of_array(x: object) -> str | None:
  shape = static.shape(x)
  if not all(isinstance(d, int) for d in shape) or math.prod(shape) > _FEW:
    return None
  host = static.concrete(x)
  if host is None:
    return None
  shown = onp.array2string(
    host,
    separator=", ",
    max_line_width=1000,
    formatter={"float_kind": lambda number: f"{number:g}"},
  )
  return shown.replace("\n", "")


MODE = "numpy"
_Item: TypeAlias = SupportsIndex | slice | types.EllipsisType | None
# The type of the index in `distribution[index]`.
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
  # `is` replaces `==`, because a comparison with a tensor has no truth value.
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
