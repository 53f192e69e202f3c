"""The regressions whose figures are stored, for `aft.maximize`."""

from collections.abc import Callable, Mapping
import dataclasses
import functools
import math

import mpmath
import numpy as np

from tests.oracle.regressions import aft
from tests.oracle.regressions import figures
from tests.oracle.regressions import tables

ROSSI_EFFECTS = ("fin", "age", "race", "wexp", "mar", "paro", "prio")
_PENALIZER = 0.1


@dataclasses.dataclass(frozen=True)
class Model:
  """A regression: its family, data, names of effects, held values, clusters."""

  family: str
  data: aft.Data
  effects: tuple[str, ...]
  fixed: Mapping[int, float] | None = None
  clusters: np.ndarray | None = None

  @property
  def names(self) -> tuple[str, ...]:
    """Those of the parameters that are not held."""
    num_strata = int(np.max(self.data.strata)) + 1
    scales = (f"log_scale_{k + 1}" for k in range(num_strata))
    if num_strata == 1:
      scales = ("log_scale",)
    names = ["Intercept", *self.effects, *scales]
    fixed = self.fixed or {}
    return tuple(name for j, name in enumerate(names) if j not in fixed)

  def maximum(self) -> aft.Maximum:
    """Maximizes its log likelihood in `aft.DIGITS` digits."""
    with mpmath.workdps(aft.DIGITS):
      return aft.maximize(self.family, self.data, self.fixed)

  def fit(self) -> figures.Fit:
    """Returns its maximum, rounded to doubles."""
    with mpmath.workdps(aft.DIGITS):
      maximum = self.maximum()
      columns = (
        [maximum.params[j] for j in maximum.free],
        maximum.errors(),
        maximum.robust_errors(self.clusters),
      )
      return figures.Fit(
        float(maximum.log_likelihood),
        self.names,
        *(np.array(column, float) for column in columns),
      )


def rossi(family: str = "weibull", **options) -> Model:
  """Returns the model of the recidivism data on all seven covariates."""
  table = tables.rossi()
  penalties = options.pop("penalties", None)
  data = _censored(table["week"], table["arrest"], table, ROSSI_EFFECTS)
  data = dataclasses.replace(data, penalties=penalties)
  return Model(family, data, ROSSI_EFFECTS, **options)


def rossi_exponential() -> Model:
  """Returns the same with a scale that is held at 1."""
  return rossi(fixed={1 + len(ROSSI_EFFECTS): 0.0})


def rossi_penalized() -> Model:
  """Returns what lifelines maximizes for `penalizer=0.1`, times 432 subjects.

  With standard deviations sd_j of covariates (divisor n - 1), it maximizes

    mean log likelihood - 0.1 / 2 (sum_j (sd_j b_j)^2 + (log shape)^2).

  The intercept has no penalty, but the log shape has one, as lifelines spares
  intercepts only beside covariates. The log likelihood and the errors of this
  fit include the penalty.
  """
  table = tables.rossi()
  squares = [np.var(table[name], ddof=1) for name in ROSSI_EFFECTS]
  factor = _PENALIZER * len(table["week"])
  return rossi(penalties=[0.0, *(factor * x for x in squares), factor])


def lung(
  effects: tuple[str, ...] = ("age", "sex"),
  rows: np.ndarray | None = None,
  **data,
) -> Model:
  """Returns a Weibull model of the lung data, or of some of its rows."""
  table = tables.lung()
  columns = tables.spline_basis(table["age"])
  table |= {f"spline_{j + 1}": column for j, column in enumerate(columns.T)}
  if rows is not None:
    table = {name: column[rows] for name, column in table.items()}
  censored = _censored(table["time"], table["status"], table, effects)
  return Model("weibull", dataclasses.replace(censored, **data), effects)


def lung_clusters() -> Model:
  """Returns the model on age and sex of the 227 rows with an institution."""
  inst = tables.lung()["inst"]
  rows = np.flatnonzero(~np.isnan(inst))
  return dataclasses.replace(lung(rows=rows), clusters=inst[rows])


def intervals(family: str) -> Model:
  """Returns a model of the simulated intervals."""
  table = tables.intervals()
  effects = ("dose", "group")
  data = aft.Data(table["lower"], table["upper"], _design(table, effects))
  return Model(family, data, effects)


def entries(family: str) -> Model:
  """Returns a model of the simulated times with delayed entries."""
  table = tables.entries()
  data = _censored(table["time"], table["event"], table, ("dose",))
  data = dataclasses.replace(data, entries=table["entry"])
  return Model(family, data, ("dose",))


def _censored(time, event, table, effects) -> aft.Data:
  upper = np.where(event == 1.0, time, math.inf)
  return aft.Data(time, upper, _design(table, effects))


def _design(table: tables.Table, effects: tuple[str, ...]) -> np.ndarray:
  columns = [table[name] for name in effects]
  return np.stack([np.ones_like(columns[0]), *columns], axis=1)


_LUNG = tables.lung()
_SPLINES = ("spline_1", "spline_2", "spline_3", "spline_4", "sex")

MODELS: dict[str, Callable[[], Model]] = {
  "ROSSI_WEIBULL": rossi,
  "ROSSI_EXPONENTIAL": rossi_exponential,
  "ROSSI_LOG_LOGISTIC": functools.partial(rossi, "log_logistic"),
  "ROSSI_PENALIZED": rossi_penalized,
  "LUNG_WEIBULL": lung,
  "LUNG_CLUSTERS": lung_clusters,
  "LUNG_WEIGHTS": functools.partial(lung, weights=_LUNG["weight"]),
  "LUNG_STRATA": functools.partial(
    lung, ("age",), strata=_LUNG["sex"].astype(int) - 1
  ),
  "LUNG_OFFSET": functools.partial(lung, ("sex",), offset=-0.01 * _LUNG["age"]),
  "LUNG_SPLINE": functools.partial(lung, _SPLINES),
  "INTERVALS_WEIBULL": functools.partial(intervals, "weibull"),
  "INTERVALS_LOG_LOGISTIC": functools.partial(intervals, "log_logistic"),
  "ENTRIES_WEIBULL": functools.partial(entries, "weibull"),
  "ENTRIES_LOG_LOGISTIC": functools.partial(entries, "log_logistic"),
}
