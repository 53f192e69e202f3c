"""Total weights from phases into classes of phases, for lumping."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Returns the given phases and all predecessors of these."""
    edges = _ranges(self._back_starts, phases)
    changed: onp.ndarray = onp.concatenate([phases, self._predecessors[edges]])
    return onp.unique(changed)

  def signatures(
    self, phases: onp.ndarray, classes: onp.ndarray
  ) -> Sequence[bytes]:
    """Returns a key per phase, equal for equal weights into all other classes.

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
