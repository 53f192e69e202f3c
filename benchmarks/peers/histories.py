"""Populations that changed in size, and fits; needs NumPy and SciPy."""

import itertools
import math

import numpy as np
from scipy import optimize

# Sizes from the present back, and the times of the changes.
SIZES = (1.0, 0.2, 2.0)
CHANGES = (0.25, 1.0)
# Of the time of the change, and of the size before it, in fits of two epochs.
LOWER, UPPER = (0.01, 0.01), (5.0, 20.0)


def scales():
  """Yields factors near one, so that no two calls have the same sizes."""
  return (1.0 + 1e-7 * k for k in itertools.count())


def fits(log_likelihood_and_slopes, counts, starts):
  """Returns a call that fits from several starts, to the smallest loss.

  The loss is the cross entropy of the counts. The first start is near one, the
  others are random.

  Args:
    log_likelihood_and_slopes: a function of the logarithms of the time of a
      change and of the size before it: the multinomial log likelihood of the
      counts and its derivatives.
    counts: the spectrum.
    starts: how many there are.
  """
  coefficient = math.lgamma(sum(counts) + 1.0) - sum(
    math.lgamma(count + 1.0) for count in counts
  )
  bounds = np.log([LOWER, UPPER])
  factors = scales()

  def loss(logs):
    value, slopes = log_likelihood_and_slopes(logs)
    return coefficient - float(value), -np.asarray(slopes)

  def call():
    random = np.random.default_rng(1)
    first = np.full((1, 2), math.log(next(factors)))
    others = random.uniform(*bounds, size=(starts - 1, 2))
    return min(
      optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds.T
      ).fun
      for start in np.concatenate([first, others])
    )

  return call
