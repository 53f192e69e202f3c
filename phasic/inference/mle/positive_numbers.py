"""Positive numbers as users write them: an array, or a mapping of arrays."""

from __future__ import annotations

from collections.abc import Mapping
import itertools
import math

import numpy as np
import numpy as onp

from phasic.inference.parameters.host_values import host_values
from phasic.internal import dtypes
from phasic.internal import structures
from phasic.internal.arrays import Array


class PositiveNumbers:
  """The form of positive numbers, which turns a flat array into them.

  Attributes:
    names: the name of each number, size[0] or size.
    dtype: the dtype of the numbers.
  """

  def __init__(self, argument: str, numbers: object):
    """Reads the form of numbers.

    Raises:
      TypeError: a number is traced, or of another type.
      ValueError: there are none.
    """
    self._is_mapping = isinstance(numbers, Mapping)
    arrays = self._arrays(numbers)
    self.dtype = dtypes.common_dtype(arrays)
    self._shapes = {
      name: onp.shape(host_values(name, structures.as_array(x, None, name)))
      for name, x in arrays.items()
    }
    names: list[str] = []
    for name, shape in self._shapes.items():
      places = [", ".join(map(str, i)) for i in onp.ndindex(*shape)]
      names += [f"{name}[{place}]" for place in places] if shape else [name]
    self.names = tuple(names)
    if not names:
      raise ValueError(f"{argument} has no numbers: it must have at least one")

  def logs(self, argument: str, numbers: object) -> onp.ndarray:
    """Returns the logarithms of numbers of this form, (d,).

    Raises:
      TypeError: they have another form.
      ValueError: one is not positive and finite, or shapes differ.
    """
    if isinstance(numbers, Mapping) != self._is_mapping:
      raise TypeError(
        f"{argument} is {type(numbers).__name__}: it must have the form of start"
      )
    arrays = self._arrays(numbers)
    if set(arrays) != set(self._shapes):
      raise ValueError(
        f"{argument} has the names {', '.join(arrays)}: it must have those of "
        f"start, {', '.join(self._shapes)}"
      )
    parts = []
    for name, shape in self._shapes.items():
      x = structures.as_array(arrays[name], None, name)
      values = host_values(name, x)
      if onp.shape(values) != shape:
        raise ValueError(
          f"{name} of {argument} has shape {onp.shape(values)}: it must have that "
          f"of start, {shape}"
        )
      parts.append(onp.ravel(values))
    found = onp.concatenate(parts)
    good = (found > 0) & (found < onp.inf)
    if not onp.all(good):
      i = int(onp.argmin(good))
      raise ValueError(
        f"{self.names[i]} of {argument} is {found[i]:g}: it must be > 0 and "
        "finite; the search is in logarithms"
      )
    return onp.log(found)

  def array(self, values: onp.ndarray) -> Array:
    """Converts host values to an array of the numbers' dtype."""
    return structures.as_array(
      onp.asarray(values, self.dtype), self.dtype, "numbers"
    )

  def numbers(self, flat: Array) -> object:
    """Returns an array (d,) in the form of the numbers."""
    found: dict[str, Array] = {}
    for name, shape, start, end in self._places():
      found[name] = np.reshape(flat[start:end], shape)
    return self._shaped(found)

  def on_host(self, flat: onp.ndarray) -> object:
    """Returns host values (d,) in the form of the numbers."""
    found: dict[str, onp.ndarray] = {}
    for name, shape, start, end in self._places():
      found[name] = onp.reshape(flat[start:end], shape)
    return self._shaped(found)

  def _places(self) -> list[tuple[str, tuple[int, ...], int, int]]:
    """Returns each array's name and shape, and where it begins and ends."""
    sizes = [math.prod(shape) for shape in self._shapes.values()]
    ends = list(itertools.accumulate(sizes))
    starts = [end - size for end, size in zip(ends, sizes, strict=True)]
    return list(
      zip(self._shapes, self._shapes.values(), starts, ends, strict=True)
    )

  def _arrays(self, numbers: object) -> dict[str, object]:
    """Returns the arrays by name; a single one is called start."""
    return dict(numbers) if isinstance(numbers, Mapping) else {"start": numbers}

  def _shaped(self, found: Mapping[str, object]) -> object:
    return dict(found) if self._is_mapping else found["start"]
