"""Effects of covariates and of time on rates: coefficients and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import itertools
from typing import Any, NamedTuple, TypeAlias

import numpy as onp

from phasic import covariates as covariates_lib
from phasic.internal import raw_arguments
from phasic.internal.tables import TableLike

# A formula or names of columns, for all rates or by names of rates.
Effect: TypeAlias = str | Sequence[str]
EffectsLike: TypeAlias = Effect | Mapping[str | tuple[str, ...], Effect]


class Term(NamedTuple):
  """Coefficients of one effect.

  Attributes:
    effect: the formula, or names of columns.
    targets: groups of names that share coefficients: each group has its own.
  """

  effect: Effect
  targets: tuple[tuple[str, ...], ...]


class Columns(NamedTuple):
  """Coefficients and the columns that they multiply.

  Attributes:
    designs: the columns of each term.
    cuts: the times between periods, for which columns follow.
    labels: the names of the k coefficients.
    incidence: one where a coefficient acts on a target, (k, r).
    places: the column that each coefficient multiplies, (k,).
  """

  designs: tuple[covariates_lib.Design, ...]
  cuts: tuple[float, ...]
  labels: tuple[str, ...]
  incidence: onp.ndarray
  places: onp.ndarray

  def evaluate(
    self, table: TableLike | None, size: int, times: onp.ndarray
  ) -> onp.ndarray:
    """Evaluates the columns for rows of a table, (size, number of columns).

    Args:
      table: the rows, or None if no effect has columns.
      size: the number of rows.
      times: their times, (size,).
    """
    parts = [x.evaluate(_known(table)) for x in self.designs]
    parts.append(in_periods(self.cuts, times))
    return onp.concatenate(parts, axis=-1)


def terms(
  argument: str,
  effects: EffectsLike | None,
  names: Sequence[str],
  what: str,
) -> tuple[Term, ...]:
  """Reads the argument of a model that gives effects.

  Args:
    argument: its name.
    effects: the argument.
    names: of what may have effects.
    what: these are, for messages.

  Raises:
    TypeError: it has another type.
    ValueError: it names something else.
  """
  if effects is None:
    return ()
  if not names:
    raise ValueError(
      f"{argument} is {raw_arguments.shown(effects)}: there are no {what} on which "
      "it could act; leave it out"
    )
  if not isinstance(effects, Mapping):
    _check_effect(argument, effects)
    return (Term(effects, tuple((x,) for x in names)),)
  read: list[Term] = []
  for key, effect in effects.items():
    group = key if isinstance(key, tuple) else (key,)
    _check_effect(f"{argument}[{key!r}]", effect)
    for name in group:
      if name not in names:
        raise ValueError(
          f"{argument} has {name!r}: it must be one of the {what} "
          f"{', '.join(names)}"
        )
    read.append(Term(effect, (tuple(group),)))
  return tuple(read)


def _check_effect(argument: str, effect: object) -> None:
  """Raises TypeError unless an effect is a formula or names of columns."""
  is_names = isinstance(effect, (list, tuple)) and all(
    isinstance(x, str) for x in effect
  )
  if not isinstance(effect, str) and not is_names:
    raise TypeError(
      f"{argument} is {raw_arguments.shown(effect)}: it must be a formula such as "
      '"age + C(sex)", or a list of names of columns'
    )


def read(
  effect_terms: Sequence[Term],
  table: TableLike | None,
  names: Sequence[str],
  cuts: Sequence[float] = (),
) -> Columns:
  """Reads the columns of all terms from a table."""
  designs = tuple(covariates_lib.design(x.effect, table) for x in effect_terms)
  labels: list[str] = []
  incidence: list[onp.ndarray] = []
  places: list[int] = []
  offset = 0
  for term, design in zip(effect_terms, designs, strict=True):
    for j, column in enumerate(design.names):
      for group in term.targets:
        labels.append(f"{column}, {' & '.join(group)}")
        incidence.append(onp.isin(names, group))
        places.append(offset + j)
    offset += len(design.names)
  for j, label in enumerate(period_names(cuts)[1:]):
    for name in names:
      labels.append(f"time {label}, {name}")
      incidence.append(onp.isin(names, [name]))
      places.append(offset + j)
  repeated = [x for x in labels if labels.count(x) > 1]
  if repeated:
    raise ValueError(
      f"effects has the coefficient {repeated[0]!r} twice: a column may act on a "
      "rate once"
    )
  return Columns(
    designs,
    tuple(cuts),
    tuple(labels),
    onp.reshape(onp.asarray(incidence, onp.float64), (len(labels), len(names))),
    onp.asarray(places, int),
  )


def period_names(cuts: Sequence[float]) -> list[str]:
  """Returns names of periods, such as "[5, 10)"."""
  ends = [-onp.inf, *cuts, onp.inf]
  return [f"[{a:g}, {b:g})" for a, b in itertools.pairwise(ends)]


def in_periods(cuts: Sequence[float], times: onp.ndarray) -> onp.ndarray:
  """Returns one where a time is in a period after the first, (n, number)."""
  period = onp.searchsorted(onp.asarray(cuts), times, side="right")
  return onp.eye(len(cuts) + 1)[period][:, 1:]


def checked_cuts(cuts: Any) -> tuple[float, ...]:
  """Returns ascending finite times; raises for anything else."""
  try:
    known = onp.asarray(cuts, onp.float64)
  except (TypeError, ValueError):
    known = onp.zeros((0, 0))
  if known.ndim != 1:
    raise TypeError(
      f"cuts is {raw_arguments.shown(cuts)}: it must be a sequence of times"
    )
  if not onp.all(onp.isfinite(known)) or onp.any(onp.diff(known) <= 0):
    raise ValueError(
      f"cuts is {raw_arguments.shown(cuts)}: it must be finite times in ascending "
      "order"
    )
  return tuple(map(float, known))


def _known(table: TableLike | None) -> TableLike:
  if table is None:
    raise TypeError(
      "covariates is None: it must be a table with the columns of the effects"
    )
  return table
