"""Joint probabilities of Poisson marks along paths through epochs.

With N(t) the counts of marks by time t, the vectors P(N(t) = n, X_t = i) for n up
to a limit are the masses of a larger chain, in which a mark of kind r moves a path
from level n to n + e_r, and out of the chain where that is beyond the limit. Paths
that are absorbed from level n are gathered in a phase of that level. All terms are
positive.
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_levels
from phasic.distributions.epochs import epoch_rewards
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs.epoch_levels import Carried
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Edges
from phasic.math.moments import mixed_moments
from phasic.math.moments import occupancy
from phasic.math.moments import poisson_counts

_Index = tuple[int, ...]
# The largest number of levels of counts; the last epoch has pairs of levels.
_MAX_LEVELS = 4096


class _Levels(NamedTuple):
  """The levels n <= counts, and the marks that lead from one to another.

  Attributes:
    indices: the multi-indices, smaller sums first.
    places: the position of each.
  """

  indices: list[_Index]
  places: dict[_Index, int]

  def after(self, n: _Index, r: int) -> int | None:
    """Returns the position of level n + e_r; None if it is beyond the limit."""
    return self.places.get((*n[:r], n[r] + 1, *n[r + 1 :]))


def joint_mark_probs(
  history: epoch_stages.History,
  rewards: Sequence[Array],
  mark_rates: Array,
  counts: _Index,
) -> Array:
  """Computes P(N_1 = n_1, ..., N_R = n_R) for all n <= counts.

  Args:
    history: the chains.
    rewards: of each epoch, (..., p_k, R).
    mark_rates: (..., R), finite and >= 0, else results are NaN.
    counts: R integers.

  Returns:
    An array (..., counts[0] + 1, ..., counts[R - 1] + 1).

  Raises:
    ValueError: there would be too many phases.
  """
  by_sum = mixed_moments.levels(counts)
  indices = list(itertools.chain.from_iterable(by_sum))
  levels = _Levels(indices, {n: b for b, n in enumerate(indices)})
  size = len(indices) * (1 + max(static.shape(x)[-2] for x in rewards))
  most = epoch_rewards.MAX_PHASES
  if size > most or len(indices) > _MAX_LEVELS:
    raise ValueError(
      f"max_counts is {counts}, which needs {len(indices)} levels of counts and "
      f"{size} phases: there must be at most {_MAX_LEVELS} and {most}; use smaller "
      "counts"
    )
  good = np.all((mark_rates >= 0.0) & (mark_rates < math.inf), axis=-1)
  safe = np.where(good[..., None], mark_rates, 0.0)
  first = history.chains[0]
  assert first.prob_zero is not None  # The first chain has an atom.
  start = epoch_levels.start(first, len(indices))
  at_zero = np.where(onp.arange(len(indices)) == 0, 1.0, 0.0)
  atom = first.prob_zero + np.zeros_like(start.shares[..., 0, 0])
  at_zero = at_zero * atom[..., None] + 0.0 * safe[..., :1]

  def passing(k: int, carried: Carried, length: Array) -> tuple[Carried, Array]:
    marks = rewards[k] * safe[..., None, :]
    return _through(history.chains[k].edges, carried, marks, levels, length)

  def finishing(k: int, carried: Carried) -> Array:
    edges = history.chains[k].edges
    return _at_last(edges, carried, rewards[k], safe, counts, levels)

  each = epoch_stages.through_epochs(history, start, passing, finishing)
  total = sum(each, at_zero)
  total = total + np.where(good, 0.0, math.nan)[..., None]
  ends = list(itertools.accumulate(map(len, by_sum)))
  starts = [0, *ends[:-1]]
  parts = [total[..., a:b] for a, b in zip(starts, ends, strict=True)]
  return poisson_counts.laid_out(counts, parts)


def _through(
  edges: Edges,
  carried: Carried,
  marks: Array,
  levels: _Levels,
  length: Array,
) -> tuple[Carried, Array]:
  """Carries masses through an epoch; returns those absorbed by level too."""
  count, p = static.shape(carried.shares)[-2:]
  phases, end = onp.arange(p), count * (p + 1)
  parts: list[tuple[onp.ndarray, onp.ndarray, Array]] = []
  for b, n in enumerate(levels.indices):
    for r in range(len(n)):
      after = levels.after(n, r)
      targets = phases * 0 + end if after is None else phases + after * p
      parts.append((phases + b * p, targets, marks[..., r]))
  steps = onp.arange(count)[:, None]
  inside = edges.targets < p
  sources = np.reshape(edges.sources + p * steps, (-1,))
  targets = np.where(inside, edges.targets + p * steps, count * p + steps)
  targets = np.reshape(targets, (-1,))
  repeated = np.concatenate([edges.parameters] * count, axis=-1)
  wide = edge_rates.EdgeRates(sources, targets, repeated)
  larger = epoch_stages.joined_edges(wide, targets, parts)
  initial = np.reshape(
    carried.shares, (*static.shape(carried.log_scale), count * p)
  )
  rest = np.zeros_like(initial[..., :1]) + onp.zeros(count)
  initial = np.concatenate([initial, rest], axis=-1)
  transient = occupancy.carried(initial, larger, length)
  shares, log = transient.probs, carried.log_scale + transient.log_mass
  living = np.reshape(shares[..., : count * p], (*static.shape(log), count, p))
  ended = shares[..., count * p :] * np.exp(log)[..., None]
  return epoch_levels.scaled(living, log, carried.units), ended


def _at_last(
  edges: Edges,
  carried: Carried,
  rewards: Array,
  mark_rates: Array,
  counts: _Index,
  levels: _Levels,
) -> Array:
  """Computes the probabilities of the counts of paths in the last epoch.

  They are sums over the level m at its start of those of n - m later marks.
  """
  masses = carried.masses()
  # Probabilities are linear in the masses, also where all masses are zero. The
  # chain needs masses that sum to one: so where they are zero, a mass of one is
  # put at time zero, and its contribution is subtracted afterwards.
  total = autodiff.stop_gradient(np.sum(masses, axis=-1))
  some = total > 0.0
  scale, rest = np.where(some, total, 1.0), np.where(some, 0.0, 1.0)
  later = poisson_counts.joint_mark_probs(
    counts,
    rewards[..., None, :, :],
    mark_rates[..., None, :],
    masses / scale[..., None],
    edges._replace(parameters=edges.parameters[..., None, :]),
    None,
    rest,
  )
  count = len(levels.indices)
  shape = static.shape(later)[: -len(counts)]
  later = np.reshape(later, (*shape, count))
  none = onp.arange(count) == 0
  later = (later - rest[..., None] * none) * scale[..., None]
  flat = np.reshape(later, (*shape[:-1], count * count))
  sizes = tuple(n + 1 for n in counts)
  each = onp.asarray(levels.indices)
  more = each[:, None, :] - each
  possible = onp.all(more >= 0, axis=-1)
  places = onp.ravel_multi_index(
    tuple(onp.moveaxis(onp.maximum(more, 0), -1, 0)), sizes
  )
  places = places + count * onp.arange(count)
  by_levels = np.take(flat, onp.ravel(places), axis=-1)
  by_levels = np.reshape(by_levels, (*shape[:-1], count, count))
  return np.sum(np.where(possible, by_levels, 0.0), axis=-1)
