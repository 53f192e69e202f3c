"""The positive numbers that a parameter is made of, which a fit moves.

No entry is derived from others: exits and a mass at zero are told, and rates
that increase are told by their differences.
"""

from collections.abc import Mapping, Sequence
import math
from typing import Any, NamedTuple

import numpy as onp

from phasic.internal import static


class Kind(NamedTuple):
  """What an entry may be.

  Attributes:
    group: of which sum it is part; None for positive numbers.
    may_be_zero: whether that is in the domain.
    is_entry: False for what is not a number of its own, as a diagonal, or
      changes nothing, as a rate from a phase to itself.
    is_fitted: False for what is known, as the bounds of a truncation.
  """

  group: str | None = None
  may_be_zero: bool = True
  is_entry: bool = True
  is_fitted: bool = True


class Entries(NamedTuple):
  """The entries of one parameter.

  Attributes:
    values: in the parameter's shape, on the host.
    names: of the entries.
    kinds: of the entries.
    slack: of the sums that begin here, whether there may be less.
  """

  values: onp.ndarray
  names: Sequence[str]
  kinds: Sequence[Kind]
  slack: Mapping[str | None, bool]


class Place(NamedTuple):
  """Where a parameter is.

  Attributes:
    path: of the distribution that has it, "" or "distribution.".
    name: the parameter's.
    owner: the distribution.
  """

  path: str
  name: str
  owner: Any

  @property
  def start(self) -> str:
    """The sum of the masses of a start."""
    return f"{self.path}start"

  def step(self, phase: object) -> str:
    """The sum of the probabilities of a step from a phase."""
    return f"{self.path}step {phase}"


def same(
  values: onp.ndarray,
  names: Sequence[str],
  kind: Kind,
  slack: Mapping[str | None, bool] | None = None,
) -> Entries:
  """Returns entries of one kind."""
  return Entries(values, names, [kind] * len(names), slack or {})


def masses(
  values: onp.ndarray, names: Sequence[str], group: str, slack: bool, eps: float
) -> Entries:
  """Returns entries that sum to one, or with `slack` to less where they do."""
  total = math.fsum(onp.ravel(values))
  near = abs(total - 1.0) <= 4 * len(names) * eps
  return same(values, names, Kind(group), {group: slack and not near})


def differences(values: onp.ndarray, names: Sequence[str]) -> Entries:
  """Returns what each of increasing numbers is above the one before."""
  found = onp.diff(values, axis=-1, prepend=0.0)
  first = onp.arange(onp.shape(values)[-1]) == 0
  kinds = [Kind(may_be_zero=not x) for x in first]
  labels = [
    x if i == 0 else f"{x} - {names[i - 1]}" for i, x in enumerate(names)
  ]
  return Entries(found, labels, kinds, {})


def off_diagonal(values: onp.ndarray, names: Sequence[str]) -> Entries:
  """Returns the rates of a matrix, whose diagonal they and the exits make."""
  eye = onp.eye(onp.shape(values)[-1], dtype=bool)
  kinds = [Kind(is_entry=not x) for x in onp.ravel(eye)]
  return Entries(onp.where(eye, 0.0, values), names, kinds, {})


def of_edges(
  values: onp.ndarray, names: Sequence[str], place: Place
) -> Entries:
  """Returns rates of edges, of which one to its own phase changes nothing."""
  owner = place.owner
  kinds = [
    Kind(is_entry=bool(source != target))
    for source, target in zip(owner.sources, owner.targets, strict=True)
  ]
  return Entries(values, names, kinds, {})


def of_steps(
  values: onp.ndarray, names: Sequence[str], place: Place
) -> Entries:
  """Returns probabilities of edges, in sums by the phases that they leave.

  They sum to one, or to less where no edge is from the phase to itself.
  """
  owner = place.owner
  sources, targets = onp.asarray(owner.sources), onp.asarray(owner.targets)
  slack: dict[str | None, bool] = {}
  for source in sources:
    rows = sources == source
    rest = 1.0 - math.fsum(values[rows])
    near = abs(rest) <= 4 * int(sum(rows)) * static.finfo_eps(owner.dtype)
    slack[place.step(source)] = not (near or onp.any(targets[rows] == source))
  kinds = [Kind(place.step(source)) for source in sources]
  return Entries(values, names, kinds, slack)
