"""Measures how often intervals of multi-state models cover the true value.

    tools/run_installed.sh -m tests.coverage.panel_study FOLDER

As `tests.coverage.study`, for subjects who are seen about yearly, in four states,
and whose deaths are known to the day. The design below was written before the
first run. Paths are drawn by NumPy, not by phasic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import importlib
import math
import pathlib
import sys
import time
from typing import Any

import numpy as np
from scipy import linalg

from tests.coverage import study as study_lib

NUM_DATA_SETS = 300
NUM_SUBJECTS = 300
SEED = 66001
YEARS = 8
STATES = ("well", "mild", "severe", "dead")
RATES = {
  "well -> mild": 0.3,
  "well -> dead": 0.06,
  "mild -> well": 0.15,
  "mild -> severe": 0.3,
  "mild -> dead": 0.1,
  "severe -> dead": 0.35,
}
EFFECTS = {
  "well -> mild": -0.5,
  "well -> dead": 0.3,
  "mild -> well": 0.2,
  "mild -> severe": -0.4,
  "mild -> dead": 0.2,
  "severe -> dead": -0.3,
}
# Probabilities of the first state; no subject is dead.
STARTS = (0.7, 0.2, 0.1, 0.0)
MISSED = 0.1
DEATH, SOJOURN = "P(dead in 5 years)", "mean time in mild"
METHODS = ("wald", "profile")


@functools.cache
def generator(treated: float) -> np.ndarray:
  """Returns the true generator, (4, 4)."""
  matrix = np.zeros((4, 4))
  for name, rate in RATES.items():
    source, target = map(STATES.index, name.split(" -> "))
    matrix[source, target] = rate * math.exp(EFFECTS[name] * treated)
  return matrix - np.diag(np.sum(matrix, axis=1))


def truths() -> dict[str, float]:
  """Returns the true values of the quantities, by name.

  The probability and the mean are those of the treated.
  """
  return {
    **{f"rates[{name}]": rate for name, rate in RATES.items()},
    **{f"effects[treated, {name}]": b for name, b in EFFECTS.items()},
    DEATH: float(linalg.expm(5.0 * generator(1.0))[0, 3]),
    SOJOURN: float(-1.0 / generator(1.0)[1, 1]),
  }


def quantities(method: str) -> list[str]:
  """Returns the names of the quantities whose intervals a method computes."""
  names = list(truths())
  if method == "profile":
    names = [x for x in names if x.startswith("effects")]
  return names


def data_set(i: int) -> dict[str, list[Any]]:
  """Draws data set i, a table with a row for each visit and each death."""
  sequence = np.random.SeedSequence(SEED, spawn_key=(i,))
  random = np.random.default_rng(sequence)
  table: dict[str, list[Any]] = {
    x: [] for x in ("id", "year", "state", "treated")
  }
  for subject in range(NUM_SUBJECTS):
    treated = float(random.integers(0, 2))
    years = np.arange(1, YEARS + 1) + random.uniform(-0.4, 0.4, YEARS)
    years = np.append(0.0, years[random.uniform(size=YEARS) >= MISSED])
    for year, state in _seen(random, generator(treated), years):
      table["id"].append(subject)
      table["year"].append(year)
      table["state"].append(STATES[state])
      table["treated"].append(treated)
  return table


def _seen(
  random: np.random.Generator, matrix: np.ndarray, years: np.ndarray
) -> list[tuple[float, int]]:
  """Draws states at visits, until the end or the time of death."""
  state, now = int(random.choice(4, p=STARTS)), 0.0
  rows = []
  for year in years:
    while state != 3:
      wait = random.exponential(-1.0 / matrix[state, state])
      # What is left of an exponential time is exponential again.
      if now + wait > year:
        now = year
        break
      now += wait
      others = np.where(np.arange(4) == state, 0.0, matrix[state])
      state = int(random.choice(4, p=others / np.sum(others)))
    rows.append((float(now), state))
    if state == 3:
      break
  return rows


def run(i: int, methods: Sequence[str] = METHODS) -> dict[str, Any]:
  """Fits data set i, and computes its intervals; see `study.run`."""
  table = data_set(i)
  row: dict[str, Any] = {"i": i, "deaths": table["state"].count("dead")}
  row["rows"] = len(table["id"])
  seconds, ends = {}, {}
  begin = time.process_time()
  try:
    fit = _fit(table)
    seconds["fit"] = time.process_time() - begin
    for method in methods:
      begin = time.process_time()
      intervals = _intervals(method)
      ends[method] = {x: _ends(intervals[x](fit)) for x in quantities(method)}
      seconds[method] = time.process_time() - begin
  except (ArithmeticError, RuntimeError, ValueError) as error:
    row["failure"] = str(error)
  return row | {"seconds": seconds, "ends": ends}


def _module(name: str) -> Any:
  return importlib.import_module(f"phasic.substrates.numpy.{name}")


def _fit(table: dict[str, list[Any]]) -> Any:
  """Fits the true model.

  Raises:
    ValueError: the fit did not converge.
  """
  multistate = _module("multistate")
  allowed: dict[str, list[str]] = {}
  for name in RATES:
    source, target = name.split(" -> ")
    allowed.setdefault(source, []).append(target)
  data = multistate.PanelData.from_table(
    table,
    subject="id",
    time="year",
    state="state",
    exact=["dead"],
    covariates=["treated"],
  )
  model = multistate.MultiState(allowed, effects=["treated"])
  fit = _module("inference").fit_mle(model, data)
  if not fit.record.converged:
    raise ValueError(f"the fit did not converge: {fit.record.message}")
  return fit


def _intervals(method: str) -> dict[str, Callable[[Any], tuple[Any, Any]]]:
  """Returns functions of a fit that compute an interval, by quantity."""
  multistate = _module("multistate")
  options = {"confidence_level": study_lib.LEVEL, "method": method}
  treated = {"treated": 1.0}

  def number(name: str, fit: Any) -> tuple[Any, Any]:
    interval = fit.confidence_interval(name, **options)
    return interval.low, interval.high

  def death(fit: Any) -> tuple[Any, Any]:
    interval = multistate.pmatrix(fit, 5.0, treated, **options)
    return interval.low[0, 3], interval.high[0, 3]

  def sojourn(fit: Any) -> tuple[Any, Any]:
    interval = multistate.sojourn_times(fit, treated, **options)
    return interval.low[1], interval.high[1]

  names = [x for x in truths() if x not in (DEATH, SOJOURN)]
  numbers = {name: functools.partial(number, name) for name in names}
  return {**numbers, DEATH: death, SOJOURN: sojourn}


def _ends(ends: tuple[Any, Any]) -> list[float]:
  return [float(np.squeeze(x)) for x in ends]


def facts_of(rows: list[dict[str, Any]]) -> list[str]:
  """Returns lines on failures, sizes and processor time."""
  failures = {x["i"]: x["failure"] for x in rows if "failure" in x}
  lines = [
    f"{len(rows)} of {NUM_DATA_SETS} data sets, seed {SEED}, mean number of rows "
    f"{np.mean([x['rows'] for x in rows]):.0f}, of deaths "
    f"{np.mean([x['deaths'] for x in rows]):.0f}",
    f"failed fits: {len(failures)} {failures or ''}",
  ]
  for step in ("fit", *METHODS):
    seconds = [x["seconds"][step] for x in rows if step in x["seconds"]]
    lines.append(
      f"seconds of {step}: median {np.median(seconds):.2f}, "
      f"largest {max(seconds):.2f}"
    )
  return lines


def table_of(rows: list[dict[str, Any]]) -> list[str]:
  """Returns the table of coverage, as lines of Markdown."""
  values = {x: {k: truths()[k] for k in quantities(x)} for x in METHODS}
  return study_lib.coverage_of(values, rows)


def main(folder: pathlib.Path) -> None:
  """Runs what is missing of the study, and prints its table."""
  path = folder / "panel.jsonl"
  done = {row["i"] for row in study_lib.rows_in(path)}
  missing = [i for i in range(NUM_DATA_SETS) if i not in done]
  study_lib.run_all({functools.partial(run, i): path for i in missing})
  rows = study_lib.rows_in(path)
  print("\n".join([*facts_of(rows), "", *table_of(rows), ""]))


if __name__ == "__main__":
  main(pathlib.Path(sys.argv[1]))
