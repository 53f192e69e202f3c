"""Piecewise homogeneous chains by matrix exponentials in ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
import itertools
from typing import Any, NamedTuple

import flint

from tests.oracle import rational_graph

_Row = list[flint.arb]
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
    self._graphs, self._maps = graphs, state_maps
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
    self._starts = [flint.arb(0), *(ball(b) for b in boundaries)]
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
    time = ball(t)
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


class EpochRewardOracle(EpochOracle):
  """Rewards of a chain whose generator changes at boundaries."""

  def __init__(
    self,
    graphs: Sequence[Any],
    params: Sequence[Sequence[float]],
    boundaries: Sequence[float],
    rewards: Sequence[Any],
    state_maps: Sequence[Any] | None = None,
  ):
    super().__init__(graphs, params, boundaries, state_maps)
    self._rewards = [
      [[ball(x) for x in row] for row in own.tolist()] for own in rewards
    ]

  def mixed_moment(self, orders: Sequence[int]) -> flint.arb:
    """Computes E[Y_1^n_1 ... Y_R^n_R]."""
    ends = [range(n + 1) for n in orders]
    levels = list(itertools.product(*ends))
    first = self._masses[0].entries()
    rows = {m: [flint.arb(0)] * len(first) for m in levels}
    rows[levels[0]] = first
    total = flint.arb(0)
    for k, epoch in enumerate(self._epochs):
      p = epoch.matrix.nrows()
      matrix = self._matrix(k, levels)
      row = flint.arb_mat(
        1, matrix.nrows(), [*itertools.chain(*rows.values()), 0]
      )
      if k + 1 == len(self._epochs):
        size = len(levels) * p
        inside = flint.arb_mat(
          size, size, [matrix[i, j] for i in range(size) for j in range(size)]
        )
        ends = flint.arb_mat(size, 1, [matrix[i, size] for i in range(size)])
        own = flint.arb_mat(1, size, row.entries()[:size])
        return total + (own * (-inside).solve(ends))[0, 0]
      length = self._starts[k + 1] - self._starts[k]
      found = (row * (matrix * length).exp()).entries()
      total += found[-1]
      for b, m in enumerate(levels):
        rows[m] = self._mapped(k, found[b * p : (b + 1) * p])
      rows[tuple(orders)] = [flint.arb(0)] * len(rows[levels[0]])
    raise AssertionError("there are no epochs")

  def mark_prob(
    self, counts: Sequence[int], mark_rates: Sequence[float]
  ) -> flint.arb:
    """Computes P(N_1 = n_1, ..., N_R = n_R) of Poisson marks."""
    levels = list(itertools.product(*(range(n + 1) for n in counts)))
    first = self._masses[0].entries()
    rows = {m: [flint.arb(0)] * len(first) for m in levels}
    rows[levels[0]] = first
    total = self.atom if sum(counts) == 0 else flint.arb(0)
    for k, epoch in enumerate(self._epochs):
      p, size = epoch.matrix.nrows(), len(levels) * epoch.matrix.nrows()
      matrix = self._marked(k, levels, mark_rates)
      row = flint.arb_mat(1, size, [*itertools.chain(*rows.values())])
      # Absorption from the last level, P(N = n) as that of a defective chain.
      ends = flint.arb_mat(size, 1)
      for i in range(p):
        ends[size - p + i, 0] = epoch.exits[i, 0]
      absorbed = (-matrix).solve(ends)
      if k + 1 == len(self._epochs):
        return total + (row * absorbed)[0, 0]
      length = self._starts[k + 1] - self._starts[k]
      after = row * (matrix * length).exp()
      total += (row * absorbed)[0, 0] - (after * absorbed)[0, 0]
      found = after.entries()
      for b, m in enumerate(levels):
        rows[m] = self._mapped(k, found[b * p : (b + 1) * p])
    raise AssertionError("there are no epochs")

  def _marked(
    self, k: int, levels: Sequence[tuple[int, ...]], mark_rates: Sequence[float]
  ) -> flint.arb_mat:
    """Returns the matrix of levels between which marks move paths."""
    matrix, rewards = self._epochs[k].matrix, self._rewards[k]
    p, places = matrix.nrows(), {m: b for b, m in enumerate(levels)}
    found = flint.arb_mat(len(levels) * p, len(levels) * p)
    for b, m in enumerate(levels):
      for i, j in itertools.product(range(p), range(p)):
        found[b * p + i, b * p + j] += matrix[i, j]
      for r, i in itertools.product(range(len(m)), range(p)):
        rate = ball(mark_rates[r]) * rewards[i][r]
        found[b * p + i, b * p + i] -= rate
        after = (*m[:r], m[r] + 1, *m[r + 1 :])
        if after in places:
          found[b * p + i, places[after] * p + i] += rate
    return found

  def _matrix(self, k: int, levels: Sequence[tuple[int, ...]]) -> flint.arb_mat:
    """Returns the matrix of all levels; the last row and column gather."""
    matrix, rewards = self._epochs[k].matrix, self._rewards[k]
    p, last = matrix.nrows(), levels[-1]
    places = {m: b for b, m in enumerate(levels)}
    found = flint.arb_mat(len(levels) * p + 1, len(levels) * p + 1)
    for b, m in enumerate(levels):
      for i, j in itertools.product(range(p), range(p)):
        found[b * p + i, b * p + j] = matrix[i, j]
      for r in range(len(m)):
        after = (*m[:r], m[r] + 1, *m[r + 1 :])
        if after not in places:
          continue
        for i in range(p):
          rate = after[r] * rewards[i][r]
          if after == last:
            found[b * p + i, len(levels) * p] += rate
          else:
            found[b * p + i, places[after] * p + i] += rate
    return found

  def _mapped(self, k: int, row: _Row) -> _Row:
    """Moves masses to the phases of the next epoch."""
    if self._maps is None or self._maps[k] is None:
      return row
    following = self._graphs[k + 1]
    found = [flint.arb(0)] * following.num_phases
    for i, state in enumerate(self._graphs[k].states):
      found[following.index_of(self._maps[k](state))] += row[i]
    return found

  def laplace_transform(self, arguments: Sequence[float]) -> flint.arb:
    """Computes E exp(-u_1 Y_1 - ... - u_R Y_R)."""
    u = [ball(x) for x in arguments]
    row, total = self._masses[0].entries(), self.atom
    for k, epoch in enumerate(self._epochs):
      p = epoch.matrix.nrows()
      killed = flint.arb_mat(epoch.matrix)
      for i in range(p):
        rate = sum(
          (a * x for a, x in zip(u, self._rewards[k][i])), flint.arb(0)
        )
        killed[i, i] -= rate
      absorbed = (-killed).solve(epoch.exits)
      own = flint.arb_mat(1, p, row)
      if k + 1 == len(self._epochs):
        return total + (own * absorbed)[0, 0]
      length = self._starts[k + 1] - self._starts[k]
      after = own * (killed * length).exp()
      total += (own * absorbed)[0, 0] - (after * absorbed)[0, 0]
      row = self._mapped(k, after.entries())
    raise AssertionError("there are no epochs")

  def sojourn_times(self, since: float, until: float) -> list[_Row]:
    """Computes the expected times in each epoch's phases between two times."""
    begin, end = ball(since), ball(until)
    found = []
    for k, epoch in enumerate(self._epochs):
      p, start = epoch.matrix.nrows(), self._starts[k]
      last = k + 1 == len(self._epochs)
      stop = end if last else _least(end, self._starts[k + 1])
      first = _largest(begin, start)
      if not first < stop:
        found.append([flint.arb(0)] * p)
        continue
      row = self._masses[k] * (epoch.matrix * (first - start)).exp()
      block = flint.arb_mat(2 * p, 2 * p)
      for i in range(p):
        block[i, p + i] = 1
        for j in range(p):
          block[i, j] = epoch.matrix[i, j]
      passed = (block * (stop - first)).exp()
      found.append(
        [
          sum((row[0, i] * passed[i, p + j] for i in range(p)), flint.arb(0))
          for j in range(p)
        ]
      )
    return found


def _least(x: flint.arb, y: flint.arb) -> flint.arb:
  return x if x < y else y


def _largest(x: flint.arb, y: flint.arb) -> flint.arb:
  return x if x > y else y


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


def ball(x: float) -> flint.arb:
  return flint.arb(rational_graph.exact(x))
