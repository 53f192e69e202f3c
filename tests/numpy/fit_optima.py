"""Two hundred samples with the best log likelihoods that long searches found.

    python -m tests.numpy.fit_optima fit_optima.csv

searches and writes the table, in half an hour; `fit_optima_test` compares fits
with it. Each search is one of SciPy alone, in logarithms of rates, or of EM, from
a start drawn at random, or from the best chain with one phase less.
"""

from __future__ import annotations

import csv
import pathlib
import sys
from typing import NamedTuple

import numpy as np
from scipy import optimize

from phasic.substrates.numpy import distributions
from phasic.substrates.numpy import inference
from phasic.substrates.numpy import math as pm

NUM_CASES = 200
KINDS = ("lognormal", "weibull", "bimodal", "tail", "decades")
FORMS = ("coxian", "acyclic", "general", "hyper-erlang", "hyperexponential")
TABLE = pathlib.Path(__file__).with_name("fit_optima.csv")
_NUM_SEARCHES, _NUM_EM, _NUM_SMALLER = 20, 5, 8


class Case(NamedTuple):
  """A sample, a number of phases and a form."""

  number: int
  kind: str
  num_phases: int
  form: str
  times: np.ndarray


def case(number: int) -> Case:
  """Returns one of the cases, which its number alone determines."""
  random = np.random.default_rng([60, number])
  kind = KINDS[number % len(KINDS)]
  form = str(random.choice(FORMS))
  # Chains with all rates have no more to give than acyclic ones, and take long.
  num_phases = int(random.integers(2, 4 if form == "general" else 6))
  size = int(random.integers(200, 501))
  if kind == "lognormal":
    times = random.lognormal(0.0, random.uniform(0.5, 1.5), size)
  elif kind == "weibull":
    times = random.weibull(random.uniform(0.5, 3.0), size)
  elif kind == "bimodal":
    first = random.gamma(random.uniform(2, 8), 0.2, size)
    second = random.gamma(random.uniform(10, 30), 0.2, size)
    times = np.where(
      random.random(size) < random.uniform(0.2, 0.8), first, second
    )
  elif kind == "tail":
    times = random.gamma(2.0, 0.5, 3000)
    slow = random.random(3000) < 0.001
    slow[:3] = True
    mean = 10.0 ** random.uniform(1, 6)
    times = np.where(slow, random.exponential(mean, 3000), times)
  else:
    size = 4 * size
    means = 10.0 ** random.uniform(-3, 3, 4)
    times = random.exponential(means[random.integers(4, size=size)])
  return Case(number, kind, num_phases, form, times)


class Chain(NamedTuple):
  """Where the numbers of a search stand in a chain.

  Attributes:
    starts: the phases with a mass of their own; their logits come first.
    edges: triples of two phases and the number of a rate.
    exits: pairs of a phase and the number of a rate.
    num_rates: how many rates there are.
  """

  starts: list[int]
  edges: list[tuple[int, int, int]]
  exits: list[tuple[int, int]]
  num_rates: int


def chain_of(form: str, counts: tuple[int, ...]) -> Chain:
  """Returns the structure of a form; `counts` are stages of its branches."""
  p = sum(counts)
  if form in ("coxian", "acyclic"):
    edges = [(i, i + 1, i) for i in range(p - 1)]
    return Chain([0], edges, [(i, p - 1 + i) for i in range(p)], 2 * p - 1)
  if form == "general":
    pairs = [(i, j) for i in range(p) for j in range(p) if i != j]
    edges = [(i, j, k) for k, (i, j) in enumerate(pairs)]
    exits = [(i, len(pairs) + i) for i in range(p)]
    return Chain(list(range(p)), edges, exits, len(pairs) + p)
  starts, edges, exits, at = [], [], [], 0
  for k, count in enumerate(counts):
    starts.append(at)
    edges += [(at + i, at + i + 1, k) for i in range(count - 1)]
    at += count
    exits.append((at - 1, k))
  return Chain(starts, edges, exits, len(counts))


def search(
  times: np.ndarray, p: int, chain: Chain, start: np.ndarray
) -> tuple[float, np.ndarray]:
  """Returns the log likelihood that L-BFGS-B reaches from logits and logs."""
  m = len(chain.starts)
  rows, columns, numbers = (
    np.asarray(x, int) for x in zip(*(chain.edges or [(0, 0, 0)]), strict=True)
  )
  if not chain.edges:
    rows, columns, numbers = rows[:0], columns[:0], numbers[:0]
  leaving, of_exits = (
    np.asarray(x, int) for x in zip(*chain.exits, strict=True)
  )

  def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
    masses = np.exp(x[:m] - np.max(x[:m]))
    masses = masses / np.sum(masses)
    rates = np.exp(x[m:])
    alpha, matrix, exits = np.zeros(p), np.zeros((p, p)), np.zeros(p)
    alpha[chain.starts] = masses
    matrix[rows, columns] = rates[numbers]
    exits[leaving] = rates[of_exits]
    values, (by_alpha, by_matrix, by_exits) = pm.value_and_gradient(
      lambda a, s, e: pm.phase_type.log_prob(times, a, s, exit_rates=e),
      alpha,
      matrix,
      exits,
    )
    by_masses = by_alpha[chain.starts]
    slopes = np.zeros_like(x)
    slopes[:m] = masses * (by_masses - np.sum(masses * by_masses))
    by_rates = np.zeros(chain.num_rates)
    np.add.at(by_rates, numbers, by_matrix[rows, columns])
    np.add.at(by_rates, of_exits, by_exits[leaving])
    slopes[m:] = by_rates * rates
    total = np.sum(values)
    if not (np.isfinite(total) and np.all(np.isfinite(slopes))):
      return 1e10, np.zeros_like(x)
    return -total / len(times), -slopes / len(times)

  found = optimize.minimize(
    loss,
    start,
    jac=True,
    method="L-BFGS-B",
    bounds=[(-30.0, 30.0)] * len(start),
    options={"maxiter": 500, "ftol": 1e-13, "gtol": 1e-7, "maxcor": 20},
  )
  return -found.fun * len(times), found.x


def random_counts(
  form: str, p: int, random: np.random.Generator
) -> tuple[int, ...]:
  if form != "hyper-erlang":
    return (1,) * p
  cuts = np.flatnonzero(random.random(p - 1) < 0.5) + 1
  return tuple(map(int, np.diff([0, *cuts, p])))


def random_start(
  times: np.ndarray, chain: Chain, random: np.random.Generator
) -> np.ndarray:
  """Draws rates between those of the shortest and of the longest times."""
  low, high = -np.log(2.0 * np.max(times)), -np.log(np.quantile(times, 0.02))
  logs = random.uniform(low, high + 1.0, chain.num_rates)
  return np.append(random.normal(size=len(chain.starts)), logs)


def embedded(
  form: str, p: int, smaller: np.ndarray, random: np.random.Generator
) -> np.ndarray | None:
  """Returns a start of p phases that is near an optimum with one less."""
  q = p - 1
  if form in ("coxian", "acyclic"):
    onward, exits = smaller[1 : p - 1], smaller[p - 1 :]
    fast = max(np.max(exits), np.max(onward, initial=-30.0)) + random.uniform(
      0, 4
    )
    onward = np.insert(onward, 0, fast)
    exits = np.insert(exits, 0, fast - random.uniform(2, 8))
    return np.concatenate([smaller[:1], onward, exits])
  if form == "hyperexponential":
    logits, logs = smaller[:q], smaller[q:]
    new = random.uniform(np.min(logs) - 2, np.max(logs) + 2)
    return np.concatenate([logits, [np.max(logits) - 4.0], logs, [new]])
  return None


def reference(x: Case) -> float:
  """Returns the largest log likelihood that the searches find."""
  random = np.random.default_rng([61, x.number])
  times = x.times / np.mean(x.times)
  p, form = x.num_phases, x.form
  best = -np.inf
  for _ in range(_NUM_SEARCHES):
    counts = random_counts(form, p, random)
    chain = chain_of(form, counts)
    start = random_start(times, chain, random)
    best = max(best, search(times, p, chain, start)[0])
  data = inference.Observations.exact(times)
  for _ in range(_NUM_EM):
    counts = random_counts(form, p, random)
    start = random_start(times, chain_of(form, counts), random)
    fit = inference.fit_em(
      distribution(form, counts, start), data, second_order=False, starts=()
    )
    best = max(best, fit.log_likelihood)
  if p > 1 and form not in ("general", "hyper-erlang"):
    chain = chain_of(form, (1,) * (p - 1))
    found = [
      search(times, p - 1, chain, random_start(times, chain, random))
      for _ in range(_NUM_SMALLER)
    ]
    smaller = max(found, key=lambda pair: pair[0])[1]
    chain = chain_of(form, (1,) * p)
    for _ in range(_NUM_SMALLER):
      start = embedded(form, p, smaller, random)
      best = max(best, search(times, p, chain, start)[0])
  return best - len(times) * np.log(np.mean(x.times))


def distribution(
  form: str, counts: tuple[int, ...], start: np.ndarray
) -> distributions.Distribution:
  """Returns the distribution of a form at logits and logarithms of rates."""
  p = sum(counts)
  m = len(chain_of(form, counts).starts)
  masses, rates = np.exp(start[:m] - np.max(start[:m])), np.exp(start[m:])
  masses = masses / np.sum(masses)
  if form == "hyperexponential":
    return distributions.Hyperexponential(masses, rates)
  if form == "hyper-erlang":
    return distributions.HyperErlang(masses, counts, rates)
  if form == "general":
    matrix = np.zeros((p, p))
    matrix[~np.eye(p, dtype=bool)] = rates[: p * (p - 1)]
    exits = rates[p * (p - 1) :]
    matrix = matrix - np.diag(np.sum(matrix, axis=-1) + exits)
    return distributions.PhaseType(masses, matrix, exit_rates=exits)
  return distributions.Coxian(rates[: p - 1], rates[p - 1 :])


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
