"""The coarsest strong lumping: class rates, and refinement of partitions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
import itertools

import numpy as onp

from phasic.graphs.transformations import host_graphs


class ClassRates:
  """Adds up weights from phases into classes of phases and into absorption."""

  def __init__(self, host: host_graphs.HostGraph):
    order = onp.argsort(host.sources, kind="stable")
    self._sources: onp.ndarray = host.sources[order]
    self._targets: onp.ndarray = host.targets[order]
    self._weights: onp.ndarray = host.weights[order]
    p = host.num_phases
    self._phases = p
    self._causes = len(host.causes)
    self._starts: onp.ndarray = onp.searchsorted(
      self._sources, onp.arange(p + 1)
    )
    inner: onp.ndarray = self._targets < p
    back: onp.ndarray = onp.argsort(self._targets[inner], kind="stable")
    self._predecessors: onp.ndarray = self._sources[inner][back]
    self._back_starts: onp.ndarray = onp.searchsorted(
      self._targets[inner][back], onp.arange(p + 1)
    )

  def affected(self, phases: onp.ndarray) -> onp.ndarray:
    """Returns the given phases and all their predecessors."""
    edges = _ranges(self._back_starts, phases)
    changed: onp.ndarray = onp.concatenate([phases, self._predecessors[edges]])
    return onp.unique(changed)

  def signatures(
    self, phases: onp.ndarray, classes: onp.ndarray
  ) -> Sequence[bytes]:
    """Returns keys, equal for phases with equal weights into all other classes.

    Args:
      phases: the phases that are compared with each other.
      classes: (p,), the class of each phase.
    """
    rows, into, sums = self._sums(phases, classes)
    values = onp.zeros(len(sums), onp.int64)
    for column in onp.moveaxis(sums, -1, 0):
      clusters = _clusters(column)
      values = values * (int(onp.max(clusters, initial=0)) + 1) + clusters
      _, values = onp.unique(values, return_inverse=True)
    pairs = onp.stack([into, values], axis=1)
    starts = onp.searchsorted(rows, onp.arange(len(phases) + 1))
    return [
      pairs[start:end].tobytes() for start, end in itertools.pairwise(starts)
    ]

  def into_classes(
    self, phase: int, classes: onp.ndarray
  ) -> dict[int, onp.ndarray]:
    """Returns the total weights of a phase into other classes, by class.

    Absorption by the c-th cause is class -1 - c.
    """
    _, into, sums = self._sums(onp.asarray([phase]), classes)
    return dict(zip([int(c) for c in into], sums))

  def _sums(
    self, phases: onp.ndarray, classes: onp.ndarray
  ) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray]:
    """Adds up the weights from each phase into each other class.

    Returns positions in `phases`, target classes, and sums of weights.
    """
    edges = _ranges(self._starts, phases)
    counts = self._starts[phases + 1] - self._starts[phases]
    rows = onp.repeat(onp.arange(len(phases)), counts)
    targets = self._targets[edges]
    absorbed = -1 - (targets - self._phases)
    inner = onp.minimum(targets, self._phases - 1)
    into = onp.where(targets < self._phases, classes[inner], absorbed)
    leaves = into != classes[phases][rows]
    rows, into, edges = rows[leaves], into[leaves], edges[leaves]
    order = onp.lexsort((into, rows))
    rows, into, edges = rows[order], into[order], edges[order]
    new = (rows[1:] != rows[:-1]) | (into[1:] != into[:-1])
    first = onp.append(onp.arange(min(1, len(rows))), onp.flatnonzero(new) + 1)
    sums = host_graphs.sums_from(self._weights[edges], first)
    some = onp.any(sums != 0.0, axis=1)
    return rows[first][some], into[first][some], sums[some]


def agree(one: onp.ndarray, two: onp.ndarray) -> bool:
  """Returns whether two weights agree in all terms, up to rounding."""
  larger = onp.maximum(onp.abs(one), onp.abs(two))
  return bool(onp.all(onp.abs(one - two) <= host_graphs.TOLERANCE * larger))


def _clusters(values: onp.ndarray) -> onp.ndarray:
  """Returns integers (n,), equal where values agree up to rounding."""
  distinct, inverse = onp.unique(values, return_inverse=True)
  larger = onp.maximum(onp.abs(distinct[1:]), onp.abs(distinct[:-1]))
  apart = onp.diff(distinct) > host_graphs.TOLERANCE * larger
  return onp.concatenate([[0], onp.cumsum(apart)])[inverse]


def _ranges(starts: onp.ndarray, rows: onp.ndarray) -> onp.ndarray:
  """Returns the positions of the entries in given rows of a CSR matrix."""
  counts = starts[rows + 1] - starts[rows]
  ends = onp.cumsum(counts)
  total = int(ends[-1]) if len(ends) else 0
  shift = onp.repeat(starts[rows] - (ends - counts), counts)
  return onp.arange(total) + shift


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
  rates = ClassRates(host)
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
