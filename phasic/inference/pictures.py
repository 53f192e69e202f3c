"""Pictures of fits next to their data; matplotlib is needed only here."""

from typing import Any

import numpy as onp

from phasic.distributions import distribution as distribution_lib
from phasic.inference import predictive
from phasic.inference import survival_estimates
from phasic.inference.host_values import known

_BAND = {"alpha": 0.2, "linewidth": 0.0, "step": "post"}
_NORMAL_95 = 1.959963984540054


def plot_survival(
  distribution: Any,
  observations: Any = None,
  axes: Any = None,
  *,
  label: str = "fit",
) -> Any:
  """Draws a survival function over the estimate of Kaplan and Meier.

  Args:
    distribution: of one variable, without a batch.
    observations: exact or right-censored `Observations` (n,), see
      `kaplan_meier`, with a band of 1.96 standard errors; None for none, as
      for a second fit in the same axes.
    axes: of matplotlib; None for new ones.
    label: the name of the distribution in the legend.

  Returns:
    The axes.

  Raises:
    ImportError: matplotlib or statsmodels is missing.
    TypeError, ValueError: as `kaplan_meier`, or the distribution has a batch.

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
  _check_single(distribution)
  axes = new_axes() if axes is None else axes
  if observations is not None:
    _draw_estimate(axes, observations)
  axes.plot(*_curve(axes, distribution, "survival_function"), label=label)
  return _finish(axes, "time", "survival function", 0.0, 1.02)


def plot_quantiles(
  distribution: Any, observations: Any, axes: Any = None
) -> Any:
  """Draws times of events against quantiles of a distribution.

  The event at t is drawn at the quantile of 1 - (S(t-) + S(t)) / 2, where S is
  the estimate of Kaplan and Meier, which the censored count in. Points are
  along the diagonal where the distribution is right.

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
  _check_single(distribution)
  found = survival_estimates.kaplan_meier(observations)
  before = onp.concatenate([onp.ones(1), found.survival[:-1]])
  at = _values(distribution, "quantile", 1.0 - (before + found.survival) / 2.0)
  axes = new_axes() if axes is None else axes
  end = max(float(onp.max(at)), float(onp.max(found.times)))
  axes.plot([0.0, end], [0.0, end], color="black", linewidth=1.0)
  axes.plot(at, found.times, "o", markersize=3.0)
  axes.set_xlabel("quantile of the fit")
  axes.set_ylabel("time of the event")
  return axes


def plot_hazard(
  distribution: Any,
  observations: Any = None,
  axes: Any = None,
  *,
  num_groups: int = 8,
  label: str = "fit",
) -> Any:
  """Draws a hazard function over rates of events in groups of times.

  In each group the rate is the number of events by the time (or the steps)
  that all were at risk there; bars are of 95 %, for the logarithm of a Poisson
  number.

  Args:
    distribution: of one variable, without a batch, with a hazard.
    observations: see `plot_survival`.
    axes: of matplotlib; None for new ones.
    num_groups: groups have about the same number of events; fewer where many
      times are equal.
    label: the name of the distribution in the legend.

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
    >>> axes = inference.plot_hazard(Erlang(2, 0.6), data)
    >>> axes.get_ylabel()
    'hazard'
  """
  _check_single(distribution)
  if num_groups < 1:
    raise ValueError(f"num_groups is {num_groups}: it must be >= 1")
  axes = new_axes() if axes is None else axes
  if observations is not None:
    edges, counts, exposures = _grouped(observations, num_groups)
    rates = counts / exposures
    factor = onp.exp(_NORMAL_95 / onp.sqrt(counts))
    axes.errorbar(
      (edges[1:] + edges[:-1]) / 2.0,
      rates,
      xerr=onp.diff(edges) / 2.0,
      yerr=[rates - rates / factor, rates * factor - rates],
      fmt="none",
      color="gray",
      label="events by time at risk",
    )
    axes.set_xlim(0.0, edges[-1])
  axes.plot(*_curve(axes, distribution, "hazard_function"), label=label)
  return _finish(axes, "time", "hazard", 0.0, None)


def plot_posterior_predictive(
  draws: Any, observations: Any, axes: Any = None, *, seed: Any
) -> Any:
  """Draws the data among data that a posterior predicts.

  From each draw of the posterior a data set of the same size is sampled, with
  the times of entry of the data. What was censored cannot be seen longer there
  either; when an event could not have been seen any more is drawn from the
  estimate of Kaplan and Meier for the times of censoring, where there are any.
  The band has 95 % of the estimates of Kaplan and Meier of these data sets at
  each time; that of the data should be within.

  Args:
    draws: a distribution of one variable with batch shape (draws,), one for
      each draw of the parameters.
    observations: see `plot_survival`; weights are counts.
    axes: of matplotlib; None for new ones.
    seed: of the samples.

  Returns:
    The axes.

  Raises:
    ImportError, TypeError, ValueError: as `plot_survival`, or `draws` has
      another batch shape, or weights are no whole numbers.

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
  _check_type("draws", draws)
  shape = tuple(draws.batch_shape)
  if len(shape) != 1:
    raise ValueError(f"draws has batch shape {shape}: it must be (draws,)")
  axes = new_axes() if axes is None else axes
  _draw_estimate(axes, observations, with_band=False)
  grid = onp.linspace(0.0, axes.get_xlim()[1], 200)
  found = predictive.predicted_survival(
    draws, shape[0], observations, grid, seed
  )
  low, middle, high = onp.quantile(found, [0.025, 0.5, 0.975], axis=0)
  axes.fill_between(grid, low, high, label="predicted, 95 %", **_BAND)
  axes.plot(grid, middle, label="predicted, median")
  return _finish(axes, "time", "survival function", 0.0, 1.02)


def new_axes() -> Any:
  """Returns axes of a new figure."""
  try:
    import matplotlib.pyplot
  except ImportError as error:
    raise ImportError(
      "pictures need matplotlib: pip install 'phasic-substrates[inference]'"
    ) from error
  _, axes = matplotlib.pyplot.subplots()
  return axes


def _draw_estimate(
  axes: Any, observations: Any, with_band: bool = True
) -> None:
  """Draws the estimate of Kaplan and Meier, and sets the range of times."""
  found = survival_estimates.kaplan_meier(observations)
  end = 1.05 * float(onp.max(survival_estimates.host_times(observations)[0]))
  times = onp.concatenate([onp.zeros(1), found.times, onp.full(1, end)])

  def steps(x: onp.ndarray, first: float) -> onp.ndarray:
    return onp.concatenate([onp.full(1, first), x, x[-1:]])

  survival = steps(found.survival, 1.0)
  if with_band:
    spread = _NORMAL_95 * steps(found.standard_errors, 0.0)
    low = onp.clip(survival - spread, 0.0, 1.0)
    high = onp.clip(survival + spread, 0.0, 1.0)
    axes.fill_between(times, low, high, color="gray", **_BAND)
  axes.step(times, survival, where="post", color="black", label="Kaplan-Meier")
  axes.set_xlim(0.0, end)


def _grouped(
  observations: Any, num_groups: int
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray]:
  """Returns ends of groups, numbers of events in them, and times at risk."""
  times, events, weights, entry = survival_estimates.host_times(observations)
  shares = onp.linspace(0.0, 1.0, num_groups + 1)[1:]
  ends = onp.unique(onp.quantile(times[events], shares, method="inverted_cdf"))
  edges = onp.concatenate([onp.zeros(1), ends[ends > 0.0]])
  counts = onp.histogram(-times[events], -edges[::-1], weights=weights[events])
  low, high = edges[:-1, None], edges[1:, None]
  left = onp.clip(times, low, high)
  at_risk = left - onp.clip(entry, low, left)
  exposures = onp.sum(weights * at_risk, axis=1)
  return edges, counts[0][::-1], exposures


def _curve(
  axes: Any, distribution: Any, name: str
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns times and the values of a method there."""
  if axes.has_data():
    end = axes.get_xlim()[1]
  else:
    end = float(_values(distribution, "quantile", onp.asarray([0.99]))[0])
  if distribution.support.constraint == "nonnegative_integer":
    grid = onp.arange(0.0, onp.floor(end) + 1.0)
  else:
    grid = onp.linspace(0.0, end, 400)
  return grid, _values(distribution, name, grid)


def _values(distribution: Any, name: str, x: onp.ndarray) -> onp.ndarray:
  """Returns the values of a method on the host."""
  return _host(getattr(distribution, name)(onp.asarray(x, distribution.dtype)))


def _host(x: Any) -> onp.ndarray:
  """Returns an array on the host."""
  return known("distribution", x, "a picture needs its values")


def _check_single(distribution: Any) -> None:
  """Raises unless there is one distribution."""
  _check_type("distribution", distribution)
  shape = tuple(distribution.batch_shape)
  if shape:
    raise ValueError(
      f"distribution has batch shape {shape}: a picture is of one; slice it"
    )


def _check_type(name: str, distribution: Any) -> None:
  """Raises unless it is a distribution."""
  if not isinstance(distribution, distribution_lib.Distribution):
    raise TypeError(
      f"{name} is {type(distribution).__name__}: it must be a distribution, "
      "such as fit.distribution"
    )


def _finish(
  axes: Any, xlabel: str, ylabel: str, bottom: float, top: Any
) -> Any:
  """Names the axes and returns them."""
  axes.set_xlabel(xlabel)
  axes.set_ylabel(ylabel)
  axes.set_ylim(bottom, top)
  axes.legend()
  return axes
