"""Slicing of a distribution's batch."""

from typing import Any

import numpy as np

from phasic.distributions import parameter_properties
from phasic.internal import static


def slice_parameters(
  properties: parameter_properties.Properties,
  parameters: dict[str, Any],
  index: Any,
) -> dict[str, Any]:
  """Returns the array parameters of the sliced batch.

  Args:
    properties: of the array parameters.
    parameters: all parameters.
    index: what stands in the brackets: ints, slices, `...` and None.

  Raises:
    IndexError: more dimensions are indexed than the batch has.
    TypeError: the index has something else in it.
  """
  index = index if isinstance(index, tuple) else (index,)
  for item in index:
    if not (item is None or item is ... or isinstance(item, (int, slice))):
      raise TypeError(
        f"index {item!r}: a batch is indexed with ints, slices, ... and None"
      )
  shapes = parameter_properties.batch_shapes(properties, parameters)
  batch = static.broadcast_shapes(*shapes)
  used = sum(isinstance(item, (int, slice)) for item in index)
  if used > len(batch):
    raise IndexError(f"{used} indices for a batch of shape {batch}")
  if ... not in index:
    index = (*index, ...)
  sliced: dict[str, Any] = {}
  for name, prop in properties.items():
    value = parameters[name]
    if value is None:
      sliced[name] = None
      continue
    whole = static.shape(value)
    event = whole[len(whole) - prop.event_ndims :]
    full = np.broadcast_to(value, (*batch, *event))
    sliced[name] = full[(*index, *(slice(None) for _ in event))]
  return sliced
