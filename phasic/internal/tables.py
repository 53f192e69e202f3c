"""Reads columns of a table of any library, as host arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import math
import os
from typing import Protocol

import numpy as onp

from phasic.internal import raw_arguments

# The end of the message about a column whose dtype is not numeric, by NumPy's
# letter for the kind of the dtype.
_NO_NUMBERS = {
  "M": "dates: subtract the origin, and pass numbers, e.g. of days",
  "m": "durations: divide by a unit, and pass numbers",
  "U": "text: it must hold numbers",
}


class TableLike(Protocol):
  """A pandas or polars DataFrame, a pyarrow Table or a mapping of columns."""

  def __getitem__(self, name: str, /) -> object:
    """Returns the column with the given name."""


def column_names(table: object, argument: str) -> list[object]:
  """Returns the names of a table's columns.

  Args:
    table: the table.
    argument: what the message calls it.

  Raises:
    TypeError: it is not a table.
  """
  if isinstance(table, (str, bytes, os.PathLike)):
    raise TypeError(
      f"{argument} is {raw_arguments.shown(table)}: it must be a table; read the "
      "file first, e.g. with pandas.read_csv"
    )
  # The names of the columns are in `column_names` of a pyarrow table, and in
  # `columns` of a table of pandas or polars.
  columns: Iterable[object] | None = getattr(
    table, "column_names", getattr(table, "columns", None)
  )
  if isinstance(table, Mapping):
    columns = table
  if columns is None:
    raise TypeError(
      f"{argument} is {raw_arguments.shown(table)}: it must be a DataFrame, or "
      "a mapping of names to columns"
    )
  return list(columns)


def check_sizes(columns: Mapping[str, onp.ndarray]) -> None:
  """Raises ValueError unless all columns have the same number of rows."""
  sizes = {name: len(values) for name, values in columns.items()}
  if len(set(sizes.values())) > 1:
    listed = ", ".join(f"{name!r} {size}" for name, size in sizes.items())
    raise ValueError(f"columns have different numbers of rows: {listed}")


def values(table: TableLike, name: str) -> onp.ndarray:
  """Returns a column as a host array of any dtype."""
  column = table[name]
  to_numpy = getattr(column, "to_numpy", None)
  array = onp.asarray(column if to_numpy is None else to_numpy())
  if onp.ndim(array) != 1:
    raise ValueError(
      f"column {name!r} has shape {onp.shape(array)}: it must have one number "
      "for each row"
    )
  return array


def numbers(table: TableLike, name: str) -> onp.ndarray:
  """Returns a column as numbers, with NaN for missing values."""
  array = values(table, name)
  if array.dtype.kind == "O":
    lost = missing(array)
    if any(isinstance(x, str) for x in array):
      array = onp.asarray(array, dtype=str)
    else:
      # The objects need not be numbers. NumPy infers their dtype, which is
      # checked below.
      kept = onp.asarray(list(array[onp.logical_not(lost)]))
      if kept.dtype.kind in "biuf":
        kept = onp.asarray(kept, dtype=onp.float64)
        array = onp.full(len(array), math.nan)
        array[onp.logical_not(lost)] = kept
      else:
        array = kept
  if array.dtype.kind not in "biuf":
    what = _NO_NUMBERS.get(
      array.dtype.kind, "values that are not numbers: it must have numbers"
    )
    raise TypeError(f"column {name!r} holds {what}")
  if array.dtype.kind == "f" and array.dtype.itemsize < 4:
    array = onp.asarray(array, dtype=onp.float64)
  return array


def missing(objects: onp.ndarray) -> onp.ndarray:
  """Returns a mask of the missing values in an array of objects.

  They are None, NaN, and what pandas has for both, which equals nothing.
  """
  return onp.asarray(
    [x is None or type(x).__name__ == "NAType" or x != x for x in objects],
    bool,
  )
