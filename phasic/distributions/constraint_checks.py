"""Checks of parameters against their declared constraints."""

from typing import Any

import numpy as np

from phasic.internal import static
from phasic.math import exact_sums
from phasic.math.named_checks import check


def check_constraint(name: str, x: Any, constraint: str) -> Any:
  """Returns a parameter, checked.

  Args:
    name: the parameter's name.
    x: its value.
    constraint: one of "positive", "nonnegative", "probability", "positive
      probability", "probabilities" and "subprobabilities", see
      `ParameterProperties`.
  """
  finite = np.isfinite(x)
  if constraint == "positive":
    return check(name, x, (x > 0) & finite, "it must be > 0 and finite")
  if constraint == "positive probability":
    return check(name, x, (x > 0) & (x <= 1), "it must be in (0, 1]")
  if constraint == "probability":
    return check(name, x, (x >= 0) & (x <= 1), "it must be in [0, 1]")
  x = check(name, x, (x >= 0) & finite, "it must be >= 0 and finite")
  if constraint == "nonnegative":
    return x
  sums = exact_sums.compensated_sum(x)[..., None]
  tolerance = sum_tolerance(x)
  if constraint == "subprobabilities":
    rule = "this sum must be <= 1 within 4 p eps"
    return check(name, x, sums <= 1 + tolerance, rule, sums)
  rule = "this sum must be 1 within 4 p eps"
  return check(name, x, np.abs(sums - 1) <= tolerance, rule, sums)


def sum_tolerance(probs: Any) -> float:
  """Returns how far from one the sum of p probabilities may be, 4 p eps."""
  return 4 * static.shape(probs)[-1] * static.finfo_eps(probs)
