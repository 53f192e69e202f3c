"""How long patients with lung cancer live: right-censored data, fitted.

137 veterans, 9 of whom were alive when last seen (data/veterans.csv). Coxian
phase-types with one to three phases are fitted by maximum likelihood and
compared by AIC; the best has standard errors of its mean, and is drawn over
the estimate of Kaplan and Meier; the two treatments are compared.

    python examples/survival.py --output=survival.png
"""

from collections.abc import Sequence
import os

from absl import app
from absl import flags
import numpy as np
import pandas as pd

from phasic.substrates.numpy import inference

_HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(_HERE, "data", "veterans.csv")
_OUTPUT = flags.DEFINE_string("output", None, "Where a picture goes, if any.")


def read(table: pd.DataFrame) -> inference.Observations:
  return inference.Observations.from_table(table, time="days", event="died")


def fit(data: inference.Observations, most_phases: int) -> inference.Choice:
  """Coxian fits with up to `most_phases` phases, and the one AIC prefers."""
  return inference.choose_num_phases(
    lambda p: inference.initial_guess(data, p, "coxian"),
    data,
    range(1, most_phases + 1),
    criterion="aic",
    num_starts=3,
  )


def draw(found: inference.Fit, path: str) -> None:
  import matplotlib

  matplotlib.use("Agg")
  import matplotlib.pyplot as plt

  figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(13, 4), layout="constrained"
  )
  dist, data = found.distribution, found.observations
  inference.plot_survival(dist, data, left)
  inference.plot_quantiles(dist, data, middle)
  inference.plot_hazard(dist, data, right)
  figure.suptitle("137 veterans with lung cancer and a Coxian fit (days)")
  figure.savefig(path, dpi=120)
  plt.close(figure)


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  table = pd.read_csv(DATA)
  data = read(table)
  print(f"{len(table)} patients, {int((1 - table.died).sum())} censored")
  choice = fit(data, 3)
  print(f"{'phases':>6s}{'log-likelihood':>16s}{'AIC':>10s}{'BIC':>10s}")
  for p, found in choice.fits.items():
    chosen = "  <- best AIC" if found is choice.best else ""
    print(
      f"{p:6d}{found.log_likelihood:16.4f}{found.aic:10.3f}{found.bic:10.3f}"
      + chosen
    )
  best = choice.best
  for name, status in best.statuses.items():
    print(f"  {name}: {status}")
  error = float(best.standard_error_of("mean"))
  print(f"mean {float(best.distribution.mean()):.1f} +- {error:.1f} days")

  estimate = inference.kaplan_meier(data)
  print(f"{'days':>6s}{'Kaplan-Meier':>16s}{'fit':>10s}")
  for days in (30, 90, 180, 365):
    i = np.searchsorted(estimate.times, days, side="right") - 1
    fitted = float(best.distribution.survival_function(float(days)))
    print(f"{days:6d}{estimate.survival[i]:16.3f}{fitted:10.3f}")

  for treatment, rows in table.groupby("treatment"):
    own = inference.fit_mle(best.distribution, read(rows))
    mean = float(own.distribution.mean())
    error = float(own.standard_error_of("mean"))
    print(f"{treatment}: mean {mean:.1f} +- {error:.1f} days")
  if _OUTPUT.value is not None:
    draw(best, _OUTPUT.value)
    print(_OUTPUT.value)


if __name__ == "__main__":
  app.run(main)
