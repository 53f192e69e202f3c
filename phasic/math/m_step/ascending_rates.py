"""The M-step for canonical form CF1, phases in series with ascending rates.

The M-step without this constraint may return rates in any order. Exchanging two
neighbors keeps the distribution if some initial mass moves too: an exponential
time of rate m is distributed as a time of rate l >= m with probability m / l,
and otherwise as the sum of two independent times of rates l and m. If sorting
the rates would put mass on a phase without mass, the likeliest ascending rates
are used instead: isotonic regression makes rates in the wrong order equal.

References:
  A. Cumani, On the canonical representation of homogeneous Markov processes
    modelling failure-time distributions, Microelectron. Reliab. 22, 1982.
  H. Okamura, T. Dohi, K. S. Trivedi, A refined EM algorithm for PH
    distributions, Perform. Eval. 68, 2011.
  T. Robertson, F. T. Wright, R. L. Dykstra, Order restricted statistical
    inference, 1988, ch. 1.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.m_step import rate_updates


def maximized(
  old_masses: Array,
  masses: Array,
  rates: Array,
  statistics: rate_updates.SufficientStatistics,
) -> tuple[Array, Array]:
  """Computes the initial masses and ascending rates of the M-step.

  Both arrays have shape (..., p).

  Args:
    old_masses: the masses before the step; zeros stay zero.
    masses: initial masses of the M-step without the constraint, (..., p).
    rates: rates of the M-step without the constraint, (..., p).
    statistics: the sufficient statistics of the E-step.
  """
  sorted_masses, sorted_rates = _exchanged(masses, rates)
  filled = np.any((old_masses == 0) & (sorted_masses != 0), axis=-1)[..., None]
  pooled = _pooled(rates, statistics)
  return (
    np.where(filled, masses, sorted_masses),
    np.where(filled, pooled, sorted_rates),
  )


def _exchanged(masses: Array, rates: Array) -> tuple[Array, Array]:
  """Sorts the rates by odd-even transposition, keeping the distribution."""
  p = static.shape(rates)[-1]

  def exchange(
    carry: tuple[Array, Array], _: None
  ) -> tuple[tuple[Array, Array], None]:
    return _exchange(_exchange(carry, 0), 1), None

  batch = static.broadcast_shapes(static.shape(masses), static.shape(rates))
  carry = (np.broadcast_to(masses, batch), np.broadcast_to(rates, batch))
  carry, _ = control_flow.scan(exchange, carry, None, p // 2 + 1)
  return carry


def _exchange(carry: tuple[Array, Array], offset: int) -> tuple[Array, Array]:
  """Exchanges descending rates of phases j, j + 1 where j - offset is even."""
  masses, rates = carry
  p = static.shape(rates)[-1]
  places = onp.arange(p)
  is_first = (places - offset) % 2 == 0
  partner = onp.where(is_first, places + 1, places - 1)
  alone = (partner < 0) | (partner >= p)
  partner = onp.where(alone, places, partner)
  other, other_mass = (np.take(x, partner, axis=-1) for x in (rates, masses))
  larger, smaller = np.maximum(rates, other), np.minimum(rates, other)
  positive = larger > 0
  larger_or_one = np.where(positive, larger, 1.0)
  # The second phase gets the larger rate and keeps this share of its mass. The
  # rest of its mass moves to the first phase.
  stays = np.where(positive, smaller / larger_or_one, 1.0)
  leaves = np.where(positive, (larger - smaller) / larger_or_one, 0.0)
  new = np.where(is_first, masses + other_mass * leaves, masses * stays)
  wrong = np.where(is_first, rates > other, other > rates) & onp.logical_not(
    alone
  )
  return np.where(wrong, new, masses), np.where(wrong, other, rates)


def _pooled(
  rates: Array, statistics: rate_updates.SufficientStatistics
) -> Array:
  """Computes the likeliest ascending rates by isotonic regression.

  The rate of phase i is max_{j <= i} min_{k >= i} of the number of jumps per
  time in the phases j to k. Only the first phases can have no visits.
  """
  p = static.shape(rates)[-1]
  jumps, times = _block_sums(statistics.jumps), _block_sums(statistics.visits)
  blocks = rate_updates.updated(jumps, times, math.inf)
  starts = structures.cast(onp.arange(p), rates.dtype)

  def pooled(carry: Array, x: tuple[Array, Array]) -> tuple[Array, Array]:
    """Computes the rate of phase i, given ratios of blocks that end at i."""
    up_to, i = x
    least = np.minimum(carry, up_to)
    return least, np.max(np.where(starts <= i, least, -math.inf), axis=-1)

  # Blocks with j > k are empty: their ratio is inf, which minima ignore.
  backwards = np.take(blocks, onp.arange(p)[::-1], axis=0)
  places = np.take(starts, onp.arange(p)[::-1], axis=0)
  none = np.zeros_like(blocks[0]) + math.inf
  _, ascending = control_flow.scan(pooled, none, (backwards, places))
  ascending = np.moveaxis(
    np.take(ascending, onp.arange(p)[::-1], axis=0), 0, -1
  )
  return np.where(
    statistics.visits != 0, ascending, np.minimum(ascending, rates)
  )


def _block_sums(x: Array) -> Array:
  """Computes sums of x (..., p) over phases j to k, with axes (k, ..., j)."""
  p = static.shape(x)[-1]
  starts = structures.cast(onp.arange(p), x.dtype)

  def extended(carry: Array, y: tuple[Array, Array]) -> tuple[Array, Array]:
    last, k = y
    sums = np.where(starts <= k, carry + last[..., None], 0.0)
    return sums, sums

  lasts = np.moveaxis(x, -1, 0)
  return control_flow.scan(extended, np.zeros_like(x), (lasts, starts))[1]
