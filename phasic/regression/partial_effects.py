"""Plots of what one covariate does to survival."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as onp

from phasic import covariates as covariates_lib
from phasic import inference
from phasic.internal import raw_arguments
from phasic.internal import tables
from phasic.internal.arrays import ArrayLike
from phasic.internal.frameworks import Foreign
from phasic.internal.tables import TableLike


def plot_partial_effects(
  fit: inference.ModelFit,
  column: str,
  values: Sequence[object],
  covariates: TableLike,
  axes: Foreign | None = None,
  *,
  confidence_level: float = 0.95,
  times: ArrayLike | None = None,
) -> Foreign:
  """Draws survival functions for some values of one column, with bands.

  All other columns are as in the given row, so that curves differ by the effect
  of the column alone.

  Args:
    fit: of a regression.
    column: the name of the column.
    values: its values, one for each curve.
    covariates: a table with one row, of all columns that the regression uses.
    axes: of matplotlib; None for new ones.
    confidence_level: of the bands, between zero and one.
    times: (k,), ascending, at which curves are evaluated; None for a grid over
      the times of the data.

  Returns:
    The axes.

  Raises:
    ImportError: matplotlib is missing.
    TypeError: an argument has a wrong type.
    ValueError: there are no values, the table has no such column, or several
      rows.

  Example: two drugs.

    >>> from phasic import inference, regression
    >>> from phasic.distributions import Erlang
    >>> table = {"drug": [0, 0, 0, 1, 1, 1], "age": [50, 60, 70, 50, 60, 80]}
    >>> data = inference.Observations([1.0, 2.0, 3.0, 2.0, 4.0, 6.0])
    >>> fit = inference.fit_mle(
    ...   regression.Regression(Erlang(1, 1.0), time=["drug", "age"]),
    ...   data,
    ...   covariates=table,
    ... )
    >>> axes = regression.plot_partial_effects(
    ...   fit, "drug", [0, 1], {"drug": [0], "age": [65]}
    ... )
    >>> [line.get_label() for line in axes.get_lines()]
    ['drug=0', 'drug=1']
  """
  if not isinstance(fit, inference.ModelFit):
    raise TypeError(
      f"fit is {type(fit).__name__}: it must be the ModelFit that fit_mle returns "
      "for a Regression"
    )
  rows = _rows(column, values, covariates)
  return inference.plot_survival(
    fit,
    axes=axes,
    label=f"{column}={rows[column][0]}",
    covariates=rows,
    confidence_level=confidence_level,
    times=times,
  )


def _rows(
  column: str, values: Sequence[object], covariates: TableLike
) -> dict[str, Any]:
  """Returns a table with a row for each value of a column."""
  raw_arguments.check_string("column", column)
  names = tables.column_names(covariates, "covariates")
  if column not in names:
    raise ValueError(
      f"column is {column!r}: it must be one of the columns of covariates, {names}"
    )
  is_list = hasattr(values, "__len__") and not isinstance(values, (str, bytes))
  if (
    not is_list
    or not len(values)
    or any(onp.ndim(onp.asarray(x)) for x in values)
  ):
    raise ValueError(
      f"values is {raw_arguments.shown(values)}: it must be a list of values of "
      f"{column!r}, one for each curve"
    )
  rows: dict[str, Any] = {}
  for name in names:
    row = onp.asarray(covariates[str(name)])
    if onp.shape(row)[:1] != (1,):
      raise ValueError(
        f"covariates has shape {onp.shape(row)} in {name!r}: it must have one "
        "row, of the values that the other columns keep"
      )
    rows[str(name)] = onp.repeat(row, len(values), axis=0)
  return {**rows, column: covariates_lib.column({"values": values}, "values")}
