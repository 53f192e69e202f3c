"""Exact derivatives of values of chains whose generator changes at boundaries.

Each value is what a chain gathers on its way: paths move in the phases of all
levels by a matrix L, and gather at the rates G. Over an epoch of length D both
come from the exponential of [[L, G], [0, 0]] D, and after the last boundary from
(-L)^-1 G. Off the diagonal of L nothing is negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import flint

from tests.oracle import rational_graph
from tests.oracle.derivatives import duals

# Parts of a chain of levels: L, G.
_Flow: TypeAlias = tuple[duals.Dual, duals.Dual]
_BITS = 320


class Direction(NamedTuple):
  """A direction, in the structure of the arguments."""

  params: Sequence[Sequence[float]]
  boundaries: Sequence[float]
  rewards: Sequence[Any]


class _Epoch(NamedTuple):
  """An epoch: S, p x p; exits by cause, p x causes; rewards, p x R."""

  matrix: duals.Dual
  exits: duals.Dual
  rewards: duals.Dual


class EpochDuals:
  """Values of epochs with rewards, and their derivatives along directions."""

  def __init__(
    self,
    graphs: Sequence[Any],
    params: Sequence[Sequence[float]],
    boundaries: Sequence[float],
    rewards: Sequence[Any],
    state_maps: Sequence[Any],
    directions: Sequence[Direction],
  ):
    flint.ctx.prec = _BITS
    self._graphs, self._maps = graphs, state_maps
    self._count = len(directions)
    starts = []
    self._epochs: list[_Epoch] = []
    for k, graph in enumerate(graphs):
      moves = [d.params[k] for d in directions]
      chain, start = _chain(graph, params[k], moves)
      gains = duals.of_slopes(
        _matrix(rewards[k].tolist()),
        [_matrix(d.rewards[k].tolist()) for d in directions],
      )
      self._epochs.append(_Epoch(*chain, gains))
      starts.append(start)
    self._initial, self.atom = starts[0]
    self._starts = [duals.constant(_matrix([[0.0]]), self._count)]
    for k, end in enumerate(boundaries):
      slopes = [_matrix([[d.boundaries[k]]]) for d in directions]
      self._starts.append(duals.of_slopes(_matrix([[end]]), slopes))

  def moments(
    self,
  ) -> tuple[list[duals.Dual], dict[tuple[int, int], duals.Dual]]:
    """Computes E[Y_a] and, for a <= b, E[Y_a Y_b]."""
    size = self._epochs[0].rewards.shape[1]
    pairs = [(a, b) for a in range(size) for b in range(a, size)]

    def flow(epoch: _Epoch) -> _Flow:
      p = epoch.matrix.shape[0]
      gains = [duals.columns(epoch.rewards, a, a + 1) for a in range(size)]
      # Level 0 has the masses, level a + 1 those times the reward a so far.
      moves = [(b * p, b * p, epoch.matrix) for b in range(size + 1)]
      moves += [(0, (a + 1) * p, duals.diagonal(gains[a])) for a in range(size)]
      gathered = [(0, a, gains[a]) for a in range(size)]
      for column, (a, b) in enumerate(pairs, size):
        gathered.append(((a + 1) * p, column, gains[b]))
        gathered.append(((b + 1) * p, column, gains[a]))
      wide = (size + 1) * p
      return (
        duals.assembled(wide, wide, moves),
        duals.assembled(wide, size + len(pairs), gathered),
      )

    found = _sum(self._walk(flow, size + 1)[0])
    each = [duals.columns(found, j, j + 1) for j in range(size + len(pairs))]
    return each[:size], dict(zip(pairs, each[size:], strict=True))

  def laplace_transform(self, arguments: Sequence[float]) -> duals.Dual:
    """Computes E exp(-u_1 Y_1 - ... - u_R Y_R)."""

    def flow(epoch: _Epoch) -> _Flow:
      return self._killed(epoch, arguments), _every(epoch.exits)

    return duals.add(self.atom, _sum(self._walk(flow, 1)[0]))

  def mark_probs(self, mark_rates: Sequence[float]) -> list[duals.Dual]:
    """Computes P(N_1 = n, N_2 = ... = N_R = 0) for n = 0 and n = 1."""

    def flow(epoch: _Epoch) -> _Flow:
      p, exits = epoch.matrix.shape[0], _every(epoch.exits)
      killed = self._killed(epoch, mark_rates)
      first = duals.columns(epoch.rewards, 0, 1)
      marked = duals.times(duals.diagonal(first), self._number(mark_rates[0]))
      moves = [(0, 0, killed), (p, p, killed), (0, p, marked)]
      return (
        duals.assembled(2 * p, 2 * p, moves),
        duals.assembled(2 * p, 2, [(0, 0, exits), (p, 1, exits)]),
      )

    found = _sum(self._walk(flow, 2)[0])
    none, one = (duals.columns(found, n, n + 1) for n in (0, 1))
    return [duals.add(self.atom, none), one]

  def _killed(self, epoch: _Epoch, rates: Sequence[float]) -> duals.Dual:
    """Returns S - diag(sum_r rates_r r)."""
    column = _matrix([[u] for u in rates])
    total = duals.multiply(epoch.rewards, duals.constant(column, self._count))
    return duals.subtract(epoch.matrix, duals.diagonal(total))

  def cause_probs(self) -> list[duals.Dual]:
    """Computes the probabilities of absorption by causes after time zero."""
    found = self._walk(lambda epoch: (epoch.matrix, epoch.exits), 1)[0]
    totals: dict[str, duals.Dual] = {}
    for graph, absorbed in zip(self._graphs, found, strict=True):
      for j, cause in enumerate(graph.causes):
        own = duals.columns(absorbed, j, j + 1)
        totals[cause] = (
          duals.add(totals[cause], own) if cause in totals else own
        )
    return list(totals.values())

  def until(self, t: float) -> dict[str, Any]:
    """Computes what is known of paths by a time, t > 0.

    Returns:
      Density, survival and distribution function at t, the probabilities of the
      phases then, and the expected times in the phases of the epochs that have
      begun.
    """

    def flow(epoch: _Epoch) -> _Flow:
      p = epoch.matrix.shape[0]
      unit = duals.constant(flint.arb_mat(_identity(p)), self._count)
      parts = [(0, 0, unit), (0, p, _every(epoch.exits))]
      return epoch.matrix, duals.assembled(p, p + 1, parts)

    found, row, epoch = self._walk(flow, 1, t)
    absorbed = [duals.columns(x, x.shape[1] - 1, x.shape[1]) for x in found]
    return {
      "density": duals.multiply(row, _every(epoch.exits)),
      "survival": _every(row),
      "cdf": duals.add(self.atom, _sum(absorbed)),
      "occupancy": row,
      "sojourns": [duals.columns(x, 0, x.shape[1] - 1) for x in found],
    }

  def _number(self, x: float) -> duals.Dual:
    return duals.constant(_matrix([[x]]), self._count)

  def _walk(
    self,
    flow: Callable[[_Epoch], _Flow],
    levels: int,
    until: float | None = None,
  ) -> tuple[list[duals.Dual], duals.Dual, _Epoch]:
    """Follows the masses of all levels, and what is gathered in each epoch.

    Returns:
      What each epoch gathered, 1 x columns of G; and the masses at the time
      `until`, with the epoch that contains it.
    """
    p = self._initial.shape[1]
    row = duals.assembled(1, levels * p, [(0, 0, self._initial)])
    found = []
    for k, epoch in enumerate(self._epochs):
      matrix, gains = flow(epoch)
      size, more = gains.shape
      last = k + 1 == len(self._epochs)
      if last and until is None:
        solved = duals.multiply(duals.inverse_of_negative(matrix), gains)
        return [*found, duals.multiply(row, solved)], row, epoch
      end = self._number(until) if last else self._starts[k + 1]
      stops = until is not None and not until >= end.value[0, 0]
      if last or stops:
        end, stops = self._number(until), True
      wide = size + more
      whole = duals.assembled(wide, wide, [(0, 0, matrix), (0, size, gains)])
      length = duals.subtract(end, self._starts[k])
      power = duals.exponential(whole, length)
      row = duals.multiply(duals.assembled(1, wide, [(0, 0, row)]), power)
      found.append(duals.columns(row, size, wide))
      row = duals.columns(row, 0, size)
      if stops:
        return found, row, epoch
      row = self._mapped(k, row, levels)
    raise AssertionError("there are no epochs")

  def _mapped(self, k: int, row: duals.Dual, levels: int) -> duals.Dual:
    """Moves the masses of all levels to the phases of the next epoch."""
    before, after = self._graphs[k], self._graphs[k + 1]
    p, q = before.num_phases, after.num_phases
    parts = []
    for b in range(levels):
      for i, state in enumerate(before.states):
        to = after.index_of(self._maps[k](state))
        own = duals.columns(row, b * p + i, b * p + i + 1)
        parts.append((0, b * q + to, own))
    return duals.assembled(1, levels * q, parts)


def _chain(
  graph: Any, params: Sequence[float], moves: Sequence[Sequence[float]]
) -> tuple[tuple[duals.Dual, duals.Dual], tuple[duals.Dual, duals.Dual]]:
  """Reads S and the exits, and the initial masses and the mass at zero.

  Weights are linear in the parameters: their derivatives are differences of
  rational numbers, and exact.
  """
  here = rational_graph.read(graph, params)
  p, causes = here.num_phases, here.absorbed.ncols()
  there = []
  for move in moves:
    pairs = zip(params, move, strict=True)
    moved = [
      rational_graph.exact(a) + rational_graph.exact(b) for a, b in pairs
    ]
    there.append(rational_graph.read(graph, moved))
  off = duals.of_slopes(
    flint.arb_mat(here.off), [flint.arb_mat(x.off - here.off) for x in there]
  )
  exits = duals.of_slopes(
    flint.arb_mat(here.absorbed),
    [flint.arb_mat(x.absorbed - here.absorbed) for x in there],
  )
  count = len(moves)
  totals = duals.add(
    duals.multiply(off, duals.constant(_ones(p), count)),
    duals.multiply(exits, duals.constant(_ones(causes), count)),
  )
  initial = duals.of_slopes(
    _row(here.initial),
    [_row([a - b for a, b in zip(x.initial, here.initial)]) for x in there],
  )
  # The mass at zero is what the others lack: it has their terms.
  none = duals.constant(_matrix([[1.0]]), count)
  atom = duals.subtract(none, _every(initial))
  matrix = duals.subtract(off, duals.diagonal(totals))
  return (matrix, exits), (initial, atom)


def _sum(parts: Sequence[duals.Dual]) -> duals.Dual:
  total = parts[0]
  for part in parts[1:]:
    total = duals.add(total, part)
  return total


def _every(x: duals.Dual) -> duals.Dual:
  """Returns the sum of all columns."""
  ones = duals.constant(_ones(x.shape[1]), len(x.slopes))
  return duals.multiply(x, ones)


def _ones(n: int) -> duals.Matrix:
  return flint.arb_mat(n, 1, [1] * n)


def _identity(n: int) -> flint.fmpz_mat:
  return flint.fmpz_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])


def _row(numbers: Sequence[Any]) -> duals.Matrix:
  return flint.arb_mat(flint.fmpq_mat(1, len(numbers), list(numbers)))


def _matrix(rows: Sequence[Sequence[Any]]) -> duals.Matrix:
  entries = [rational_graph.exact(x) for row in rows for x in row]
  return flint.arb_mat(flint.fmpq_mat(len(rows), len(rows[0]), entries))
