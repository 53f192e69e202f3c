"""Constructors of observations for common kinds of data."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Self

import numpy as np

from phasic.inference.data import tables
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import ArrayLike
from phasic.internal.tables import TableLike
from phasic.math.model import value_rules


class ObservationMakers:
  """The class methods that make `Observations` from common kinds of data."""

  def __init__(self, *arrays: ArrayLike | None):
    """See `Observations`, which overrides this constructor."""
    raise NotImplementedError

  @classmethod
  def exact(
    cls,
    times: ArrayLike,
    weights: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    cause: ArrayLike | None = None,
  ) -> Self:
    """Returns observations of exactly known values, given in shape (..., n)."""
    dtypes.numeric(times, "times")
    known = structures.as_array(times, None, "times")
    good = (known >= 0) & (known < math.inf)
    rule = "values are times or counts, >= 0 and finite"
    value_rules.check("times", known, good, rule)
    return cls(times, None, weights, entry, cause)

  @classmethod
  def right_censored(
    cls,
    times: ArrayLike,
    observed: ArrayLike,
    weights: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    cause: ArrayLike | None = None,
  ) -> Self:
    """Returns observations of exact or right-censored times.

    Args:
      times: (..., n), when the event was, or when it was last known not to have
        been.
      observed: (..., n), bool or 0 and 1: whether the event was observed.
      weights: see `Observations`, as the others.
      entry: see there.
      cause: see there; causes of unobserved events do not count.

    Raises:
      TypeError: as `Observations`.
      ValueError: as `Observations`, or `observed` is neither 0 nor 1.

    Example: two failures, and a machine that still runs after five years.

      >>> from phasic.inference import Observations
      >>> data = Observations.right_censored([1.0, 3.0, 5.0], [1, 1, 0])
      >>> print([float(x) for x in data.upper])
      [1.0, 3.0, inf]
    """
    return cls(*tables.ends(times, observed, weights, entry, cause))

  @classmethod
  def grouped(cls, edges: ArrayLike, counts: ArrayLike) -> Self:
    """Returns observations of grouped data: counts of values in intervals.

    Args:
      edges: (k + 1,), increasing: group i has the values in (edges[i],
        edges[i + 1]]. The first may be below zero, so that zeros are in the
        first group, and the last may be inf.
      counts: (..., k), numbers of values, >= 0.

    Raises:
      TypeError: as `Observations`.
      ValueError: as `Observations`.

    Example: ten values up to one, four up to two, and one beyond.

      >>> import math
      >>> from phasic.distributions import Erlang
      >>> from phasic.inference import Observations
      >>> data = Observations.grouped([-1.0, 1.0, 2.0, math.inf], [10, 4, 1])
      >>> print(f"{float(data.log_likelihood(Erlang(1, 1.0))):.6f}")
      -12.421452
    """
    ends = structures.as_array(edges, None, "edges")
    shape = static.shape(ends)
    if len(shape) != 1 or shape[0] < 2:
      raise ValueError(
        f"edges has shape {shape}: it must be (k + 1,) for k > 0 groups"
      )
    low, high = ends[:-1], ends[1:]
    # The first comparison, of the first edge with itself, is False if the edge
    # is NaN.
    above = np.concatenate([ends[:1] == ends[:1], (high > low) & (high >= 0)])
    rule = "they must increase, and all but the first must be >= 0"
    value_rules.check("edges", ends, above, rule)
    numbers = structures.as_array(counts, None, "counts")
    good = (numbers >= 0) & (numbers < math.inf)
    value_rules.check("counts", numbers, good, "they must be >= 0 and finite")
    sizes = static.shape(numbers)
    if not sizes or sizes[-1] != shape[0] - 1:
      raise ValueError(
        f"counts has shape {sizes}: with {shape[0]} edges it must be "
        f"(..., {shape[0] - 1})"
      )
    return cls(low, high, counts)

  @classmethod
  def from_table(
    cls,
    table: TableLike,
    *,
    time: str | None = None,
    event: str | None = None,
    lower: str | None = None,
    upper: str | None = None,
    weight: str | None = None,
    entry: str | None = None,
    cause: str | None = None,
    causes: Sequence[str | None] | None = None,
  ) -> Self:
    """Returns observations from a table with a row for each observation.

    Args:
      table: a DataFrame of pandas or polars, a Table of pyarrow, or a mapping
        of names to arrays. The other arguments are names of its columns.
      time: when the event was, or when the row was last known to be without it.
      event: whether it was observed, bool or 0 and 1; None for always.
      lower: in the place of time and event: when the value is known to have
        been above; missing where it is not, left-censored.
      upper: when it is known not to have been above; missing where it is not,
        right-censored. A row with equal ones is exact.
      weight: how often the row was observed.
      entry: when it came under observation; missing where that was from the
        start.
      cause: the cause of the event, its number or its name; missing where it is
        not known. Causes of rows without an event do not count.
      causes: the names of the causes in their order, `graph.causes`, where the
        column has names.

    Raises:
      TypeError: a column has no numbers, dates say, or the table is the path
        of a file.
      ValueError: there is no such column, columns do not go together, or a
        value breaks a rule.

    Example:

      >>> from phasic.inference import Observations
      >>> table = {"months": [3.0, 7.5, 12.0], "died": [True, True, False]}
      >>> data = Observations.from_table(table, time="months", event="died")
      >>> print([float(x) for x in data.upper])
      [3.0, 7.5, inf]
    """
    columns = {"time": time, "event": event, "lower": lower, "upper": upper}
    columns |= {"weight": weight, "entry": entry, "cause": cause}
    return cls(*tables.read(table, columns, causes))
