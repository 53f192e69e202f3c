"""Reads arguments of regressions: effects, strata, offsets and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any, TypeAlias

import numpy as onp

from phasic import covariates as covariates_lib
from phasic import distributions
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import tables
from phasic.internal.arrays import ArrayLike

# Distributions and arrays of coefficients, by name.
Parameters: TypeAlias = Mapping[str, Any]
# A formula, names of columns, or an array.
Effect: TypeAlias = str | Sequence[str] | ArrayLike


def checked_distribution(dist: object) -> distributions.Distribution:
  """Returns a distribution without a batch; raises for anything else."""
  if not isinstance(dist, distributions.Distribution):
    raise TypeError(
      f"distribution is {raw_arguments.shown(dist)}: it must be a distribution"
    )
  if dist.batch_shape or dist.event_shape:
    raise ValueError(
      f"distribution has batch shape {dist.batch_shape} and event shape "
      f"{dist.event_shape}: both must be (), one distribution of times"
    )
  return dist


def checked_mapping(name: str, x: object) -> dict[str, Any]:
  """Returns a mapping from names as a dict; None is empty."""
  if x is None:
    return {}
  if not isinstance(x, Mapping) or not all(isinstance(k, str) for k in x):
    raise TypeError(
      f"{name} is {raw_arguments.shown(x)}: it must map names of effects to "
      "formulas, columns or arrays"
    )
  return dict(x)


def checked_penalizer(x: object) -> float:
  """Returns a penalizer as a float; raises unless it is >= 0 and finite."""
  is_number = isinstance(x, (int, float)) and not isinstance(x, bool)
  if not is_number:
    raise TypeError(
      f"penalizer is {raw_arguments.shown(x)}: it must be a number"
    )
  penalizer = float(x)  # type: ignore[arg-type]
  if not 0.0 <= penalizer < math.inf:
    raise ValueError(f"penalizer is {penalizer:g}: it must be >= 0 and finite")
  return penalizer


def spread(matrix: onp.ndarray) -> onp.ndarray:
  """Returns the standard deviations of columns, one for constant ones, (k,)."""
  deviations = onp.std(matrix, axis=0, ddof=1 if len(matrix) > 1 else 0)
  return onp.where(deviations > 0, deviations, 1.0)


def numbers(
  name: str, source: str | ArrayLike, covariates: Any, size: int
) -> onp.ndarray:
  """Returns a column of a table, or an array, as finite numbers, (n,)."""
  if isinstance(source, str):
    values = covariates_lib.column(covariates, source, size)
  else:
    values = _host(name, source, size)
  if values.dtype.kind not in "biuf":
    raise TypeError(f"{name} has dtype {values.dtype}: it must hold numbers")
  values = onp.asarray(values, onp.float64)
  bad = onp.flatnonzero(onp.logical_not(onp.isfinite(values)))
  if len(bad):
    raise ValueError(
      f"{name} is {values[bad[0]]} in row {bad[0]}: it must be finite"
    )
  return values


def labels(
  name: str, source: str | ArrayLike, covariates: Any, size: int
) -> onp.ndarray:
  """Returns a column of a table, or an array, as labels, (n,)."""
  if isinstance(source, str):
    return covariates_lib.column(covariates, source, size)
  return _host(name, source, size)


def _host(name: str, source: ArrayLike, size: int) -> onp.ndarray:
  """Returns an array (n,) on the host."""
  values = onp.asarray(static.concrete(source))
  if onp.shape(values) != (size,):
    raise ValueError(
      f"{name} has shape {onp.shape(values)}: it must be ({size},), a value for "
      "each subject"
    )
  return values


def source_of(source: Any, name: str, covariates: Any) -> Any:
  """Returns from where an effect is read for other subjects.

  That is the table; for an effect that is an array, the array of its name.
  """
  is_names = isinstance(source, str) or (
    isinstance(source, (list, tuple))
    and all(isinstance(x, str) for x in source)
  )
  if is_names:
    return covariates
  names = tables.column_names(covariates, "covariates")
  if name not in names:
    raise ValueError(
      f"covariates has no {name!r}: {name} was an array, so that predictions "
      "need an array of that name with a row for each subject"
    )
  return onp.asarray(static.concrete(covariates[name]))


def num_rows(given: Mapping[str, onp.ndarray], covariates: Any) -> int:
  """Returns the number of subjects of a table.

  Raises:
    ValueError: effects have different numbers of rows.
  """
  sizes = {name: len(x) for name, x in given.items()}
  if not sizes:
    name = tables.column_names(covariates, "covariates")[0]
    return len(covariates_lib.column(covariates, str(name)))
  if len(set(sizes.values())) > 1:
    shown = ", ".join(f"{name} {size}" for name, size in sizes.items())
    raise ValueError(
      f"effects have different numbers of rows ({shown}): there must be one for "
      "each subject"
    )
  return next(iter(sizes.values()))
