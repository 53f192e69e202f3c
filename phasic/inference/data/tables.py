"""Reads observations from columns of a table of any library."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
import math
from typing import TypeAlias

import numpy as onp

from phasic.inference.data import observation_rules
from phasic.inference.parameters.host_values import known
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import tables
from phasic.internal.arrays import ArrayLike
from phasic.math.model import value_rules

# The arguments of `Observations`: lower, upper, weights, entry and cause.
Columns: TypeAlias = tuple[
  ArrayLike,
  ArrayLike | None,
  ArrayLike | None,
  ArrayLike | None,
  ArrayLike | None,
]


_RULE = "use Observations(lower, upper)"


def read(
  table: tables.TableLike,
  columns: Mapping[str, str | None],
  causes: Sequence[str | None] | None,
) -> Columns:
  """Reads the arguments of `Observations` from a table, as host arrays.

  Args:
    table: see `Observations.from_table`.
    columns: names of columns by argument, or None.
    causes: the names of causes in their order, or None.
  """
  names = {key: name for key, name in columns.items() if name is not None}
  _check_names(table, names)
  tables.check_sizes(
    {name: tables.values(table, name) for name in names.values()}
  )

  keys = [key for key in names if key != "cause"]
  numbers = {key: tables.numbers(table, names[key]) for key in keys}
  # Columns of integers or objects get the dtype of the floating columns.
  dtype = dtypes.common_dtype(
    {
      names[key]: numbers[key]
      for key in keys
      if tables.values(table, names[key]).dtype == numbers[key].dtype
      and numbers[key].dtype.kind == "f"
    }
  )

  def column(key: str, missing: float = math.nan) -> onp.ndarray | None:
    return required(key, missing) if key in names else None

  def required(key: str, missing: float = math.nan) -> onp.ndarray:
    values = onp.asarray(numbers[key], dtype=dtype)
    return onp.where(onp.isnan(values), onp.asarray(missing, dtype), values)

  weights, entry = column("weight"), column("entry", -1.0)
  cause = None
  if "cause" in names:
    cause = _causes(
      tables.values(table, names["cause"]), names["cause"], causes
    )
  labels = {**names, "weights": names.get("weight", "weights")}
  if "time" in names:
    times, event = required("time"), column("event")
    arrays: Columns = (times, None, weights, entry, cause)
    if event is not None:
      arrays = ends(
        times, event, weights, entry, cause, (names["time"], names["event"])
      )
    labels |= {"lower": names["time"], "upper": names["time"]}
  else:
    lower, upper = required("lower", -1.0), required("upper", math.inf)
    nothing = (lower < 0) & (upper == math.inf)
    rule = f"one of {names['lower']!r} and {names['upper']!r} must be known"
    known_end = onp.logical_not(nothing)
    given = onp.asarray(numbers["lower"])
    value_rules.check(names["lower"], lower, known_end, rule, given)
    if cause is not None:
      cause = onp.where(upper == math.inf, -1, cause)
    arrays = (lower, upper, weights, entry, cause)
  # Messages name the columns.
  observation_rules.check_known(
    dict(zip(observation_rules.NAMES, arrays, strict=True)), labels
  )
  return arrays


def ends(
  times: ArrayLike,
  observed: ArrayLike,
  weights: ArrayLike | None,
  entry: ArrayLike | None,
  cause: ArrayLike | None,
  names: tuple[str, str] = ("times", "observed"),
) -> Columns:
  """Returns the arguments of `Observations` for right-censored times.

  Args:
    times: (..., n).
    observed: (..., n), on the host: bool, or 0 and 1.
    weights: (..., n) or None, as the others.
    entry: (..., n) or None.
    cause: (..., n) or None.
    names: what messages call `times` and `observed`.
  """
  time, name = names
  times, seen = known(time, times, _RULE), known(name, observed, _RULE)
  dtypes.numeric(times, time)
  if seen.dtype.kind not in "biuf":
    raise TypeError(
      f"{name} has dtype {seen.dtype.name}: it must be bool, or 0 or 1"
    )
  shapes = {time: onp.shape(times), name: onp.shape(seen)}
  if cause is not None:
    cause = structures.as_index_array(known("cause", cause, _RULE), "cause")
    shapes["cause"] = static.shape(cause)
  observation_rules.common_shape(shapes)
  good = (seen == 0) | (seen == 1)
  value_rules.check(name, seen, onp.asarray(good), "it must be bool, or 0 or 1")
  good = (times >= 0) & (times < math.inf)
  rule = "they must be >= 0 and finite"
  value_rules.check(time, times, onp.asarray(good), rule)
  dtype = times.dtype if times.dtype.kind == "f" else None
  infinity = onp.asarray(math.inf, dtype=dtype)
  upper = onp.where(seen == 1, times, infinity)
  if cause is not None:
    cause = onp.where(seen == 1, known("cause", cause, _RULE), -1)
  return times, upper, weights, entry, cause


def _check_names(table: object, names: Mapping[str, str]) -> None:
  """Raises unless the columns exist, and are a valid combination."""
  there = tables.column_names(table, "table")
  for key, name in names.items():
    if not isinstance(name, Hashable):
      raise TypeError(
        f"{key} is {raw_arguments.shown(name)}: it must be the name of a column; "
        "put the values into the table, or use Observations"
      )
  given = set(names) - {"weight", "entry", "cause"}
  if given not in ({"time"}, {"time", "event"}, {"lower", "upper"}):
    raise ValueError(
      f"the given columns are {sorted(names)}: give either time, or time and "
      "event, or lower and upper, as in "
      'from_table(table, time="months", event="died")'
    )
  for key, name in names.items():
    if name not in there:
      raise ValueError(
        f"{key} is {raw_arguments.shown(name)}: it must be one of the "
        f"table's columns, {there}"
      )


def _causes(
  values: onp.ndarray, name: str, causes: Sequence[str | None] | None
) -> onp.ndarray:
  """Returns the causes as indices, with -1 for missing values."""
  if causes is None:
    if values.dtype.kind in "OU" and any(isinstance(x, str) for x in values):
      raise ValueError(
        f"column {name!r} holds names: pass causes, all names in the "
        "order of graph.causes"
      )
    numbers = tables.numbers({name: values}, name)
    numbers = onp.where(onp.isnan(numbers), -1.0, numbers)
    good = (onp.floor(numbers) == numbers) & (abs(numbers) < 2.0**31)
    rule = "it must be a whole number below 2^31, the number of a cause"
    value_rules.check(name, numbers, good, rule)
    return onp.asarray(numbers, dtype=onp.int32)
  raw_arguments.check_sequence("causes", causes, " of names")
  order = list(causes)
  objects = onp.asarray(values, dtype=object)
  lost = tables.missing(objects)
  for x in objects[onp.logical_not(lost)]:
    if x not in order:
      raise ValueError(
        f"column {name!r} has the cause {x!r}: it must be one of the "
        f"distribution's causes {order}, or missing in rows without a cause"
      )
  return onp.asarray(
    [-1 if gone else order.index(x) for gone, x in zip(lost, objects)],
    onp.int32,
  )
