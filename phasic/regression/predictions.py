"""Predictions of fitted regressions, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic import covariates as covariates_lib
from phasic import inference
from phasic.internal import tables
from phasic.internal.arrays import Array, ArrayLike
from phasic.internal.tables import TableLike
from phasic.regression import reading


class Standardized(NamedTuple):
  """Averages over subjects, had all of them one level of a column.

  Attributes:
    levels: the levels, m of them.
    averages: for each level the average of the quantity, (m, ...).
    differences: for all levels but the first one the difference to the
      average at the first, (m - 1, ...).

  Example: mean lives with and without a drug.

    >>> from phasic import inference, regression
    >>> from phasic.distributions import Erlang
    >>> table = {"drug": [0, 0, 1, 1]}
    >>> fit = inference.fit_mle(
    ...   regression.Regression(Erlang(1, 1.0), time=["drug"]),
    ...   inference.Observations([1.0, 3.0, 3.0, 5.0]),
    ...   covariates=table,
    ... )
    >>> means = regression.standardized(
    ...   fit, "mean", covariates=table, column="drug", levels=[0, 1]
    ... )
    >>> means.levels, f"{means.averages.estimate[1]:.3f}"
    ((0, 1), '4.000')
  """

  levels: tuple[object, ...]
  averages: inference.ConfidenceInterval
  differences: inference.ConfidenceInterval


def hazard_ratios(
  fit: inference.ModelFit,
  covariates: TableLike,
  reference: TableLike,
  times: ArrayLike,
  *,
  confidence_level: float = 0.95,
  method: str = "wald",
) -> inference.ConfidenceInterval:
  """Computes ratios of hazards to those of a reference, with intervals.

  Args:
    fit: of a regression.
    covariates: a table with a row for each of n subjects.
    reference: a table with one row, or n.
    times: (k,), at which hazards are compared.
    confidence_level: between zero and one.
    method: "wald", on the scale of logarithms, or "profile".

  Returns:
    The ratios and ends of intervals, (n, k).

  Example: proportional hazards: the ratio is exp(coefficient).

    >>> from phasic import inference, regression
    >>> from phasic.distributions import Erlang
    >>> table = {"drug": [0, 0, 0, 1, 1, 1]}
    >>> data = inference.Observations([1.0, 2.0, 3.0, 2.0, 4.0, 6.0])
    >>> fit = inference.fit_mle(
    ...   regression.Regression(Erlang(1, 1.0), intensity=["drug"]),
    ...   data,
    ...   covariates=table,
    ... )
    >>> ratios = regression.hazard_ratios(
    ...   fit, {"drug": [1]}, {"drug": [0]}, [1.0]
    ... )
    >>> print(f"{ratios.estimate[0, 0]:.4f}")
    0.5000

  Reference: J. P. Klein, M. L. Moeschberger, Survival analysis, 2003, ch. 8.
  """
  _check_fit(fit)
  at = onp.reshape(onp.asarray(times, onp.float64), (-1, 1))

  def ratios(parameters: reading.Parameters) -> Array:
    logs = [
      np.transpose(fit.model.predict(parameters, table).log_hazard_function(at))
      for table in (covariates, reference)
    ]
    return np.exp(logs[0] - logs[1])

  return fit.confidence_interval(
    ratios,
    confidence_level=confidence_level,
    method=method,
    bounds=(0.0, onp.inf),
  )


def standardized(
  fit: inference.ModelFit,
  quantity: Callable[..., ArrayLike] | str,
  *args: object,
  covariates: TableLike,
  column: str,
  levels: Sequence[object],
  confidence_level: float = 0.95,
  bounds: Sequence[float] | None = None,
) -> Standardized:
  """Averages a quantity over subjects, had all of them a level of a column.

  So it has the effect of that column in a population with the other columns of
  these subjects (g-computation): marginal survival, say, where a hazard ratio
  is conditional on the others.

  Args:
    fit: of a regression.
    quantity: a function of a batch of distributions, one for each subject, with
      the subjects on the last axis; or the name of a method.
    *args: of the function, after the distributions; times in shape (k, 1) give
      k averages.
    covariates: a table with a row for each subject.
    column: the name of the column.
    levels: the values that it has for all subjects, one after the other.
    confidence_level: between zero and one.
    bounds: the range of the quantity, see `Fit.confidence_interval`.

  Returns:
    A `Standardized`, with Wald intervals; differences have theirs on their own
    scale.

  Example: mean lives with and without a drug.

    >>> from phasic import inference, regression
    >>> from phasic.distributions import Erlang
    >>> table = {"drug": [0, 0, 0, 1, 1, 1]}
    >>> data = inference.Observations([1.0, 2.0, 3.0, 2.0, 4.0, 6.0])
    >>> fit = inference.fit_mle(
    ...   regression.Regression(Erlang(1, 1.0), time=["drug"]),
    ...   data,
    ...   covariates=table,
    ... )
    >>> means = regression.standardized(
    ...   fit, "mean", covariates=table, column="drug", levels=[0, 1]
    ... )
    >>> print([f"{x:.3f}" for x in means.averages.estimate])
    ['2.000', '4.000']
    >>> print(f"{means.differences.estimate[0]:.3f}")
    2.000

  Reference: J. M. Robins, A new approach to causal inference in mortality
    studies with a sustained exposure period, Math. Modelling 7, 1986.
  """
  _check_fit(fit)
  if not len(levels):
    raise ValueError("levels is empty: it must have at least one value")
  changed = [_with_level(covariates, column, level) for level in levels]

  def averages(parameters: reading.Parameters) -> Array:
    values: list[Any] = []
    for table in changed:
      dists = fit.model.predict(parameters, table)
      values.append(
        getattr(dists, quantity)(*args)
        if isinstance(quantity, str)
        else quantity(dists, *args)
      )
    stacked = np.stack(values, axis=0)
    return np.sum(stacked, axis=-1) / len(_first(changed[0]))

  def differences(parameters: reading.Parameters) -> Array:
    known = averages(parameters)
    return known[1:] - known[:1]

  known_range = bounds
  if bounds is None and isinstance(quantity, str):
    known_range = _RANGES.get(quantity)
  return Standardized(
    tuple(levels),
    fit.confidence_interval(
      averages, confidence_level=confidence_level, bounds=known_range
    ),
    fit.confidence_interval(differences, confidence_level=confidence_level),
  )


# The ranges of some methods, which the scale of an interval keeps.
_RANGES: Mapping[str, tuple[float, float]] = {
  "cdf": (0.0, 1.0),
  "limited_expected_value": (0.0, onp.inf),
  "mean": (0.0, onp.inf),
  "median": (0.0, onp.inf),
  "quantile": (0.0, onp.inf),
  "survival_function": (0.0, 1.0),
}


def _check_fit(fit: object) -> None:
  """Raises TypeError unless the argument is the fit of a model."""
  if not isinstance(fit, inference.ModelFit):
    raise TypeError(
      f"fit is {type(fit).__name__}: it must be the ModelFit that fit_mle returns "
      "for a Regression"
    )


def _with_level(
  covariates: TableLike, column: str, level: object
) -> dict[str, Any]:
  """Returns a table whose column has one value in all rows."""
  names = tables.column_names(covariates, "covariates")
  if column not in names:
    raise ValueError(
      f"column is {column!r}: it must be one of the columns of covariates, {names}"
    )
  table = {str(name): covariates[str(name)] for name in names}
  size = len(covariates_lib.column(covariates, column))
  return {**table, column: [level] * size}


def _first(table: Mapping[str, Any]) -> Any:
  """Returns the first column of a table."""
  return next(iter(table.values()))
