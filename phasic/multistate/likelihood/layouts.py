"""Arrays of panel data: what the likelihood needs of each subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as onp

# The work of a chain before its first time, in units of that of a time.
_SETUP = 24


class Intervals(NamedTuple):
  """Time intervals from a known phase to the next observation.

  They are in g groups of up to n intervals that have the same rates, the same
  phase at the start and the same observation at the end; placeholders repeat
  the last interval.

  Attributes:
    design: which rates a group has, (g,).
    initial: one for the phase at the start, (g, p).
    weights: one for each phase that is possible at the end, (g, p); zeros if
      the interval ends with a jump.
    exits: one for each edge that may end the interval, (g, m).
    times: lengths, (g, n).
    targets: where the edges lead, (m,): absorption, p, in place of phases from
      which no path leads to an end, which could hold nearly all of the mass.
  """

  design: Any
  initial: Any
  weights: Any
  exits: Any
  times: Any
  targets: Any


class Steps(NamedTuple):
  """Time steps whose transition matrices are needed, grouped by their rates.

  Attributes:
    design: which rates a group has, (g,).
    times: lengths, (g, n).
  """

  design: Any
  times: Any


class Jumps(NamedTuple):
  """Jumps at known times, whose rates are needed as a matrix.

  Attributes:
    design: which rates they have, (k,).
    edges: one for each edge that may be used, (k, m).
  """

  design: Any
  edges: Any


class Paths(NamedTuple):
  """Stretches of observation from a known or random phase, without a renewal.

  Attributes:
    free: steps of the chain.
    held: steps during which the state is known not to change.
    jumps: jumps at known times.
    masks: one for phases that are possible, (k, p), the first rows of the table
      of weights; the rows of `Emissions` follow.
    start: rows of the table of starts, (s,): phases, then the distribution.
    first: rows of the table of weights for the first observation, (s,).
    matrices: rows of the table of matrices, (l, s): free, held, jumps, and the
      unit matrix for paths that have ended.
    weights: rows of the table of weights, (l, s).
  """

  free: Steps | None
  held: Steps | None
  jumps: Jumps | None
  masks: Any
  start: Any
  first: Any
  matrices: Any
  weights: Any


class Emissions(NamedTuple):
  """Observations of hidden states.

  Attributes:
    masks: one for each phase that is possible, (e, p).
    labels: one for each label that may have been seen, (e, s).
    design: which probabilities of misclassification apply, (e,).
    outcomes: observed outcomes by name, (e,), NaN where missing.
  """

  masks: Any
  labels: Any
  design: Any
  outcomes: Mapping[str, Any]


class Layout(NamedTuple):
  """Panel data as `MultiState.log_likelihood_terms` takes them.

  `MultiState.with_data` makes it.

  Attributes:
    columns: numbers of covariates for each set of rates, (d, k).
    misclassified: numbers of covariates for misclassification, (c, k).
    free: intervals, in parts that share `targets`.
    held: likewise those during which the state is known not to change.
    paths: longer stretches, or None.
    emissions: observations of hidden states, or None.
    index: for each interval and path of the data, its place among the values
      of `free`, `held` and `paths`, (n,).
    subject: whose it is, (n,).
    weights: of the subjects, (s,).
  """

  columns: Any
  misclassified: Any
  free: tuple[Intervals, ...]
  held: tuple[Intervals, ...]
  paths: Paths | None
  emissions: Emissions | None
  index: Any
  subject: Any
  weights: Any


def grouped(
  keys: onp.ndarray, times: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray]:
  """Arranges times in rows that have one key each.

  Equal times with the same key are kept once. A key with many times may take
  several rows, so that the work, with that of placeholders, is small.

  Args:
    keys: integers >= 0, of n > 0 times.
    times: (n,).

  Returns:
    The key of each row; the times, (g, l); and the place of each of the n times
    in the flat table, (n,).
  """
  order = onp.lexsort((times, keys))
  sorted_keys, sorted_times = keys[order], times[order]
  new_key = onp.append(True, onp.diff(sorted_keys) != 0)
  is_new = new_key | onp.append(True, onp.diff(sorted_times) != 0)
  number = onp.cumsum(is_new) - 1
  distinct = onp.flatnonzero(is_new)
  which = onp.cumsum(new_key)[distinct] - 1
  sizes = onp.bincount(which)
  width = _width(sizes)
  rank = onp.arange(len(distinct)) - (onp.cumsum(sizes) - sizes)[which]
  num_rows = -(-sizes // width)
  first_row = onp.cumsum(num_rows) - num_rows
  place = (first_row[which] + rank // width) * width + rank % width
  table = onp.full(int(onp.sum(num_rows)) * width, onp.nan)
  table[place] = sorted_times[distinct]
  table = onp.reshape(table, (-1, width))
  # Placeholders repeat the last time of a row.
  filled = onp.sum(onp.isfinite(table), axis=-1)
  last = table[onp.arange(len(table)), filled - 1]
  table = onp.where(onp.isnan(table), last[:, None], table)
  inverse = onp.zeros(len(keys), int)
  inverse[order] = place[number]
  row_keys = onp.repeat(sorted_keys[onp.flatnonzero(new_key)], num_rows)
  return row_keys, table, inverse


def _width(sizes: onp.ndarray) -> int:
  """Returns the number of times in a row with the least work."""
  largest = int(onp.max(sizes))
  widths = sorted({largest, *(2**i for i in range(largest.bit_length()))})
  work = [int(onp.sum(-(-sizes // w))) * (_SETUP + w) for w in widths]
  return widths[int(onp.argmin(work))]
