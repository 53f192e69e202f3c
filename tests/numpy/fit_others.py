"""Fifty samples that are not plain times, with the best that long searches found.

    python -m tests.numpy.fit_others fit_others.csv

searches and writes the table; `fit_optima_test` compares fits with it. Samples are
censored, truncated, weighted, have zeros, or are counts. Each search is one of
`fit_mle` from a start drawn at random, without the starts that data suggest.
"""

from __future__ import annotations

import csv
import pathlib
import sys
from typing import NamedTuple

import numpy as np

from phasic.substrates.numpy import distributions
from phasic.substrates.numpy import inference
from tests.numpy import fit_optima

NUM_CASES = 50
KINDS = ("censored", "truncated", "weighted", "zeros", "discrete")
TABLE = pathlib.Path(__file__).with_name("fit_others.csv")
_NUM_SEARCHES = 20


class Case(NamedTuple):
  """Observations, a number of phases and a form."""

  number: int
  kind: str
  num_phases: int
  form: str
  observations: inference.Observations


def case(number: int) -> Case:
  """Returns one of the cases, which its number alone determines."""
  random = np.random.default_rng([64, number])
  kind = KINDS[number % len(KINDS)]
  times = fit_optima.case(number).times[:300]
  p = int(random.integers(2, 5))
  form = str(random.choice(["coxian", "acyclic", "hyper-erlang"]))
  if kind == "censored":
    ends = random.exponential(2.0 * np.median(times), len(times))
    seen = times <= ends
    upper = np.where(seen, times, np.inf)
    data = inference.Observations(np.where(seen, times, ends), upper)
  elif kind == "truncated":
    entry = np.quantile(times, 0.2) * random.random(len(times))
    kept = times > entry
    data = inference.Observations(times[kept], entry=entry[kept])
  elif kind == "weighted":
    weights = random.exponential(1.0, len(times))
    data = inference.Observations(times, weights=weights)
  elif kind == "zeros":
    data = inference.Observations(
      np.where(random.random(len(times)) < 0.3, 0.0, times)
    )
  else:
    means = random.uniform(1.5, 30.0, 2)
    of = random.integers(2, size=300)
    data = inference.Observations(random.geometric(1.0 / means[of]) * 1.0)
    form = "discrete"
  return Case(number, kind, p, form, data)


def _random_start(
  guess: distributions.Distribution, random: np.random.Generator
) -> distributions.Distribution:
  """Returns a distribution of the guess's structure, far from it."""
  found = inference.unconstrained(guess)
  start = np.asarray(found.free)
  return found.to_distribution(start + random.normal(0.0, 2.0, start.shape))


def reference(x: Case) -> float:
  """Returns the largest log likelihood that the searches find."""
  random = np.random.default_rng([65, x.number])
  guess = inference.initial_guess(x.observations, x.num_phases, x.form)
  best = -np.inf
  for _ in range(_NUM_SEARCHES):
    start = _random_start(guess, random)
    try:
      fit = inference.fit_mle(start, x.observations, starts=())
    except ValueError:  # The likelihood of this start is zero.
      continue
    best = max(best, fit.log_likelihood)
  return best


def table() -> dict[int, float]:
  """Returns the references, by the number of the case."""
  with TABLE.open() as file:
    return {
      int(r["number"]): float(r["reference"]) for r in csv.DictReader(file)
    }


def main(path: str) -> None:
  with open(path, "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["number", "kind", "num_phases", "form", "reference"])
    for number in range(NUM_CASES):
      x = case(number)
      row = [number, x.kind, x.num_phases, x.form, f"{reference(x):.6f}"]
      writer.writerow(row)
      file.flush()


if __name__ == "__main__":
  main(sys.argv[1])
