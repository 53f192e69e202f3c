"""Transitions of panel data in groups, and in parts where a death cut them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

from phasic.multistate.data import panel_data
from phasic.multistate.states import chains

# The lengths that an interval that ends with a death may have had; where more
# have been seen, as many quantiles stand for them.
MOST_LENGTHS = 200


def counted_rows(
  chain: chains.Chain, data: panel_data.PanelData
) -> tuple[onp.ndarray, int]:
  """Returns the rows at which counted transitions end, and how many do not count.

  Raises:
    ValueError: times of transitions are known, or nothing counts.
  """
  alive = [x for x in chain.states if x not in chain.absorbing]
  follows = onp.logical_not(data.is_first)
  exact = data.kinds == panel_data.ENTERED
  bad = follows & (data.kinds == panel_data.HELD)
  bad = bad | (follows & exact & onp.isin(data.states, alive))
  if onp.any(bad):
    raise ValueError(
      f"{data.label_of(int(onp.argmax(bad)))} has a known time of transition: the "
      "test needs states that are seen at visits, and exact times of absorbing "
      "states alone"
    )
  before = onp.concatenate([[""], data.states[:-1]])
  counts = follows & onp.isin(before, alive)
  ends = onp.flatnonzero(counts)
  if not len(ends):
    raise ValueError(
      "no transition counts: the data need a row that follows a known state"
    )
  lost = follows & onp.logical_not(counts)
  return ends, int(
    onp.sum(lost & onp.logical_not(onp.isin(before, chain.absorbing)))
  )


class Parts(NamedTuple):
  """Transitions, whole or in parts that have different lengths.

  Attributes:
    transition: to which a part belongs, (k,), ascending.
    length: of its interval, (k,).
    end: the time at its end, (k,).
    weight: its probability, (k,).
    is_whole: whether it ended at a visit, (k,).
  """

  transition: onp.ndarray
  length: onp.ndarray
  end: onp.ndarray
  weight: onp.ndarray
  is_whole: onp.ndarray


def parts_of(data: panel_data.PanelData, ends: onp.ndarray) -> Parts:
  """Divides transitions by the lengths that they might have had."""
  lengths = data.times[ends] - data.times[ends - 1]
  whole = data.kinds[ends] == panel_data.SEEN
  atoms, masses = planned_lengths(lengths, whole)
  numbers, planned, weights = [], [], []
  for i, (length, is_whole) in enumerate(zip(lengths, whole, strict=True)):
    later = atoms > length
    if is_whole or not onp.any(later):
      values, shares = onp.asarray([length]), onp.ones(1)
    else:
      values = atoms[later]
      shares = masses[later] / onp.sum(masses[later])
    numbers.append(onp.full(len(values), i))
    planned.append(values)
    weights.append(shares)
  number, length = onp.concatenate(numbers), onp.concatenate(planned)
  end = onp.where(
    whole[number],
    data.times[ends][number],
    data.times[ends - 1][number] + length,
  )
  return Parts(number, length, end, onp.concatenate(weights), whole[number])


def planned_lengths(
  lengths: onp.ndarray, whole: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Estimates the distribution of lengths, of which some are censored.

  Args:
    lengths: (n,).
    whole: whether a length is not censored, (n,).

  Returns:
    The lengths that are possible, ascending, and their probabilities, by the
    product-limit estimate; its mass beyond the largest one is left out.
  """
  atoms, counts = onp.unique(lengths[whole], return_counts=True)
  # A death at the time of a visit was not seen at that visit.
  at_risk = len(lengths) - onp.searchsorted(onp.sort(lengths), atoms)
  leaves = counts / at_risk
  survives = onp.cumprod(1.0 - leaves)
  masses = leaves * onp.concatenate([[1.0], survives[:-1]])
  if len(atoms) > MOST_LENGTHS:
    share = onp.cumsum(masses) / onp.sum(masses)
    middles = (onp.arange(MOST_LENGTHS) + 0.5) / MOST_LENGTHS
    chosen = onp.searchsorted(share, middles)
    # The largest length stays possible for those who die late.
    chosen[-1] = len(atoms) - 1
    atoms, counts = onp.unique(atoms[chosen], return_counts=True)
    masses = counts / MOST_LENGTHS
  return atoms, masses


def groups_of(
  parts: Parts, totals: onp.ndarray, sizes: list[int]
) -> tuple[onp.ndarray, tuple[str, ...]]:
  """Divides parts into groups.

  Args:
    parts: the parts of transitions.
    totals: the sum of rates of each transition.
    sizes: the largest numbers of groups.

  Returns:
    The group of each part, (k,), and the names of groups.
  """
  whole = parts.is_whole if onp.any(parts.is_whole) else parts.weight > 0
  time_breaks = breaks(parts.end[whole], sizes[0])
  total_breaks = breaks(totals, sizes[2])
  at = onp.searchsorted(time_breaks, parts.end, side="right")
  by_total = onp.searchsorted(total_breaks, totals, side="right")
  by_total = by_total[parts.transition]
  which = onp.zeros(len(at), int)
  names: list[str] = []
  for i in range(len(time_breaks) + 1):
    inside = at == i
    chosen = inside & whole
    length_breaks = breaks(parts.length[chosen], sizes[1])
    by_length = onp.searchsorted(length_breaks, parts.length, side="right")
    for j in range(len(length_breaks) + 1):
      for k in range(len(total_breaks) + 1):
        which[inside & (by_length == j) & (by_total == k)] = len(names)
        words = [
          _range("time", time_breaks, i),
          _range("interval", length_breaks, j),
          _range("rates", total_breaks, k),
        ]
        names.append(", ".join(x for x in words if x) or "all")
  return which, tuple(names)


def breaks(values: onp.ndarray, size: int) -> onp.ndarray:
  """Returns where groups of about equal sizes begin, after the first one.

  Each distinct value is a group if there are few.
  """
  distinct = onp.unique(values)
  if len(distinct) <= size:
    return distinct[1:]
  inner = onp.unique(onp.quantile(values, onp.arange(1, size) / size))
  return inner[inner > distinct[0]]


def _range(name: str, starts: onp.ndarray, i: int) -> str:
  """Returns the words for a group, "" if there is one alone."""
  if not len(starts):
    return ""
  if i == 0:
    return f"{name} < {starts[0]:.4g}"
  if i == len(starts):
    return f"{name} >= {starts[-1]:.4g}"
  return f"{name} in [{starts[i - 1]:.4g}, {starts[i]:.4g})"
