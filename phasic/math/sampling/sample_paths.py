"""Samples of paths of a chain, jump by jump."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, Integer, SanitizedSeed
from phasic.math.model import not_differentiable
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import Matrix
from phasic.math.sampling import jump_chain
from phasic.math.sampling import jump_tables
from phasic.math.sampling import jumps

# The limit on the jumps of all paths together; each jump takes 12 bytes.
_MOST_JUMPS = 2**27
_Carry = tuple[SanitizedSeed, Array, Array]


class PhasePaths(NamedTuple):
  """Paths of a chain on the phases 0, ..., p - 1.

  Attributes:
    phases: the first phase, and the phase after each jump, int32 (..., k + 1);
      p after absorption, -1 for an invalid model.
    times: the times of entry, (..., k + 1), 0 first; after absorption its time;
      NaN for an invalid model.
  """

  phases: Array
  times: Array


def sample_paths(
  n: int,
  num_jumps: int,
  seed: SanitizedSeed,
  initial_probs: Array,
  subgenerator: Matrix,
  exit_rates: Array | None = None,
  prob_zero: Array | None = None,
  discrete: bool = False,
) -> PhasePaths:
  """Draws exact samples of paths: phases, and the times when they are entered.

  A path starts in a phase drawn from alpha, or is absorbed at zero with the
  atom's mass. It stays in a phase for an exponential time, in discrete time for
  a geometric number of steps, and jumps to another phase. A phase that is never
  left is followed by itself, at time inf.

  Args:
    n: the number of samples for each model of the batch.
    num_jumps: k, the number of jumps.
    seed: a seed as `random.sanitize_seed` returns it.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or EdgeRates; in discrete time T or EdgeProbs.
    exit_rates: s, (..., p); None derives them.
    prob_zero: z, (...); None derives it.
    discrete: whether time is discrete.

  Returns:
    `PhasePaths` of arrays (n, ..., k + 1).

  Raises:
    NotImplementedError: samples are differentiated in the model.
  """
  names = operands_lib.argument_names(discrete, "value")
  arguments = operands_lib.convert(
    initial_probs, subgenerator, 0.0, exit_rates, prob_zero, names=names
  )
  operands, layout, edges, depth = jump_chain.prepare(arguments, discrete)
  model = operands[:4]
  fixed = [autodiff.stop_gradient(x) for x in model]
  phases, times = _run(n, num_jumps, discrete, depth, seed, *fixed, *edges)
  times = structures.cast(times, operands[0].dtype)
  times = not_differentiable.attach(jump_chain.ADVICE, times, *model)
  shape = (n, *layout.batch, num_jumps + 1)
  return PhasePaths(np.reshape(phases, shape), np.reshape(times, shape))


def _paths(
  n: int,
  num_jumps: int,
  discrete: bool,
  depth: int,
  seed: SanitizedSeed,
  *operands: Array,
) -> tuple[Array, Array]:
  """Simulates phases and times (n, number of models, k + 1)."""
  wide = static.wide_float()
  tables, bad = jump_chain.make_tables(discrete, depth, *operands)
  models, _ = static.shape(tables.scales)
  start_seed, seed = random.split_seed(seed)
  uniform = random.uniform(start_seed, (n, models), wide)
  phase = jumps.first_phases(uniform, tables)
  phases, times = follow(
    num_jumps, discrete, seed, tables, phase, np.zeros_like(uniform)
  )
  return np.where(bad[:, None], -1, phases), np.where(
    bad[:, None], math.nan, times
  )


def follow(
  num_jumps: int,
  discrete: bool,
  seed: SanitizedSeed,
  tables: jump_tables.JumpTables,
  phase: Array,
  time: Array,
) -> tuple[Array, Array]:
  """Follows paths from their phases at given times.

  Args:
    num_jumps: k, the number of jumps.
    discrete: whether time is discrete.
    seed: a seed.
    tables: the tables of the chains.
    phase: (n, models).
    time: (n, models).

  Returns:
    The phases and the times of their entries, (n, models, k + 1), as in
    `PhasePaths`.
  """
  p = static.shape(tables.scales)[-1]
  shape = static.shape(phase)

  def jump(carry: _Carry, _: None) -> tuple[_Carry, tuple[Array, Array]]:
    seed, phase, time = now = carry
    hold_seed, turn_seed, seed = random.split_seed(seed, 3)
    running = phase < p
    here = np.where(running, phase, 0)
    scales = jumps.phase_values(tables.scales, here)
    leaves = running & (scales < math.inf)
    hold = random.exponential(hold_seed, shape, static.wide_float())
    scales = np.where(leaves, scales, 1.0)
    hold = jumps.holding_times(scales, hold, discrete)
    stays = np.where(running, math.inf, time)
    time = np.where(leaves, time + hold, stays)
    turn = random.uniform(turn_seed, shape, static.wide_float())
    target = jumps.next_phases(turn, tables, here)
    phase = np.where(leaves, target, phase)
    return (seed, phase, time), now[1:]

  init = (seed, phase, time)
  _, (phases, times) = control_flow.scan(jump, init, None, num_jumps + 1)
  return np.moveaxis(phases, 0, -1), np.moveaxis(times, 0, -1)


def checked_jumps(
  num_jumps: Integer,
  shape: tuple[int, ...],
  batch: static.Shape,
  num_epochs: int = 1,
) -> int:
  """Returns the number of jumps of each path as an int.

  Args:
    num_jumps: the number.
    shape: the sample shape.
    batch: the batch shape.
    num_epochs: how often each path is followed for so many jumps.

  Raises:
    TypeError: it is not an integer.
    ValueError: it is negative, or all paths together have too many jumps.
  """
  if isinstance(num_jumps, bool) or not isinstance(
    num_jumps, (int, onp.integer)
  ):
    raise TypeError(
      f"num_jumps is {type(num_jumps).__name__}: it must be a Python int, since "
      "it sets the size of the result"
    )
  if num_jumps < 0:
    raise ValueError(f"num_jumps is {int(num_jumps)}: it must be >= 0")
  known = [d for d in batch if isinstance(d, int)]
  total = math.prod(shape) * int(num_jumps) * math.prod(known) * num_epochs
  if total > _MOST_JUMPS:
    raise ValueError(
      f"num_jumps is {num_jumps}: with sample_shape {shape} and batch shape "
      f"{batch}"
      + (f", in each of {num_epochs} epochs," if num_epochs > 1 else "")
      + f" all paths together have {total} jumps: they must have at "
      f"most {_MOST_JUMPS}; sample in parts"
    )
  return int(num_jumps)


_run = control_flow.compiled(_paths, static_argnums=(0, 1, 2, 3))
