"""When parts crack that are looked at now and then: interval-censored data.

167 parts of a machine were inspected eight times (data/cracks.csv); of each it
is known between which inspections it cracked, or that it had not at the last.
Erlang distributions with several numbers of stages, of one rate and of any
rates, are fitted to these counts; the best gives the share that is cracked by a
day, and the day by which a tenth is, with standard errors.

    python examples/cracks.py
"""

from collections.abc import Sequence
import os

from absl import app
import numpy as np

from phasic.substrates.numpy import distributions
from phasic.substrates.numpy import inference

DATA = os.path.join(
  os.path.dirname(os.path.abspath(__file__)), "data", "cracks.csv"
)
NUM_PARTS = 167


def read() -> tuple[np.ndarray, np.ndarray]:
  """Returns days of inspection from zero to inf, and the parts between them."""
  days, cracked = np.loadtxt(DATA, delimiter=",", skiprows=1).T
  edges = np.concatenate([[0.0], days, [np.inf]])
  return edges, np.append(cracked, NUM_PARTS - cracked.sum())


def fits(data: inference.Observations) -> dict[str, inference.Fit]:
  """Distributions that start from 1500 days on the average."""
  found = {}
  for p in (1, 2, 3, 4):
    start = distributions.Erlang(p, p / 1500)
    found[f"Erlang, {p} stages"] = inference.fit_mle(start, data)
  rates = np.array([2.0, 3.0, 4.0]) / 1500
  start = distributions.Hypoexponential(rates)
  found["3 stages of any rates"] = inference.fit_mle(start, data)
  return found


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  edges, counts = read()
  data = inference.Observations.grouped(edges, counts)
  found = fits(data)
  best = min(found.values(), key=lambda fit: fit.aic)
  print(f"{'':24s}{'log-likelihood':>16s}{'AIC':>10s}")
  for name, fit in found.items():
    chosen = "  <- best" if fit is best else ""
    print(f"{name:24s}{fit.log_likelihood:16.4f}{fit.aic:10.3f}{chosen}")

  dist = best.distribution
  expected = NUM_PARTS * np.diff(np.append(dist.cdf(edges[:-1]), 1.0))
  print(f"\n{'days':>16s}{'cracked':>9s}{'expected':>10s}")
  for i, count in enumerate(counts):
    print(
      f"{edges[i]:7.0f} .. {edges[i + 1]:5.0f}{count:9.0f}{expected[i]:10.1f}"
    )
  statistic = np.sum((counts - expected) ** 2 / expected)
  print(
    f"chi-square {statistic:.1f} with {len(counts) - 1 - best.num_parameters} "
    "degrees of freedom"
  )
  for name, method, argument in (
    ("mean", "mean", ()),
    ("a tenth is cracked after", "quantile", (0.1,)),
  ):
    value = float(getattr(dist, method)(*argument))
    error = float(best.standard_error_of(method, *argument))
    print(f"{name} {value:.0f} +- {error:.0f} days")


if __name__ == "__main__":
  app.run(main)
