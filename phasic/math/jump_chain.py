"""Samples of phase-type variables by running the chain that defines them."""

import math

import numpy as np

from phasic.internal import control_flow
from phasic.internal import custom_gradient
from phasic.internal import gradients
from phasic.internal import random
from phasic.internal import static
from phasic.math import chain as chain_lib
from phasic.math import operands as operands_lib
from phasic.math import reachability

MAX_JUMPS = 100_000

_ADVICE = (
  "samples of a phase-type distribution have no derivative with respect to "
  "its parameters (they are not reparameterized): apply stop_gradient to the "
  "sample or to the parameters"
)


def sample(
  n, seed, initial_probs, subgenerator, exit_rates=None, prob_zero=None
):
  """Returns exact samples, by simulation of the embedded jump chain.

  Each sample starts in a phase drawn from alpha, or at zero with the atom's
  mass, stays there for an exponential time and jumps until it is absorbed.

  Args:
    n: the number of samples for each model of the batch.
    seed: a seed as `random.sanitize_seed` returns it.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p).
    exit_rates: s, (..., p); None derives them.
    prob_zero: z, (...); None derives it.

  Returns:
    An array (n, ...): inf where the chain gets into a phase from which
    absorption cannot be reached, NaN where a value breaks a rule or the chain is not absorbed after
    `MAX_JUMPS` jumps.

  Raises:
    NotImplementedError: a derivative with respect to the model is asked for.
  """
  arguments = operands_lib.convert(
    initial_probs, subgenerator, 0.0, exit_rates, prob_zero
  )
  model = [x for i, x in enumerate(arguments) if x is not None and i != 2]
  fixed = [None if x is None else gradients.stop_gradient(x) for x in arguments]
  operands, layout = operands_lib.canonical(tuple(fixed))
  times = _run(n, seed, *operands)
  times = np.reshape(times, (n, *layout.batch))
  return _attach(np.asarray(times, dtype=operands[0].dtype), *model)


def _absorption_times(n, seed, *operands):
  """Returns samples (n, number of models)."""
  dtype = static.dtype_name(operands[0])
  wide_name = static.wide_float()
  wide = [np.asarray(x, dtype=wide_name) for x in operands]
  chain = chain_lib.derive(wide[:4], static.finfo_eps(dtype))
  p = static.shape(chain.initial)[-1]
  starts, jumps, scales = _tables(chain, p)
  models = static.shape(starts)[0]
  offsets = np.asarray(p * np.arange(models), dtype="int32")
  start_seed, jump_seed = random.split_seed(seed)
  uniform = random.uniform(start_seed, (n, models), wide_name)
  phase = _draw(starts, uniform)
  elapsed = np.zeros_like(uniform)

  def unfinished(carry):
    count, _, phase, _ = carry
    return (count < MAX_JUMPS) & np.any(phase < p)

  def jump(carry):
    count, seed, phase, elapsed = carry
    hold_seed, turn_seed, seed = random.split_seed(seed, 3)
    running = phase < p
    row = offsets + np.where(running, phase, 0)
    hold = random.exponential(hold_seed, (n, models), wide_name)
    hold = hold * np.take(scales, row, axis=0)
    elapsed = np.where(running, elapsed + hold, elapsed)
    turn = random.uniform(turn_seed, (n, models), wide_name)
    target = _draw(np.take(jumps, row, axis=0), turn)
    # From a phase with rate zero there is nowhere to go: the time is inf.
    target = np.where(elapsed < math.inf, target, p)
    return count + 1, seed, np.where(running, target, phase), elapsed

  init = (np.asarray(0), jump_seed, phase, elapsed)
  _, _, phase, elapsed = control_flow.while_loop(unfinished, jump, init)
  elapsed = np.where(phase < p, math.nan, elapsed)
  bad = np.zeros_like(starts[:, 0]) + np.reshape(
    np.where(chain.bad, math.nan, 0.0) + _batch_zeros(chain), (-1,)
  )
  return elapsed + bad


_run = control_flow.compiled(_absorption_times, static_argnums=(0,))


def _batch_zeros(chain):
  """Zeros of the models' full batch shape."""
  matrix = np.sum(np.zeros_like(chain.off), axis=-1)
  rows = np.zeros_like(chain.initial) + np.zeros_like(chain.exits) + matrix
  return rows[..., 0] + np.zeros_like(chain.atom)


def _tables(chain, p):
  """Returns cumulative tables of starts and jumps, and mean holding times.

  Starts are (models, p + 1), the last column the atom; jumps are
  (models * p, p + 1), the last column absorption; times are (models * p,).
  """
  zeros = _batch_zeros(chain)
  rows = zeros[..., None] + np.zeros_like(chain.initial)
  starts = np.concatenate(
    [rows + chain.initial, (zeros + chain.atom)[..., None]], axis=-1
  )
  jumps = np.concatenate(
    [
      rows[..., None] + chain.off,
      (rows + chain.exits)[..., None],
    ],
    axis=-1,
  )
  # Where absorption cannot be reached the wait for it is infinite.
  leads = reachability.closure(chain.off > 0, (rows + chain.exits) > 0, -1)
  still = (chain.totals == 0) | ~leads
  scales = np.where(still, math.inf, 1.0 / np.where(still, 1.0, chain.totals))
  return (
    np.reshape(np.cumsum(starts, axis=-1), (-1, p + 1)),
    np.reshape(np.cumsum(jumps, axis=-1), (-1, p + 1)),
    np.reshape(rows + scales, (-1,)),
  )


def _draw(table, uniform):
  """Returns columns drawn by inverting cumulative weights (..., p + 1)."""
  total = table[..., -1]
  passed = (uniform * total)[..., None] >= table[..., :-1]
  count = np.sum(np.asarray(passed, dtype="int32"), axis=-1)
  return np.asarray(count, dtype="int32")


def _forward(times, *model):
  return times, None


def _no_vjp(residuals, cotangent):
  raise NotImplementedError(_ADVICE)


def _no_jvp(primals, tangents):
  raise NotImplementedError(_ADVICE)


@custom_gradient.custom_gradient(
  vjp_fwd=_forward, vjp_bwd=_no_vjp, jvp_fn=_no_jvp
)
def _attach(times, *model):
  """Returns the times; asking for their derivative in the model raises."""
  del model
  return times
