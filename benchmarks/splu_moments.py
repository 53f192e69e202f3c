"""Mean and variance as SciPy's users compute them: splu and two solves."""

from collections.abc import Iterable

import numpy as onp
import scipy.sparse
import scipy.sparse.linalg

from benchmarks import models


class SpluMoments:
  """Mean and variance of a model by one sparse factorization.

  What follows from the model alone is made beforehand: a call fills the
  matrix's entries, factorizes and solves.

  Args:
    model: the model.
    order: how the columns are ordered, `permc_spec` of SciPy's splu.
  """

  def __init__(self, model: models.Model, order: str = "COLAMD"):
    self._order = order
    self._alpha = model.initial_probs
    p = len(model.states)
    sources, targets = onp.nonzero(onp.any(model.rates != 0.0, axis=2))
    (exiting,) = onp.nonzero(onp.any(model.exits != 0.0, axis=1))
    self._sources = onp.concatenate([sources, exiting])
    self._targets = onp.concatenate([targets, onp.full(len(exiting), p)])
    self._coefficients = onp.concatenate(
      [model.rates[sources, targets], model.exits[exiting]]
    )
    self._num_inner = len(sources)
    phases = onp.arange(p)
    rows = onp.concatenate([sources, phases])
    columns = onp.concatenate([targets, phases])
    numbers = onp.arange(1.0, len(rows) + 1)
    self._matrix = scipy.sparse.csc_matrix(
      (numbers, (rows, columns)), shape=(p, p)
    )
    self._places = self._matrix.data.astype(int) - 1

  def _solve(self, theta: onp.ndarray):
    """The factors of -S, and x_1 = (-S)^-1 1, x_2 = (-S)^-1 x_1."""
    weights = self._coefficients @ theta
    p = len(self._alpha)
    leaving = onp.bincount(self._sources, weights, p)
    entries = onp.concatenate([-weights[: self._num_inner], leaving])
    self._matrix.data = entries[self._places]
    factors = scipy.sparse.linalg.splu(self._matrix, permc_spec=self._order)
    first = factors.solve(onp.ones(p))
    return factors, first, factors.solve(first)

  def moments(self, theta: onp.ndarray) -> tuple[float, float]:
    """The mean and the variance."""
    _, first, second = self._solve(theta)
    mean = self._alpha @ first
    return mean, 2.0 * (self._alpha @ second) - mean * mean

  def moments_and_gradient(
    self, theta: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """The sum of mean and variance, and its derivatives in theta."""
    factors, first, second = self._solve(theta)
    mean = self._alpha @ first
    total = mean + 2.0 * (self._alpha @ second) - mean * mean
    once = factors.solve(self._alpha, "T")
    twice = factors.solve(once, "T")
    changes = []
    for x in (first, second):
      x = onp.append(x, 0.0)
      changes.append(x[self._sources] - x[self._targets])
    by_mean = once[self._sources] * changes[0]
    by_square = once[self._sources] * changes[1]
    by_square += twice[self._sources] * changes[0]
    slopes = -(1.0 - 2.0 * mean) * by_mean - 2.0 * by_square
    return total, slopes @ self._coefficients

  def batch(self, thetas: Iterable[onp.ndarray], what: str):
    """One of the functions above for each theta, in a loop."""
    found = [getattr(self, what)(theta) for theta in thetas]
    return tuple(onp.array(x) for x in zip(*found, strict=True))
