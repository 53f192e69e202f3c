"""Observations for tests of steps of the EM algorithm."""

import math

import numpy as onp

from phasic import inference

# Lower and upper ends, weights, entries: exact, right-, interval- and
# left-censored, with and without truncation.
TIMES = [
  (0.7, 0.7, 1.0, -1.0),
  (2.0, math.inf, 2.0, -1.0),
  (0.5, 1.5, 0.5, -1.0),
  (-1.0, 0.4, 1.0, -1.0),
  (1.25, 1.25, 1.5, 0.5),
  (3.0, math.inf, 1.0, 1.0),
  (0.25, 2.5, 1.0, 0.75),
  (-1.0, 2.0, 0.25, 0.5),
]
COUNTS = [
  (3.0, 3.0, 1.0, -1.0),
  (2.0, math.inf, 2.0, -1.0),
  (1.0, 4.0, 0.5, -1.0),
  (-1.0, 2.0, 1.0, -1.0),
  (5.0, 5.0, 1.5, 2.0),
  (4.0, math.inf, 1.0, 1.0),
  (-1.0, 6.0, 0.25, 2.0),
]


def observations(rows):
  """Builds observations from bounds, weights and entries."""
  lower, upper, weights, entry = onp.asarray(rows).T
  return inference.Observations(lower, upper, weights, entry)
