"""Simulated patients who are seen about yearly; needs Python and NumPy.

They resemble the patients with heart transplants of the msm package in size and
in rates: states are 1 well, 2 mild, 3 severe and 4 dead. Times are in years, to
the day; the day of death is known. Age is a covariate of the row, in units of
ten years from a typical one.
"""

import itertools
import math
import random

import numpy as np

TRANSITIONS = ((1, 2), (1, 4), (2, 1), (2, 3), (2, 4), (3, 2), (3, 4))
STATES = ("well", "mild", "severe", "dead")
TARGETS = {
  "well": ["mild", "dead"],
  "mild": ["well", "severe", "dead"],
  "severe": ["mild", "dead"],
}
# Where log likelihoods and gradients are compared and timed.
RATES = (0.12, 0.045, 0.2, 0.3, 0.05, 0.15, 0.28)
EFFECTS = (0.1, 0.15, -0.1, 0.05, 0.1, -0.05, 0.2)
_SUBJECTS = 622
_DEAD = 4
_TRUE_RATES = (0.13, 0.042, 0.22, 0.34, 0.04, 0.13, 0.3)
_TRUE_EFFECTS = (0.15, 0.25, -0.1, 0.1, 0.2, 0.0, 0.15)


def scales():
  """Yields factors near one, so that no two calls have the same parameters."""
  return (1.0 + 1e-9 * k for k in itertools.count())


def table() -> dict[str, np.ndarray]:
  """Returns columns subject, time, state and age, of one row for each visit."""
  rng = random.Random(66)
  rows: list[tuple[int, float, int, float]] = []
  for subject in range(1, _SUBJECTS + 1):
    born, stop = rng.gauss(0.0, 1.0), 1.0 + rng.expovariate(0.21)
    time, state = 0.0, 1
    visits = [0.0]
    for year in itertools.count(1):
      visit = round(365 * (year + 0.3 * (rng.random() - 0.5))) / 365
      if visit > min(stop, 19.0):
        break
      if rng.random() < 0.85:
        visits.append(visit)
    rows.append((subject, 0.0, state, born))
    for before, visit in itertools.pairwise([*visits, stop]):
      age = born + 0.1 * before
      time, state = _later(rng, before, state, visit, age)
      if state == _DEAD:
        day = max(math.ceil(365 * time) / 365, before + 1 / 365)
        rows.append((subject, day, state, born + 0.1 * day))
        break
      if visit < stop:
        rows.append((subject, visit, state, born + 0.1 * visit))
  # A subject with a single row has no transition.
  counts = np.bincount([row[0] for row in rows])
  kept = [row for row in rows if counts[row[0]] > 1]
  names = ("subject", "time", "state", "age")
  return dict(zip(names, np.array(kept, float).T, strict=True))


def _later(
  rng: random.Random, time: float, state: int, end: float, age: float
) -> tuple[float, int]:
  """Draws the state at the end of an interval, and the time of a death."""
  while state != _DEAD:
    rates = [
      rate * math.exp(effect * age) * (source == state)
      for (source, _), rate, effect in zip(
        TRANSITIONS, _TRUE_RATES, _TRUE_EFFECTS, strict=True
      )
    ]
    time += rng.expovariate(sum(rates))
    if time >= end:
      return end, state
    (state,) = rng.choices([target for _, target in TRANSITIONS], rates)
  return time, state
