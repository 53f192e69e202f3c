"""Rows of `tables` as observations: each function takes a row's columns."""

from collections.abc import Callable

from tests.oracle.panel import given
from tests.oracle.panel import records
from tests.oracle.panel import tables

_DEAD = 3


def grouped(table: tables.Table, row: Callable) -> list[list[records.Row]]:
  """Returns the rows of each subject; `row` takes a dict of a row's columns."""
  subjects: dict[float, list] = {}
  for values in zip(*table.values(), strict=True):
    columns = dict(zip(table, values, strict=True))
    subjects.setdefault(columns["subject"], []).append(row(columns))
  return list(subjects.values())


def _is_dead(columns) -> bool:
  return columns["state"] == _DEAD + 1


def _row(columns, *covariates, states=None, motion=None, **more):
  """Returns a row of a known state, unless `states` are given."""
  if states is None:
    states = (int(columns["state"]) - 1,)
  if motion is None:
    motion = records.ENTRY if _is_dead(columns) else records.VISIT
  return records.Row(
    float(columns["time"]),
    states,
    motion=motion,
    covariates=tuple(float(columns[name]) for name in covariates),
    **more,
  )


def _alive(columns) -> tuple[int, ...]:
  return (_DEAD,) if _is_dead(columns) else (0, 1, 2)


def treated(columns):
  """A visible state; the day of death is known."""
  return _row(columns, "treated")


def at_visit(columns):
  """A visible state; death is seen at the next visit."""
  return _row(columns, "treated", motion=records.VISIT)


def with_dose(columns):
  """A visible state, with the covariates treated and dose."""
  return _row(columns, "treated", "dose")


def _code_states(columns) -> tuple[int, ...]:
  code = int(columns["code"])
  return tuple(i - 1 for i in tables.SETS.get(code, (code,)))


def coded(columns):
  """The states that a code stands for."""
  return _row(columns, "treated", states=_code_states(columns))


def coded_later(columns):
  """The state in the first row, then the states that a code stands for."""
  return treated(columns) if columns["time"] == 0.0 else coded(columns)


def watched(columns):
  """A row of `tables.monitored`."""
  motions = {1: records.VISIT, 2: records.EXACT, 3: records.ENTRY}
  return _row(columns, "treated", motion=motions[int(columns["kind"])])


def phases(columns):
  """The first row is in the first phase, later ones in any of the state."""
  states = given.PHASES[int(columns["state"]) - 1]
  if columns["time"] == 0.0:
    states = states[:1]
  return _row(columns, "treated", states=states)


def labeled(columns, *covariates, labels=None, motion=None):
  """A fallible label; a death is certain, and its day known."""
  return _row(
    columns,
    *(covariates or ("treated",)),
    states=_alive(columns),
    labels=labels or (int(columns["label"]) - 1,),
    motion=motion,
  )


def labeled_at_visit(columns):
  """A fallible label; death is seen at the next visit."""
  return labeled(columns, motion=records.VISIT)


def labeled_with_dose(columns):
  """A fallible label, with the covariates treated and dose."""
  return labeled(columns, "treated", "dose")


def known_first(columns):
  """The true state in the first row, labels later."""
  return treated(columns) if columns["time"] == 0.0 else labeled(columns)


def labels_or_codes(columns):
  """A label, or the set in which the label was."""
  if columns["code"] < 90:
    return labeled(columns)
  return labeled(columns, labels=_code_states(columns))


def labels_or_sets(columns):
  """As `labels_or_codes`; after the first row the set of the state."""
  is_set = columns["code"] > 90 and columns["time"] > 0.0
  return coded(columns) if is_set else labels_or_codes(columns)


def measured(name: str, columns):
  """An outcome of the living; a death is certain, and its day known."""
  outcome = None if _is_dead(columns) else (float(columns[name]),)
  states = _alive(columns)
  return _row(columns, "treated", "dose", states=states, outcome=outcome)
