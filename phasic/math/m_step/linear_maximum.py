"""Maximum likelihood of Poisson counts with linear rates.

Newton's method runs on the host: there are few parameters.
"""

from __future__ import annotations

import numpy as onp

_MOST_STEPS = 100
_MOST_HALVINGS = 60


def maximum(
  counts: onp.ndarray,
  constants: onp.ndarray,
  coefficients: onp.ndarray,
  costs: onp.ndarray,
  sums: onp.ndarray,
  start: onp.ndarray,
) -> onp.ndarray:
  """Maximizes sum_k n_k log(c_k + a_k . theta) - costs . theta.

  The function is concave. A term that is zero at the start and has no counts is
  a structural zero, and stays zero.

  Args:
    counts: n, (m,), >= 0.
    constants: c, (m,).
    coefficients: a, (m, d).
    costs: (d,).
    sums: (r, d), constraints: sums . theta keeps its value.
    start: theta, (d,), with terms >= 0, and > 0 where counts are positive.

  Returns:
    theta, (d,). It is NaN if the start or a count is NaN.
  """
  theta = onp.asarray(start, onp.float64)
  terms = constants + onp.dot(coefficients, theta)
  if not onp.all(onp.isfinite(terms)) or not onp.all(onp.isfinite(counts)):
    return onp.full_like(theta, onp.nan)
  rounding = 4 * len(theta) * onp.finfo(onp.float64).eps
  sizes = abs(constants) + onp.dot(abs(coefficients), abs(theta))
  is_zero = (terms <= rounding * sizes) & (counts == 0)
  fixed = onp.concatenate([sums, coefficients[is_zero]])
  free = _complement(fixed, len(theta))
  is_term = onp.logical_not(is_zero)
  counts, constants = counts[is_term], constants[is_term]
  coefficients = coefficients[is_term]
  for _ in range(_MOST_STEPS):
    terms = constants + onp.dot(coefficients, theta)
    relative = coefficients / terms[:, None]
    slope = onp.dot(onp.dot(counts, relative) - costs, free)
    step = _newton(onp.dot(relative, free), counts, slope)
    gain = float(onp.dot(slope, step))
    step = onp.dot(free, step)
    if not gain > 1e-28 * (1.0 + onp.sum(counts)):
      return theta
    theta = _searched(theta, step, gain, terms, coefficients, counts, costs)
  return theta


def _complement(rows: onp.ndarray, size: int) -> onp.ndarray:
  """Computes an orthonormal basis (d, r) of the null space of rows."""
  if not onp.any(rows):
    return onp.eye(size)
  _, sizes, basis = onp.linalg.svd(rows)
  rank = int(onp.sum(sizes > 1e-12 * onp.max(sizes)))
  return onp.transpose(basis[rank:])


def _newton(
  relative: onp.ndarray, counts: onp.ndarray, slope: onp.ndarray
) -> onp.ndarray:
  """Computes Newton's step, or a gradient step where the curvature is zero."""
  if not len(slope):
    return slope
  curvature = onp.dot(onp.transpose(relative), counts[:, None] * relative)
  # A floor, relative to the counts, keeps the diagonal of the curvature
  # positive.
  least = 1e-12 * onp.sum(relative**2, axis=0) * (1.0 + onp.sum(counts))
  floor = onp.where(least > 0, least, 1.0)
  diagonal = onp.sqrt(onp.maximum(onp.diag(curvature), floor))
  scaled = curvature / diagonal[:, None] / diagonal
  values, vectors = onp.linalg.eigh(scaled)
  values = onp.maximum(values, 1e-12)
  along = onp.dot(slope / diagonal, vectors) / values
  return onp.dot(vectors, along) / diagonal


def _searched(
  theta: onp.ndarray,
  step: onp.ndarray,
  gain: float,
  terms: onp.ndarray,
  coefficients: onp.ndarray,
  counts: onp.ndarray,
  costs: onp.ndarray,
) -> onp.ndarray:
  """Returns theta after a backtracking line search; terms stay positive."""
  changes = onp.dot(coefficients, step) / terms
  fall = float(onp.max(-changes, initial=0.0))
  part = 1.0 if fall < 0.99 else 0.99 / fall
  for _ in range(_MOST_HALVINGS):
    increase = onp.dot(counts, onp.log1p(part * changes)) - part * onp.dot(
      costs, step
    )
    if increase >= 1e-4 * part * gain:
      return theta + part * step
    part /= 2
  return theta
