"""Panel data: the states of subjects at some times, read from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from typing import Self

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import tables
from phasic.internal import user_warnings
from phasic.internal.tables import TableLike
from phasic.multistate.data import panel_columns
from phasic.multistate.data import transition_counts
from phasic.multistate.data.panel_columns import State

# How an observation was made: the state was seen; it was entered at this time,
# from an unknown state; it was entered or seen, after the state before was held
# until then.
SEEN, ENTERED, HELD = 0, 1, 2


@dataclasses.dataclass(frozen=True, eq=False)
class PanelData:
  """States of subjects at the times at which they were seen.

  `from_table` makes it. Rows are sorted by subject and time, all arrays are on
  the host.

  Attributes:
    subjects: the labels of the s subjects.
    subject: whose each of n rows is, (n,).
    times: (n,).
    states: the observed states, (n,), strings; "" where nothing is known.
    kinds: how they were observed, (n,): 0 for a state that was seen, 1 for an
      entry at a known time from an unknown state, 2 if the state before was
      held until then.
    possible: the states that a label stands for, by label.
    exact: the states whose times of entry are known.
    covariates: columns, (n,), by name.
    outcomes: columns, (n,), by name; NaN where missing.
    rows: the rows of the table, (n,).

  Example: two patients; the time of a death is known.

    >>> from phasic import multistate
    >>> table = {
    ...   "patient": [1, 1, 1, 2, 2],
    ...   "years": [0.0, 1.0, 2.5, 0.0, 1.2],
    ...   "stage": ["well", "ill", "dead", "well", "well"],
    ... }
    >>> data = multistate.PanelData.from_table(
    ...   table, subject="patient", time="years", state="stage", exact=["dead"]
    ... )
    >>> data
    <PanelData 2 subjects, 5 rows, states well, ill, dead>
  """

  subjects: tuple[str, ...]
  subject: onp.ndarray
  times: onp.ndarray
  states: onp.ndarray
  kinds: onp.ndarray
  possible: Mapping[str, tuple[str, ...]]
  exact: tuple[str, ...]
  covariates: Mapping[str, onp.ndarray]
  outcomes: Mapping[str, onp.ndarray]
  rows: onp.ndarray

  def __repr__(self) -> str:
    known = [x for x in dict.fromkeys(map(str, self.states)) if x]
    names = ", ".join(known)
    return (
      f"<PanelData {len(self.subjects)} subjects, {len(self.times)} rows, "
      f"states {names or 'hidden'}>"
    )

  @property
  def is_first(self) -> onp.ndarray:
    """Whether a row is the first one of its subject, (n,)."""
    return onp.concatenate([[True], self.subject[1:] != self.subject[:-1]])

  def label_of(self, row: int) -> str:
    """Returns the subject and the row of the table, for messages."""
    label = self.subjects[self.subject[row]]
    return f"subject {label}, row {int(self.rows[row])}"

  def transitions(self) -> transition_counts.TransitionCounts:
    """Counts pairs of states in consecutive rows of subjects.

    A table of what the data have, before a model. Rows without a state are
    passed over, labels that stand for several states count as they are.

    Example: one of two patients fell ill.

      >>> from phasic import multistate
      >>> data = multistate.PanelData.from_table(
      ...   {
      ...     "patient": [1, 1, 2, 2],
      ...     "years": [0.0, 1.0, 0.0, 1.2],
      ...     "stage": ["well", "ill", "well", "well"],
      ...   },
      ...   subject="patient",
      ...   time="years",
      ...   state="stage",
      ... )
      >>> print(data.transitions())
      from, to  well  ill
      well         1    1
      ill          0    0
    """
    return transition_counts.count(self.subject, list(map(str, self.states)))

  @classmethod
  def from_table(
    cls,
    table: TableLike,
    *,
    subject: str,
    time: str,
    state: str | None = None,
    exact: Sequence[State] = (),
    censored: Mapping[State, Sequence[State]] | None = None,
    exact_times: str | bool = False,
    covariates: Sequence[str] = (),
    outcomes: Sequence[str] = (),
  ) -> Self:
    """Reads a table with a row for each time at which a subject was seen.

    A missing state means that nothing is known of the state at that time, but
    that none of the states in `exact` has been entered. Whole numbers may name
    states, and become strings.

    Args:
      table: a pandas or polars DataFrame, a pyarrow Table, or a mapping of names
        to columns.
      subject: the column of labels of subjects.
      time: the column of times, numbers in any unit; dates must be converted.
      state: the column of states; None if there are only outcomes.
      exact: states whose rows have the time of entry, such as a death; the state
        just before is not known.
      censored: labels that stand for one of several states, e.g.
        `{"alive": ["well", "ill"]}`.
      exact_times: True if at each row the state was entered at that time, and
        the state of the row before was held until then, or still is; or a column
        that says so for each row.
      covariates: columns of covariates, which hold from a row to the next.
      outcomes: columns of measurements that depend on hidden states.

    Returns:
      The data, sorted by time within subjects, which come in the order of their
      first rows.

    Raises:
      TypeError: a column or an argument has a wrong type.
      ValueError: a column is missing, a time is missing or infinite, two rows of
        a subject have the same time (the message names subject and row), a label
        is both a state and a set.

    Warns:
      RuntimeWarning: rows were not in order, and have been sorted.
    """
    names = panel_columns.column_arguments(
      table,
      {"subject": subject, "time": time, "state": state},
      {"covariates": covariates, "outcomes": outcomes},
    )
    tables.check_sizes({name: tables.values(table, name) for name in names})
    labels = panel_columns.labels(table, subject, "subject", missing=False)
    times = panel_columns.times(table, time, labels)
    numbers: dict[str, int] = {}
    codes = onp.asarray([numbers.setdefault(x, len(numbers)) for x in labels])
    order = onp.lexsort((times, codes))
    _check_order(order, codes, times, labels)
    states = onp.full(len(times), "", dtype=object)
    if state is not None:
      read = panel_columns.labels(table, state, "state", missing=True)
      states = onp.asarray(read, dtype=object)
    exact = panel_columns.names("exact", exact)
    possible = panel_columns.sets_of_states(censored, exact)
    held = panel_columns.flags(table, exact_times, len(times))
    kinds = onp.where(held, HELD, SEEN)
    kinds = onp.where(
      onp.isin(states, exact) & onp.logical_not(held), ENTERED, kinds
    )
    return cls(
      subjects=tuple(numbers),
      subject=codes[order],
      times=times[order],
      states=onp.asarray(states[order], dtype=str),
      kinds=kinds[order],
      possible=possible,
      exact=tuple(exact),
      covariates={
        name: panel_columns.covariate(table, name)[order] for name in covariates
      },
      outcomes={name: tables.numbers(table, name)[order] for name in outcomes},
      rows=order,
    )


def _check_order(
  order: onp.ndarray,
  codes: onp.ndarray,
  times: onp.ndarray,
  labels: Sequence[str],
) -> None:
  """Raises ValueError for two rows of one time; warns if rows are not sorted."""
  same = (codes[order][1:] == codes[order][:-1]) & (
    times[order][1:] == times[order][:-1]
  )
  if onp.any(same):
    at = int(onp.argmax(same))
    first, second = int(order[at]), int(order[at + 1])
    raise ValueError(
      f"subject {labels[first]} has time {times[first]:g} in rows {first} and "
      f"{second}: the times of a subject must differ; keep one of the rows"
    )
  if onp.array_equal(order, onp.arange(len(order))):
    return
  moved = int(onp.argmax(order != onp.arange(len(order))))
  user_warnings.warn(
    "the rows of the table have been sorted by subject and time; the first row "
    f"that moved is row {int(order[moved])}, of subject {labels[order[moved]]}"
  )


def check(data: object) -> PanelData:
  """Returns panel data; raises TypeError for anything else."""
  if not isinstance(data, PanelData):
    raise TypeError(
      f"data is {raw_arguments.shown(data)}: it must be PanelData; "
      "PanelData.from_table reads a table"
    )
  return data
