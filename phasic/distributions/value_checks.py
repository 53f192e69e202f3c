"""Checks of a model's values."""

from typing import Any

import numpy as np

from phasic.internal import static
from phasic.math import exact_sums
from phasic.math.named_checks import check


def check_model(
  initial_probs: Any, subgenerator: Any, exit_rates: Any, prob_zero: Any
) -> tuple[Any, Any, Any, Any]:
  """Returns the arrays of a phase-type model, checked."""
  p = static.shape(initial_probs)[-1]
  eps = static.finfo_eps(initial_probs)
  tolerance = 4 * p * eps
  alpha = check(
    "initial_probs",
    initial_probs,
    (initial_probs >= 0) & np.isfinite(initial_probs),
    "masses must be >= 0 and finite",
  )
  mass = exact_sums.compensated_sum(initial_probs)[..., None]
  alpha = check(
    "initial_probs",
    alpha,
    mass <= 1 + tolerance,
    "this sum must be <= 1 within 4 p eps",
    mass,
  )
  exits = exit_rates
  if exits is not None:
    exits = check(
      "exit_rates",
      exits,
      (exits >= 0) & np.isfinite(exits),
      "rates must be >= 0 and finite",
    )
  matrix = _check_subgenerator(subgenerator, exit_rates, tolerance)
  if prob_zero is not None:
    prob_zero = check(
      "prob_zero",
      prob_zero,
      (prob_zero >= 0) & (prob_zero <= 1),
      "a probability must be in [0, 1]",
    )
    total = mass[..., 0] + prob_zero
    good = np.abs(total - 1) <= tolerance + 4 * eps
    # The condition has the batch shape of both; the arrays follow it.
    alpha = check(
      "sum(initial_probs) + prob_zero",
      alpha + np.zeros_like(total)[..., None],
      good[..., None],
      "this sum must be 1 within 4 (p + 1) eps",
      total[..., None],
    )
  return alpha, matrix, exits, prob_zero


def _check_subgenerator(matrix: Any, exit_rates: Any, tolerance: Any) -> Any:
  """Returns the subgenerator, checked against the exits or its row sums."""
  p = static.shape(matrix)[-1]
  eye = np.eye(p, dtype=matrix.dtype) > 0
  off = np.where(eye, 0.0, matrix)
  diagonal = np.sum(np.where(eye, matrix, 0.0), axis=-1)
  matrix = check(
    "subgenerator", matrix, np.isfinite(matrix), "rates must be finite"
  )
  matrix = check("subgenerator", matrix, off >= 0, "off-diagonals must be >= 0")
  scale = np.max(np.abs(matrix), axis=-1)
  if exit_rates is None:
    sums = exact_sums.compensated_sum(matrix)
    return check(
      "row sum of subgenerator",
      matrix,
      (sums <= tolerance * scale)[..., None],
      "row sums must be <= 0 within 4 p eps of the row's largest entry",
      sums[..., None],
    )
  leaving = np.sum(off, axis=-1) + exit_rates
  good = np.abs(leaving + diagonal) <= tolerance * np.maximum(scale, leaving)
  matrix = matrix + np.zeros_like(leaving)[..., None]
  return check(
    "diagonal of subgenerator",
    matrix,
    good[..., None],
    "it must be minus the row's off-diagonals and exit rate, within 4 p eps",
    (diagonal + np.zeros_like(leaving))[..., None],
  )


def check_times(times: Any) -> Any:
  """Returns the times, checked to be in the support."""
  return check(
    "value",
    times,
    times >= 0,
    "it must be >= 0",
  )
