"""Reads columns of a table of covariates, and refuses rows without a value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import tables
from phasic.internal import user_warnings
from phasic.internal.tables import TableLike

# For messages, what columns hold that are neither numbers nor text, by NumPy's
# letter for the kind of the dtype.
_REFUSED = {
  "M": "dates: subtract an origin, and divide by a unit of time",
  "O": "Python objects: it must hold numbers or text",
  "S": "bytes: it must hold numbers or text",
  "V": "records: it must hold numbers or text",
  "c": "complex numbers: it must hold real numbers or text",
  "m": "durations: divide by a unit of time",
}

# Labels that are numbers are taken as codes of categories up to this many.
_MOST_NUMBERED = 10


def column(
  covariates: TableLike, name: str, num_rows: int | None = None
) -> onp.ndarray:
  """Reads a column of a table, such as labels of strata or offsets.

  Args:
    covariates: a table: a pandas or polars DataFrame, a pyarrow Table, or a
      mapping of names to columns.
    name: the name of the column.
    num_rows: the number of rows that the column must have; None for any number.

  Returns:
    The column, (n,), on the host: real numbers or bools of the column's dtype,
    float64 for half precision, or strings.

  Raises:
    TypeError: `covariates` is not a table, `name` not a string or `num_rows`
      not an integer; or the column holds something else, such as dates.
    ValueError: there is no such column, or it has another number of rows, or
      no rows; or a value is missing or infinite: the message names the rows.

  Example:
    >>> from phasic import covariates
    >>> table = {"sex": ["f", "m", "f"], "age": [60, 71, 48]}
    >>> print(covariates.column(table, "sex"), covariates.column(table, "age"))
    ['f' 'm' 'f'] [60 71 48]
  """
  raw_arguments.check_string("name", name)
  check_names("name is", [name], covariates)
  if num_rows is not None:
    num_rows = raw_arguments.integer("num_rows", num_rows)
  values = read(covariates, name)
  if num_rows not in (None, len(values)):
    raise ValueError(
      f"num_rows is {num_rows}, and column {name!r} has {len(values)} rows: there "
      "must be one for each observation"
    )
  return values


def check_names(
  what: str, names: Sequence[str], covariates: TableLike | None
) -> TableLike:
  """Returns a table; raises an error unless it has all of the named columns.

  Args:
    what: the start of the message, before a name.
    names: the names.
    covariates: the table.
  """
  if covariates is None:
    raise TypeError(
      f"covariates is None: it must be the table with the columns {list(names)}"
    )
  there = tables.column_names(covariates, "covariates")
  for name in names:
    if name not in there:
      raise ValueError(
        f"{what} {name!r}: it must be one of the columns of covariates, {there}"
      )
  return covariates


def read_all(
  covariates: TableLike, names: Sequence[str]
) -> dict[str, onp.ndarray]:
  """Reads columns that exist, as `read`; they must have one number of rows."""
  tables.check_sizes({name: tables.values(covariates, name) for name in names})
  return {name: read(covariates, name) for name in names}


def read(covariates: TableLike, name: str) -> onp.ndarray:
  """Reads a column that exists: numbers, bools or strings, all known."""
  values = tables.values(covariates, name)
  if len(values) == 0:
    raise ValueError(f"column {name!r} has no rows: it must have at least one")
  if values.dtype.kind == "O":
    check_rows(name, values, tables.missing(values), "have a value")
    is_text = [isinstance(x, str) for x in values]
    if all(is_text):
      values = onp.asarray(values, dtype=str)
    elif not any(is_text):
      # NumPy infers the dtype of objects that are numbers.
      values = onp.asarray(list(values))
  kind = values.dtype.kind
  # Half precision, and numbers of other packages, of which bfloat16 has the kind
  # of records.
  if values.dtype.name == "float16" or values.dtype.isbuiltin == 2:
    values, kind = onp.asarray(values, dtype=onp.float64), "f"
  if kind in _REFUSED:
    raise TypeError(f"column {name!r} holds {_REFUSED[kind]}")
  if kind == "f":
    check_finite(name, values)
  if kind in "TU" and not is_categorical(covariates, name):
    _check_text(name, values)
  return values


def _check_text(name: str, values: onp.ndarray) -> None:
  """Refuses empty labels, and says if labels look like numbers."""
  bare = onp.strings.strip(values)
  check_rows(name, values, bare == "", "have a label")
  levels = onp.unique(bare)
  if len(levels) > _MOST_NUMBERED and all(map(_is_number, entries(levels))):
    user_warnings.warn(
      f"column {name!r} is text, and its {len(levels)} labels are numbers, such "
      f"as {entries(levels)[0]!r}: each has an effect of its own; convert the "
      "column to numbers, or to categories if labels are meant"
    )


def _is_number(label: object) -> bool:
  try:
    float(str(label))
  except ValueError:
    return False
  return True


def check_finite(name: str, values: onp.ndarray) -> None:
  """Raises ValueError, with the rows, if a column is not finite."""
  bad = onp.logical_not(onp.isfinite(values))
  check_rows(name, values, bad, "be a finite number")


def check_rows(
  name: str,
  values: onp.ndarray,
  bad: onp.ndarray,
  rule: str,
  advice: str = "leave out or fill in rows",
) -> None:
  """Raises ValueError, with the rows, if a column has bad values.

  Args:
    name: of the column.
    values: (n,), its values.
    bad: (n,), which of them are bad.
    rule: what they must be or have.
    advice: what to do, before the list of rows.
  """
  rows = onp.flatnonzero(bad).tolist()
  if rows:
    raise ValueError(
      f"column {name!r} is {entries(values)[rows[0]]!r} in row {rows[0]}: it must "
      f"{rule} in each row; {advice} {raw_arguments.shown(rows)}"
    )


def entries(values: onp.ndarray) -> list[object]:
  """Returns the values of a column as objects of Python."""
  return values.tolist()


def is_categorical(covariates: TableLike, name: str) -> bool:
  """Returns whether a column has the categories of pandas, in their order."""
  dtype = getattr(covariates[name], "dtype", None)
  return type(dtype).__name__ == "CategoricalDtype"


def read_matrix(covariates: TableLike, names: Sequence[str]) -> onp.ndarray:
  """Reads columns of numbers or bools, side by side, (n, k), in float64."""
  read_columns = read_all(covariates, names)
  for name, values in read_columns.items():
    if values.dtype.kind in "TU" or is_categorical(covariates, name):
      raise TypeError(
        f"column {name!r} holds labels: it must hold numbers; for an effect of "
        f"each label write a formula with C({name})"
      )
  return onp.stack(
    [onp.asarray(read_columns[name], dtype=onp.float64) for name in names],
    axis=-1,
  )
