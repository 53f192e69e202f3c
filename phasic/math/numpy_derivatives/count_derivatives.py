"""Derivatives of mixed moments and of probabilities of marks, written out.

Rules as in `chain_derivatives`. Both are products of alpha with columns

    x_n = U sum_r f_nr diag(rho_.r) x_{n - e_r},

one for each tuple n of counts, with f_nr = n_r or 1.
"""

import itertools
import math

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal import structures
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing
from phasic.math.elimination import moment_chains
from phasic.math.moments import count_levels
from phasic.math.moments import mark_probs
from phasic.math.moments import mixed_moments
from phasic.math.numeric import scaled_sums


class _Columns:
  """The columns of all levels, and how they move.

  Attributes:
    system: of U.
    levels: tuples of counts by their sum.
    values: x, (..., p, n) for each level.
    differences: of x along edges, (..., m, n); None for the first level where
      that is no solution.
  """

  def __init__(self, system, rates, counts, factors, first):
    """Solves for all columns.

    Args:
      system: of U.
      rates: rho, (..., p, R).
      counts: the largest.
      factors: a function of a level and r that returns f_nr, host (n,).
      first: values and differences of the first level.
    """
    self.system, self._rates, self._factors = system, rates, factors
    self.levels = count_levels.levels(counts)
    self.values, self.differences = [first[0]], [first[1]]
    for before, level in itertools.pairwise(self.levels):
      b = 0.0
      for r in range(len(counts)):
        lower = count_levels.lowered(self.values[-1], before, level, r)
        b = b + rates[..., r, None] * factors(level, r) * lower
      x, d = chain_solves.solve(system, b, gives_edges=True)
      self.values.append(x)
      self.differences.append(d)

  def push(self, of_weights, of_rates, of_first):
    """Returns tangents of the columns, for each level."""
    found = [of_first]
    pairs = itertools.pairwise(self.levels)
    for k, (before, level) in enumerate(pairs):
      b = 0.0
      for r in range(static.shape(self._rates)[-1]):
        f = self._factors(level, r)
        x, v = (
          count_levels.lowered(z, before, level, r)
          for z in (self.values[k], found[-1])
        )
        b = b + f * (of_rates[..., r, None] * x + self._rates[..., r, None] * v)
      along = -of_weights[..., None] * self.differences[k + 1]
      found.append(chain_solves.solve(self.system, b, along))
    return found

  def pull(self, bars):
    """Returns cotangents of weights, of rates and of the first level's values.

    Args:
      bars: cotangents of the columns, (..., p, n) for each level.
    """
    of_weights = 0.0
    count = static.shape(self._rates)[-1]
    of_rates = np.zeros_like(self._rates)
    carried = 0.0
    for k in range(len(self.levels) - 1, 0, -1):
      before, level = self.levels[k - 1], self.levels[k]
      u = chain_solves.solve_transposed(self.system, bars[k] + carried)
      of_weights = of_weights + self.of_weights(u, k)
      carried = 0.0
      own = []
      for r in range(count):
        v = self._factors(level, r) * u
        lower = count_levels.lowered(self.values[k - 1], before, level, r)
        own.append(np.sum(v * lower, axis=-1))
        v = count_levels.raised(v, level, before, r)
        carried = carried + self._rates[..., r, None] * v
      of_rates = of_rates + np.stack(own, axis=-1)
    return of_weights, of_rates, bars[0] + carried

  def of_weights(self, u, k):
    """Returns the cotangent of the weights in a level's system."""
    z = np.take(u, self.system.indices[0], axis=-2)
    return -np.sum(z * self.differences[k], axis=-1)


def push_moment(orders, system, others, moves):
  """Tangent of `mixed_moments.moment`."""
  of_initial, of_weights, of_atom, of_rewards = moves
  columns, lost = _moments(orders, system, others[0])
  x = columns.values[-1][..., 0]
  of_first = np.zeros_like(columns.values[0])
  of_x = columns.push(of_weights, of_rewards, of_first)[-1][..., 0]
  found = np.sum(of_initial * x + system.initial * of_x, axis=-1)
  if sum(orders) == 0:
    found = found + of_atom
  unit = -sum(orders) * system.exponent
  return scaled_sums.times_power(found, unit) + lost


def pull_moment(orders, system, others, cotangent):
  """Cotangents of `mixed_moments.moment`."""
  columns, lost = _moments(orders, system, others[0])
  unit = -sum(orders) * system.exponent
  cotangent = scaled_sums.times_power(cotangent, unit) + lost
  ct = cotangent[..., None]
  x = columns.values[-1][..., 0]
  none = [np.zeros_like(x) for x in columns.values[:-1]]
  bars = [*none, (ct * system.initial)[..., None]]
  of_weights, of_rewards, _ = columns.pull(bars)
  of_weights = of_weights + np.zeros_like(system.weights)
  of_atom = cotangent if sum(orders) == 0 else np.zeros_like(cotangent)
  return [ct * x, of_weights, of_atom, of_rewards]


def _moments(orders, system, rewards):
  """Returns the columns, and 0 or, where a moment is infinite, NaN."""
  _, _, r, infinite, _ = moment_chains.start_all(system, rewards)
  first = np.ones_like(r[..., :1]), None
  columns = _Columns(system, r, orders, mixed_moments.factors, first)
  endless = np.any(infinite & (onp.asarray(orders) > 0), axis=-1)
  return columns, np.where(endless, math.nan, 0.0)


def push_probs(counts, system, others, moves):
  """Tangents of `mark_probs.probs`."""
  of_initial, of_weights, of_atom, of_rates = moves
  columns, exits, lost = _probs(counts, system, others[0])
  unit = -system.exponent[..., None, None]
  of_rates = scaled_sums.times_power(of_rates, unit)
  of_kills = np.sum(of_rates, axis=-1) + np.zeros_like(exits[..., :1])
  of_weights = of_weights + np.zeros_like(of_kills[..., :1])
  ends = np.concatenate([exits * of_weights, np.zeros_like(of_kills)], axis=-1)
  moved = np.concatenate([of_weights, of_kills], axis=-1)
  along = ends[..., None] - moved[..., None] * columns.differences[0]
  none = np.zeros_like(columns.values[0] + along[..., :1, :])
  of_first = chain_solves.solve(columns.system, none, along)
  found = []
  for x, v in zip(
    columns.values, columns.push(moved, of_rates, of_first), strict=True
  ):
    row = np.matmul(of_initial[..., None, :], x)
    row = row + np.matmul(system.initial[..., None, :], v)
    found.append(row[..., 0, :] + lost)
  found[0] = found[0] + of_atom[..., None]
  return mark_probs.laid_out(counts, found)


def pull_probs(counts, system, others, cotangent):
  """Cotangents of `mark_probs.probs`."""
  columns, exits, lost = _probs(counts, system, others[0])
  m = static.shape(system.weights)[-1]
  parts = mark_probs.by_level(counts, cotangent)
  of_initial = lost
  bars = []
  for x, ct in zip(columns.values, parts, strict=True):
    of_initial = of_initial + np.matmul(x, ct[..., None])[..., 0]
    bars.append(system.initial[..., None] * ct[..., None, :] + lost[..., None])
  of_weights, of_rates, of_first = columns.pull(bars)
  u = chain_solves.solve_transposed(columns.system, of_first)
  of_weights = of_weights + columns.of_weights(u, 0)
  of_rates = of_rates + of_weights[..., m:, None]
  z = chain_solves.at_sources(system, u[..., 0])
  of_weights = of_weights[..., :m] + exits * z
  unit = -system.exponent[..., None, None]
  of_rates = scaled_sums.times_power(of_rates, unit)
  return [of_initial, of_weights, parts[0][..., 0], of_rates]


def _probs(counts, system, rates):
  """Returns columns, which edges are exits, and 0 or, for bad rates, NaN."""
  good = np.all((rates >= 0) & np.isfinite(rates), axis=(-2, -1))
  rates = scaled_sums.times_power(rates, -system.exponent[..., None, None])
  total = np.sum(rates, axis=-1)
  mortal, ends = killing.killed_or_absorbed(system, total)
  none = np.zeros_like(rates[..., :1])
  first = chain_solves.solve(mortal, none, ends[..., None], True)
  columns = _Columns(mortal, rates, counts, _ones, first)
  p = static.shape(system.initial)[-1]
  exits = np.where(np.asarray(system.indices[1]) == p, 1.0, 0.0)
  exits = structures.cast(exits, system.weights.dtype)
  return columns, exits, np.where(good, 0.0, math.nan)[..., None]


def _ones(level, r):
  del r
  return onp.ones(len(level))
