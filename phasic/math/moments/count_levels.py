"""Recursions over multi-indices of counts, by levels of equal sums.

Arrays of a level have one column for each multi-index, a tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools

import numpy as np
import numpy as onp

from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike


def checked(name: str, values: ArrayLike, size: int) -> tuple[int, ...]:
  """Checks `size` nonnegative integers; returns a tuple of ints."""
  known = dtypes.concrete(values, name)
  if known is None or known.dtype.kind not in "iu" or onp.ndim(known) != 1:
    raise TypeError(
      f"{name} is {raw_arguments.shown(values)}: it must be a sequence of integers"
    )
  integers = tuple(int(n) for n in known)
  if len(integers) != size or min(integers, default=0) < 0:
    raise ValueError(
      f"{name} is {integers}: it must have R = {size} integers >= 0, one for "
      "each reward"
    )
  return integers


def levels(counts: tuple[int, ...]) -> list[list[tuple[int, ...]]]:
  """Lists the multi-indices n <= counts, grouped by their sums 0, 1, ..."""
  by_sum: list[list[tuple[int, ...]]] = [[] for _ in range(sum(counts) + 1)]
  for n in itertools.product(*(range(c + 1) for c in counts)):
    by_sum[sum(n)].append(n)
  return by_sum


def lowered(
  x: Array,
  before: Sequence[tuple[int, ...]],
  level: Sequence[tuple[int, ...]],
  k: int,
) -> Array:
  """Returns the columns of x at n - e_k, for each n of a level; 0 if absent.

  Args:
    x: (..., number of tuples of the level before).
    before: the level before.
    level: the level of the result.
    k: the index of the count.
  """
  places, none = {n: i for i, n in enumerate(before)}, len(before)
  columns = onp.asarray(
    [places.get((*n[:k], n[k] - 1, *n[k + 1 :]), none) for n in level]
  )
  x = np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1)
  return np.take(x, columns, axis=-1)
