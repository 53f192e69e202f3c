"""Helpers for plots of fits with matplotlib."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as onp

from phasic.distributions.base import hooks
from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters.host_values import known
from phasic.inference.results import confidence
from phasic.inference.results import survival_estimates
from phasic.internal.frameworks import Foreign

# An alias for matplotlib.axes.Axes, because matplotlib is imported only when a
# plot is drawn.
Axes: TypeAlias = Foreign

# The maximal number of points at which a plot evaluates a function.
_NUM_VALUES = 1000


class Range(NamedTuple):
  """The range of times that a plot shows.

  Attributes:
    given: what values are known to be above, below zero where nothing is.
    last: the last time that was observed.
  """

  given: float
  last: float

  @property
  def start(self) -> float:
    return max(self.given, 0.0)

  @property
  def end(self) -> float:
    return 1.05 * self.last


def check_axes(axes: object) -> None:
  """Raises unless `axes` is None or axes of matplotlib.

  Raises:
    ImportError: matplotlib is missing.
    TypeError: they are not axes.
  """
  try:
    import matplotlib.axes
  except ImportError as error:
    raise ImportError(
      "plots need matplotlib: pip install 'phasic-substrates[inference]'"
    ) from error
  if axes is not None and not isinstance(axes, matplotlib.axes.Axes):
    raise TypeError(
      f"axes is {type(axes).__name__}: it must be axes of matplotlib, or None "
      "for new ones"
    )


def new_axes() -> Axes:
  """Returns the axes of a new figure."""
  import matplotlib.pyplot

  _, axes = matplotlib.pyplot.subplots()
  return axes


def range_of(observations: observations_lib.Observations) -> Range:
  """Returns the range of times of the observations."""
  times, _, _, entry = survival_estimates.host_times(observations)
  return Range(float(onp.min(entry)), float(onp.max(times)))


def end_of(axes: Axes | None, distribution: Distribution, end: float) -> float:
  """Returns the end of the time axis: `end`, or more if the axes show more.

  If nothing is drawn and `end` is zero, it is the 0.99 quantile.
  """
  if axes is not None and axes.has_data():
    return max(end, float(axes.get_xlim()[1]))
  if end > 0.0:
    return end
  most = values(distribution, "quantile", onp.asarray([0.99]))
  return float(onp.max(most)) or 1.0


def draw_estimate(
  axes: Axes,
  estimate: survival_estimates.SurvivalEstimate,
  shown: Range,
  level: float | None,
) -> None:
  """Draws an estimated survival function, and a band if there is a level."""
  times = onp.concatenate([[shown.start], estimate.times, [shown.last]])

  def steps(x: onp.ndarray, first: float) -> onp.ndarray:
    return onp.concatenate([onp.full(1, first), x, x[-1:]])

  survival = steps(estimate.survival, 1.0)
  axes.step(times, survival, where="post", color="black", label="Kaplan-Meier")
  if level is not None:
    normal = confidence.normal_quantile(level)
    spread = normal * steps(estimate.standard_errors, 0.0)
    low = onp.clip(survival - spread, 0.0, 1.0)
    high = onp.clip(survival + spread, 0.0, 1.0)
    label = percent(level)
    draw_band(axes, times, low, high, "post", label=label, color="gray")


def percent(level: float) -> str:
  """Returns a confidence level as legends show it, such as "95 %"."""
  return f"{100.0 * level:g} %"


def draw_band(
  axes: Axes,
  times: onp.ndarray,
  low: onp.ndarray,
  high: onp.ndarray,
  step: str | None,
  **style: Foreign,
) -> None:
  """Draws a band between two functions, which are steps if `step` is given."""
  axes.fill_between(
    times, low, high, alpha=0.2, linewidth=0.0, step=step, **style
  )


def draw_curve(
  axes: Axes,
  distribution: Distribution,
  times: onp.ndarray,
  curve: onp.ndarray,
  label: str,
  steps: str,
) -> Foreign:
  """Draws a function, as steps in discrete time; returns its color."""
  style = steps if counts(distribution) else "default"
  (line,) = axes.plot(times, curve, drawstyle=style, label=label)
  return line.get_color()


def grid(distribution: Distribution, start: float, end: float) -> onp.ndarray:
  """Returns times for drawing a function; whole numbers in discrete time."""
  if not counts(distribution):
    return onp.linspace(start, end, 400)
  first, last = onp.floor(start), onp.floor(end)
  number = min(int(last - first) + 1, _NUM_VALUES)
  return onp.unique(onp.round(onp.linspace(first, last, number)))


def counts(distribution: Distribution) -> bool:
  """Returns whether the distribution has whole numbers as values."""
  return bool(distribution.support.constraint == "nonnegative_integer")


def values(
  distribution: Distribution, name: str, x: onp.ndarray | float
) -> onp.ndarray:
  """Evaluates a method of a distribution, and returns host values.

  Raises:
    TypeError: they are traced.
    ValueError: none is a number, or a quantile is not.
  """
  at = onp.asarray(x, distribution.dtype)
  results = getattr(distribution, name)(at)
  results = known("distribution", results, "plots need concrete, finite values")
  # At each time there may be a batch of values.
  missing = onp.reshape(results != results, (onp.size(at), -1))
  if onp.any(onp.all(missing, axis=0)) or (
    name.startswith("quantile") and onp.any(missing)
  ):
    first = onp.ravel(at)[onp.argmax(onp.any(missing, axis=1))]
    raise ValueError(
      f"distribution has {name}({first}) = nan: plots need concrete, finite values"
    )
  return results


def log_survival_at_entry(
  distribution: Distribution, given: float
) -> onp.ndarray:
  """Computes log P(X > given); raises ValueError if it is -inf."""
  log_survival = values(distribution, "log_survival_function", given)
  if onp.any(log_survival == -onp.inf):
    raise ValueError(
      f"distribution has no mass above {given}, the earliest entry time: it "
      "must give the observations positive probability"
    )
  return log_survival


def check_type(name: str, distribution: object) -> None:
  """Raises unless the argument is a distribution of one variable."""
  hooks.check_substrate(name, distribution)
  kind = type(distribution).__name__
  if not isinstance(distribution, Distribution):
    raise TypeError(
      f"{name} is {kind}: it must be a distribution, such as fit.distribution"
    )
  if tuple(distribution.event_shape):
    raise TypeError(
      f"{name} is {kind}, a distribution of vectors: it must be a distribution "
      "of numbers, e.g. marginal(r)"
    )


def finish(axes: Axes, ylabel: str, end: float, top: float | None) -> Axes:
  """Sets labels and limits of the axes, adds a legend, and returns the axes."""
  axes.set_xlabel("time")
  axes.set_ylabel(ylabel)
  # Logarithmic axes cannot start at zero: their lower limit stays as it is.
  axes.set_xlim(0.0 if axes.get_xscale() == "linear" else None, end)
  axes.set_ylim(0.0 if axes.get_yscale() == "linear" else None, top)
  axes.legend()
  return axes
