"""Plots of hazards, with the rates of observed events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters.host_values import whole_number
from phasic.inference.plots import drawing
from phasic.inference.plots import fit_curves
from phasic.inference.plots.drawing import Axes
from phasic.inference.results import confidence
from phasic.inference.results import survival_estimates
from phasic.internal.arrays import Integer
from phasic.internal.tables import TableLike


class Groups(NamedTuple):
  """Numbers of events, and times at risk, in intervals (low, high] of time.

  Attributes:
    edges: (k + 1,), ends of the groups.
    counts: (k,), how many events were in them.
    exposures: (k,), the time, or the steps, that all were at risk in them.
  """

  edges: onp.ndarray
  counts: onp.ndarray
  exposures: onp.ndarray


def plot_hazard(
  distribution: fit_curves.Drawable,
  observations: observations_lib.Observations | None = None,
  axes: Axes | None = None,
  *,
  num_groups: Integer = 8,
  label: str = "fit",
  covariates: TableLike | None = None,
  confidence_level: float = 0.95,
) -> Axes:
  """Draws a hazard function, with observed event rates in groups of times.

  In each group the rate is the number of events by the time (or the steps)
  that all were at risk there; its interval is that of the logarithm of a
  Poisson number. What ends at zero counts in discrete time; else it does so
  without a rate, and is left out.

  The hazard of a fit has a pointwise confidence band, by the delta method for
  its logarithm, in discrete time for its log odds. The y-axis shows at most
  twice the height of the hazard and of the rates, where a band is wider.

  Args:
    distribution: of one variable, without a batch, with a hazard; or a fit, see
      `plot_survival`.
    observations: see `plot_survival`.
    axes: of matplotlib; None for new ones.
    num_groups: groups have about the same number of events; fewer where many
      times are equal.
    label: the name of the distribution in the legend.
    covariates: see `plot_survival`.
    confidence_level: of bands and of the intervals of rates.

  Returns:
    The axes.

  Raises:
    ImportError, TypeError, ValueError: as `plot_survival`; `num_groups` is no
      whole number above zero; no event leads to a rate.

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
  level = confidence.checked_level(confidence_level)
  num_groups = whole_number("num_groups", num_groups, 1)
  source = fit_curves.source_of(
    distribution, observations, axes, label, covariates
  )
  dist = source.distribution
  is_discrete = drawing.counts(dist)
  half = 0.5 if is_discrete else 0.0
  groups, last = None, source.last
  if source.observations is not None:
    groups = _groups_of(dist, source.observations, num_groups)
    last = float(groups.edges[-1]) + half
  end = drawing.end_of(axes, dist, last)
  times = drawing.grid(dist, 0.0, end)
  curves = fit_curves.evaluated(source, "hazard_function", times)
  ends = fit_curves.band(
    source,
    "hazard_function",
    lambda dist, at: dist.hazard_function(at),
    times,
    level,
    (0.0, 1.0 if is_discrete else onp.inf),
  )
  target = drawing.new_axes() if axes is None else axes
  if groups is not None and source.has_estimate:
    _draw_rates(target, groups, half, level)
  colors = fit_curves.draw(target, source, times, curves, "steps-mid")
  highest = 2.0 * target.get_ylim()[1]
  fit_curves.draw_bands(target, source, times, ends, colors, level, "mid")
  top = min(highest, target.get_ylim()[1]) if ends is not None else None
  drawing.finish(target, "hazard", end, top)
  if target.get_xscale() == "linear":
    target.set_xlim(left=-half)
  return target


def grouped(
  observations: observations_lib.Observations,
  num_groups: int,
  in_steps: bool,
  from_zero: bool,
) -> Groups:
  """Splits times into groups with about the same number of events.

  Args:
    observations: (n,), exact or right-censored.
    num_groups: at most so many.
    in_steps: whether time goes in steps, of which each is at risk or not.
    from_zero: whether zero is such a step. What ends there otherwise does so
      without a rate.

  Raises:
    ValueError: no event is left.
  """
  times, events, weights, entry = survival_estimates.host_times(observations)
  first = -1.0 if from_zero else 0.0
  if in_steps:
    times, entry = onp.floor(times), onp.floor(entry)
  events = events & (times > first)
  if not onp.any(events):
    raise ValueError(
      "observations has events at zero only: a hazard needs a later event"
    )
  shares = onp.linspace(0.0, 1.0, num_groups + 1)[1:]
  ends = onp.quantile(times[events], shares, method="inverted_cdf")
  edges = onp.concatenate([onp.full(1, first), onp.unique(ends)])
  group = onp.searchsorted(edges, times[events]) - 1
  counts = onp.bincount(group, weights[events])
  low, high = edges[:-1, None], edges[1:, None]
  left = onp.clip(times, low, high)
  at_risk = left - onp.clip(entry, low, left)
  return Groups(edges, counts, onp.sum(weights * at_risk, axis=1))


def _groups_of(
  distribution: Distribution,
  observations: observations_lib.Observations,
  num_groups: int,
) -> Groups:
  """Groups event times; includes time zero if an event is possible there."""
  if not drawing.counts(distribution):
    return grouped(observations, num_groups, False, False)
  at_zero = onp.max(drawing.values(distribution, "hazard_function", 0.0))
  times, events, _, _ = survival_estimates.host_times(observations)
  from_zero = at_zero > 0.0 or bool(onp.any(times[events] == 0.0))
  return grouped(observations, num_groups, True, from_zero)


def _draw_rates(axes: Axes, groups: Groups, half: float, level: float) -> None:
  """Draws event rates with intervals; `half` is half a time step or 0."""
  edges, counts, exposures = groups
  rates = counts / exposures
  factor = onp.exp(confidence.normal_quantile(level) / onp.sqrt(counts))
  # In discrete time a rate is a probability, so that its interval ends at one.
  highest = onp.where(half > 0.0, 1.0, onp.inf)
  axes.errorbar(
    (edges[1:] + edges[:-1]) / 2.0 + half,
    rates,
    xerr=onp.diff(edges) / 2.0,
    yerr=[rates - rates / factor, onp.minimum(rates * factor, highest) - rates],
    fmt="none",
    color="gray",
    label=f"events by time at risk, {drawing.percent(level)}",
  )
