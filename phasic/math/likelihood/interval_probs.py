"""Probabilities of intervals, also of narrow intervals and in far tails."""

from __future__ import annotations

import math

import numpy as np

from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.likelihood import observations
from phasic.math.model.model_types import Matrix, Model
from phasic.math.moments import occupancy


def log_interval_prob(
  initial_probs: Array,
  matrix: Matrix,
  lower: Array,
  upper: Array,
  exits: Array | None = None,
  prob_zero: Array | None = None,
  discrete: bool = False,
) -> Array:
  """Computes log P(lower < X <= upper).

  In continuous time it is a case of `log_likelihood_terms`. In discrete time it
  is log P(N > lower) plus the log cdf at upper - lower steps of the chain that
  starts in the state distribution after `lower` steps.

  Args:
    initial_probs: alpha, (..., p).
    matrix: S or T, (..., p, p), or edges.
    lower: (...); below zero for P(X <= upper), with the atom at zero.
    upper: (...).
    exits: (..., p); None derives them.
    prob_zero: z, (...); None derives it.
    discrete: whether time is discrete.

  Returns:
    An array with the broadcast shape of `lower`, `upper` and the model's batch;
    -inf where upper <= lower. In discrete time it is NaN if P(X > lower) is 0.
  """
  model = (initial_probs, matrix, exits, prob_zero)
  if discrete:
    return _log_prob_of_steps(model, np.floor(lower), np.floor(upper))
  empty = upper <= lower
  # Evaluate (0, inf) in place of an empty interval, and overwrite the result.
  log_prob = observations.log_likelihood_terms(
    initial_probs,
    matrix,
    np.where(empty, 0.0, lower),
    np.where(empty, math.inf, upper),
    exit_rates=exits,
    prob_zero=prob_zero,
  )
  return np.where(empty, -math.inf, log_prob)


def _log_prob_of_steps(model: Model, lower: Array, upper: Array) -> Array:
  """Computes log P(lower < N <= upper) for integer bounds."""
  initial_probs, matrix, exits, prob_zero = model
  empty = upper <= lower
  inside = np.logical_not(empty) & (lower >= 0) & (upper < math.inf)
  low = np.where(lower >= 0, lower, 0.0)
  start = occupancy.transient(model, np.where(inside, low, 0.0), True).probs
  steps = np.where(inside, upper - low, 1.0)
  zero = np.zeros((), dtype=start.dtype)
  after = (start, matrix, steps, exits, zero)
  within = evaluation.value("log_cdf", after, discrete=True)
  until = (initial_probs, matrix, upper, exits, prob_zero)
  below = evaluation.value("log_cdf", until, discrete=True)
  beyond = (initial_probs, matrix, low, exits, prob_zero)
  above = evaluation.value("log_survival", beyond, discrete=True)
  log_prob = above + np.where(upper < math.inf, within, 0.0)
  log_prob = np.where(lower < 0, below, log_prob)
  unknown = np.isnan(lower) | np.isnan(upper)
  log_prob = np.where(unknown, math.nan, log_prob)
  return np.where(empty, -math.inf, log_prob)
