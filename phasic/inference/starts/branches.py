"""Mixtures of Erlang distributions, read off data, from which fits start.

A sample is cut at some of its quantiles. Each part stands for a branch of the
mixture, of some stages in a row, with the part's mean and share. Different cuts
and different numbers of stages lead to different optima.
"""

from __future__ import annotations

from collections.abc import Iterator
import itertools
from typing import NamedTuple

import numpy as onp

# With more phases, only some numbers of stages are tried.
_ALL_ORDERS = 5
_ALL_PAIRS = 16
# Shares beyond which tails are cut off, one after the other: a fifth, ...
_TAILS = (0.2, 0.05, 0.01)


class Branches(NamedTuple):
  """A mixture of Erlang distributions.

  Attributes:
    counts: the numbers of stages, (m,).
    masses: the probabilities of the branches, (m,).
    rates: the rates of their stages, (m,).
  """

  counts: tuple[int, ...]
  masses: onp.ndarray
  rates: onp.ndarray


class Sample(NamedTuple):
  """Positive times with weights, in ascending order.

  Attributes:
    times: (n,), > 0.
    weights: (n,), > 0.
  """

  times: onp.ndarray
  weights: onp.ndarray


def orders(num_phases: int) -> list[tuple[int, ...]]:
  """Returns numbers of stages of one, two or three branches, or all single.

  Branches are ordered by their means. For many phases only some are returned.
  """
  p = num_phases
  listed = [(p,), (1,) * p]
  if p <= _ALL_PAIRS:
    firsts = set(range(1, p))
  else:
    firsts = {1, 2, p // 4, p // 2, p - p // 4, p - 2, p - 1}
  listed += [(few, p - few) for few in sorted(firsts)]
  if p <= _ALL_ORDERS:
    triples = set(itertools.product(range(1, p), repeat=2))
  else:
    third, half = p // 3, (p - 1) // 2
    triples = {(1, 1), (1, p - 2), (p - 2, 1), (third, third), (1, half)}
    triples |= {(half, 1), (half, half)}
  listed += [
    (first, second, p - first - second)
    for first, second in sorted(triples)
    if first + second < p
  ]
  return list(dict.fromkeys(listed))


def cut_sample(sample: Sample, counts: tuple[int, ...]) -> Iterator[Branches]:
  """Yields mixtures with given numbers of stages, by different cuts."""
  total = onp.cumsum(sample.weights)
  middle = (total - 0.5 * sample.weights) / total[-1]
  for cuts in _cuts(sample, len(counts)):
    part = onp.searchsorted(onp.asarray(cuts), middle, side="right")
    shares = onp.bincount(part, sample.weights, len(counts)) / total[-1]
    if onp.any(shares <= 0):
      continue
    # Times are divided by the largest, so that no sum overflows.
    unit = sample.times[-1]
    sums = onp.bincount(
      part, sample.weights * (sample.times / unit), len(counts)
    )
    means = sums / total[-1] / shares
    if onp.all(means > 0):
      masses = shares / onp.sum(shares)
      yield Branches(counts, masses, onp.asarray(counts) / means / unit)


def _cuts(sample: Sample, num_parts: int) -> list[tuple[float, ...]]:
  """Returns shares at which a sample is cut into parts, each in (0, 1)."""
  if num_parts == 1:
    return [()]
  k = onp.arange(1, num_parts)
  cuts: list[onp.ndarray] = [k / num_parts]
  cuts += [1.0 - share**k for share in _TAILS]
  cuts += [share ** k[::-1] for share in _TAILS[:-1]]
  # Parts of equal width in logarithms, without the earliest thousandth.
  total = onp.cumsum(sample.weights) / onp.sum(sample.weights)
  logs = onp.log(sample.times)
  first = logs[onp.searchsorted(total, 1e-3)]
  ends = first + (logs[-1] - first) * k / num_parts
  cuts.append(onp.interp(ends, logs, total))
  # The last values beyond a gap, and the first ones before a gap, are a part.
  early, late = _gaps(logs, total)
  others = onp.arange(1, num_parts - 1) / (num_parts - 1)
  cuts.append(onp.append(late * others, late))
  cuts.append(onp.append(early, early + (1.0 - early) * others))
  return list(dict.fromkeys(tuple(map(float, x)) for x in cuts))


def _gaps(logs: onp.ndarray, total: onp.ndarray) -> tuple[float, float]:
  """Returns the shares before the largest gaps of an early and a late tail."""
  gaps = onp.append(onp.diff(logs), 0.0)
  early = onp.argmax(onp.where(total <= _TAILS[1], gaps, -1.0))
  late = onp.argmax(onp.where(total >= 1.0 - _TAILS[1], gaps, -1.0))
  return float(total[early]), float(total[late])
