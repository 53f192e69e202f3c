"""Plots of fits and data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.plots import drawing
from phasic.inference.plots import fit_curves
from phasic.inference.plots.drawing import Axes
from phasic.inference.results import confidence
from phasic.inference.results import estimates
from phasic.inference.results import survival_estimates
from phasic.internal.arrays import Array, ArrayLike, Seed
from phasic.internal.tables import TableLike


def plot_survival(
  distribution: fit_curves.Drawable,
  observations: observations_lib.Observations | None = None,
  axes: Axes | None = None,
  *,
  label: str = "fit",
  covariates: TableLike | None = None,
  confidence_level: float = 0.95,
  times: ArrayLike | None = None,
) -> Axes:
  """Draws a survival function, with the Kaplan-Meier estimate of the data.

  The survival function of a fit has a pointwise confidence band, by the delta
  method for its log odds, as `confidence_interval("survival_function", times)`;
  where there is no standard error the band is left out, and a warning says why.
  A fit is drawn with its own data, unless the axes show something already.

  Where all values were seen only above the first time of entry, e, the estimate
  is one of P(X > t | X > e), and the distribution's is drawn, too.

  Args:
    distribution: of one variable, without a batch; or a `Fit`, or the
      `ModelFit` of a regression.
    observations: exact or right-censored `Observations` (n,), see
      `kaplan_meier`, with a band; None for those of a fit without covariates,
      and else for none, as for a second distribution in the same axes, which is
      then drawn as it is.
    axes: of matplotlib; None for new ones.
    label: the name of the distribution in the legend.
    covariates: of a regression: a table with a row for each curve. Several
      curves are named by the columns in which the rows differ.
    confidence_level: of the bands, between zero and one.
    times: (k,), ascending, at which the curve is evaluated; None for a grid over
      the times of the data.

  Returns:
    The axes.

  Raises:
    ImportError: matplotlib or statsmodels is missing.
    TypeError, ValueError: as `kaplan_meier`; it is not a distribution of one
      variable, it has a batch, or its values are NaN; there are covariates,
      but not of a regression; `axes` is not an axes of matplotlib.

  Example:

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations.right_censored(
    ...   [1.0, 2.0, 2.0, 5.0], [1, 1, 0, 1]
    ... )
    >>> axes = inference.plot_survival(Erlang(2, 0.6), data)
    >>> axes.get_ylabel()
    'survival function'
    >>> fit = inference.fit_mle(Erlang(2, 0.6), data)
    >>> axes = inference.plot_survival(fit, confidence_level=0.9)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['Kaplan-Meier', '90 %', 'fit', 'fit, 90 %']
  """
  level = confidence.checked_level(confidence_level)
  source = fit_curves.source_of(
    distribution, observations, axes, label, covariates
  )
  dist = source.distribution
  at = None if times is None else fit_curves.curve_times(times)
  shown, estimate = drawing.Range(-1.0, source.last), None
  if source.observations is not None:
    estimate = survival_estimates.kaplan_meier(source.observations)
    shown = drawing.range_of(source.observations)
  end = shown.end if at is None else float(at[-1])
  end = drawing.end_of(axes, dist, end)
  if at is None:
    at = drawing.grid(dist, shown.start, end)
  curves, f = _survival_curves(source, at, shown)
  ends = fit_curves.band(source, "survival_function", f, at, level, (0.0, 1.0))
  axes = drawing.new_axes() if axes is None else axes
  if estimate is not None and source.has_estimate:
    drawing.draw_estimate(axes, estimate, shown, level)
  colors = fit_curves.draw(axes, source, at, curves, "steps-post")
  fit_curves.draw_bands(axes, source, at, ends, colors, level, "post")
  return drawing.finish(axes, _survival_label(shown), end, 1.02)


def _survival_curves(
  source: fit_curves.Source, times: onp.ndarray, shown: drawing.Range
) -> tuple[onp.ndarray, Callable[[Distribution, onp.ndarray], Array]]:
  """Returns survival functions at times, (k, n), and as a function.

  They are conditional on survival to the first entry, if there is one and some
  have ended before.
  """
  at_entry = onp.zeros(())
  if shown.given >= 0.0:
    at_entry = drawing.log_survival_at_entry(source.distribution, shown.given)
  if not onp.any(at_entry):
    return (
      fit_curves.evaluated(source, "survival_function", times),
      lambda dist, at: dist.survival_function(at),
    )
  # Until the entry all live.
  later = onp.maximum(times, shown.given)
  logs = fit_curves.evaluated(source, "log_survival_function", later)
  entry = onp.asarray(shown.given, source.distribution.dtype)

  def conditional(dist: Distribution, at: onp.ndarray) -> Array:
    later = onp.maximum(at, entry)
    given = dist.log_survival_function(entry)
    return np.exp(dist.log_survival_function(later) - given)

  return onp.exp(logs - at_entry), conditional


def plot_quantiles(
  distribution: fit_curves.Drawable,
  observations: observations_lib.Observations | None = None,
  axes: Axes | None = None,
) -> Axes:
  """Draws a Q-Q plot: event times against quantiles of a distribution.

  The event at t is drawn at the quantile of 1 - (S(t-) + S(t)) / 2, where S is
  the estimate of Kaplan and Meier, which the censored count in, given X > e as
  in `plot_survival`. Points are along the diagonal where the distribution is
  right.

  Args:
    distribution: of one variable, without a batch, with quantiles; or a fit
      without covariates.
    observations: see `plot_survival`; None for those of a fit.
    axes: of matplotlib; None for new ones.

  Returns:
    The axes.

  Raises:
    ImportError, TypeError, ValueError: as `plot_survival`.

  Example:

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations.right_censored(
    ...   [1.0, 2.0, 2.0, 5.0], [1, 1, 0, 1]
    ... )
    >>> axes = inference.plot_quantiles(Erlang(2, 0.6), data)
    >>> axes.get_ylabel()
    'time of the event'
  """
  data = observations
  if data is None and isinstance(distribution, estimates.Estimates):
    data = estimates.counted_by(distribution)
  source = fit_curves.source_of(distribution, data, axes)
  if data is None:
    raise TypeError(
      "observations is None: a distribution needs data, or give a fit to times"
    )
  estimate = survival_estimates.kaplan_meier(data)
  given = drawing.range_of(data).given
  before = onp.concatenate([onp.ones(1), estimate.survival[:-1]])
  levels = onp.log((before + estimate.survival) / 2.0)
  if given >= 0.0:
    levels += drawing.log_survival_at_entry(source.distribution, given)
  at = drawing.values(source.distribution, "quantile_log_survival", levels)
  target = drawing.new_axes() if axes is None else axes
  end = max(float(onp.max(at)), float(onp.max(estimate.times)))
  target.plot([0.0, end], [0.0, end], color="black", linewidth=1.0)
  target.plot(at, estimate.times, "o", markersize=3.0)
  target.set_xlabel("quantile of the fit")
  target.set_ylabel("time of the event")
  return target


def plot_posterior_predictive(
  draws: Distribution,
  observations: observations_lib.Observations,
  axes: Axes | None = None,
  *,
  seed: Seed,
) -> Axes:
  """Draws the data's survival estimate over posterior predictive estimates.

  From each draw of the posterior a data set of the same size is sampled, with
  the times of entry of the data. What was censored cannot be seen longer there
  either; when an event could not have been seen any more is drawn from the
  estimate of Kaplan and Meier for the times of censoring, where there are any.
  The band has 95 % of the estimates of Kaplan and Meier of these data sets at
  each time; the estimate of the data should be within.

  Args:
    draws: a distribution of one variable with batch shape (draws,), one for
      each draw of the parameters.
    observations: see `plot_survival`; weights are counts.
    axes: of matplotlib; None for new ones.
    seed: of the samples, as `sample` takes it.

  Returns:
    The axes.

  Raises:
    ImportError, TypeError, ValueError: as `plot_survival`, or `draws` has
      another batch shape, or weights are not whole numbers.

  Example: three draws of a rate.

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations.right_censored(
    ...   [1.0, 2.0, 2.0, 5.0], [1, 1, 0, 1]
    ... )
    >>> draws = Erlang(2, [0.5, 0.6, 0.7])
    >>> axes = inference.plot_posterior_predictive(draws, data, seed=3)
    >>> axes.get_ylabel()
    'survival function'

  Reference: A. Gelman, J. Carlin, H. Stern, D. Dunson, A. Vehtari, D. Rubin,
    Bayesian data analysis, 2013, ch. 6.
  """
  drawing.check_type("draws", draws)
  shape = draws.batch_shape
  if len(shape) != 1 or shape[0] is None:
    raise ValueError(
      f"draws has batch shape {shape}: it must be (n,) for n draws"
    )
  drawing.check_axes(axes)
  estimate = survival_estimates.kaplan_meier(observations)
  shown = drawing.range_of(observations)
  times = drawing.grid(draws, shown.start, shown.end)
  predicted = survival_estimates.predicted_survival(
    draws, shape[0], observations, times, seed
  )
  low, middle, high = onp.quantile(predicted, [0.025, 0.5, 0.975], axis=0)
  end = drawing.end_of(axes, draws, shown.end)
  target = drawing.new_axes() if axes is None else axes
  drawing.draw_estimate(target, estimate, shown, None)
  drawing.draw_band(target, times, low, high, "post", label="predicted, 95 %")
  target.step(times, middle, where="post", label="predicted, median")
  return drawing.finish(target, _survival_label(shown), end, 1.02)


def _survival_label(shown: drawing.Range) -> str:
  """Returns the axis label of survival functions."""
  given = f", given > {shown.given:g}" if shown.given > 0.0 else ""
  return f"survival function{given}"
