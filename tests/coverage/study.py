"""Measures how often confidence intervals cover the true value.

    tools/run_installed.sh -m tests.coverage.study FOLDER

Simulates the data sets of all studies, fits each, writes a line of JSON with its
intervals into a file of FOLDER, and prints the tables. It goes on where an earlier
run stopped. Data set i of a study depends on the seed of the study and on i alone.
The design below was written before the first run.

The truth is drawn by NumPy, not by phasic: T = E^(1 / shape) exp(x b) with a
standard exponential E, so that log S(t | x) = -(t exp(-x b))^shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
import dataclasses
import functools
import importlib
import json
import math
import multiprocessing
import os
import pathlib
import sys
import time
from typing import Any

import numpy as np

NUM_SUBJECTS = 300
COEFFICIENTS = {"treated": 0.5, "x": -0.3}
# The subject whose median is estimated.
SUBJECT = {"treated": [1.0], "x": [0.0]}
LEVEL = 0.95
PROCESSES = 2
_JAX = {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}


@dataclasses.dataclass(frozen=True)
class Study:
  """A study: its data sets, and how their intervals are computed.

  Attributes:
    name: the name of the study, and of its file.
    substrate: the substrate that runs it. That of NumPy is the fastest for one
      fit, that of JAX for many fits to the weights of the same data.
    shape: of the Weibull distribution of times; 1 is the exponential one, of
      which only the rate is fitted.
    last_censoring: censoring times are uniform between zero and this time, so that
      35 % of all times are censored.
    seed: the seed of the data.
    num_data_sets: how many there are.
    methods: of the intervals.
    num_resamples: of each bootstrap.
    bounds: of the coverage.
  """

  name: str
  substrate: str
  shape: float
  last_censoring: float
  seed: int
  num_data_sets: int
  methods: tuple[str, ...]
  num_resamples: int
  bounds: tuple[float, float]


LIKELIHOOD = Study(
  name="likelihood",
  substrate="numpy",
  shape=1.5,
  last_censoring=3.45,
  seed=65001,
  num_data_sets=1000,
  methods=("wald", "profile"),
  num_resamples=0,
  bounds=(0.92, 0.975),
)
BOOTSTRAP = Study(
  name="bootstrap",
  substrate="jax",
  shape=1.0,
  last_censoring=3.5,
  seed=65002,
  num_data_sets=200,
  methods=("bootstrap",),
  num_resamples=200,
  bounds=(0.90, 0.99),
)
# The resamples of data set i have this seed plus i.
_RESAMPLING_SEED = 6_500_300
STUDIES = (LIKELIHOOD, BOOTSTRAP)


def truths(study: Study) -> dict[str, float]:
  """Returns the true values of the quantities, by name."""
  predictor = sum(b * SUBJECT[name][0] for name, b in COEFFICIENTS.items())
  median = math.log(2.0) ** (1.0 / study.shape) * math.exp(predictor)
  return {f"time[{k}]": b for k, b in COEFFICIENTS.items()} | {"median": median}


def data_set(
  study: Study, i: int
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
  """Draws data set i: a table, times, and which of them are events."""
  sequence = np.random.SeedSequence(study.seed, spawn_key=(i,))
  random = np.random.default_rng(sequence)
  table = {
    "treated": random.integers(0, 2, NUM_SUBJECTS).astype(float),
    "x": random.standard_normal(NUM_SUBJECTS),
  }
  predictor = sum(b * table[name] for name, b in COEFFICIENTS.items())
  base = random.standard_exponential(NUM_SUBJECTS) ** (1.0 / study.shape)
  lives = base * np.exp(predictor)
  ends = random.uniform(0.0, study.last_censoring, NUM_SUBJECTS)
  return table, np.minimum(lives, ends), lives <= ends


def run(
  study: Study, i: int, num_resamples: int | None = None
) -> dict[str, Any]:
  """Fits data set i, and computes its intervals.

  Args:
    study: the study.
    i: the number of the data set.
    num_resamples: in place of those of the study.

  Returns:
    A row of JSON: the number of the data set, "censored" (the share), "seconds" of
    processor time by step, and "ends" by method and quantity. If the fit failed or
    did not converge, "failure" says why, and there are no ends.
  """
  table, times, events = data_set(study, i)
  row: dict[str, Any] = {"i": i, "censored": float(np.mean(~events))}
  seconds, ends = {}, {}
  begin = time.process_time()
  try:
    fit = _fit(study, table, times, events)
    seconds["fit"] = time.process_time() - begin
    for method in study.methods:
      begin = time.process_time()
      given = {}
      if method == "bootstrap":
        given = {"bootstrap": _bootstrap(study, fit, i, num_resamples)}
        row["failed_resamples"] = given["bootstrap"].num_failed
      ends[method] = {
        name: _ends(fit, name, method=method, **given) for name in truths(study)
      }
      seconds[method] = time.process_time() - begin
  except (ArithmeticError, RuntimeError, ValueError) as error:
    row["failure"] = str(error)
  return row | {"seconds": seconds, "ends": ends}


def _module(study: Study, name: str) -> Any:
  return importlib.import_module(f"phasic.substrates.{study.substrate}.{name}")


def _fit(
  study: Study,
  table: Mapping[str, np.ndarray],
  times: np.ndarray,
  events: np.ndarray,
) -> Any:
  """Fits the true model.

  Raises:
    ValueError: the fit did not converge.
  """
  pd = _module(study, "distributions")
  inference = _module(study, "inference")
  regression = _module(study, "regression")
  start = pd.Erlang(1, 1.0)
  if study.shape != 1.0:
    start = pd.MatrixWeibull(start, 1.0)
  fit = inference.fit_mle(
    regression.Regression(start, time=list(COEFFICIENTS)),
    inference.Observations.right_censored(times, events),
    covariates=table,
  )
  if not fit.record.converged:
    raise ValueError(f"the fit did not converge: {fit.record.message}")
  return fit


def _bootstrap(
  study: Study, fit: Any, i: int, num_resamples: int | None
) -> Any:
  return _module(study, "inference").bootstrap(
    fit, num_resamples or study.num_resamples, seed=_RESAMPLING_SEED + i
  )


def _ends(fit: Any, name: str, **options: Any) -> list[float]:
  """Returns both ends of the interval of a quantity."""
  if name == "median":
    options |= {"covariates": SUBJECT}
  interval = fit.confidence_interval(name, confidence_level=LEVEL, **options)
  return [float(np.squeeze(x)) for x in (interval.low, interval.high)]


def table_of(study: Study, rows: Sequence[Mapping[str, Any]]) -> list[str]:
  """Returns the table of coverage of a study."""
  return coverage_of(dict.fromkeys(study.methods, truths(study)), rows)


def coverage_of(
  values: Mapping[str, Mapping[str, float]],
  rows: Sequence[Mapping[str, Any]],
) -> list[str]:
  """Returns a table of coverage, as lines of Markdown.

  A data set without a fit, or with an end that is NaN, is not covered.

  Args:
    values: the true values of quantities, by method and name.
    rows: what `run` returned, of each data set.
  """
  lines = [
    "| interval | quantity | true value | data sets | covered | coverage |"
    " above | below | no interval |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
  ]
  for method, truths_by_name in values.items():
    for name, truth in truths_by_name.items():
      nothing = [math.nan, math.nan]
      ends = [x["ends"].get(method, {}).get(name, nothing) for x in rows]
      low, high = np.transpose(ends)
      covered = int(np.sum((low <= truth) & (truth <= high)))
      counts = (low > truth, high < truth, np.isnan(low) | np.isnan(high))
      lines.append(
        f"| {method} | `{name}` | {truth:.4f} | {len(rows)} | {covered} | "
        f"{covered / len(rows):.1%} | "
        + " | ".join(str(int(np.sum(x))) for x in counts)
        + " |"
      )
  return lines


def facts_of(study: Study, rows: Sequence[Mapping[str, Any]]) -> list[str]:
  """Returns lines on failures, censoring and processor time."""
  failures = {x["i"]: x["failure"] for x in rows if "failure" in x}
  lines = [
    f"{study.name}: {len(rows)} of {study.num_data_sets} data sets, seed "
    f"{study.seed}, censored {np.mean([x['censored'] for x in rows]):.1%}",
    f"failed fits: {len(failures)} {failures or ''}",
  ]
  if study.num_resamples:
    lost = sum(x.get("failed_resamples", 0) for x in rows)
    lines.append(f"failed resamples: {lost}")
  for step in ("fit", *study.methods):
    seconds = [x["seconds"][step] for x in rows if step in x["seconds"]]
    lines.append(
      f"seconds of {step}: median {np.median(seconds):.2f}, "
      f"largest {max(seconds):.2f}"
    )
  return lines


def rows_in(path: pathlib.Path) -> list[dict[str, Any]]:
  """Reads the rows of a file, in the order of the data sets."""
  if not path.exists():
    return []
  rows = [json.loads(line) for line in path.read_text().splitlines()]
  return sorted(rows, key=lambda row: row["i"])


def _missing(
  paths: Mapping[Study, pathlib.Path],
) -> list[tuple[Study, int]]:
  """Returns the data sets without a row, such that all studies go on evenly."""
  missing = []
  for study, path in paths.items():
    done = {row["i"] for row in rows_in(path)}
    missing += [(study, i) for i in range(study.num_data_sets) if i not in done]
  return sorted(missing, key=lambda pair: pair[1] / pair[0].num_data_sets)


def run_all(
  tasks: Mapping[Callable[[], Mapping[str, Any]], pathlib.Path],
) -> None:
  """Runs tasks in processes, and writes each row into its file."""
  for path in tasks.values():
    path.parent.mkdir(parents=True, exist_ok=True)
  os.environ.update(_JAX, PHASIC_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
  with futures.ProcessPoolExecutor(
    PROCESSES, mp_context=multiprocessing.get_context("spawn")
  ) as executor:
    submitted = {executor.submit(f): path for f, path in tasks.items()}
    for task in futures.as_completed(submitted):
      with submitted[task].open("a") as file:
        file.write(json.dumps(task.result()) + "\n")


def main(folder: pathlib.Path) -> None:
  """Runs what is missing of all studies, and prints their tables."""
  paths = {study: folder / f"{study.name}.jsonl" for study in STUDIES}
  run_all(
    {
      functools.partial(run, study, i): paths[study]
      for study, i in _missing(paths)
    }
  )
  for study, path in paths.items():
    rows = rows_in(path)
    print("\n".join([*facts_of(study, rows), "", *table_of(study, rows), ""]))


if __name__ == "__main__":
  main(pathlib.Path(sys.argv[1]))
