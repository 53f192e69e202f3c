"""Piecewise homogeneous chains by matrix exponentials in ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import flint

from tests.oracle import rational_graph

# Enough bits for numbers below the floating-point range.
_BITS = 2400


class Epoch(NamedTuple):
  """An epoch with its generator.

  Attributes:
    matrix: S, p x p.
    exits: s, p x 1.
  """

  matrix: flint.arb_mat
  exits: flint.arb_mat


class EpochOracle:
  """The distribution of a chain whose generator changes at boundaries."""

  def __init__(
    self,
    graphs: Sequence[Any],
    params: Sequence[Sequence[float]],
    boundaries: Sequence[float],
    state_maps: Sequence[Any] | None = None,
  ):
    flint.ctx.prec = _BITS
    read = [
      rational_graph.read(g, theta)
      for g, theta in zip(graphs, params, strict=True)
    ]
    self._epochs = []
    for exact in read:
      causes = exact.absorbed.ncols()
      ones = flint.fmpq_mat(causes, 1, [1] * causes)
      self._epochs.append(
        Epoch(
          flint.arb_mat(-exact.system()), flint.arb_mat(exact.absorbed * ones)
        )
      )
    self._starts = [flint.arb(0), *(_ball(b) for b in boundaries)]
    self.atom = flint.arb(read[0].atom)
    initial = flint.arb_mat(
      flint.fmpq_mat(1, len(read[0].initial), read[0].initial)
    )
    self._masses = [initial]
    for k in range(len(boundaries)):
      length = self._starts[k + 1] - self._starts[k]
      row = self._masses[k] * (self._epochs[k].matrix * length).exp()
      if state_maps is not None and state_maps[k] is not None:
        moved = flint.arb_mat(1, graphs[k + 1].num_phases)
        for i, state in enumerate(graphs[k].states):
          moved[0, graphs[k + 1].index_of(state_maps[k](state))] += row[0, i]
        row = moved
      self._masses.append(row)

  def _at(self, t: float) -> tuple[flint.arb_mat, Epoch]:
    time = _ball(t)
    k = sum(1 for start in self._starts[1:] if time >= start)
    epoch = self._epochs[k]
    passed = (epoch.matrix * (time - self._starts[k])).exp()
    return self._masses[k] * passed, epoch

  def density(self, t: float) -> flint.arb:
    """Computes f(t), t > 0."""
    row, epoch = self._at(t)
    return (row * epoch.exits)[0, 0]

  def survival(self, t: float) -> flint.arb:
    """Computes P(X > t)."""
    return sum(self._at(t)[0].entries(), flint.arb(0))

  def cdf(self, t: float) -> flint.arb:
    """Computes P(X <= t)."""
    total = self.atom + sum(self._masses[0].entries(), flint.arb(0))
    return total - self.survival(t)

  def moment(self, order: int) -> flint.arb:
    """Computes E[X] or E[X^2], the integral of S(t) or of 2 t S(t)."""
    total = flint.arb(0)
    for k, (row, epoch) in enumerate(
      zip(self._masses, self._epochs, strict=True)
    ):
      if k + 1 < len(self._starts):
        length = self._starts[k + 1] - self._starts[k]
        within, later = _integrals(epoch.matrix, length)
      else:
        p = epoch.matrix.nrows()
        inverse = (-epoch.matrix).inv()
        within = inverse * flint.arb_mat(p, 1, [1] * p)
        later = inverse * within
      if order == 1:
        total += (row * within)[0, 0]
      else:
        total += 2 * ((row * within)[0, 0] * self._starts[k])
        total += 2 * (row * later)[0, 0]
    return total


def _integrals(
  matrix: flint.arb_mat, length: flint.arb
) -> tuple[flint.arb_mat, flint.arb_mat]:
  """Computes the integrals of exp(S u) 1 and u exp(S u) 1 up to a length.

  The exponential of [[S, 1, 0], [0, 0, 1], [0, 0, 0]] has the first of them and
  that of (length - u) exp(S u) 1.
  """
  p = matrix.nrows()
  block = flint.arb_mat(p + 2, p + 2)
  for i in range(p):
    for j in range(p):
      block[i, j] = matrix[i, j]
    block[i, p] = flint.arb(1)
  block[p, p + 1] = flint.arb(1)
  power = (block * length).exp()
  within, later = flint.arb_mat(p, 1), flint.arb_mat(p, 1)
  for i in range(p):
    within[i, 0] = power[i, p]
    later[i, 0] = length * power[i, p] - power[i, p + 1]
  return within, later


def _ball(x: float) -> flint.arb:
  return flint.arb(rational_graph.exact(x))
