"""Reads columns of panel data, and names of states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import numbers
from typing import Any, TypeAlias

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import tables
from phasic.internal.tables import TableLike

# The name of a state: whole numbers become strings.
State: TypeAlias = str | int


def text(x: object, what: str) -> str:
  """Returns the name of a state or subject as a string.

  Raises:
    TypeError: it is neither a string nor a whole number.
  """
  if isinstance(x, str):
    return str(x)
  is_number = isinstance(x, numbers.Real) and not isinstance(
    x, (bool, onp.bool_)
  )
  if is_number and float(x) == int(float(x)):  # type: ignore[arg-type]
    return str(int(float(x)))  # type: ignore[arg-type]
  raise TypeError(
    f"{what} is {raw_arguments.shown(x)}: it must be a string or a whole number"
  )


def names(argument: str, given: Any) -> list[str]:
  """Returns names of states as strings; a lone string is an error."""
  if isinstance(given, str) or not isinstance(given, (Sequence, onp.ndarray)):
    raise TypeError(
      f"{argument} is {raw_arguments.shown(given)}: it must be a sequence of "
      "names of states"
    )
  return [text(x, f"{argument}[{i}]") for i, x in enumerate(given)]


def sets_of_states(
  censored: object, exact: Sequence[str]
) -> dict[str, tuple[str, ...]]:
  """Returns the states that labels stand for, as strings."""
  if censored is None:
    return {}
  if not isinstance(censored, Mapping):
    raise TypeError(
      f"censored is {raw_arguments.shown(censored)}: it must map labels to lists "
      "of states"
    )
  sets: dict[str, tuple[str, ...]] = {}
  for label, states in censored.items():
    key = text(label, "a label of censored")
    sets |= {key: tuple(names(f"censored[{key!r}]", states))}
    if not sets[key]:
      raise ValueError(
        f"censored[{key!r}] is empty: it must name the possible states"
      )
    if key in exact:
      raise ValueError(
        f"exact has {key!r}, which censored says is a set of states: only a "
        "state has a time of entry"
      )
  for label, states in sets.items():
    for other in states:
      if other in sets:
        raise ValueError(
          f"censored[{label!r}] has {other!r}, which is itself a set: it must "
          "name states"
        )
  return sets


def column_arguments(
  table: TableLike,
  single: Mapping[str, str | None],
  several: Mapping[str, Sequence[str]],
) -> list[str]:
  """Returns the names of all columns; raises unless the table has them."""
  there = tables.column_names(table, "table")
  pairs = [(key, x) for key, x in single.items() if x is not None]
  for argument, columns in several.items():
    if isinstance(columns, str) or not isinstance(columns, Sequence):
      raise TypeError(
        f"{argument} is {raw_arguments.shown(columns)}: it must be a list of "
        "names of columns"
      )
    pairs += [(f"{argument}[{i}]", x) for i, x in enumerate(columns)]
  for key, name in pairs:
    raw_arguments.check_string(key, name)
    if name not in there:
      raise ValueError(
        f"{key} is {name!r}: it must be one of the columns of table, {there}"
      )
  return [name for _, name in pairs]


def _objects(table: TableLike, column: str) -> list[object]:
  """Returns a column as Python objects."""
  given = table[column]
  if isinstance(given, (list, tuple)):
    # NumPy would make text of a missing value among strings.
    return list(given)
  values: onp.ndarray = tables.values(table, column)
  return values.tolist()


def labels(
  table: TableLike, column: str, what: str, *, missing: bool
) -> list[str]:
  """Reads labels as strings; a missing one is "", or an error."""
  read: list[str] = []
  for row, x in enumerate(_objects(table, column)):
    is_missing = x is None or type(x).__name__ == "NAType" or x != x
    if is_missing and not missing:
      raise ValueError(
        f"column {column!r} has no value in row {row}: each row must have a "
        f"{what}; leave the row out or fill it in"
      )
    read.append("" if is_missing else text(x, f"{column!r} in row {row}"))
  if not read:
    raise ValueError("table has no rows: it must have at least one")
  return read


def covariate(table: TableLike, column: str) -> Any:
  """Returns a column as an array, or as categories of pandas in their order."""
  given = table[column]
  is_categorical = type(getattr(given, "dtype", None)).__name__ == (
    "CategoricalDtype"
  )
  if is_categorical:
    # Levels of other rows may have been left over.
    values: Any = getattr(given, "array", given)
    return values.remove_unused_categories()
  if isinstance(given, (list, tuple)) and any(
    isinstance(x, str) for x in given
  ):
    # NumPy would make text of a missing value among strings.
    return onp.asarray([*given, None], dtype=object)[:-1]
  return tables.values(table, column)


def times(
  table: TableLike, column: str, subjects: Sequence[str]
) -> onp.ndarray:
  """Reads finite times, (n,), float64."""
  values = onp.asarray(tables.numbers(table, column), onp.float64)
  bad = onp.logical_not(onp.isfinite(values))
  if onp.any(bad):
    row = int(onp.argmax(bad))
    raise ValueError(
      f"column {column!r} is {values[row]} in row {row}, of subject "
      f"{subjects[row]}: a time must be a finite number; leave the row out or "
      "fill it in"
    )
  return values


def flags(table: TableLike, given: object, size: int) -> onp.ndarray:
  """Reads `exact_times`: a bool, or a column of bools, (n,)."""
  if isinstance(given, bool):
    return onp.full(size, given)
  if not isinstance(given, str):
    raise TypeError(
      f"exact_times is {raw_arguments.shown(given)}: it must be a bool or the "
      "name of a column"
    )
  column_arguments(table, {"exact_times": given}, {})
  values = tables.numbers(table, given)
  wrong = (values != 0) & (values != 1)
  if len(values) != size or onp.any(wrong):
    row = int(onp.argmax(wrong))
    raise ValueError(
      f"column {given!r} is {values[row]} in row {row}: it must be true or "
      "false in each row"
    )
  return values != 0


def table_text(heads: list[str], lines: list[list[str]]) -> str:
  """Returns cells as text, the first column to the left."""
  widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
  return "\n".join(
    "  ".join(
      cell.rjust(width) if i else cell.ljust(width)
      for i, (cell, width) in enumerate(zip(line, widths, strict=True))
    ).rstrip()
    for line in (heads, *lines)
  )
