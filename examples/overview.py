"""Draws the picture of the README: a fit, a spectrum and a tail.

tools/run_installed.sh examples/overview.py --picture=docs/_static/overview.svg
"""

from collections.abc import Sequence

from absl import app
from absl import flags
import matplotlib
from matplotlib import axes
import numpy as np
import pandas as pd
import survival

from phasic.substrates import numpy as ph

_PICTURE = flags.DEFINE_string("picture", "overview.svg", "Where it goes.")


def draw_survival(ax: axes.Axes) -> None:
  """Draws survival times of patients and a Coxian fit to them."""
  data = survival.read(pd.read_csv(survival.DATA))
  start = ph.inference.initial_guess(data, 2, "coxian")
  fitted = ph.inference.fit_mle(start, data).distribution
  estimate = ph.inference.kaplan_meier(data)
  days = np.linspace(0.0, 600.0, 200)
  ax.step(
    [0.0, *estimate.times],
    [1.0, *estimate.survival],
    where="post",
    color="0.6",
    label="Kaplan-Meier",
  )
  ax.plot(days, fitted.survival_function(days), label="Coxian, 2 phases")
  ax.set(
    title="Survival of 137 patients",
    xlabel="days",
    ylabel="P(alive)",
    xlim=(0.0, 600.0),
  )
  ax.legend(frameon=False)


def draw_spectrum(ax: axes.Axes) -> None:
  """Draws expected spectra of a constant population and of a bottleneck."""
  tree = ph.graphs.models.kingman(12)
  rates = {"constant size": [1.0, 1.0, 1.0], "bottleneck": [1.0, 20.0, 1.0]}
  entries = np.arange(1, 12)
  for k, (label, rate) in enumerate(rates.items()):
    history = ph.distributions.Epochs(tree, np.array(rate)[:, None], [0.1, 0.2])
    times = history.expected_sojourn_times()
    lengths = ph.graphs.models.kingman_spectrum(times)
    shares = lengths / np.sum(lengths)
    ax.bar(entries + 0.4 * k - 0.2, shares, 0.4, label=label)
  ax.set(
    title="Site frequency spectrum",
    xlabel="copies of the mutation, of 12",
    ylabel="share of sites",
  )
  ax.legend(frameon=False)


def draw_tail(ax: axes.Axes) -> None:
  """Draws a busy period's density, far into its tail."""
  queue = ph.graphs.models.busy_period(50)
  busy = ph.distributions.PhaseType.from_graph(
    queue, {"arrival": 0.7, "service": 1.0}
  )
  times = np.geomspace(0.1, 2e4, 200)
  ax.plot(times, busy.log_prob(times))
  ax.set(
    title="Busy period of a queue",
    xlabel="time, in mean service times",
    ylabel="log density",
    xscale="log",
  )


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  matplotlib.use("Agg")
  # The same file each time.
  matplotlib.rcParams["svg.hashsalt"] = "phasic"
  import matplotlib.pyplot as plt

  figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(11.0, 3.2), layout="constrained"
  )
  draw_survival(left)
  draw_spectrum(middle)
  draw_tail(right)
  figure.savefig(_PICTURE.value, metadata={"Date": None})


if __name__ == "__main__":
  app.run(main)
