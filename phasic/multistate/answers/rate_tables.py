"""Rates of fitted models, for rows of covariates and periods of time."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import functools
import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic import inference
from phasic import math as math_lib
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import tables
from phasic.internal.arrays import Array
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import models
from phasic.multistate.likelihood import reading
from phasic.multistate.states import chains


class Piece(NamedTuple):
  """A part of time intervals, during which rates do not change.

  Attributes:
    time: a time in this period.
    lengths: of the part in each interval, (t,).
  """

  time: float
  lengths: onp.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class RateTable:
  """The rates of a fitted model for some rows of covariates.

  Attributes:
    spec: the arguments of the model.
    bound: what it has read from its data.
    table: the rows, or None.
    num_rows: their number, n.
    is_single: whether results have no axis for them.
  """

  spec: reading.Spec
  bound: reading.Bound
  table: Mapping[str, Any] | None
  num_rows: int
  is_single: bool

  @property
  def chain(self) -> chains.Chain:
    """The chain of the model."""
    return self.spec.chain

  @property
  def starts(self) -> onp.ndarray:
    """The distribution of phases where a state is entered, (s, p)."""
    return self.chain.start_rows[self.chain.num_phases :]

  @property
  def members(self) -> onp.ndarray:
    """One for the state of each phase, (p, s)."""
    return onp.eye(len(self.chain.states))[self.chain.state_of]

  @property
  def is_absorbing(self) -> onp.ndarray:
    """Whether a state is not left, (s,)."""
    return onp.isin(onp.asarray(self.chain.states), self.chain.absorbing)

  def edge_rates(self, parameters: models.Parameters, time: float) -> Array:
    """Computes the rates of edges at a time, (n, m)."""
    effects = self.bound.effects
    columns = effects.evaluate(
      self.table, self.num_rows, onp.full(self.num_rows, time)
    )
    rates = parameters["rates"]
    return likelihoods.edge_rates(
      self.chain,
      rates,
      parameters.get("effects"),
      structures.cast(columns[:, effects.places], static.dtype_name(rates)),
      effects.incidence,
    )

  def label_columns(self) -> onp.ndarray:
    """Returns what coefficients on wrong labels multiply, (n, l)."""
    errors, n = self.bound.errors, self.num_rows
    if not errors.labels:
      return onp.zeros((n, 0))
    columns = errors.evaluate(self.table, n, onp.zeros(n))
    return columns[:, errors.places]

  def pieces(self, start: float, lengths: onp.ndarray) -> list[Piece]:
    """Cuts intervals of some lengths (t,) that begin at `start`."""
    ends = [-math.inf, *self.bound.effects.cuts, math.inf]
    parts: list[Piece] = []
    for low, high in itertools.pairwise(ends):
      if high > start:
        begin = max(low, start)
        part = onp.clip(lengths - (begin - start), 0.0, high - begin)
        parts.append(Piece(begin, part))
    return [x for x in parts if onp.any(x.lengths > 0)] or parts[:1]

  def shaped(self, x: Array) -> Array:
    """Removes the axis of rows, the first one, if there is one row alone."""
    return x[0] if self.is_single else x


def read(
  fit: object, covariates: object, *, for_labels: bool = False
) -> RateTable:
  """Reads a fit and rows of covariates.

  Args:
    fit: of a `MultiState`.
    covariates: a table; a mapping from columns to single values; or None.
    for_labels: whether effects are those on wrong labels, not on rates.

  Raises:
    TypeError: an argument has a wrong type, or the model needs covariates.
    ValueError: columns have different numbers of rows.
  """
  model = model_of(fit)
  spec, bound = models.spec_of(model), models.bound_of(model)
  if covariates is None:
    if (bound.errors if for_labels else bound.effects).designs:
      raise TypeError(
        "covariates is None, but the model has effects: it must be a table with "
        "their columns, or a mapping such as {'age': 60.0} for one subject"
      )
    return RateTable(spec, bound, None, 1, True)
  names = [str(x) for x in tables.column_names(covariates, "covariates")]
  known: Any = covariates
  is_single = isinstance(covariates, Mapping) and all(
    onp.ndim(known[name]) == 0 for name in names
  )
  table = {name: [known[name]] if is_single else known[name] for name in names}
  columns = {name: tables.values(table, name) for name in names}
  tables.check_sizes(columns)
  size = len(next(iter(columns.values()))) if columns else 1
  return RateTable(spec, bound, columns, size, is_single)


def model_of(fit: object) -> models.MultiState:
  """Returns the model of a fit; raises TypeError for other fits."""
  if isinstance(fit, inference.ModelFit) and isinstance(
    fit.model, models.MultiState
  ):
    return fit.model
  raise TypeError(
    f"fit is {type(fit).__name__}: it must be the ModelFit that fit_mle returns "
    "for a MultiState"
  )


def times_of(
  name: str, x: object, *, least: float = 0.0, endless: bool = False
) -> onp.ndarray:
  """Returns times as host numbers, (...).

  Args:
    name: of the argument.
    x: the argument.
    least: the smallest number that it may have.
    endless: whether times may be infinite.

  Raises:
    TypeError: they are not numbers that are known.
    ValueError: one is out of range.
  """
  times = raw_arguments.host_array(x, name)
  if times.dtype.kind not in "iuf":
    raise TypeError(
      f"{name} is {raw_arguments.shown(x)}: it must be a number, or several"
    )
  times = onp.asarray(times, onp.float64)
  good = (times >= least) & (endless | onp.isfinite(times))
  if not onp.all(good):
    value = onp.ravel(times)[onp.argmin(onp.ravel(good))]
    rule = "" if endless else "finite"
    if least == 0.0:
      rule = f"{rule} and >= 0" if rule else ">= 0"
    raise ValueError(f"{name} has {value:g}: it must be {rule}")
  return times


def time_of(
  name: str, x: object, *, least: float = 0.0, endless: bool = False
) -> float:
  """Returns one time, as `times_of` does."""
  times = times_of(name, x, least=least, endless=endless)
  if onp.ndim(times):
    raise ValueError(
      f"{name} has shape {onp.shape(times)}: it must be one number"
    )
  return float(times)


def edges(
  chain: chains.Chain, rates: Array, targets: onp.ndarray | None = None
) -> math_lib.EdgeRates:
  """Returns the edges of a chain, with given rates, (..., m).

  Args:
    chain: the chain.
    rates: of the edges.
    targets: where they lead, (m,), if that differs.
  """
  return math_lib.EdgeRates(
    onp.asarray(chain.sources, onp.int32),
    onp.asarray(chain.targets if targets is None else targets, onp.int32),
    rates,
  )


def phase_probs(chain: chains.Chain, rates: Array, times: onp.ndarray) -> Array:
  """Computes exp(Q t) between phases, (..., t, p, p).

  Args:
    chain: the chain.
    rates: of its edges, (..., m).
    times: (..., t).
  """
  return math_lib.phase_type.transition_probs(
    likelihoods.like(times, rates),
    edges(chain, rates[..., None, :]),
    None,
    chain.num_phases,
  )


def probs_along(
  table: RateTable,
  parameters: models.Parameters,
  pieces: list[Piece],
) -> Array:
  """Computes transition probabilities over pieces of time, (n, t, p, p)."""
  steps = [
    phase_probs(table.chain, table.edge_rates(parameters, time), lengths)
    for time, lengths in pieces
  ]
  return functools.reduce(lambda x, y: np.matmul(x, y), steps)
