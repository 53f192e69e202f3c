"""Chains of sums of a random number of independent times.

Times of length zero are skipped. Let z be their probability and B the steps of
the counting chain. From the state of one time the next positive time is reached
by G = (I - z B)^-1 B, which is computed by elimination, without subtraction.

Reference: D. Assaf, B. Levikson, Closure of phase type distributions under
  operations arising in reliability theory, Ann. Probab. 10, 1982.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.closures import chain_parts
from phasic.math.closures.chain_parts import ChainParts
from phasic.math.closures.chain_parts import all_pairs
from phasic.math.closures.chain_parts import picked
from phasic.math.elimination import chain_solves
from phasic.math.numeric.array_utils import joined


class _Count(NamedTuple):
  """The chain of the number of positive terms X_i in a random sum.

  Attributes:
    start: initial masses, (..., q).
    sources: host integers (m,).
    targets: host integers (m,); a stay has equal source and target.
    steps: probabilities of steps, (..., m).
    ends: host integers (e,), the phases with exits.
    exits: probabilities of absorption, (..., e).
    atom: the probability of no positive time, (...); None if it is zero.
  """

  start: Array
  sources: onp.ndarray
  targets: onp.ndarray
  steps: Array
  ends: onp.ndarray
  exits: Array
  atom: Array | None


def random_sum(count: ChainParts, time: ChainParts) -> ChainParts:
  """Builds the chain of X_1 + ... + X_N, for independent N and X_i.

  In phase u p + i the counting chain is in u, and the running time in i.

  Args:
    count: the discrete chain of N, of q phases.
    time: the chain of each X, of p phases.
  """
  q, p = count.num_phases, time.num_phases
  starts = len(time.ends) * p
  steps, ends = len(count.sources) + q, len(count.ends)
  if time.atom is not None:
    steps, ends = q * q, q
  edges = q * len(time.sources) + steps * starts + ends * len(time.ends)
  chain_parts.check_size("the random sum", q * p, edges)
  positive = (
    _steps(count) if time.atom is None else _positive(count, time, time.atom)
  )
  u, e = all_pairs(q, len(time.sources))
  step, rest = all_pairs(steps, starts)
  leave, enter = rest // p, rest % p
  sources = positive.sources[step] * p + time.ends[leave]
  targets = positive.targets[step] * p + enter
  weights = picked(positive.steps, step) * picked(time.exits, leave)
  weights = weights * picked(time.initial, enter)
  (same,) = onp.nonzero(sources == targets)
  (changed,) = onp.nonzero(sources != targets)
  n, i = all_pairs(q, p)
  stay = None
  if time.stay is not None:
    again = picked(weights, same)
    again = array_ops.segment_sum(again, sources[same], q * p)
    stay = picked(time.stay, i) + again
  out, last = all_pairs(ends, len(time.ends))
  return ChainParts(
    q * p,
    picked(positive.start, n) * picked(time.initial, i),
    positive.atom,
    onp.concatenate([u * p + time.sources[e], sources[changed]]),
    onp.concatenate([u * p + time.targets[e], targets[changed]]),
    joined(picked(time.weights, e), picked(weights, changed)),
    positive.ends[out] * p + time.ends[last],
    picked(positive.exits, out) * picked(time.exits, last),
    stay,
  )


def _steps(count: ChainParts) -> _Count:
  """Returns the chain of N itself, for terms X_i that are never zero."""
  assert count.stay is not None  # Numbers of terms are counted in steps.
  phases = onp.arange(count.num_phases)
  return _Count(
    count.initial,
    onp.concatenate([count.sources, phases]),
    onp.concatenate([count.targets, phases]),
    joined(count.weights, count.stay),
    count.ends,
    count.exits,
    count.atom,
  )


def _positive(count: ChainParts, time: ChainParts, atom: Array) -> _Count:
  """Computes the chain of the number of positive terms X_i."""
  q = count.num_phases
  phases = onp.arange(q)
  zero = atom[..., None]
  exits = chain_parts.full_exits(count)
  # Terms that are zero are skipped: the sum goes on with the next positive term,
  # or ends.
  stops = chain_parts.mass(time)[..., None] + zero * exits
  weights = joined(zero * count.weights, stops)
  indices = onp.stack(
    [
      onp.concatenate([count.sources, phases]),
      onp.concatenate([count.targets, onp.full(q, q)]),
    ]
  )
  system = chain_solves.Weighted(indices, weights)
  steps = _steps(count)
  places = steps.sources * q + steps.targets
  matrix = array_ops.segment_sum(steps.steps, places, q * q)
  matrix = np.reshape(matrix, (*static.shape(matrix)[:-1], q, q))
  batch = static.shape(weights)[:-1]
  after_zeros = chain_solves.solve(
    system,
    np.concatenate(
      [
        np.broadcast_to(matrix, (*batch, q, q)),
        np.broadcast_to(exits[..., None], (*batch, q, 1)),
      ],
      axis=-1,
    ),
  )
  later = np.matmul(count.initial[..., None, :], after_zeros)[..., 0, :]
  none = atom * later[..., q]
  n, m = all_pairs(q, q)
  return _Count(
    count.initial + zero * later[..., :q],
    n,
    m,
    np.reshape(after_zeros[..., :q], (*batch, q * q)),
    phases,
    after_zeros[..., q],
    none if count.atom is None else count.atom + none,
  )
