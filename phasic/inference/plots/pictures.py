"""Plots of fits and data."""

from __future__ import annotations

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.plots import drawing
from phasic.inference.plots.drawing import Axes
from phasic.inference.results import survival_estimates
from phasic.internal.arrays import Seed


def plot_survival(
  distribution: Distribution,
  observations: observations_lib.Observations | None = None,
  axes: Axes | None = None,
  *,
  label: str = "fit",
) -> Axes:
  """Draws a survival function, with the Kaplan-Meier estimate of the data.

  Where all values were seen only above the first time of entry, e, the estimate
  is one of P(X > t | X > e), and the distribution's is drawn, too.

  Args:
    distribution: of one variable, without a batch.
    observations: exact or right-censored `Observations` (n,), see
      `kaplan_meier`, with a band of 1.96 standard errors; None for none, as
      for a second fit in the same axes, which is then drawn as it is.
    axes: of matplotlib; None for new ones.
    label: the name of the distribution in the legend.

  Returns:
    The axes.

  Raises:
    ImportError: matplotlib or statsmodels is missing.
    TypeError, ValueError: as `kaplan_meier`; it is not a distribution of one
      variable, it has a batch, or its values are NaN; `axes` is not an
      axes of matplotlib.

  Example:

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations.right_censored(
    ...   [1.0, 2.0, 2.0, 5.0], [1, 1, 0, 1]
    ... )
    >>> axes = inference.plot_survival(Erlang(2, 0.6), data)
    >>> axes.get_ylabel()
    'survival function'
  """
  drawing.check_arguments(distribution, axes, label)
  shown, estimate = drawing.Range(-1.0, 0.0), None
  if observations is not None:
    estimate = survival_estimates.kaplan_meier(observations)
    shown = drawing.range_of(observations)
  end = drawing.end_of(axes, distribution, shown.end)
  times = drawing.grid(distribution, shown.start, end)
  curve = drawing.values(distribution, "survival_function", times)
  if shown.given >= 0.0:
    curve = onp.exp(
      drawing.values(distribution, "log_survival_function", times)
      - drawing.log_survival_at_entry(distribution, shown.given)
    )
  axes = drawing.new_axes() if axes is None else axes
  if estimate is not None:
    drawing.draw_estimate(axes, estimate, shown)
  drawing.draw_curve(axes, distribution, times, curve, label, "steps-post")
  return drawing.finish(axes, _survival_label(shown), end, 1.02)


def plot_quantiles(
  distribution: Distribution,
  observations: observations_lib.Observations,
  axes: Axes | None = None,
) -> Axes:
  """Draws a Q-Q plot: event times against quantiles of a distribution.

  The event at t is drawn at the quantile of 1 - (S(t-) + S(t)) / 2, where S is
  the estimate of Kaplan and Meier, which the censored count in, given X > e as
  in `plot_survival`. Points are along the diagonal where the distribution is
  right.

  Args:
    distribution: of one variable, without a batch, with quantiles.
    observations: see `plot_survival`.
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
  drawing.check_arguments(distribution, axes)
  estimate = survival_estimates.kaplan_meier(observations)
  given = drawing.range_of(observations).given
  before = onp.concatenate([onp.ones(1), estimate.survival[:-1]])
  levels = onp.log((before + estimate.survival) / 2.0)
  if given >= 0.0:
    levels += drawing.log_survival_at_entry(distribution, given)
  at = drawing.values(distribution, "quantile_log_survival", levels)
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
  drawing.draw_estimate(target, estimate, shown, with_band=False)
  drawing.draw_band(target, times, low, high, label="predicted, 95 %")
  target.step(times, middle, where="post", label="predicted, median")
  return drawing.finish(target, _survival_label(shown), end, 1.02)


def _survival_label(shown: drawing.Range) -> str:
  """Returns the axis label of survival functions."""
  given = f", given > {shown.given:g}" if shown.given > 0.0 else ""
  return f"survival function{given}"
