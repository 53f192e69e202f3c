"""Forest plots: coefficients of a fit, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math

import numpy as onp

from phasic.inference.plots import drawing
from phasic.inference.plots import fit_curves
from phasic.inference.plots.drawing import Axes
from phasic.inference.results import fits
from phasic.inference.results import model_fits
from phasic.inference.results import summaries
from phasic.internal import raw_arguments
from phasic.internal import user_warnings


def plot_coefficients(
  fit: fit_curves.Fitted,
  names: Sequence[str] | None = None,
  axes: Axes | None = None,
  *,
  exponentiate: bool = False,
  confidence_level: float = 0.95,
  robust: bool = False,
) -> Axes:
  """Draws a forest plot: estimates of a fit, with confidence intervals.

  The intervals are those of `fit.summary()`. A line is where there is no
  effect: at zero, or at one on a logarithmic axis.

  Args:
    fit: a `Fit` or a `ModelFit`.
    names: names of rows of `fit.summary()`, in the order from top to bottom;
      None for those of real numbers, such as all coefficients of a regression.
    axes: of matplotlib; None for new ones.
    exponentiate: whether exponentials of real numbers and of the ends of their
      intervals are drawn: ratios of times, intensities or odds.
    confidence_level: between zero and one.
    robust: whether errors are by the sandwich, see `Fit.covariance`.

  Returns:
    The axes.

  Raises:
    ImportError: matplotlib is missing.
    TypeError: an argument has a wrong type.
    ValueError: there are no such rows, or exponentials of numbers that are not
      real ones, such as rates.

  Example: two drugs; the second one doubles times.

    >>> from phasic import inference, regression
    >>> from phasic.distributions import Erlang
    >>> table = {"drug": [0, 0, 0, 1, 1, 1]}
    >>> data = inference.Observations([1.0, 2.0, 3.0, 2.0, 4.0, 6.0])
    >>> fit = inference.fit_mle(
    ...   regression.Regression(Erlang(1, 1.0), time=["drug"]),
    ...   data,
    ...   covariates=table,
    ... )
    >>> axes = inference.plot_coefficients(fit, exponentiate=True)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['time[drug]']
    >>> print(f"{axes.get_lines()[1].get_xdata()[0]:.4f}")
    2.0000

  Reference: S. Lewis, M. Clarke, Forest plots: trying to see the wood and the
    trees, BMJ 322, 2001.
  """
  if not isinstance(fit, (fits.Fit, model_fits.ModelFit)):
    raise TypeError(
      f"fit is {type(fit).__name__}: it must be a fit, such as fit_mle returns"
    )
  raw_arguments.check_flags(exponentiate=exponentiate, robust=robust)
  drawing.check_axes(axes)
  summary = fit.summary(confidence_level, robust)
  rows = _rows(summary, names, exponentiate)
  numbers = onp.asarray(
    [
      [row[head] for head in ("estimate", "low", "high")]
      for row in rows.values()
    ]
  )
  label = "estimate"
  if exponentiate:
    numbers, label = onp.exp(numbers), "exp(estimate)"
  lost = [name for name, row in rows.items() if math.isnan(row["low"])]
  if lost:
    user_warnings.warn(
      f"{lost[0]} is {summary.statuses[lost[0]]!r}: estimates without a standard "
      f"error are drawn without intervals, {len(lost)} of {len(rows)}"
    )
  target = drawing.new_axes() if axes is None else axes
  places = onp.arange(len(rows))
  if exponentiate:
    _make_logarithmic(target)
  reference = 1.0 if exponentiate else 0.0
  target.axvline(reference, color="gray", linewidth=1.0, linestyle="--")
  target.hlines(places, numbers[:, 1], numbers[:, 2], color="black")
  target.plot(numbers[:, 0], places, "o", color="black", markersize=4.0)
  target.set_yticks(places, list(rows))
  target.set_ylim(len(rows) - 0.5, -0.5)
  target.set_xlabel(f"{label}, {drawing.percent(summary.confidence_level)}")
  return target


def _make_logarithmic(axes: Axes) -> None:
  """Makes the x-axis logarithmic, with the ticks 1, 2, 5, 10 and so on."""
  from matplotlib import ticker

  axes.set_xscale("log")
  axes.xaxis.set_minor_locator(ticker.LogLocator(subs=(2.0, 5.0)))
  for set_formatter in (
    axes.xaxis.set_major_formatter,
    axes.xaxis.set_minor_formatter,
  ):
    set_formatter("{x:g}")


def _rows(
  summary: summaries.Summary, names: Sequence[str] | None, only_real: bool
) -> Mapping[str, Mapping[str, float]]:
  """Returns the rows of a summary that are drawn, by name."""
  # Real numbers, without bounds, have an exponential in the table.
  real = {
    name: row
    for name, row in summary.rows.items()
    if not math.isnan(row["exp(estimate)"])
  }
  if names is None:
    if not real:
      raise ValueError(
        "fit has no real numbers, such as coefficients: give names of its "
        f"parameters, of {list(summary.rows)}"
      )
    return real
  listed = raw_arguments.shown(names)
  if isinstance(names, str) or not isinstance(names, Sequence):
    raise TypeError(f"names is {listed}: it must be a list of strings")
  if not names:
    raise ValueError("names is empty: give at least one, or None for all")
  for i, name in enumerate(names):
    raw_arguments.check_string(f"names[{i}]", name)
    if name not in summary.rows:
      raise ValueError(
        f"names[{i}] is {name!r}: it must be one of {list(summary.rows)}"
      )
    if only_real and name not in real:
      raise ValueError(
        f"names[{i}] is {name!r}, which has bounds: exponentials are of real "
        "numbers; leave exponentiate or this name out"
      )
  return {name: summary.rows[name] for name in names}
