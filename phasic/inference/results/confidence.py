"""Confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
import statistics
from typing import NamedTuple, Protocol

import numpy as onp

from phasic.inference.parameters.host_values import number
from phasic.inference.results import profiles
from phasic.inference.results import quantities
from phasic.inference.results import uncertainty as uncertainty_lib


class ConfidenceInterval(NamedTuple):
  """A confidence interval of one number, or of each number of an array.

  Attributes:
    estimate: the estimate, a host array of any shape; a number if it has none.
    low: the lower end, of the same shape.
    high: the upper end, of the same shape.
    confidence_level: how probable it is that the interval covers the true
      value, between zero and one.
    method: how the interval was computed, such as "percentile".

  Example: a normal interval, 1.0 plus or minus 1.96 standard errors.

    >>> from phasic import inference
    >>> inference.ConfidenceInterval(1.0, 0.804, 1.196, 0.95, "normal").high
    1.196
  """

  estimate: onp.ndarray
  low: onp.ndarray
  high: onp.ndarray
  confidence_level: float
  method: str


class Resampled(Protocol):
  """The result of a bootstrap, which computes intervals."""

  def confidence_interval(
    self,
    f: quantities.Function,
    *args: object,
    confidence_level: float = 0.95,
  ) -> ConfidenceInterval:
    """Computes the interval of a function."""


def checked_level(confidence_level: object) -> float:
  """Returns a confidence level as a float; raises unless it is in (0, 1)."""
  level = number("confidence_level", confidence_level)
  if not 0.0 < level < 1.0:
    raise ValueError(
      f"confidence_level is {level:g}: it must be between 0 and 1; 0.95 is 95 %"
    )
  return level


def check_method(method: object, methods: Sequence[str]) -> None:
  """Raises ValueError unless the method is one of those given."""
  if method not in methods:
    raise ValueError(
      f"method is {method!r}: it must be one of {', '.join(methods)}"
    )


def normal_quantile(level: float) -> float:
  """Returns the number that a normal variable is within, of either sign."""
  return statistics.NormalDist().inv_cdf(0.5 + level / 2.0)


def interval_of(
  uncertainty: uncertainty_lib.Uncertainty,
  quantity: quantities.Quantity,
  level: float,
  method: str,
) -> ConfidenceInterval:
  """Computes the interval of a quantity by "wald" or "profile"."""
  normal = normal_quantile(level)
  if method == "profile":
    low, high = profiles.ends(uncertainty, quantity, normal**2 / 2.0)
  else:
    errors = uncertainty.known.standard_errors(quantity.slopes)
    low, high = _wald_ends(quantity, normal * errors)
  return ConfidenceInterval(
    quantity.estimate[()], low[()], high[()], level, method
  )


def _wald_ends(
  quantity: quantities.Quantity, distances: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns estimates plus and minus distances, on scales that keep bounds.

  It is the logarithm of the distance from one bound, log odds between two, and
  the number itself without bounds.
  """
  x, low, high = quantity.estimate, quantity.low, quantity.high
  with onp.errstate(all="ignore"):
    below, above = x - low, high - x
    ends = []
    for sign in (-1.0, 1.0):
      # A step on the scale of log odds, or of the logarithm of the distance
      # from the only bound, that moves the number by the distance at first.
      step = sign * distances * (1.0 / below + 1.0 / above)
      odds = onp.exp(step)
      inside = low + (high - low) * below * odds / (below * odds + above)
      end = onp.where(
        onp.isinf(low),
        high - above * onp.exp(-sign * distances / above),
        inside,
      )
      end = onp.where(onp.isinf(high), low + below * onp.exp(step), end)
      end = onp.where(
        onp.isinf(low) & onp.isinf(high), x + sign * distances, end
      )
      ends.append(onp.where(distances == 0, x, end))
  return ends[0], ends[1]
