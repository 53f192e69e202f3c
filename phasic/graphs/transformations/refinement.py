"""The coarsest strong lumping of a graph, by partition refinement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as onp

from phasic.graphs.transformations import class_rates
from phasic.graphs.transformations import host_graphs


def coarsest(
  host: host_graphs.HostGraph, first_classes: onp.ndarray
) -> onp.ndarray:
  """Returns the classes (p,) of the coarsest strong lumping.

  Phases whose rates may have changed are looked at again when a class was
  split: those that lead to one that has left its class, and these themselves.
  The largest part keeps the class's number, so that a phase leaves a class at
  most log2 p times.

  Args:
    host: the graph's numbers.
    first_classes: numbers (p,) from zero up; phases of a class have the same.
  """
  rates = class_rates.ClassRates(host)
  partition = _Partition(first_classes)
  departed = onp.arange(host.num_phases)
  while len(departed) > 0:
    affected = rates.affected(departed)
    by_class = partition.by_class(affected)
    representatives = partition.representatives(by_class)
    compared = onp.append(
      affected, onp.asarray(list(representatives.values()), onp.int64)
    )
    keys = rates.signatures(compared, partition.classes)
    signatures = dict(zip([int(i) for i in compared], keys))
    moved: list[int] = []
    for c, phases in by_class.items():
      rest = signatures[representatives[c]] if c in representatives else None
      moved += partition.split(c, [(i, signatures[i]) for i in phases], rest)
    departed = onp.asarray(moved, onp.int64)
  return numbered(int(c) for c in partition.classes)


def numbered(names: Iterable[Hashable]) -> onp.ndarray:
  """Numbers distinct names 0, 1, ... in the order of their appearance."""
  by_name: dict[Hashable, int] = {}
  numbers = [by_name.setdefault(name, len(by_name)) for name in names]
  return onp.asarray(numbers, onp.int64)


class _Partition:
  """A partition of phases, whose classes are split until it is stable."""

  def __init__(self, classes: onp.ndarray):
    self.classes: onp.ndarray = onp.array(classes)
    count = int(onp.max(classes, initial=-1)) + 1
    self._members: list[set[int]] = [set() for _ in range(count)]
    for i, c in enumerate(classes):
      self._members[c].add(i)

  def by_class(self, phases: onp.ndarray) -> dict[int, list[int]]:
    """Groups given phases by their class."""
    groups: dict[int, list[int]] = {}
    for i, c in zip(phases, self.classes[phases]):
      groups.setdefault(int(c), []).append(int(i))
    return groups

  def representatives(self, by_class: dict[int, list[int]]) -> dict[int, int]:
    """For each class, returns one member that is not among the given phases."""
    members: dict[int, int] = {}
    for c, phases in by_class.items():
      if len(phases) < len(self._members[c]):
        listed = set(phases)
        members[c] = next(i for i in self._members[c] if i not in listed)
    return members

  def split(
    self, c: int, signed: list[tuple[int, bytes]], rest: bytes | None
  ) -> list[int]:
    """Splits a class by signatures; returns the phases that leave the class.

    Args:
      c: the class.
      signed: some of its phases with their signatures.
      rest: the signature that all others have, None if there are none.
    """
    parts: dict[bytes, list[int]] = {}
    for i, signature in signed:
      parts.setdefault(signature, []).append(i)
    sizes = {signature: len(part) for signature, part in parts.items()}
    if rest is not None:
      more = len(self._members[c]) - len(signed)
      sizes[rest] = sizes.get(rest, 0) + more
    keeps = max(sizes, key=lambda signature: sizes[signature])
    if rest is not None and rest != keeps:
      listed = {i for i, _ in signed}
      parts.setdefault(rest, []).extend(self._members[c] - listed)
    departed: list[int] = []
    for signature, part in parts.items():
      if signature != keeps:
        self._members[c].difference_update(part)
        self._members.append(set(part))
        classes: onp.ndarray = self.classes
        classes[part] = len(self._members) - 1
        departed += part
    return departed
