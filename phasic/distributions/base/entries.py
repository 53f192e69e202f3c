"""The independent entries of a parameter, which a fit changes.

Exits and a mass at zero are entries of their own; increasing rates are
represented by their differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple, Protocol

import numpy as onp

from phasic.internal import static
from phasic.math.model.edge_rates import Edges


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


class Owner(Protocol):
  """A distribution that has a parameter."""

  @property
  def parameters(self) -> Mapping[str, object]:
    """The constructor's arguments, by name."""
    ...

  @property
  def dtype(self) -> str:
    """The name of the dtype of the parameters."""
    ...

  def parameter_properties(self) -> Mapping[str, object]:
    """Returns the properties of the array parameters, by name."""
    ...


class Place(NamedTuple):
  """The place of a parameter: its name, its distribution and its path.

  Attributes:
    path: the path of the distribution that has it, "" or "distribution.".
    name: the name of the parameter.
    owner: the distribution.
  """

  path: str
  name: str
  owner: Owner

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


def differences(values: onp.ndarray, names: Sequence[str]) -> Entries:
  """Returns the differences of successive increasing numbers as entries."""
  found = onp.diff(values, axis=-1, prepend=0.0)
  first = onp.arange(onp.shape(values)[-1]) == 0
  kinds = [Kind(may_be_zero=not x) for x in first]
  labels = [
    x if i == 0 else f"{x} - {names[i - 1]}" for i, x in enumerate(names)
  ]
  return Entries(found, labels, kinds, {})


def off_diagonal(values: onp.ndarray, names: Sequence[str]) -> Entries:
  """Returns `Entries` of a matrix: its off-diagonal rates, with their names."""
  eye = onp.eye(onp.shape(values)[-1], dtype=bool)
  kinds = [Kind(is_entry=not x) for x in onp.ravel(eye)]
  return Entries(onp.where(eye, 0.0, values), names, kinds, {})


def of_edges(
  values: onp.ndarray, names: Sequence[str], edges: Edges
) -> Entries:
  """Returns the rates of edges as entries, except edges from a phase to itself.

  With coefficients the entries are the parameters, positive numbers.
  """
  if edges.coefficients is not None:
    return same(values, names, Kind())
  inner = onp.asarray(edges.sources) != onp.asarray(edges.targets)
  kinds = [Kind(is_entry=bool(x)) for x in inner]
  return Entries(values, names, kinds, {})


def of_steps(
  values: onp.ndarray, names: Sequence[str], edges: Edges, place: Place
) -> Entries:
  """Returns the probabilities of edges as entries, grouped by source phase.

  A sum may be less than one if no edge leads from the phase to itself. With
  coefficients the entries are the parameters, positive numbers.
  """
  if edges.coefficients is not None:
    return same(values, names, Kind())
  owner = place.owner
  sources, targets = onp.asarray(edges.sources), onp.asarray(edges.targets)
  substochastic: dict[str | None, bool] = {}
  for source in sources:
    rows = sources == source
    rest = 1.0 - math.fsum(values[rows])
    near = abs(rest) <= 4 * int(sum(rows)) * static.finfo_eps(owner.dtype)
    substochastic[place.step(source)] = not (
      near or onp.any(targets[rows] == source)
    )
  kinds = [Kind(place.step(source)) for source in sources]
  return Entries(values, names, kinds, substochastic)
