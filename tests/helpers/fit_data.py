"""Times for tests of fits."""

import math

import numpy as onp

from phasic import inference

TIMES = 2.0 * onp.random.default_rng(0).weibull(1.5, 60)


def censored() -> inference.Observations:
  """Returns the times, with late ones right-censored."""
  return inference.Observations(TIMES, onp.where(TIMES > 2.5, math.inf, TIMES))
