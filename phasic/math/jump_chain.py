"""Samples of phase-type variables by running the chain that defines them."""

import math

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import custom_gradient
from phasic.internal import gradients
from phasic.internal import random
from phasic.internal import static
from phasic.math import chain as chain_lib
from phasic.math import edge_rates
from phasic.math import jump_tables
from phasic.math import operands as operands_lib
from phasic.math import step_chain

MAX_JUMPS = 100_000

_ADVICE = (
  "samples of a phase-type distribution have no derivative with respect to "
  "its parameters (they are not reparameterized): apply stop_gradient to the "
  "sample or to the parameters"
)


def sample(
  n,
  seed,
  initial_probs,
  subgenerator,
  exit_rates=None,
  prob_zero=None,
  discrete=False,
):
  """Returns exact samples, by simulation of the embedded jump chain.

  Each sample starts in a phase drawn from alpha, or at zero with the atom's
  mass, stays there for an exponential time, in discrete time for a geometric
  number of steps, and jumps to another phase until it is absorbed.

  Args:
    n: the number of samples for each model of the batch.
    seed: a seed as `random.sanitize_seed` returns it.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or EdgeRates; in discrete time T or EdgeProbs.
    exit_rates: s, (..., p); None derives them.
    prob_zero: z, (...); None derives it.
    discrete: whether time is.

  Returns:
    An array (n, ...): inf where the chain gets into a phase from which
    absorption cannot be reached, NaN where a value breaks a rule or the chain
    is not absorbed after `MAX_JUMPS` jumps.

  Raises:
    NotImplementedError: a derivative with respect to the model is asked for.
  """
  names = operands_lib.names(discrete)
  arguments = operands_lib.convert(
    initial_probs, subgenerator, 0.0, exit_rates, prob_zero, names=names
  )
  operands, layout = operands_lib.canonical(arguments, names)
  edges = operands_lib.edges(layout, arguments)
  fixed = [gradients.stop_gradient(x) for x in operands[:4]]
  depth = _depth(arguments[1]) if edges else 0
  times = _run(n, discrete, depth, seed, *fixed, *edges)
  times = np.reshape(times, (n, *layout.batch))
  return _attach(np.asarray(times, dtype=operands[0].dtype), *operands[:4])


def _depth(edges):
  """Returns the bits of the largest number of edges that a phase has."""
  (m,) = static.shape(edges.sources)
  known = static.concrete(edges.sources)
  degree = m if known is None else int(onp.max(onp.bincount(known)))
  return int(degree).bit_length()


def _absorption_times(n, discrete, depth, seed, *operands):
  """Returns samples (n, number of models)."""
  wide_name = static.wide_float()
  tables, bad = _prepare(discrete, depth, *operands)
  p = static.shape(tables.scales)[-1]
  models = static.shape(tables.starts)[0]
  model = np.asarray(np.arange(models), dtype="int32")
  start_seed, jump_seed = random.split_seed(seed)
  uniform = random.uniform(start_seed, (n, models), wide_name)
  low = model * (p + 1) + np.zeros_like(np.asarray(uniform, dtype="int32"))
  starts = np.reshape(tables.starts, (-1,))
  bits = int(p + 1).bit_length()
  phase = jump_tables.draw(uniform, starts, low, low + p, bits) - low
  elapsed = np.zeros_like(uniform)
  m = static.shape(tables.targets)[0]
  sums, scales = (np.reshape(x, (-1,)) for x in (tables.sums, tables.scales))

  def unfinished(carry):
    count, _, phase, _ = carry
    return (count < MAX_JUMPS) & np.any(phase < p)

  def jump(carry):
    count, seed, phase, elapsed = carry
    hold_seed, turn_seed, seed = random.split_seed(seed, 3)
    running = phase < p
    here = np.where(running, phase, 0)
    hold = random.exponential(hold_seed, (n, models), wide_name)
    hold = hold * np.take(scales, here + p * model, axis=0)
    hold = np.floor(hold) + 1.0 if discrete else hold
    elapsed = np.where(running, elapsed + hold, elapsed)
    turn = random.uniform(turn_seed, (n, models), wide_name)
    low = np.take(tables.first, here, axis=0)
    high = np.maximum(np.take(tables.last, here, axis=0) - 1, low)
    edge = jump_tables.draw(
      turn, sums, low + m * model, high + m * model, tables.depth
    )
    target = np.take(tables.targets, edge - m * model, axis=0)
    # Where absorption cannot be reached the time is inf.
    target = np.where(elapsed < math.inf, target, p)
    return count + 1, seed, np.where(running, target, phase), elapsed

  init = (np.asarray(0), jump_seed, phase, elapsed)
  _, _, phase, elapsed = control_flow.while_loop(unfinished, jump, init)
  return np.where(phase < p, math.nan, elapsed) + np.where(bad, math.nan, 0.0)


_run = control_flow.compiled(_absorption_times, static_argnums=(0, 1, 2))


def _prepare(discrete, depth, *operands):
  """Returns the tables, and whether values break a rule (number of models)."""
  eps = static.finfo_eps(static.dtype_name(operands[0]))
  wide = [np.asarray(x, dtype=static.wide_float()) for x in operands[:4]]
  if len(operands) > 4:
    tables, bad = _of_edges(wide, operands[4:], eps, discrete, depth)
  elif discrete:
    chain = step_chain.derive(wide, eps, completes=False)
    tables = jump_tables.of_matrix(chain, jump_tables.step_hold_rates(chain))
    bad = chain.bad
  else:
    chain = chain_lib.derive(wide, eps)
    tables, bad = jump_tables.of_matrix(chain, chain.totals), chain.bad
  return tables, np.reshape(bad, (-1,))


def _of_edges(operands, edges, eps, discrete, depth):
  """The same for edges, as `operands.edges` has them."""
  initial, parameters, _, prob_zero = operands
  indices, *linear = edges
  linear = [np.asarray(x, dtype=parameters.dtype) for x in linear]
  weights = edge_rates.weights(parameters, *linear)
  tolerance = 4 * static.shape(initial)[-1] * eps
  atom = chain_lib.derive_atom(initial, prob_zero, tolerance)
  tables, totals = jump_tables.of_edges(
    initial, atom, indices, weights, discrete, depth
  )
  good = chain_lib.good_start(initial, atom)
  good = good & np.all((weights >= 0) & np.isfinite(weights), axis=-1)
  if discrete:
    good = good & np.all(totals <= 1 + tolerance, axis=-1)
  return tables, ~good


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
