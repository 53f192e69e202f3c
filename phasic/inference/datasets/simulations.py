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
