"""Small special functions."""

import numpy as np


def log1mexp(x):
  """Returns log(1 - exp(x)) for x <= 0, accurate for all of them.

  References:
    M. Maechler, Accurately computing log(1 - exp(-|a|)), 2012.
  """
  small = x > -0.6931471805599453
  none = x == 0.0
  near = np.log(-np.expm1(np.where(small & ~none, x, -1.0)))
  near = np.where(none, -float("inf"), near)
  far = np.log1p(-np.exp(np.where(small, -1.0, x)))
  return np.where(small, near, far)


def log_both(u):
  """Returns log(u) and log(1 - u), for u in [0, 1], else NaN; no warnings."""
  u = np.where((u >= 0.0) & (u <= 1.0), u, float("nan"))
  none, one = u == 0.0, u == 1.0
  log_u = np.log(np.where(none, 1.0, u))
  log_rest = np.log1p(np.where(one, 0.0, -u))
  return (
    np.where(none, -float("inf"), log_u),
    np.where(one, -float("inf"), log_rest),
  )


def logaddexp(x, y):
  """Returns log(exp(x) + exp(y)); either may be -inf."""
  top = np.maximum(x, y)
  finite = np.where(np.isfinite(top), top, 0.0)
  total = np.exp(x - finite) + np.exp(y - finite)
  none = top == float("-inf")
  found = finite + np.log(np.where(none, 1.0, total))
  return np.where(none, top, found)
