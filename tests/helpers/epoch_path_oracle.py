"""Expected statistics of paths through epochs, given observed times.

By block matrix exponentials in ball arithmetic. Absorption is a further phase,
so that paths that ended before an observation are counted too.

Reference: C. F. Van Loan, Computing integrals involving the matrix exponential,
  IEEE Trans. Automat. Contr. 23, 1978.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple

import flint
import numpy as onp

from tests.oracle import epoch_oracle


class PathStatistics(NamedTuple):
  """The statistics of one epoch.

  Attributes:
    starts: (p,), P(in phase i at the start of the epoch | observation).
    sojourns: (p,), the expected times.
    jumps: (p, p + 1), the expected jumps; the last column is absorption.
  """

  starts: onp.ndarray
  sojourns: onp.ndarray
  jumps: onp.ndarray


class _Segment(NamedTuple):
  """A part of an epoch.

  Attributes:
    epoch: its number.
    length: how long it is.
    begins: whether it starts where the epoch does.
    only_living: whether paths that were absorbed before it do not count.
  """

  epoch: int
  length: flint.arb
  begins: bool
  only_living: bool


class EpochPathOracle(epoch_oracle.EpochOracle):
  """Paths of a chain whose generator changes at boundaries."""

  def statistics(self, lower: float, upper: float) -> list[PathStatistics]:
    """Computes the statistics of each epoch for one observation.

    Args:
      lower: as in `Observations`, so that below zero X <= upper is observed.
      upper: equal to `lower` for an exact time, inf for a right-censored one.
    """
    exact, right = lower == upper, upper == math.inf
    if exact or right:
      segments = self._segments(0.0, lower, False)
    elif lower <= 0.0:
      segments = self._segments(0.0, upper, lower == 0.0)
    else:
      segments = [
        *self._segments(0.0, lower, False),
        *self._segments(lower, upper, True),
      ]
    rows = self._rows(segments)
    last = self._epochs[segments[-1].epoch]
    p = last.matrix.nrows()
    ends = [last.exits[i, 0] if exact else flint.arb(1) for i in range(p)]
    absorbed = flint.arb(0 if exact or right else 1)
    if not (exact or right):
      ends = [flint.arb(0)] * p
    column = flint.arb_mat(p + 1, 1, [*ends, absorbed])
    found = [self._none(k) for k in range(len(self._epochs))]
    total = (rows[-1] * self._passed(segments[-1]) * column)[0, 0]
    if exact:
      at_end = rows[-1] * self._passed(segments[-1])
      for i in range(p):
        share = at_end[0, i] * ends[i] / total
        found[segments[-1].epoch].jumps[i, p] += float(share.mid())
    for n in range(len(segments) - 1, -1, -1):
      segment, row = segments[n], rows[n]
      self._count(segment, row, column, total, found[segment.epoch])
      column = self._passed(segment) * column
      if segment.begins:
        own = found[segment.epoch].starts
        for i in range(len(own)):
          own[i] = float((row[0, i] * column[i, 0] / total).mid())
      if segment.only_living:
        size = column.nrows()
        column[size - 1, 0] = flint.arb(0)
      if n and segments[n - 1].epoch != segment.epoch:
        column = self._map_matrix(segment.epoch - 1) * column
    return found

  def _none(self, k: int) -> PathStatistics:
    p = self._epochs[k].matrix.nrows()
    return PathStatistics(onp.zeros(p), onp.zeros(p), onp.zeros((p, p + 1)))

  def _segments(
    self, since: float, until: float, only_living: bool
  ) -> list[_Segment]:
    """Cuts a window of time at boundaries."""
    begin, end = epoch_oracle.ball(since), epoch_oracle.ball(until)
    found: list[_Segment] = []
    for k, start in enumerate(self._starts):
      low = start if start > begin else begin
      high = end
      if k + 1 < len(self._starts) and self._starts[k + 1] < end:
        high = self._starts[k + 1]
      if high < low:
        continue
      if k + 1 < len(self._starts) and self._starts[k + 1] <= begin:
        continue
      living = only_living and not found
      found.append(_Segment(k, high - low, not start < begin, living))
    return found

  def _rows(self, segments: Sequence[_Segment]) -> list[flint.arb_mat]:
    """Returns the masses of phases and absorption at segments' starts."""
    row = flint.arb_mat(
      1, self._masses[0].ncols() + 1, [*self._masses[0].entries(), self.atom]
    )
    found: list[flint.arb_mat] = []
    for n, segment in enumerate(segments):
      if n:
        row = row * self._passed(segments[n - 1])
        if segments[n - 1].epoch != segment.epoch:
          row = row * self._map_matrix(segments[n - 1].epoch)
      if segment.only_living:
        row[0, row.ncols() - 1] = flint.arb(0)
      found.append(row)
    return found

  def _map_matrix(self, k: int) -> flint.arb_mat:
    """Returns the map at the end of an epoch, absorption included."""
    before, after = self._graphs[k], self._graphs[k + 1]
    p, q = before.num_phases, after.num_phases
    found = flint.arb_mat(p + 1, q + 1)
    function = None if self._maps is None else self._maps[k]
    for i, state in enumerate(before.states):
      image = state if function is None else function(state)
      found[i, after.index_of(image)] = 1
    found[p, q] = 1
    return found

  def _matrix(self, k: int) -> flint.arb_mat:
    """Returns the generator of an epoch, absorption included."""
    epoch = self._epochs[k]
    p = epoch.matrix.nrows()
    found = flint.arb_mat(p + 1, p + 1)
    for i in range(p):
      for j in range(p):
        found[i, j] = epoch.matrix[i, j]
      found[i, p] = epoch.exits[i, 0]
    return found

  def _passed(self, segment: _Segment) -> flint.arb_mat:
    return (self._matrix(segment.epoch) * segment.length).exp()

  def _count(
    self,
    segment: _Segment,
    row: flint.arb_mat,
    column: flint.arb_mat,
    total: flint.arb,
    found: PathStatistics,
  ) -> None:
    """Adds the integrals of row exp(Q s) e_i e_j exp(Q (D - s)) column."""
    matrix = self._matrix(segment.epoch)
    size = matrix.nrows()
    block = flint.arb_mat(2 * size, 2 * size)
    outer = column * row
    for i in range(size):
      for j in range(size):
        block[i, j] = block[size + i, size + j] = matrix[i, j]
        block[i, size + j] = outer[i, j]
    grown = (block * segment.length).exp()
    # The block above is the integral of exp(Q s) column row exp(Q (D - s)).
    for i in range(size - 1):
      for j in range(size):
        share = grown[j, size + i] / total
        if i == j:
          found.sojourns[i] += float(share.mid())
        else:
          found.jumps[i, j] += float((matrix[i, j] * share).mid())
