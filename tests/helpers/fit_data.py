"""Times that fits are tried on."""

import math

import numpy as onp

from phasic import inference

TIMES = 2.0 * onp.random.default_rng(0).weibull(1.5, 60)


def censored() -> inference.Observations:
  """Returns the times, of which the late ones were not seen."""
  return inference.Observations(TIMES, onp.where(TIMES > 2.5, math.inf, TIMES))
