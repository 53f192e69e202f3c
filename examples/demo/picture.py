"""The picture: durations with fitted densities and survival functions."""

from collections.abc import Sequence

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from phasic.substrates import jax as ph

_COLORS = ("#1b6ca8", "#d1495b", "#edae49", "#3d8b5f")
_INK = "#2f3640"
_BARS = "#dfe5ec"


def draw(
  times: np.ndarray,
  fits: Sequence[ph.inference.Fit],
  best: ph.inference.Fit,
  path: str,
) -> None:
  """Writes the picture.

  Args:
    times: the data, in days.
    fits: what to draw.
    best: the one of them that AIC prefers.
    path: where to write.
  """
  style = {
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "font.size": 10,
    "legend.frameon": False,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
  }
  with plt.rc_context(style):
    figure, (left, right) = plt.subplots(
      1, 2, figsize=(11, 4.6), layout="constrained"
    )
    end = 10 * np.ceil(1.04 * np.max(times) / 10)
    _densities(left, times, fits, best, end)
    _survival(right, fits, best, end)
    for axes in (left, right):
      axes.set_xlim(0, end)
      axes.set_xlabel("duration of the strike (days)")
    figure.suptitle(
      f"{len(times)} strikes in U.S. manufacturing (Kennan 1985) and Coxian "
      "phase-type fits",
      fontsize=13,
      fontweight="bold",
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _curves(axes, fits, best, values, grid) -> None:
  for fit, color in zip(fits, _COLORS, strict=False):
    chosen = fit is best
    p = fit.distribution.num_phases
    label = f"{p} phase{'s' if p > 1 else ''}"
    axes.plot(
      grid,
      values(fit.distribution, grid),
      color=color,
      lw=2.8 if chosen else 1.4,
      ls="-" if chosen else (0, (6, 1.5 * (p - 1))),
      label=label + (" (best AIC)" if chosen else ""),
      zorder=4 if chosen else 3,
    )


def _densities(axes, times, fits, best, end) -> None:
  edges = np.arange(0.0, end + 10, 10)
  axes.hist(
    times, edges, density=True, color=_BARS, edgecolor="white", label="data"
  )
  axes.plot(
    times,
    np.zeros_like(times),
    "|",
    color=_INK,
    alpha=0.6,
    ms=9,
    clip_on=False,
    zorder=5,
  )
  grid = np.linspace(0.0, end, 900)
  _curves(axes, fits, best, lambda dist, t: dist.prob(t), grid)
  axes.set_ylim(0, None)
  axes.set_ylabel("density (per day)")
  axes.set_title("Histogram and density")
  axes.legend()


def _survival(axes, fits, best, end) -> None:
  found = ph.inference.kaplan_meier(best.observations)
  share, error = found.survival, found.standard_errors
  x = np.concatenate([[0.0], found.times, [end]])
  y = np.concatenate([[1.0], share, share[-1:]])
  spread = 1.96 * np.concatenate([[0.0], error, error[-1:]])
  axes.fill_between(
    x,
    np.clip(y - spread, 0, 1),
    np.clip(y + spread, 0, 1),
    step="post",
    color=_BARS,
    lw=0,
    label="95% band",
  )
  axes.step(x, y, where="post", color=_INK, lw=1.2, label="Kaplan-Meier")
  grid = np.linspace(0.0, end, 900)
  _curves(axes, fits, best, lambda dist, t: dist.survival_function(t), grid)
  axes.set_ylim(0, 1.02)
  axes.set_ylabel("share of strikes that last longer")
  axes.set_title("Survival, empirical and fitted")
  axes.legend()
