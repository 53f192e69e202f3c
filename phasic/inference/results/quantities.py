"""Quantities of a fit: parameters by name, and functions of what was fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import NamedTuple, TypeAlias

import numpy as onp

from phasic.inference.data import likelihood_derivatives
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike

# A function of the fitted value, or the name of a parameter or a method.
Function: TypeAlias = Callable[..., ArrayLike] | str
Bounds: TypeAlias = Sequence[float]

# The ranges of methods of distributions.
_SHARES = ("cdf", "survival_function", "laplace_transform")
_POSITIVE = (
  *("cumulative_hazard", "hazard_function", "limited_expected_value", "mean"),
  *("mean_residual_life", "median", "moment", "prob", "quantile"),
  *("quantile_log_cdf", "quantile_log_survival", "stddev", "variance"),
)


class Quantity(NamedTuple):
  """An array of numbers that depend on the entries of a fit.

  Attributes:
    estimate: the array at the fitted entries, (...).
    slopes: its slopes in the free parameters, (..., d).
    low: lower bounds of its numbers, -inf for none, (...).
    high: upper bounds, inf for none, (...).
    number_at: computes the number at a place, and its slopes in the free
      parameters (d,), at other entries.
  """

  estimate: onp.ndarray
  slopes: onp.ndarray
  low: onp.ndarray
  high: onp.ndarray
  number_at: Callable[[onp.ndarray, tuple[int, ...]], tuple[float, onp.ndarray]]


def quantity_of(
  uncertainty: uncertainty_lib.Uncertainty,
  f: Function,
  args: tuple[object, ...] = (),
  ends: tuple[float, float] = (-math.inf, math.inf),
) -> Quantity:
  """Returns the quantity that the user asked for.

  Args:
    uncertainty: of the fit.
    f: the name of a parameter or of an entry; or a function of the fitted
      value, or the name of one of its methods.
    args: further arguments of a function.
    ends: the range of a function, see `range_of`.
  """
  inner = uncertainty.inner
  if not inner.root.names:
    raise ValueError("nothing was fitted: there are no intervals")
  if isinstance(f, str) and not args:
    parameter = _parameter(uncertainty, f)
    if parameter is not None:
      return parameter
  slopes = uncertainty.slopes_of(f, args)

  def number_at(
    entries: onp.ndarray, place: tuple[int, ...]
  ) -> tuple[float, onp.ndarray]:
    number, slopes = likelihood_derivatives.value_and_slopes(
      inner, entries, f, args, place
    )
    return number, onp.matmul(slopes, inner.jacobian(entries))

  value = inner.root.value_at(inner.array(inner.all_entries))
  result = likelihood_derivatives.called(f, value, args)
  estimate: onp.ndarray = onp.asarray(static.concrete(result), onp.float64)
  return Quantity(
    estimate,
    slopes,
    onp.full(onp.shape(estimate), ends[0]),
    onp.full(onp.shape(estimate), ends[1]),
    number_at,
  )


def range_of(f: Function, bounds: Bounds | None) -> tuple[float, float]:
  """Returns the given range of a function, or the known one of a method."""
  if bounds is not None:
    try:
      low, high = map(float, bounds)
    except (TypeError, ValueError):
      low = high = math.nan
    if not low < high:
      raise ValueError(
        f"bounds is {raw_arguments.shown(bounds)}: it must be a pair (low, high), "
        "the range of the function"
      )
    return low, high
  if f in _SHARES:
    return 0.0, 1.0
  return (0.0 if f in _POSITIVE else -math.inf), math.inf


def named(
  form: uncertainty_lib.Form, name: str, entries: onp.ndarray
) -> onp.ndarray | None:
  """Returns a parameter or entry by its name at m values of all entries.

  Args:
    form: the map of the entries.
    name: the name.
    entries: (k, m).

  Returns:
    (..., m), or None if there is nothing of that name.
  """
  is_fitted = onp.ones(len(entries), bool)
  rows = form.parameter_rows(entries, is_fitted, constants=True)
  path, place = form.place_of(name) or (name, ())
  if path in rows:
    return rows[path][0][place]
  if name in form.names:
    return entries[form.names.index(name)]
  return None


def _parameter(
  uncertainty: uncertainty_lib.Uncertainty, name: str
) -> Quantity | None:
  """Returns a parameter or an entry by its name; None if there is none."""
  inner = uncertainty.inner
  size = len(inner.all_entries)
  units = onp.eye(size)[:, inner.indices]
  is_fitted = onp.isin(onp.arange(size), inner.indices)
  values = inner.all_entries[:, None]
  rows = inner.root.parameter_rows(units, is_fitted)
  all_values = inner.root.parameter_rows(values, is_fitted, constants=True)
  path, place = inner.root.place_of(name) or (name, ())
  if path in rows:
    ends = [x[place] for x in _ends(inner, path, rows[path][0])]
    row, kept = (x[place] for x in rows[path])
    value = all_values[path][0][..., 0][place]
  elif name in inner.root.names:
    i = inner.root.names.index(name)
    row, kept = units[i], onp.asarray(is_fitted[i])
    value = values[i, 0]
    ends = list(_ends(inner, path, row))
  else:
    return None

  def number_at(
    entries: onp.ndarray, at: tuple[int, ...]
  ) -> tuple[float, onp.ndarray]:
    change = onp.matmul(row[at], entries - inner.entries)
    slopes = onp.matmul(row[at], inner.jacobian(entries))
    return float(value[at] + change), slopes

  slopes = onp.matmul(row, inner.jacobian(inner.entries))
  # Numbers that were not fitted, or are at a bound, have no interval.
  slopes = onp.where(kept[..., None], slopes, onp.nan)
  shape = onp.shape(value)
  return Quantity(
    onp.asarray(value),
    slopes,
    onp.broadcast_to(ends[0], shape),
    onp.broadcast_to(ends[1], shape),
    number_at,
  )


def _ends(
  inner: uncertainty_lib.Form, path: str, row: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns the bounds of a parameter, which its scale keeps."""
  ends = inner.root.ends_of(path)
  if ends is not None:
    return ends
  in_sum = onp.where(inner.groups >= 0, 1.0, 0.0)
  is_share = onp.matmul(onp.abs(row), in_sum) > 0
  return onp.zeros(onp.shape(is_share)), onp.where(is_share, 1.0, math.inf)
