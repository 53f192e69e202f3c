"""Random numbers that can be replayed, and the fewest that fail.

All randomness of a case is a list of numbers in [0, 1). Zero stands for what is
simplest, so that a case is made small by numbers left out or set to zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import statistics
import time
from typing import Any

import numpy as np

_NORMAL = statistics.NormalDist()


class Choices:
  """Draws as NumPy's generators do, from a list first and then from a seed.

  Attributes:
    made: the numbers so far.
  """

  def __init__(self, seed: Any, given: Sequence[float] | None = None) -> None:
    self._random = np.random.default_rng(seed)
    self._given = given
    self.made: list[float] = []

  def random(self) -> float:
    """Draws a number in [0, 1)."""
    i = len(self.made)
    if self._given is None:
      found = float(self._random.random())
    else:
      found = self._given[i] if i < len(self._given) else 0.0
    self.made.append(found)
    return found

  def integers(self, low: int, high: int | None = None) -> int:
    """Draws an integer from low to high - 1, or below the first argument."""
    start, end = (0, low) if high is None else (low, high)
    return start + math.floor(self.random() * (end - start))

  def uniform(self, low: float, high: float) -> float:
    """Draws a number between two."""
    return low + self.random() * (high - low)

  def uniforms(self, low: float, high: float, count: int) -> np.ndarray:
    """Draws numbers between two."""
    return np.asarray([self.uniform(low, high) for _ in range(count)])

  def probs(self, count: int) -> np.ndarray:
    """Draws numbers that sum to one, uniformly as a rule."""
    found = np.asarray(
      [1e-3 - math.log1p(-self.random()) for _ in range(count)]
    )
    return found / found.sum()

  def normals(self, shape: tuple[int, ...]) -> np.ndarray:
    """Draws normal numbers."""
    found = [
      _NORMAL.inv_cdf(min(max((self.random() + 0.7) % 1.0, 1e-9), 1 - 1e-9))
      for _ in range(math.prod(shape))
    ]
    return np.reshape(found, shape)


def shrink(
  fails: Callable[[list[float]], list[float] | None],
  made: list[float],
  seconds: float,
) -> list[float]:
  """Returns numbers for which something still fails: fewer, and simpler ones.

  Args:
    fails: returns the numbers that it has used if it still fails, else None.
    made: numbers for which it fails.
    seconds: how long to try.
  """
  end = time.monotonic() + seconds
  best, before = made, None
  while best != before:
    before = best
    for size in (32, 8, 4, 2, 1):
      i = 0
      while i < len(best):
        rest = best[i + size :]
        changes = [
          best[:i] + rest,
          best[:i] + [0.0] * len(best[i : i + size]) + rest,
        ]
        if size == 1:
          smaller = (x / 8.0 for x in range(1, math.floor(best[i] * 8.0) + 1))
          changes += [[*best[:i], x, *rest] for x in smaller]
        for change in changes:
          if time.monotonic() > end:
            return best
          found = fails(change) if change != best else None
          if found is not None and _size(found) < _size(best):
            best = found
            break
        else:
          i += size
  return best


def _size(made: list[float]) -> tuple[int, int, float]:
  """Returns what is smaller for simpler cases."""
  digits = sum(x * 8.0 != math.floor(x * 8.0) for x in made)
  return len(made), digits, sum(made)
