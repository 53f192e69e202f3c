"""Panel data for tests, by simulation that uses NumPy and SciPy alone."""

import numpy as onp
from scipy import linalg

from phasic import multistate

STATES = ("well", "ill", "dead")
RATES = onp.asarray([[0.0, 0.5, 0.3], [0.3, 0.0, 0.4], [0.0, 0.0, 0.0]])


def generator(rates):
  """Returns a generator, given rates off its diagonal."""
  rates = onp.asarray(rates, onp.float64)
  return rates - onp.diag(onp.sum(rates, axis=1))


def table(num_subjects, seed, *, hazard_ratio=1.0, num_visits=6):
  """Returns rows of subjects who are seen at random times, without deaths."""
  rng = onp.random.default_rng(seed)
  rows = {"id": [], "year": [], "state": [], "drug": [], "age": []}
  for i in range(num_subjects):
    drug = float(rng.integers(0, 2))
    age = float(rng.normal())
    matrix = generator(RATES * hazard_ratio**drug)
    time, state = 0.0, int(rng.integers(0, 2))
    for _ in range(num_visits):
      row = (i, time, STATES[state], drug, age)
      for name, x in zip(rows, row, strict=True):
        rows[name].append(x)
      if state == 2:
        break
      step = float(rng.uniform(0.2, 0.8))
      probs = linalg.expm(matrix * step)[state]
      time, state = time + step, int(rng.choice(3, p=probs / sum(probs)))
  return rows


def panel_data(rows, **options):
  """Returns the rows as panel data."""
  return multistate.PanelData.from_table(
    rows, subject="id", time="year", state="state", **options
  )
