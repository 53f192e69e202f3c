"""Samples of phase-type variables, by simulation of the chain."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, SanitizedSeed
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_solves
from phasic.math.model import chain as chain_lib
from phasic.math.model import not_differentiable
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import Edges, Matrix, TimedModel
from phasic.math.sampling import jump_tables
from phasic.math.sampling import jumps

MAX_JUMPS = 100_000

_Carry = tuple[Array, SanitizedSeed, Array, Array]

ADVICE = (
  "samples of a phase-type distribution have no derivative with respect to "
  "its parameters (they are not reparameterized): apply stop_gradient to the "
  "sample or to the parameters"
)


def sample(
  n: int,
  seed: SanitizedSeed,
  initial_probs: Array,
  subgenerator: Matrix,
  exit_rates: Array | None = None,
  prob_zero: Array | None = None,
  discrete: bool = False,
) -> Array:
  """Draws exact samples, by simulation of the embedded jump chain.

  Each path starts in a phase drawn from alpha, or is absorbed at zero with the
  atom's mass. It stays in a phase for an exponential time, in discrete time for
  a geometric number of steps, and jumps to another phase until it is absorbed.

  Args:
    n: the number of samples for each model of the batch.
    seed: a seed as `random.sanitize_seed` returns it.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or EdgeRates; in discrete time T or EdgeProbs.
    exit_rates: s, (..., p); None derives them.
    prob_zero: z, (...); None derives it.
    discrete: whether time is discrete.

  Returns:
    An array (n, ...): inf where the chain reaches a trap, NaN for invalid
    values and where the chain is not absorbed after `MAX_JUMPS` jumps.

  Raises:
    NotImplementedError: samples are differentiated in the model.
  """
  names = operands_lib.argument_names(discrete, "value")
  arguments = operands_lib.convert(
    initial_probs, subgenerator, 0.0, exit_rates, prob_zero, names=names
  )
  batch, times = _sample(n, seed, arguments, None, discrete)
  return np.reshape(times, (n, *batch))


def sample_rewards(
  n: int,
  seed: SanitizedSeed,
  initial_probs: Array,
  subgenerator: Matrix,
  rewards: Array,
  exit_rates: Array | None,
  prob_zero: Array | None,
) -> Array:
  """Draws exact samples of rewards accumulated until absorption.

  Args:
    n: the number of samples for each model of the batch.
    seed: a seed as `random.sanitize_seed` returns it.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or EdgeRates.
    rewards: (..., p, R), per unit of time.
    exit_rates: s, (..., p); None derives them.
    prob_zero: z, (...); None derives it.

  Returns:
    An array (n, ..., R): inf for infinite totals, NaN for invalid values and
    where a path does not end after `MAX_JUMPS` jumps.

  Raises:
    NotImplementedError: samples are differentiated in the model.
  """
  names = operands_lib.argument_names(False, "rewards")
  initial_probs, subgenerator, rewards, exit_rates, prob_zero = (
    operands_lib.convert(
      initial_probs, subgenerator, rewards, exit_rates, prob_zero, names=names
    )
  )
  batch = operands_lib.check_shapes(
    initial_probs, subgenerator, exit_rates, prob_zero, names
  )
  *reward_batch, p, size = static.shape(rewards)
  batch = static.broadcast_shapes(batch, tuple(reward_batch))
  arguments = (
    np.broadcast_to(initial_probs, (*batch, p)),
    subgenerator,
    np.zeros_like(initial_probs[..., 0]),
    exit_rates,
    prob_zero,
  )
  rewards = np.broadcast_to(rewards, (*batch, p, size))
  batch, accumulated = _sample(n, seed, arguments, rewards, False)
  return np.reshape(accumulated, (n, *batch, size))


def without_derivatives(
  x: Array, *arrays: Array | None, advice: str = ADVICE
) -> Array:
  """Returns the samples unchanged; differentiating them raises an error.

  Args:
    x: the samples.
    *arrays: the arrays that they were computed from; None for absent ones.
    advice: the message of NotImplementedError.
  """
  inputs = [y for y in arrays if y is not None]
  fixed = autodiff.stop_gradient(x)
  return not_differentiable.attach(advice, fixed, x, *inputs)


def _sample(
  n: int,
  seed: SanitizedSeed,
  arguments: TimedModel,
  rewards: Array | None,
  discrete: bool,
) -> tuple[static.Shape, Array]:
  """Draws samples of rewards, or of the time if there are none.

  Returns the batch shape and the samples (n, number of models, R).
  """
  operands, layout, edges, depth = prepare(arguments, discrete)
  model = operands[:4]
  if rewards is not None:
    event = static.shape(rewards)[-2:]
    kept = [layout.batch[i] for i in layout.kept]
    model = (*model, np.reshape(rewards, (*kept, *event)))
  fixed = [autodiff.stop_gradient(x) for x in model]
  rewards = fixed[4] if rewards is not None else None
  accumulated = _run(n, discrete, depth, seed, rewards, *fixed[:4], *edges)
  dtype = operands[0].dtype
  accumulated = structures.cast(accumulated, dtype)
  return layout.batch, not_differentiable.attach(ADVICE, accumulated, *model)


def prepare(
  arguments: TimedModel, discrete: bool
) -> tuple[tuple[Array, ...], operands_lib.Layout, tuple[Array, ...], int]:
  """Converts a model to the operands of the simulation.

  Returns the kernel's operands, their layout, the arrays of edges, and the
  depth as in `JumpTables`.

  Args:
    arguments: the result of `operands.convert`.
    discrete: whether time is counted in steps.
  """
  names = operands_lib.argument_names(discrete, "value")
  operands, layout = operands_lib.canonical(arguments, names)
  edges = operands_lib.edges(layout, arguments)
  rates = arguments[1]
  depth = _depth(rates) if operands_lib.is_edges(rates) else 0
  return operands, layout, edges, depth


def _depth(edges: Edges) -> int:
  """Returns the bit length of the largest out-degree of a phase."""
  (m,) = static.shape(edges.sources)
  known = static.concrete(edges.sources)
  degree = m if known is None else int(onp.max(onp.bincount(known)))
  return int(degree).bit_length()


def _paths(
  n: int,
  discrete: bool,
  depth: int,
  seed: SanitizedSeed,
  rewards: Array | None,
  *operands: Array,
) -> Array:
  """Simulates accumulated rewards (n, number of models, R); time if none given.

  Args:
    n: the number of samples for each model.
    discrete: whether time is discrete.
    depth: see `JumpTables`.
    seed: a seed.
    rewards: (..., p, R), or None for times.
    *operands: the model's four, and the edges' three if there are edges.
  """
  wide_name = static.wide_float()
  tables, reward_rates, bad = _prepare(discrete, depth, rewards, *operands)
  models, p = static.shape(tables.scales)
  start_seed, jump_seed = random.split_seed(seed)
  uniform = random.uniform(start_seed, (n, models), wide_name)
  phase = jumps.first_phases(uniform, tables)
  size = static.shape(reward_rates.rates)[-1]
  rates = np.reshape(reward_rates.rates, (-1, size))
  row_of_model = p * structures.cast(np.arange(models), "int32")
  none = np.zeros((size,), dtype=wide_name)
  accumulated = np.zeros_like(uniform)[..., None] * none

  def unfinished(carry: _Carry) -> Array:
    count, _, phase, _ = carry
    return (count < MAX_JUMPS) & np.any(phase < p)

  def jump(carry: _Carry) -> _Carry:
    count, seed, phase, accumulated = carry
    hold_seed, turn_seed, seed = random.split_seed(seed, 3)
    running = phase < p
    here = np.where(running, phase, 0)
    stopped = jumps.phase_values(reward_rates.stops, here)
    scales = np.where(stopped, 1.0, jumps.phase_values(tables.scales, here))
    hold = random.exponential(hold_seed, (n, models), wide_name)
    hold = jumps.holding_times(scales, hold, discrete)
    rate = np.take(rates, here + row_of_model, axis=0)
    gain = np.where(rate < math.inf, hold[..., None] * rate, math.inf)
    accumulated = np.where(running[..., None], accumulated + gain, accumulated)
    turn = random.uniform(turn_seed, (n, models), wide_name)
    target = jumps.next_phases(turn, tables, here)
    target = np.where(stopped, p, target)
    return count + 1, seed, np.where(running, target, phase), accumulated

  init = (np.asarray(0), jump_seed, phase, accumulated)
  _, _, phase, accumulated = control_flow.while_loop(unfinished, jump, init)
  lost = np.where(phase < p, math.nan, 0.0) + np.where(bad, math.nan, 0.0)
  return accumulated + lost[..., None]


_run = control_flow.compiled(_paths, static_argnums=(0, 1, 2))


def _prepare(
  discrete: bool, depth: int, rewards: Array | None, *operands: Array
) -> tuple[jump_tables.JumpTables, jump_tables.RewardRates, Array]:
  """Builds the jump tables and the reward rates of models.

  Also returns whether each model is invalid, (models,).
  """
  tables, bad = make_tables(discrete, depth, *operands)
  if rewards is None:
    return tables, jump_tables.time_reward_rates(tables), bad
  rewards = structures.cast(rewards, static.wide_float())
  p, size = static.shape(rewards)[-2:]
  good = np.all((rewards >= 0) & np.isfinite(rewards), axis=-1)
  flat = np.reshape(rewards, (-1, p, size))
  reward_rates = jump_tables.stopped_reward_rates(tables, flat)
  bad = bad | np.reshape(np.logical_not(np.all(good, axis=-1)), (-1,))
  return tables, reward_rates, bad


def make_tables(
  discrete: bool, depth: int, *operands: Array
) -> tuple[jump_tables.JumpTables, Array]:
  """Builds the tables of models; also returns which models are invalid.

  Arguments are the results of `prepare`, with unpacked operands.
  """
  dtype = static.dtype_name(operands[0])
  eps = static.finfo_eps(dtype)
  wide = [structures.cast(x, static.wide_float()) for x in operands[:4]]
  if len(operands) > 4:
    tables, bad = _edge_tables(wide, operands[4:], discrete, dtype, depth)
  elif discrete:
    steps = chain_lib.derive_steps(wide, eps, completes=False)
    tables = jump_tables.matrix_tables(
      steps, jump_tables.step_hold_rates(steps)
    )
    bad = steps.bad
  else:
    chain = chain_lib.derive(wide, eps)
    tables, bad = jump_tables.matrix_tables(chain, chain.totals), chain.bad
  return tables, np.reshape(bad, (-1,))


def _edge_tables(
  operands: Sequence[Array],
  edges: Sequence[Array],
  discrete: bool,
  dtype: str,
  depth: int,
) -> tuple[jump_tables.JumpTables, Array]:
  """Builds tables from edges in the layout of `operands.edges`.

  Also returns whether each model is invalid.
  """
  initial, parameters, exits, prob_zero = operands
  indices, constants, coefficients = edges
  m, d = static.shape(coefficients)[-2:]
  indices = np.reshape(indices, (2, m))
  linear = (np.reshape(constants, (-1,)), np.reshape(coefficients, (m, d)))
  model = chain_arguments.ChainArguments(
    initial, parameters, exits, prob_zero, (indices[0], indices[1], *linear)
  )
  system = chain_solves.derive(model, discrete, dtype)
  return jump_tables.edge_tables(system, depth), system.bad
