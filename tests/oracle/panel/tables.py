"""Simulated clinic data of 500 subjects, as columns by name.

States are 1 well, 2 mild, 3 severe and 4 dead; subjects get worse, and recover
from mild to well. Times are years since the first visit, to two decimals. A
tenth of the visits is missed; the day of death is known.

Uniform numbers come from `random.random`, which Python keeps the same in all
versions; everything else is made of them here.
"""

import bisect
import functools
import itertools
import math
import random
import statistics

import numpy as np

Table = dict[str, np.ndarray]

STATES = ("well", "mild", "severe", "dead")
TRANSITIONS = ((1, 2), (1, 4), (2, 1), (2, 3), (2, 4), (3, 4))
_DEAD = 4
_RATES = (0.25, 0.03, 0.12, 0.25, 0.05, 0.3)
_EFFECTS = (-0.5, -0.2, 0.3, -0.4, 0.1, -0.3)
_SUBJECTS = 500
_YEARS = 8.0
# The states that a code stands for.
SETS = {98: (1, 2), 99: (1, 2, 3)}
# What is recorded for the dead where an outcome is a number.
DEAD_OUTCOME = 99.0
_LABELS = {1: (1, 1, 1, 1, 1, 1, 1, 1, 1, 2), 2: (1, 2, 2, 2, 2, 2, 2, 2, 2, 3)}
_LABELS[3] = (2, 3, 3, 3, 3, 3, 3, 3, 3, 3)
_MARKERS = {1: (0.0, 0.5), 2: (1.0, 0.6), 3: (2.5, 0.8)}
_SHARES = {1: (0.5, 0.6), 2: (1.5, 0.6), 3: (2.5, 0.9)}
_COUNTS = {1: 1.0, 2: 4.0, 3: 9.0}


def _path(rng, state: int, treated: int) -> list[tuple[float, int]]:
  """Draws (time of entry, state) until death or the end of the study."""
  path = [(0.0, state)]
  while state != _DEAD:
    rates = {
      j: rate * math.exp(effect * treated)
      for (i, j), rate, effect in zip(
        TRANSITIONS, _RATES, _EFFECTS, strict=True
      )
      if i == state
    }
    total = sum(rates.values())
    time = path[-1][0] - math.log(1.0 - rng.random()) / total
    if time > _YEARS:
      break
    share = list(itertools.accumulate(rates.values()))
    place = bisect.bisect(share[:-1], rng.random() * total)
    state = list(rates)[place]
    path.append((time, state))
  return path


def _state(path, time: float) -> int:
  return path[bisect.bisect(path, (time, math.inf)) - 1][1]


def _visits(rng) -> list[float]:
  """Draws the times of visits: about yearly, some missed, some stop early."""
  stop = 2.0 + 18.0 * rng.random()
  times = [0.0]
  for year in range(1, 9):
    time = round(year + 0.8 * (rng.random() - 0.5), 2)
    missed = rng.random() < 0.1
    if not missed and time < min(stop, _YEARS):
      times.append(time)
  return times


def _normal(rng, mean: float, sd: float) -> float:
  return statistics.NormalDist(mean, sd).inv_cdf(1.0 - rng.random())


def _positive_normal(rng, mean: float, sd: float) -> float:
  value = -1.0
  while value < 0.0:
    value = round(_normal(rng, mean, sd), 3)
  return value


def _count(rng, mean: float) -> int:
  """Draws a Poisson number by multiplied uniform numbers."""
  count, product = 0, rng.random()
  while product > math.exp(-mean):
    count, product = count + 1, product * rng.random()
  return count


def _outcomes(rng, state: int) -> tuple:
  """Draws a label, a marker, a positive share and a count in a state."""
  if state == _DEAD:
    return (_DEAD, DEAD_OUTCOME, DEAD_OUTCOME, DEAD_OUTCOME)
  return (
    _LABELS[state][int(10 * rng.random())],
    round(_normal(rng, *_MARKERS[state]), 3),
    _positive_normal(rng, *_SHARES[state]),
    _count(rng, _COUNTS[state]),
  )


def _set(rng, state: int) -> int:
  """Returns the code of a set of states that holds the state, or the state."""
  draw = rng.random()
  if state == _DEAD or draw > 0.3:
    return state
  return 98 if draw < 0.15 and state in SETS[98] else 99


@functools.cache
def _simulated() -> tuple[Table, Table]:
  rng = random.Random(66)
  clinic, monitored = [], []
  for subject in range(1, _SUBJECTS + 1):
    treated = int(rng.random() < 0.5)
    first = (1, 1, 1, 1, 1, 1, 1, 2, 2, 3)[int(10 * rng.random())]
    path = _path(rng, first, treated)
    visits = _visits(rng)
    seen = [time for time in visits if _state(path, time) != _DEAD]
    if path[-1][1] == _DEAD and visits[-1] != visits[0]:
      death = max(math.ceil(100 * path[-1][0]) / 100, seen[-1] + 0.01)
      seen.append(round(death, 2))
    watched_from = 2.0 + 4.0 * rng.random()
    last = None
    for time in seen:
      state = _state(path, time)
      if time == seen[-1] and path[-1][1] == _DEAD:
        state = _DEAD if len(seen) > 1 else state
      dose = int(3 * rng.random())
      outcomes = _outcomes(rng, state)
      code = _set(rng, state)
      clinic.append((subject, time, state, treated, dose, *outcomes, code))
      kind = 3 if state == _DEAD else 1
      if last is not None and last[0] > watched_from:
        kind = 2
        for jump, entered in path:
          jump = round(jump, 2)
          if last[0] < jump < time and entered not in (last[1], _DEAD):
            monitored.append((subject, jump, entered, treated, 2))
            last = (jump, entered)
      monitored.append((subject, time, state, treated, kind))
      last = (time, state)
  names = "subject time state treated dose label marker share count code"
  return (
    dict(zip(names.split(), np.array(clinic, float).T, strict=True)),
    dict(
      zip(
        ("subject", "time", "state", "treated", "kind"),
        np.array(monitored, float).T,
        strict=True,
      )
    ),
  )


def clinic() -> Table:
  """Returns rows of visits and deaths.

  Columns are subject, time, state; treated (0 or 1, of the subject); dose (0, 1
  or 2, of the row); label (the state as a fallible doctor sees it); marker
  (normal in each state), share (normal above 0), count (Poisson), all 99 for
  the dead; code (the state, or a key of `SETS`).
  """
  return dict(_simulated()[0])


def monitored() -> Table:
  """Returns the same subjects, who are watched closely after some years.

  Columns are subject, time, state, treated and kind: 1 for a visit, 2 where the
  state was the same since the row before, until it changed now or did not, 3
  for a death from an unknown state.
  """
  return dict(_simulated()[1])
