"""Samples of phase-type variables by inversion: X = Q(U).

A coin decides whether X is below or above the median, and an exponential random
number E selects the quantile: log F(X) or log(1 - F(X)) is -log 2 - E. So both
tails have all their digits. A sample costs as much as a quantile, and the cost
does not depend on the length of the chain's paths. See `quantiles`. If a
quantile cannot be computed, the chain is simulated.

For each U, X is a differentiable function of the parameters, with the
quantile's derivative

    dX = -F_theta(X) dtheta / f(X),

so that E[g(X)] has the derivative E[g'(X) dX] for smooth g. Counts have no
derivatives. With an atom at zero, X and its derivative are zero for all U below
the atom. This is right for functions g that are continuous at zero, but log
densities are not. So callers should not request derivatives if there may be an
atom. The derivatives of simulated draws are NaN.

For simulated draws, let A be the set of times t whose quantile of F(t) can be
computed, and B its complement. A draw by inversion that succeeds has the
distribution of X given A. So a draw that fails must have the distribution of X
given B: paths are simulated, and those that end in A are rejected. Of n draws
n P(B) fail, and each needs 1 / P(B) paths, n in total. Paths are simulated only
if the expected number of jumps is small.

References:
  L. Devroye, Non-uniform random variate generation, 1986, ch. 2.
  M. Figurnov, S. Mohamed, A. Mnih, Implicit reparameterization gradients,
    NeurIPS 2018.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import custom_gradient
from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, SanitizedSeed
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing
from phasic.math.model import edge_rates
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import Model
from phasic.math.quantiles import quantiles
from phasic.math.quantiles import quantiles_targets
from phasic.math.sampling import jump_chain


def sample(
  n: int,
  seed: SanitizedSeed,
  model: Model,
  discrete: bool,
  differentiable: bool,
) -> Array:
  """Draws independent samples of the time until absorption.

  Args:
    n: the number of samples for each model of the batch; in TensorFlow it may
      be a scalar tensor.
    seed: a seed as `random.sanitize_seed` returns it.
    model: initial_probs, subgenerator or subtransition or edges, exits,
      prob_zero, as `operands.convert` returns them.
    discrete: whether time is discrete.
    differentiable: whether samples have derivatives in the model, in continuous
      time. They are NaN where a sample is inf.

  Returns:
    An array (n, ...): inf where the chain reaches a trap, NaN for invalid
    values. If a quantile cannot be computed, or would take minutes in a large
    model, the chain is simulated, with NaN after `jump_chain.MAX_JUMPS` jumps.
    Functions that JAX or TensorFlow trace return NaN instead, and
    `diagnosis.diagnose` explains it.

  Raises:
    NotImplementedError: samples are differentiated that have no derivatives.
  """
  batch = operands_lib.batch_shape(model)
  dtype = static.dtype_name(model[0])
  if isinstance(n, int) and n == 0:
    return np.zeros((0, *batch), dtype=dtype)
  initial, rates, exits, atom = model
  source = model
  if discrete or not differentiable:
    source = operands_lib.constants(model)
  # The first half of the numbers are the sizes of the targets, the second half
  # decides their signs.
  drawn = random.exponential(seed, (2, n, *batch), static.wide_float())
  size = drawn[0] - quantiles_targets.LOG_HALF
  below = drawn[1] < -quantiles_targets.LOG_HALF
  targets = structures.cast(np.where(below, -size, size), dtype)
  jumps = jumps_of_large(source, discrete)
  if jumps is not None:
    targets = targets * float("nan")
  arguments = (source[0], source[1], targets, source[2], source[3])
  x = quantiles.evaluate_arrays("folded", arguments, discrete)
  x = fill(x, seed, source, discrete, jumps)
  if differentiable and not discrete:
    return x
  parameters = (
    rates.parameters if isinstance(rates, edge_rates.EDGES) else rates
  )
  return jump_chain.without_derivatives(x, initial, parameters, exits, atom)


# The largest number of simulation rounds, and the least number of paths of each
# model in a round.
_ROUNDS = 20
_PATHS = 100
# A model is simulated only if its expected number of jumps is at most
# MOST_EXPECTED_JUMPS. The number of rounds times this expectation is limited to
# about _MOST_JUMPS.
MOST_EXPECTED_JUMPS = 10_000
_MOST_JUMPS = 10_000
# Models with at least this number of phases are simulated without inversion
# first, since each quantile takes up to minutes.
_MANY_PHASES = 500_000


def jumps_of_large(model: Model, discrete: bool) -> onp.ndarray | None:
  """Returns expected jumps of a large model whose draws are all simulated.

  The result is None for other models, long paths and traced ones.
  """
  if static.shape(model[0])[-1] < _MANY_PHASES:
    return None
  jumps = _expected_jumps(operands_lib.constants(model), discrete)
  is_short = jumps is not None and onp.all(jumps <= MOST_EXPECTED_JUMPS)
  return jumps if is_short else None


def fill(
  x: Array,
  seed: SanitizedSeed,
  model: Model,
  discrete: bool,
  jumps: onp.ndarray | None = None,
) -> Array:
  """Replaces NaN in draws, where inversion failed, by simulated draws.

  Traced draws are returned unchanged: the simulation would be compiled into
  every program that draws, and nearly none needs it.

  Args:
    x: draws (n, ...).
    seed: the seed of the draws.
    model: initial masses, rates, exits, atom.
    discrete: whether time is counted in steps.
    jumps: the result of `jumps_of_large`; if not None, A is empty, and all
      draws are NaN.

  Returns:
    An array of the shape of x. It is NaN for an invalid model, for more than
    `MOST_EXPECTED_JUMPS` expected jumps, and if no path ended in B. The
    derivatives of simulated draws are NaN.
  """
  drawn = static.concrete(autodiff.stop_gradient(x))
  if drawn is None or not onp.any(onp.isnan(drawn)):
    return x
  model = operands_lib.constants(model)
  filled = onp.reshape(drawn, (len(drawn), -1))
  replaces_all = jumps is not None
  if jumps is None:
    jumps = _expected_jumps(model, discrete)
  if jumps is None:
    return x
  many = jumps > MOST_EXPECTED_JUMPS
  hopeless = onp.broadcast_to(many, onp.shape(drawn)[1:])
  lost = onp.any(onp.isnan(drawn), axis=0)
  if not onp.any(lost & ~hopeless):
    return x
  model = _absorbed_at_once(model, many)
  seed = random.fold_in(seed, 1)  # The draws by inversion have the seed itself.
  longest = max(float(onp.max(onp.where(hopeless, 0.0, jumps))), 1.0)
  for _ in range(min(_ROUNDS, int(_MOST_JUMPS / longest) + 1)):
    path_seed, seed = random.split_seed(seed)
    paths = _paths(
      max(len(drawn), _PATHS), path_seed, model, discrete, replaces_all
    )
    if paths is None:
      return x
    times, known = paths
    known = known | onp.reshape(hopeless, (-1,))
    filled, missing = _filled(filled, times, known)
    if not missing:
      break
  filled = onp.reshape(filled, drawn.shape)
  return _replaced(x, structures.cast(filled, static.dtype_name(x)))


def _expected_jumps(model: Model, discrete: bool) -> onp.ndarray | None:
  """Computes expected numbers of jumps until absorption or a trap, (...).

  They are inf for invalid models. The result is None if they are traced.
  """
  jumps_and_rules = chain_calls.value(_jumps_and_rules, model, discrete)
  known = static.concrete(jumps_and_rules)
  if known is None:
    return None
  return onp.where(known[..., 1] > 0, math.inf, known[..., 0])


def _jumps_and_rules(system: chain_solves.System) -> Array:
  """Computes the expected number of jumps, and whether the model is invalid.

  The result is an array (..., 2), where 1 means invalid.
  """
  passage, _ = killing.absorbed_or_caught(system)
  # The expected number of passages of an edge is its weight times the expected
  # time in its source.
  start = np.zeros_like(passage.weights[..., :1] + system.initial)
  x = chain_solves.solve(passage, start[..., None], passage.weights[..., None])
  jumps = np.sum(system.initial * x[..., 0], axis=-1)
  return np.stack([jumps, np.where(system.bad, 1.0, 0.0)], axis=-1)


def _absorbed_at_once(model: Model, where: onp.ndarray) -> Model:
  """Puts the whole mass of a model at zero where a condition holds.

  Their simulation then takes no jumps.
  """
  if not onp.any(where):
    return model
  initial, rates, exits, atom = model
  initial = np.where(where[..., None], np.zeros_like(initial), initial)
  if atom is not None:
    atom = np.where(where, np.ones_like(atom), atom)
  return initial, rates, exits, atom


def _paths(
  n: int,
  seed: SanitizedSeed,
  model: Model,
  discrete: bool,
  accepts_all: bool,
) -> tuple[onp.ndarray, onp.ndarray] | None:
  """Simulates times (n, models), and returns at which of them inversion works.

  The result is None if the times are traced.
  """
  initial, rates, exits, atom = model
  times = jump_chain.sample(n, seed, initial, rates, exits, atom, discrete)
  drawn = static.concrete(times)
  if drawn is None:
    return None
  drawn = onp.reshape(drawn, (n, -1))
  if accepts_all:
    return drawn, onp.zeros(drawn.shape, bool)
  arguments = (initial, rates, times, exits, atom)
  log_cdf = evaluation.value("log_cdf", arguments, discrete)
  log_left = evaluation.value("log_survival", arguments, discrete)
  upper = log_cdf > quantiles_targets.LOG_HALF
  targets = np.where(upper, 0.0 - log_left, log_cdf)
  # For an infinite time ask for the target inf, beyond all values of F.
  targets = np.where(times == math.inf, math.inf, targets)
  inverse = quantiles.evaluate(
    "folded", (*model[:2], targets, *model[2:]), discrete
  )
  inverted = static.concrete(inverse)
  if inverted is None:
    return None
  return drawn, ~onp.isnan(onp.reshape(inverted, (n, -1)))


def _filled(
  x: onp.ndarray, times: onp.ndarray, known: onp.ndarray
) -> tuple[onp.ndarray, bool]:
  """Replaces NaN draws by the times of accepted paths, in their order.

  Accepted paths are those that are not `known`. Also returns whether NaN draws
  are left.
  """
  lost = onp.isnan(x)
  # A stable sort puts accepted paths first, in the order of simulation.
  order = onp.argsort(known, axis=0, kind="stable")
  accepted = onp.take_along_axis(times, order, axis=0)
  rank = onp.cumsum(lost, axis=0) - 1
  taken = lost & (rank < onp.sum(onp.logical_not(known), axis=0))
  rank = onp.clip(rank, 0, len(times) - 1)
  filled = onp.where(taken, onp.take_along_axis(accepted, rank, axis=0), x)
  return filled, bool(onp.any(lost & ~taken))


def _forward(x: Array, filled: Array) -> tuple[Array, Array]:
  return _replaced(x, filled), _scale(x)


def _vjp(scale: Array, cotangent: Array) -> tuple[Array, Array]:
  # The result must be linear in the cotangent: forward mode may differentiate
  # this function.
  return cotangent * scale, np.zeros_like(cotangent)


def _jvp(
  primals: tuple[Array, Array], tangents: tuple[Array | None, Array | None]
) -> tuple[Array, Array]:
  x, filled = primals
  tangent, _ = tangents
  tangent = np.zeros_like(x) if tangent is None else tangent
  return _replaced(x, filled), tangent * _scale(x)


def _scale(x: Array) -> Array:
  """Returns the derivative of `_replaced`: NaN where x is NaN, else one."""
  return np.where(np.isnan(x), float("nan"), np.ones_like(x))


@custom_gradient.custom_gradient(
  vjp_fwd=_forward, vjp_bwd=_vjp, jvp_fn=_jvp, nondiff_argnums=()
)
def _replaced(x: Array, filled: Array) -> Array:
  """Returns `filled` with the derivative of x: one, or NaN where x is NaN."""
  return filled
