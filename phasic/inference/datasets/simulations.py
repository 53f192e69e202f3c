"""Simulates the data sets, with the same values everywhere.

NumPy has frozen the stream of `RandomState.random_sample`. Columns are rounded to
2 decimals, so that the last digits of logarithms, which differ between machines,
do not count: no value is within 1e-9 of one that would be rounded otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
import inspect

import numpy as onp

from phasic.inference.datasets.dataset import Dataset


def trial() -> Dataset:
  """Returns a clinical trial of 400 patients, with right-censored lifetimes.

  Columns:

      months     follow-up until death or censoring, in months
      died       1 if the patient died then, 0 if censored
      treatment  "placebo" or "drug"
      age        at entry, in years, 40 to 79
      sex        "f" or "m"
      stage      of the disease, 1, 2 or 3
      center     the hospital, 1 to 12

  The lifetime of a woman of age 60 in stage 1 on placebo has two exponential
  stages, of mean 8 and 32 months. It is multiplied by exp(eta) for others
  (accelerated failure times), where

      eta = 0.5 [drug] - 0.02 (age - 60) - 0.3 [m]
            - 0.4 [stage 2] - 0.8 [stage 3] + u[center]

  and u of each center is uniform on (-0.3, 0.3). Patients enter in the course
  of 36 months, and the trial ends 24 months after the last entry; they also
  drop out, after an exponential time of mean 120 months. 39 % are censored.

  Simulated by the authors of phasic; free of rights (CC0 1.0).

  Example:

    >>> from phasic import inference
    >>> table = inference.datasets.trial()
    >>> print(list(table), int(table["died"].sum()))
    ['months', 'died', 'treatment', 'age', 'sex', 'stage', 'center'] 245
  """
  n, random = 400, onp.random.RandomState(1)
  treatment = _labels(random, ("placebo", "drug"), (0.5,), n)
  age = _integers(random, 40, 79, n)
  sex = _labels(random, ("f", "m"), (0.5,), n)
  stage = _labels(random, (1, 2, 3), (0.4, 0.75), n)
  center = _integers(random, 1, 12, n)
  frailty = 0.6 * random.random_sample(12) - 0.3
  eta = (
    0.5 * (treatment == "drug")
    - 0.02 * (age - 60)
    - 0.3 * (sex == "m")
    - onp.asarray([0.0, 0.4, 0.8])[stage - 1]
    + frailty[center - 1]
  )
  stages = _exponentials(random, 8.0, n) + _exponentials(random, 32.0, n)
  life = stages * onp.exp(eta)
  end = 24.0 + 36.0 * random.random_sample(n)
  followed = onp.minimum(end, _exponentials(random, 120.0, n))
  return Dataset(
    {
      "months": onp.round(onp.minimum(life, followed), 2),
      "died": onp.asarray(life <= followed, onp.int64),
      "treatment": treatment,
      "age": age,
      "sex": sex,
      "stage": stage,
      "center": center,
    },
    _description(trial.__doc__),
  )


def pumps() -> Dataset:
  """Returns lifetimes of 200 pumps, whose failures are found at inspections.

  Columns:

      last_good     the last inspection that found the pump working, in 1000
                    hours of operation; 0 if there was none
      first_failed  the inspection that found it failed; inf if none did, as
                    the pump still works
      load          in kN, 20 to 60
      maker         "A", "B" or "C"

  The lifetime of a pump of maker A with a load of 40 kN has three exponential
  stages, each of mean 2000 hours. It is multiplied by exp(eta) for others,
  where

      eta = -0.03 (load - 40) + 0.3 [B] - 0.4 [C]

  There are 8 inspections. Times between them are uniform on 800 to 1200 hours.
  27 % of the pumps still work at the last one.

  Simulated by the authors of phasic; free of rights (CC0 1.0).

  Example:

    >>> from phasic import inference
    >>> table = inference.datasets.pumps()
    >>> data = inference.Observations.from_table(
    ...   table, lower="last_good", upper="first_failed"
    ... )
    >>> print(f"{float(data.lower[0]):.2f}, {float(data.upper[0]):.2f}")
    4.06, 5.25
  """
  n, random = 200, onp.random.RandomState(2)
  load = _integers(random, 20, 60, n)
  maker = _labels(random, ("A", "B", "C"), (0.4, 0.75), n)
  eta = -0.03 * (load - 40) + 0.3 * (maker == "B") - 0.4 * (maker == "C")
  life = sum(_exponentials(random, 2.0, n) for _ in range(3)) * onp.exp(eta)
  times = onp.cumsum(0.8 + 0.4 * random.random_sample((n, 8)), axis=1)
  num_good = onp.sum(times < life[:, None], axis=1)
  times = onp.pad(times, [(0, 0), (1, 0)])
  times = onp.pad(times, [(0, 0), (0, 1)], constant_values=onp.inf)
  rows = onp.arange(n)
  return Dataset(
    {
      "last_good": onp.round(times[rows, num_good], 2),
      "first_failed": onp.round(times[rows, num_good + 1], 2),
      "load": load,
      "maker": maker,
    },
    _description(pumps.__doc__),
  )


def claims() -> Dataset:
  """Returns the sizes of 500 insurance claims, a mixture of small and large.

  Columns:

      size         in 1000 EUR, exact
      region       "city", "coast" or "country"
      vehicle_age  in years, 0 to 15

  A claim is large with the probability 1 / (1 + exp(-eta)), where

      eta = -1.5 + 0.08 vehicle_age + 0.4 [coast] + 0.8 [country]

  (a mixture of experts). A small claim has two exponential stages, each of mean
  500 EUR, a large one two of mean 5000 EUR. 36 % are large.

  Simulated by the authors of phasic; free of rights (CC0 1.0).

  Example:

    >>> from phasic import inference
    >>> table = inference.datasets.claims()
    >>> print(f"{table['size'].mean():.2f}, {table['vehicle_age'].mean():.2f}")
    4.27, 7.73
  """
  n, random = 500, onp.random.RandomState(3)
  region = _labels(random, ("city", "country", "coast"), (0.5, 0.8), n)
  vehicle_age = _integers(random, 0, 15, n)
  eta = 0.4 * (region == "coast") + 0.8 * (region == "country")
  eta = eta + 0.08 * vehicle_age - 1.5
  is_large = random.random_sample(n) < 1.0 / (1.0 + onp.exp(-eta))
  stages = _exponentials(random, 1.0, n) + _exponentials(random, 1.0, n)
  return Dataset(
    {
      "size": onp.round(stages * onp.where(is_large, 5.0, 0.5), 2),
      "region": region,
      "vehicle_age": vehicle_age,
    },
    _description(claims.__doc__),
  )


def clinic_visits() -> Dataset:
  """Returns the stages of 300 patients at visits to a clinic, until death.

  Columns:

      patient    1 to 300, with a row for each visit, and a last row
      years      since entry
      stage      of the disease, "well", "mild" or "severe"; "dead" in a last row
                 at the time of death; "alive" in one at the end of follow-up,
                 where the stage is not known
      test       the same, but the stage at visits is that of a quick test,
                 which has errors
      treatment  "control" or "drug"
      age        at entry, "40-59" or "60-79"

  Stages follow a Markov chain with these rates per year:

      well -> mild   0.30    mild -> well    0.15    severe -> dead  0.30
      well -> dead   0.02    mild -> severe  0.25
                             mild -> dead    0.05

  The drug multiplies the rates of "well -> mild" and "mild -> severe" by
  exp(-0.6) = 0.55, and age "60-79" those of the three deaths by exp(0.7) = 2.01.
  At entry 70 % are well, and 30 % have a mild stage. Follow-up ends after 4 to
  10 years, uniformly. Visits are about a year apart; each one after entry is
  missed with the probability 0.2.

  The quick test sees "well" as "mild" with the probability 0.06, "mild" as
  "well" with 0.1 and as "severe" with 0.05, and "severe" as "mild" with 0.1.

  Simulated by the authors of phasic; free of rights (CC0 1.0).

  Example:

    >>> from phasic import inference
    >>> table = inference.datasets.clinic_visits()
    >>> print(len(table["stage"]), *table["stage"][:8])
    1770 well well mild dead mild dead mild mild
  """
  n, random = 300, onp.random.RandomState(32)
  treatment = _labels(random, ("control", "drug"), (0.5,), n)
  age = _labels(random, ("40-59", "60-79"), (0.6,), n)
  first = _labels(random, (0, 1), (0.7,), n)
  end = onp.round(4.0 + 6.0 * random.random_sample(n), 2)
  shift = 0.3 * random.random_sample((n, 9)) - 0.15
  rates = onp.tile(
    [[0, 0.3, 0, 0.02], [0.15, 0, 0.25, 0.05], [0, 0, 0, 0.3], [0] * 4],
    (n, 1, 1),
  )
  drug = onp.exp(-0.6 * (treatment == "drug"))
  rates[:, [0, 1], [1, 2]] *= drug[:, None]
  rates[:, :, 3] *= onp.exp(0.7 * (age == "60-79"))[:, None]
  jumps, states = _path(random, rates, first)
  is_death = states[:, 1:] == 3
  death = onp.min(onp.where(is_death, jumps, onp.inf), axis=1, keepdims=True)
  # Rounded up, so that it is after the last visit.
  last = onp.minimum(onp.ceil(100.0 * death) / 100.0, end[:, None])
  visits = onp.round(onp.arange(1.0, 10.0) + shift, 2)
  attended = (random.random_sample((n, 9)) > 0.2) & (visits < last)
  number = onp.sum(jumps[:, None] <= visits[..., None], axis=-1)
  stage = onp.take_along_axis(states, number, axis=1)
  stage = onp.column_stack([first, stage, onp.where(death <= last, 3, 4)])
  # Cumulative probabilities of labels in each stage.
  labels = onp.asarray(
    [[0.94, 1, 1, 1], [0.1, 0.95, 1, 1], [0, 0.1, 1, 1]]
    + [[0, 0, 0, 1], [0, 0, 0, 0]]
  )
  seen = onp.sum(labels[stage] <= random.random_sample((n, 11, 1)), axis=-1)
  rows, columns = onp.nonzero(
    onp.pad(attended, [(0, 0), (1, 1)], constant_values=True)
  )
  times = onp.column_stack([onp.zeros(n), visits, last])
  names = onp.asarray(["well", "mild", "severe", "dead", "alive"])
  return Dataset(
    {
      "patient": 1 + rows,
      "years": times[rows, columns],
      "stage": names[stage[rows, columns]],
      "test": names[seen[rows, columns]],
      "treatment": treatment[rows],
      "age": age[rows],
    },
    _description(clinic_visits.__doc__),
  )


def _description(docstring: str | None) -> str:
  """Returns a docstring without its example; none if Python strips them."""
  return inspect.cleandoc(docstring or "").split("\n\nExample:")[0]


def _exponentials(
  random: onp.random.RandomState, mean: float, n: int
) -> onp.ndarray:
  """Returns exponential times, (n,)."""
  return -mean * onp.log1p(-random.random_sample(n))


def _integers(
  random: onp.random.RandomState, first: int, last: int, n: int
) -> onp.ndarray:
  """Returns integers from first to last, all equally probable, (n,)."""
  steps = onp.floor((last - first + 1) * random.random_sample(n))
  return first + onp.asarray(steps, onp.int64)


def _labels(
  random: onp.random.RandomState,
  labels: Sequence[object],
  bounds: Sequence[float],
  n: int,
) -> onp.ndarray:
  """Returns labels, (n,), with the given cumulative probabilities but 1."""
  index = onp.digitize(random.random_sample(n), bounds)
  return onp.asarray(labels)[index]


def _path(
  random: onp.random.RandomState, rates: onp.ndarray, first: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Simulates jumps of chains.

  Args:
    random: the stream.
    rates: from state to state, (n, s, s), with zeros on the diagonal.
    first: the state at time zero, (n,).

  Returns:
    The times of 40 jumps, (n, 40), inf after absorption, and the states before
    them and after the last one, (n, 41).
  """
  n = len(first)
  now, state = onp.zeros(n), first
  times, states = [], [first]
  for _ in range(40):
    total = onp.cumsum(rates[onp.arange(n), state], axis=-1)
    wait, level = _exponentials(random, 1.0, n), random.random_sample(n)
    moves = total[:, -1] > 0.0
    now = onp.where(
      moves, now + wait / onp.where(moves, total[:, -1], 1.0), onp.inf
    )
    chosen = onp.sum(total <= (level * total[:, -1])[:, None], axis=-1)
    state = onp.where(moves, chosen, state)
    times.append(now)
    states.append(state)
  return onp.stack(times, axis=1), onp.stack(states, axis=1)
