"""Small special functions."""

import numpy as np


def log1mexp(x):
  """Returns log(1 - exp(x)) for x <= 0, accurate for all of them.

  References:
    M. Maechler, Accurately computing log(1 - exp(-|a|)), 2012.
  """
  small = x > -0.6931471805599453
  near = np.log(-np.expm1(np.where(small, x, -1.0)))
  far = np.log1p(-np.exp(np.where(small, -1.0, x)))
  return np.where(small, near, far)
