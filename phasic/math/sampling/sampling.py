"""Samples of phase-type variables by inversion: X = Q(U).

A coin decides whether X is below or above the median, and an exponential random
number E selects the quantile: log F(X) or log(1 - F(X)) is -log 2 - E. So both
tails have all their digits. A sample costs as much as a quantile, and the cost
does not depend on the length of the chain's paths. See `quantiles`. If a
quantile cannot be computed, the chain is simulated; see `simulated_draws`.

For each U, X is a differentiable function of the parameters, with the
quantile's derivative

    dX = -F_theta(X) dtheta / f(X),

so that E[g(X)] has the derivative E[g'(X) dX] for smooth g. Counts have no
derivatives. With an atom at zero, X and its derivative are zero for all U below
the atom. This is right for functions g that are continuous at zero, but log
densities are not. So callers should not request derivatives if there may be an
atom. The derivatives of simulated draws are NaN.

References:
  L. Devroye, Non-uniform random variate generation, 1986, ch. 2.
  M. Figurnov, S. Mohamed, A. Mnih, Implicit reparameterization gradients,
    NeurIPS 2018.
"""

from __future__ import annotations

import numpy as np

from phasic.internal import random
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import SanitizedSeed
from phasic.math.model import edge_rates
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import Matrix
from phasic.math.model.model_types import Model
from phasic.math.quantiles import quantiles
from phasic.math.quantiles import quantiles_targets
from phasic.math.sampling import jump_chain
from phasic.math.sampling import simulated_draws


def sample(
  n: int,
  seed: SanitizedSeed,
  initial_probs: Array,
  subgenerator: Matrix,
  exit_rates: Array | None = None,
  prob_zero: Array | None = None,
  discrete: bool = False,
  differentiable: bool = False,
) -> Array:
  """Draws independent samples of the time until absorption.

  Args:
    n: the number of samples for each model of the batch; in TensorFlow it may
      be a scalar tensor.
    seed: a seed as `random.sanitize_seed` returns it.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or EdgeRates; in discrete time T or EdgeProbs.
    exit_rates: s, (..., p); None derives them.
    prob_zero: z, (...); None derives it.
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
  names = operands_lib.argument_names(discrete)
  model = operands_lib.convert(
    initial_probs, subgenerator, exit_rates, prob_zero, names=names
  )
  return sample_arrays(n, seed, model, discrete, differentiable)


def sample_arrays(
  n: int,
  seed: SanitizedSeed,
  model: Model,
  discrete: bool,
  differentiable: bool,
) -> Array:
  """Computes `sample` for a model as `operands.convert` returns it."""
  batch = operands_lib.batch_shape(model)
  dtype = static.dtype_name(model[0])
  if isinstance(n, int) and n == 0:
    return np.zeros((0, *batch), dtype=dtype)
  initial, rates, exits, atom = model
  source = model
  if discrete or not differentiable:
    source = operands_lib.constants(model)
  # The first half are the sizes, the second half decides the signs.
  drawn = random.exponential(seed, (2, n, *batch), static.wide_float())
  size = drawn[0] - quantiles_targets.LOG_HALF
  below = drawn[1] < -quantiles_targets.LOG_HALF
  targets = structures.cast(np.where(below, -size, size), dtype)
  jumps = simulated_draws.jumps_of_large(source, discrete)
  if jumps is not None:
    targets = targets * float("nan")
  arguments = (source[0], source[1], targets, source[2], source[3])
  x = quantiles.evaluate_arrays("folded", arguments, discrete)
  x = simulated_draws.fill(x, seed, source, discrete, jumps)
  if differentiable and not discrete:
    return x
  parameters = (
    rates.parameters if isinstance(rates, edge_rates.EDGES) else rates
  )
  return jump_chain.without_derivatives(x, initial, parameters, exits, atom)
