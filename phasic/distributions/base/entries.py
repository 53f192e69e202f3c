"""The independent entries of a parameter, which a fit changes.

Exits and a mass at zero are entries of their own; increasing rates are
represented by their differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import itertools
import math
from typing import Any, NamedTuple

import numpy as onp

from phasic.internal import static


class Kind(NamedTuple):
  """The constraint on one entry, and whether a fit changes it.

  Attributes:
    group: the name of the sum that it is part of; None for positive numbers.
    may_be_zero: whether zero is in the domain.
    is_entry: False for numbers that others determine, such as a diagonal, or
      that change nothing, such as a rate from a phase to itself.
    is_fitted: False for known numbers, such as the bounds of a truncation.
  """

  group: str | None = None
  may_be_zero: bool = True
  is_entry: bool = True
  is_fitted: bool = True


class Entries(NamedTuple):
  """The entries of one parameter, with their names and constraints.

  Attributes:
    values: in the parameter's shape, on the host.
    names: the names of the entries.
    kinds: the kinds of the entries.
    substochastic: whether each sum of entries may be less than one.
  """

  values: onp.ndarray
  names: Sequence[str]
  kinds: Sequence[Kind]
  substochastic: Mapping[str | None, bool]


class Place(NamedTuple):
  """The place of a parameter: its name, its distribution and its path.

  Attributes:
    path: the path of the distribution that has it, "" or "distribution.".
    name: the name of the parameter.
    owner: the distribution.
  """

  path: str
  name: str
  owner: Any

  @property
  def start(self) -> str:
    """The name of the group of entries that contains the initial masses."""
    return f"{self.path}start"

  def step(self, phase: object) -> str:
    """Returns the name of the group of step probabilities from a phase."""
    return f"{self.path}step {phase}"


def same(
  values: onp.ndarray,
  names: Sequence[str],
  kind: Kind,
  substochastic: Mapping[str | None, bool] | None = None,
) -> Entries:
  """Returns entries that all have the same constraint."""
  return Entries(values, names, [kind] * len(names), substochastic or {})


def masses(
  values: onp.ndarray,
  names: Sequence[str],
  group: str,
  substochastic: bool,
  eps: float,
) -> Entries:
  """Returns masses as entries whose sum is one, or at most one.

  A fit keeps the sum at one unless `substochastic` is true and the sum of the
  given values is below one.
  """
  total = math.fsum(onp.ravel(values))
  near = abs(total - 1.0) <= 4 * len(names) * eps
  return same(values, names, Kind(group), {group: substochastic and not near})


def differences(
  values: onp.ndarray, names: Sequence[str], may_be_equal: bool
) -> Entries:
  """Returns the differences of successive increasing numbers as entries."""
  steps = onp.diff(values, axis=-1, prepend=0.0)
  rises = [f"{x} - {before}" for before, x in itertools.pairwise(names)]
  kinds = [
    Kind(may_be_zero=False),
    *[Kind(may_be_zero=may_be_equal)] * len(rises),
  ]
  return Entries(steps, [*names[:1], *rises], kinds, {})


def rates(
  values: onp.ndarray, names: Sequence[str], ends: onp.ndarray, place: Place
) -> Entries:
  """Returns rates as entries, except for rates from a phase to itself.

  Args:
    values: a matrix or the rates of edges.
    names: of the rates.
    ends: their sources and targets, (2, *shape of values).
    place: where they are, as for all entries.
  """
  del place  # A rate is an entry of its own.
  is_inner = ends[0] != ends[1]
  kinds = [Kind(is_entry=bool(x)) for x in onp.ravel(is_inner)]
  if onp.ndim(values) == 2:
    values = onp.where(is_inner, values, 0.0)
  return Entries(values, names, kinds, {})


def steps(
  values: onp.ndarray, names: Sequence[str], ends: onp.ndarray, place: Place
) -> Entries:
  """Returns probabilities between phases as entries, grouped by source.

  A sum may be less than one if no edge leads from the phase to itself.
  Arguments are as for `rates`.
  """
  sources, targets = onp.reshape(ends, (2, -1))
  substochastic: dict[str | None, bool] = {}
  for source in dict.fromkeys(sources.tolist()):
    rows = sources == source
    rest = 1.0 - math.fsum(onp.ravel(values)[rows])
    near = abs(rest) <= 4 * int(sum(rows)) * static.finfo_eps(place.owner.dtype)
    substochastic[place.step(source)] = not (
      near or onp.any(targets[rows] == source)
    )
  kinds = [Kind(place.step(source)) for source in sources.tolist()]
  return Entries(values, names, kinds, substochastic)
