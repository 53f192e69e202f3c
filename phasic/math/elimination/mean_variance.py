"""Mean, variance, standard deviation and second moment, in one call.

`elimination_ops.moments` checks values, eliminates and sums up. The functions
here are its portable path, which second-order derivatives use too.
"""

from __future__ import annotations

import math

import numpy as np

from phasic.internal import elimination_ops
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_solves
from phasic.math.elimination import moment_chains

MEAN, VARIANCE, STDDEV = "mean", "variance", "stddev"
SECOND_MOMENT = "second moment"

# With at most this many edges, a call for the mean computes the variance too.
# Compilers then merge the calls of a user who needs both. With few edges the
# mean alone is fast anyway.
_MOST_SHARED = 4096


def evaluate(
  option: str, found: chain_solves.Given, discrete: bool, eps: float
) -> Array:
  """Computes the mean, variance, standard deviation or second moment, (...).

  The result may be inf.

  Args:
    option: MEAN, VARIANCE, STDDEV or SECOND_MOMENT.
    found: `chain_solves.Given`.
    discrete: whether time is counted in steps.
    eps: the precision of the model's values.
  """
  edges = static.shape(found.indices)[-1]
  shared = isinstance(edges, int) and edges <= _MOST_SHARED
  both = elimination_ops.moments(
    _portable,
    found.indices,
    found.weights,
    found.initial,
    found.atom,
    found.stay,
    discrete=discrete,
    gives_variance=shared or option != MEAN,
    gives_root=option == STDDEV,
    epsilon=eps,
  )
  x = both[0 if option == MEAN else -1]
  if option == SECOND_MOMENT:
    x = x + np.square(both[0])
  return x if found.bad is None else np.where(found.bad, math.nan, x)


def _portable(
  indices: chain_solves.Indices,
  weights: Array,
  initial: Array,
  atom: Array,
  stay: Array,
  discrete: bool,
  gives_variance: bool,
  gives_root: bool,
  epsilon: float,
) -> tuple[Array, ...]:
  """Computes `elimination_ops.moments`, with the same arguments."""
  found = chain_solves.Given(indices, weights, initial, atom, stay, None)
  system = chain_solves.complete(found, discrete, epsilon)
  mean = moment_chains.raw_moments(1, system)[..., 0]
  if not gives_variance:
    return (mean,)
  return mean, moment_chains.variance(gives_root, system)
