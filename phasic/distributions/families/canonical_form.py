"""Canonical form 1 (CF1) of acyclic chains and of chains with two phases.

Nothing is subtracted but data: an entry of a result is a sum of products of
what is not negative, of ratios of rates and of differences of two rates. So
equal or near rates do no harm.
"""

from __future__ import annotations

import bisect
import math

import numpy as onp


def canonical_forms(
  initial: onp.ndarray, between: onp.ndarray, exits: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Computes `canonical_form` for a batch: masses and rates, each (..., p)."""
  batch = onp.broadcast_shapes(
    initial.shape[:-1], between.shape[:-2], exits.shape[:-1]
  )
  p = initial.shape[-1]
  rows = [
    onp.reshape(onp.broadcast_to(x, (*batch, *event)), (-1, *event))
    for x, event in ((initial, (p,)), (between, (p, p)), (exits, (p,)))
  ]
  forms = [canonical_form(*chain) for chain in zip(*rows, strict=True)]
  shape = (*batch, p)
  masses, rates = [x for x, _ in forms], [x for _, x in forms]
  return onp.reshape(masses, shape), onp.reshape(rates, shape)


def canonical_form(
  initial: onp.ndarray, between: onp.ndarray, exits: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Computes CF1: initial masses and ascending rates of phases in series.

  From phase i of the result one gets at rate r_i to phase i + 1, from the last
  one to absorption.

  Args:
    initial: masses of the phases (p,).
    between: rates between phases (p, p), zero on the diagonal.
    exits: rates of absorption (p,).

  Returns:
    The masses and the rates, (p,) each.

  Raises:
    ValueError: the chain has a cycle and more than two phases, or a phase that
      nothing leaves.
  """
  rates = [
    math.fsum([*row, out]) for row, out in zip(between, exits, strict=True)
  ]
  if not all(0 < rate < math.inf for rate in rates):
    raise ValueError(
      f"total rates out of the phases are {rates}: each must be > 0 and finite"
    )
  order = _last_first(between)
  if order is not None:
    return _acyclic_form(initial, between, exits, rates, order)
  if len(rates) == 2:
    return _two_phase_form(initial, between, exits, rates)
  raise ValueError(
    f"the chain has a cycle and {len(rates)} phases: it must have no cycle or "
    "two phases, as other chains may have no acyclic form of the same size"
  )


def _last_first(between: onp.ndarray) -> list[int] | None:
  """Sorts phases topologically, last ones first; None if there is a cycle."""
  waiting = onp.count_nonzero(between, axis=1)
  order = [int(i) for i in onp.flatnonzero(waiting == 0)]
  for j in order:
    for i in onp.flatnonzero(between[:, j]):
      waiting[i] = waiting[i] - 1
      if waiting[i] == 0:
        order.append(int(i))
  return order if len(order) == len(waiting) else None


def _acyclic_form(
  initial: onp.ndarray,
  between: onp.ndarray,
  exits: onp.ndarray,
  rates: list[float],
  order: list[int],
) -> tuple[onp.ndarray, onp.ndarray]:
  """Computes CF1 of an acyclic chain, adding phases from the last to the first.

  For each phase added so far, a row of `forms` represents the distribution of
  its remaining time, as masses of starts in the series of phases so far; the
  last entry is a start at absorption. An exponential time of rate m has, for l
  >= m, the distribution of one of rate l with probability m / l, and else of
  the sum of both: by this identity a rate is inserted in ascending order.
  """
  p = len(rates)
  row: list[float] = []  # The ascending rates of the series so far.
  forms = onp.zeros((p, p + 1))
  for i in order:
    rate, n = rates[i], len(row)
    place = bisect.bisect_right(row, rate)
    after = onp.append(onp.dot(between[i], forms[:, :n]), exits[i]) / rate
    # The new phase is inserted at `place`. A start in an earlier phase k of the
    # old series becomes a start in phase k + 1 of the longer series with
    # probability row[k] / rate, and else in phase k.
    skip = onp.asarray(row[:place]) / rate
    stay = (rate - onp.asarray(row[:place])) / rate
    old = forms[:, :n].copy()
    forms[:, :] = 0.0
    forms[:, :place] = old[:, :place] * stay
    forms[:, 1 : place + 1] += old[:, :place] * skip
    forms[:, place + 1 : n + 1] = old[:, place:]
    # The time from phase i is its holding time plus a time that starts with the
    # masses `after`.
    forms[i, :place] = after[:place]
    carried = 0.0
    for k in range(n, place, -1):
      carried += after[k]
      forms[i, k] = carried * rate / row[k - 1]
      carried *= (row[k - 1] - rate) / row[k - 1]
    forms[i, place] = carried + after[place]
    row.insert(place, rate)
  return onp.dot(initial, forms[:, :p]), onp.asarray(row)


def _two_phase_form(
  initial: onp.ndarray,
  between: onp.ndarray,
  exits: onp.ndarray,
  rates: list[float],
) -> tuple[onp.ndarray, onp.ndarray]:
  """Computes CF1 of two phases by the spectral polynomial algorithm.

  With the eigenvalues r_1 <= r_2 of -S the masses are alpha . s / r_2 for the
  last phase and alpha (S + r_2 I) s / (r_1 r_2) for the first.
  """
  forth, back = float(between[0, 1]), float(between[1, 0])
  out = [float(x) for x in exits]
  # The difference of the total rates is rounded only once, since they may be
  # nearly equal.
  gap = math.fsum([forth, out[0], -back, -out[1]])
  root = math.hypot(gap, 2 * math.sqrt(forth) * math.sqrt(back))
  large = (rates[0] + rates[1] + root) / 2
  small = (forth * out[1] + out[0] * back + out[0] * out[1]) / large
  # After the swap, `above` is large - rates[0] and `below` is large - rates[1].
  # One of these subtractions would lose digits, so neither is done.
  above = (root + abs(gap)) / 2
  below = forth * back / above if above else 0.0
  above, below = (below, above) if gap > 0 else (above, below)
  moved = onp.asarray(
    [above * out[0] + forth * out[1], back * out[0] + below * out[1]]
  )
  first = float(onp.dot(initial, moved)) / (small * large)
  last = float(onp.dot(initial, exits)) / large
  return onp.asarray([first, last]), onp.asarray([small, large])
