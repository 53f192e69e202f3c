"""The options of fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from phasic.internal.arrays import Integer, Tree


class FitOptions(TypedDict, total=False):
  """The keyword options of functions that call `fit_mle`."""

  fixed: Sequence[str]
  tied: Sequence[Sequence[str]]
  free: Sequence[str]
  bounds: Mapping[str, Sequence[float]] | None
  starts: Sequence[Tree] | None
  num_starts: Integer
  seed: Integer
  max_steps: Integer
  tolerance: float
  progress: bool | Callable[[int, float], object]
