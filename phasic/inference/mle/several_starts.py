"""Maximizes from several starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as onp

from phasic.inference.mle import optimizer as optimizer_lib
from phasic.inference.mle.likelihoods import MapT

# Ends are the same if their log likelihoods and entries are so near, relatively.
_SAME_VALUE, _SAME_ENTRIES = 1e-7, 1e-2


def best_of(
  optimizer: optimizer_lib.Optimizer[MapT],
  starts: Sequence[onp.ndarray],
  report: Callable[[int, float], object] | None = None,
) -> tuple[optimizer_lib.Optimum, list[float]]:
  """Maximizes from several starts; returns the best end, and all maxima.

  All distinct ends are compared after Newton steps: where the search from one
  start stops short, another end may look better.
  """
  ends: list[optimizer_lib.Optimum] = []
  for i, start in enumerate(starts):
    end = optimizer.maximize(start)
    same = any(_are_near(end, other) for other in ends)
    ends.append(end if same else optimizer.polish(end))
    if report is not None:
      report(i + 1, max(map(_value_of, ends)))
  return max(ends, key=_value_of), [end.log_likelihood for end in ends]


def _are_near(
  first: optimizer_lib.Optimum, second: optimizer_lib.Optimum
) -> bool:
  """Returns whether two ends are the same up to the tolerance of the search."""
  apart = abs(first.log_likelihood - second.log_likelihood)
  if not apart <= _SAME_VALUE * (1.0 + abs(second.log_likelihood)):
    return False
  scale = onp.maximum(onp.abs(second.entries), onp.finfo(float).tiny)
  change = onp.abs(first.entries - second.entries) / scale
  return bool(onp.all(change <= _SAME_ENTRIES))


def _value_of(optimum: optimizer_lib.Optimum) -> float:
  """Returns an optimum's log likelihood, or -inf if it is not finite."""
  known = optimum.log_likelihood
  return known if onp.isfinite(known) else -onp.inf
