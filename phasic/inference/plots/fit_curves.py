"""The distributions that plots draw, and bands of fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters.host_values import known
from phasic.inference.plots import drawing
from phasic.inference.plots.drawing import Axes
from phasic.inference.results import estimates
from phasic.inference.results import fits
from phasic.inference.results import model_fits
from phasic.inference.results import survival_estimates
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import raw_arguments
from phasic.internal import tables
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.internal.frameworks import Foreign
from phasic.internal.tables import TableLike

Fitted: TypeAlias = fits.Fit | model_fits.ModelFit
Drawable: TypeAlias = Distribution | Fitted
# A function of a distribution and times.
_Function: TypeAlias = Callable[[Distribution, onp.ndarray], Array]


class Source(NamedTuple):
  """The distributions that a plot draws, and the fit that they are of.

  Attributes:
    distribution: the distribution, with batch shape () or (n,).
    labels: its names in the legend, one or n.
    fit: the fit; None if the user gave a distribution.
    covariates: a table with n rows; None without covariates.
    observations: the data beside the curve; None for none.
    has_estimate: whether an estimate of the data is drawn.
    last: the last time in the data of the fit, or zero.
  """

  distribution: Distribution
  labels: tuple[str, ...]
  fit: Fitted | None
  covariates: TableLike | None
  observations: observations_lib.Observations | None
  has_estimate: bool
  last: float


def source_of(
  given: Drawable,
  observations: observations_lib.Observations | None,
  axes: Axes | None,
  label: str = "fit",
  covariates: TableLike | None = None,
) -> Source:
  """Returns what a plot draws; raises unless its arguments are valid.

  Args:
    given: the argument `distribution` of the plot.
    observations: None for those of a fit without covariates.
    axes: axes that show something are not given the data of a fit again.
    label: the name of a single curve.
    covariates: a table with a row for each curve.

  Raises:
    ImportError: matplotlib is missing.
    TypeError: an argument has a wrong type, or there are covariates, and not of
      a regression.
    ValueError: there are several distributions without covariates.
  """
  drawing.check_axes(axes)
  raw_arguments.check_string("label", label)
  is_model = isinstance(given, model_fits.ModelFit)
  if covariates is not None and not is_model:
    raise TypeError(
      f"covariates are given, but distribution is {type(given).__name__}: leave "
      "them out, or give the ModelFit of a regression"
    )
  fit: Fitted | None = None
  if isinstance(given, model_fits.ModelFit):
    fit, dist = given, given.predict(covariates)
  elif isinstance(given, fits.Fit):
    fit, dist = given, given.distribution
  else:
    dist = given
  drawing.check_type("distribution", dist)
  shape = tuple(dist.batch_shape)
  if shape if covariates is None else len(shape) != 1:
    raise ValueError(
      f"distribution has batch shape {shape}: plots take a single distribution, "
      "e.g. dist[0], or a fit and covariates with a row for each curve"
    )
  labels: tuple[str, ...] = (label,)
  if covariates is not None and shape[0] != 1:
    labels = _labels(covariates, int(shape[0] or 0))
  has_estimate, last = observations is not None, 0.0
  counted = None if fit is None else estimates.counted_by(fit)
  if counted is not None and observations is None:
    last = _last_time(counted)
    if covariates is None and _is_drawable(counted):
      observations = counted
      has_estimate = axes is None or not axes.has_data()
  return Source(dist, labels, fit, covariates, observations, has_estimate, last)


def band(
  source: Source,
  name: str,
  f: _Function,
  times: onp.ndarray,
  level: float,
  bounds: tuple[float, float],
) -> tuple[onp.ndarray, onp.ndarray] | None:
  """Computes pointwise confidence intervals of a function of time.

  Times above zero without a standard error have no band, and a warning says
  why. At zero functions such as t^a may have no derivatives: there it is silent.

  Args:
    source: the distributions.
    name: what warnings call the function.
    f: the function of the distribution and of times (k, 1).
    times: (k,).
    level: the confidence level.
    bounds: the range of the function, which intervals keep.

  Returns:
    Both ends, (k, n), or None if there is no fit, or no standard error at all.
  """
  fit = source.fit
  if fit is None:
    return None
  at = onp.asarray(times, source.distribution.dtype)[:, None]

  def function(value: Any) -> Array:
    if isinstance(fit, model_fits.ModelFit):
      return f(fit.model.predict(value, source.covariates), at)
    return f(value, at)

  with user_warnings.searching(), onp.errstate(all="ignore"):
    interval = fit.confidence_interval(
      function, confidence_level=level, bounds=bounds
    )
  estimate, low, high = interval[:3]
  is_lost = onp.isnan(low) | onp.isnan(high)
  # Values at a bound are certain, as is survival at the time of entry.
  is_end = (estimate == bounds[0]) | (estimate == bounds[1])
  is_unknown = onp.any(is_lost & onp.logical_not(is_end), axis=1)
  lost_times = times[is_unknown & (times > 0.0)]
  if len(lost_times):
    user_warnings.warn(
      f"{name} has no standard error at {len(lost_times)} of {len(times)} times, "
      f"first at {lost_times[0]:g}: {_reason(fit)}; its band is left out there"
    )
  if onp.all(is_lost | is_end):
    return None
  return onp.where(is_end, estimate, low), onp.where(is_end, estimate, high)


def draw(
  axes: Axes,
  source: Source,
  times: onp.ndarray,
  curves: onp.ndarray,
  steps: str,
) -> list[Foreign]:
  """Draws curves (k, n), and returns their colors."""
  return [
    drawing.draw_curve(axes, source.distribution, times, curve, label, steps)
    for curve, label in zip(onp.transpose(curves), source.labels, strict=True)
  ]


def draw_bands(
  axes: Axes,
  source: Source,
  times: onp.ndarray,
  ends: tuple[onp.ndarray, onp.ndarray] | None,
  colors: list[Foreign],
  level: float,
  step: str,
) -> None:
  """Draws the bands of curves, in their colors."""
  if ends is None:
    return
  is_discrete = drawing.counts(source.distribution)
  for i, (color, label) in enumerate(zip(colors, source.labels, strict=True)):
    drawing.draw_band(
      axes,
      times,
      ends[0][:, i],
      ends[1][:, i],
      step if is_discrete else None,
      color=color,
      label=f"{label}, {drawing.percent(level)}",
    )


def evaluated(source: Source, name: str, times: onp.ndarray) -> onp.ndarray:
  """Evaluates a method at times (k,), (k, n)."""
  return drawing.values(source.distribution, name, times[:, None])


def curve_times(times: ArrayLike) -> onp.ndarray:
  """Returns the times at which the user wants a curve, (k,).

  Raises:
    TypeError: they are not numbers.
    ValueError: they are not a list of ascending times.
  """
  at = known("times", times, "plots need concrete, finite values")
  if at.dtype.kind not in "iuf":
    raise TypeError(
      f"times is {raw_arguments.shown(times)}: it must be a list of numbers"
    )
  at = onp.asarray(at, onp.float64)
  if onp.ndim(at) != 1 or not len(at):
    raise ValueError(
      f"times has shape {onp.shape(at)}: it must be (k,), a list of times"
    )
  is_later = onp.diff(at, prepend=-1.0) > 0.0
  is_good = (at >= 0.0) & (at < onp.inf) & is_later
  if not onp.all(is_good):
    i = int(onp.argmin(is_good))
    raise ValueError(
      f"times[{i}] is {at[i]:g}: times must be finite, not negative and ascending"
    )
  return at


def _last_time(observations: observations_lib.Observations) -> float:
  """Returns the last finite time of observations."""
  lower, upper, _ = observations_lib.host_arrays(observations)
  return float(onp.max(onp.where(onp.isinf(upper), lower, upper)))


def _is_drawable(observations: observations_lib.Observations) -> bool:
  """Returns whether data have estimates; warns of the reason if not."""
  try:
    survival_estimates.host_times(observations)
  except ValueError as error:
    user_warnings.warn(f"the fit is drawn without its data: {error}")
    return False
  return True


def _reason(fit: estimates.Estimates) -> str:
  """Returns why a function of a fit may have no standard error."""
  for name, status in fit.statuses.items():
    if status != uncertainty_lib.IDENTIFIED:
      return f"{name} is {status!r}"
  return "its derivatives in the parameters are NaN"


def _labels(covariates: TableLike, num_rows: int) -> tuple[str, ...]:
  """Returns names of the rows of a table, by the columns that differ."""
  parts = []
  for name in tables.column_names(covariates, "covariates"):
    values = onp.asarray(covariates[str(name)])
    if onp.shape(values) == (num_rows,):
      texts = [_text(x) for x in values.tolist()]
      if len(set(texts)) > 1:
        parts.append([f"{name}={text}" for text in texts])
  if not parts:
    return tuple(f"row {i}" for i in range(num_rows))
  return tuple(", ".join(row) for row in zip(*parts, strict=True))


def _text(x: object) -> str:
  return f"{x:g}" if isinstance(x, float) else str(x)
