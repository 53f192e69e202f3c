"""Arrays of graphs that a vmapped function has returned.

If a function returns a graph, JAX's vmap adds the mapped dimension to all of
its arrays, although the graph is the same for all entries.
"""

from __future__ import annotations

import numpy as onp

from phasic.internal import static
from phasic.internal.arrays import Array, Tree


def is_plain(x: object, rank: int) -> bool:
  """Returns whether `x` is a host array with `rank` dimensions."""
  if type(x) is not onp.ndarray:
    return False
  array: onp.ndarray = x
  return array.ndim == rank


def unbatched(
  name: str, x: Array | onp.ndarray, event: tuple[int | None, ...]
) -> Tree:
  """Removes batch dimensions that vmap has prepended to a graph's array.

  Args:
    name: the array's name.
    x: the array, (..., event), or a placeholder of a transformation.
    event: its shape in one graph; None is any size.

  Raises:
    ValueError: entries of a batch differ or are traced, or the mapped dimension
      is not the first one; or its own dimensions are mapped.
  """
  extra = static.rank(x) - len(event)
  # An object without a shape is a placeholder in a pytree: return it as it is.
  if extra == 0 or not hasattr(x, "shape"):
    return x
  shape = static.shape(x)
  if extra < 0:
    raise ValueError(
      f"{name} of a graph has shape {shape}: it must have {len(event)} "
      "dimensions. vmap has mapped the arrays of a graph, which have no batch axis: "
      "map a function of the parameters that makes the distribution, or pass "
      "in_axes with None for the arrays of the graph"
    )
  way_out = (
    "Return arrays, such as dist.mean(), from the mapped function, or leave "
    "out vmap: parameters (..., d) of one graph make a batch of distributions"
  )
  event_shape = shape[extra:]
  fits = all(
    n in (None, size) for n, size in zip(event, event_shape, strict=True)
  )
  known = static.concrete(x)
  if known is None:
    raise ValueError(
      f"{name} of a graph has shape {shape} and is traced: a function that is "
      f"mapped by vmap has returned a graph or its distribution. {way_out}"
    )
  rows: onp.ndarray = onp.reshape(known, (-1, *event_shape))
  if not fits or onp.any(rows != rows[:1]):
    raise ValueError(
      f"{name} of a graph has shape {shape}, which is not a batch of one graph: "
      f"vmap has returned different graphs, or its out_axes is not 0. {way_out}"
    )
  return x[(0,) * extra]
