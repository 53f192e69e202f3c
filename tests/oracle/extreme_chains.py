"""Small chains whose rates span all doubles, and their moments as rationals.

Rates are 10^U(-308, 308), small ones subnormal, or far apart in groups; phases
may be unreachable or traps, and mass may start at absorption.
"""

from collections.abc import Iterator
import math
from typing import Any, NamedTuple

import flint
import numpy as onp

_CENTERS = (-320, -310, -307, -300, -200, -100, 0, 100, 200, 300, 307)
_LARGEST = int(onp.finfo(onp.float64).max)
_TOLERANCE = flint.fmpq(1, 10**12)
_SMALLEST = flint.fmpq(1, 2**1074)


class Chains(NamedTuple):
  """Chains of one size.

  Attributes:
    discrete: whether weights are probabilities of a step.
    initial: (batch, p).
    weights: from phases to phases and, last, to absorption, (batch, p, p + 1).
    atom: (batch,).
  """

  discrete: bool
  initial: onp.ndarray
  weights: onp.ndarray
  atom: onp.ndarray

  def flushed(self) -> "Chains":
    """Returns the chains with subnormal numbers flushed to zero."""
    initial, weights, atom = (onp.where(x < 2.3e-308, 0.0, x) for x in self[1:])
    return Chains(self.discrete, initial, weights, atom)

  def arguments(self) -> tuple[onp.ndarray, ...]:
    """Returns initial masses, matrix, exits and mass at zero."""
    p = self.initial.shape[-1]
    matrix = self.weights[..., :p].copy()
    if self.discrete:
      matrix += onp.eye(p) * (1.0 - self.weights.sum(-1))[..., None]
    return self.initial, matrix, self.weights[..., p], self.atom


def draw(
  state: onp.random.RandomState, size: int, discrete: bool | None = None
) -> Chains:
  """Draws chains of one to four phases; three in ten times discrete ones."""
  phases = state.randint(1, 5)
  if discrete is None:
    discrete = bool(state.rand() < 0.3)
  drawn = [_chain(state, phases, discrete) for _ in range(size)]
  initial, weights, atom = (onp.asarray(x) for x in zip(*drawn, strict=True))
  return Chains(discrete, initial, weights, atom)


def _rate(state, mode, center):
  spread = (0.0, 3.0, 0.5, 320.0)[mode]
  if mode == 0:
    center = state.uniform(-308, 308)
  elif mode == 2:
    center = state.choice(_CENTERS)
  exponent = center + state.uniform(-spread, spread)
  if state.rand() < 0.03:
    exponent = state.uniform(-323, -308)
  if exponent < -322:
    return 5e-324 * state.randint(1, 9)
  return float(10.0 ** min(exponent, 307.6))


def _chain(state, phases, discrete):
  mode = state.randint(4)
  center = state.uniform(-320, 0) if discrete else state.uniform(-300, 300)
  empty = state.choice([0.0, 0.2, 0.5])
  weights = onp.zeros((phases, phases + 1))
  for i in range(phases):
    for j in range(phases + 1):
      if i == j or state.rand() < empty:
        continue
      rate = _rate(state, mode, center)
      # Row sums of probabilities stay below one.
      weights[i, j] = (
        min(rate, 1.0 / max(rate, 1e-300), 0.1) if discrete else rate
      )
  masses = [min(_rate(state, 0, 0.0), 1.0) for _ in range(phases)]
  initial = onp.where(state.rand(phases) < 0.3, masses, state.rand(phases))
  initial = initial * (state.rand(phases) >= state.choice([0.0, 0.3, 0.6]))
  kind = state.randint(4)
  if kind == 0:
    return onp.eye(phases)[state.randint(phases)], weights, 0.0
  if kind == 1:
    initial = initial / (2 * max(1.0, initial.sum()))
    return initial, weights, max(0.0, 1.0 - initial.sum())
  if initial.sum() == 0.0:
    initial[0] = 1.0
  return initial / initial.sum(), weights, 0.0


def _exact(x) -> flint.fmpq:
  return flint.fmpq(*float(x).as_integer_ratio())


def _reached(edges, marks):
  for _ in marks:
    marks = marks | (edges & marks[:, None]).any(0)
  return marks


def moments(weights: Any, initial: Any, discrete: bool) -> dict[str, list[Any]]:
  """Computes the moments of a chain, rational or infinite; stddev squared."""
  p = len(initial)
  edges = weights[:, :p] > 0
  reached = _reached(edges, initial > 0)
  ending = _reached(edges.T, weights[:, p] > 0)
  paths = [_reached(edges, onp.eye(p)[i] > 0) for i in range(p)]
  # Classes from which absorption cannot be reached.
  endless = [
    bool(reached[i])
    and not ending[paths[i]].any()
    and all(paths[j][i] for j in range(p) if paths[i][j])
    for i in range(p)
  ]
  inside = [i for i in range(p) if reached[i] and not endless[i]]
  times: list[Any] = [math.inf if x else flint.fmpq(0) for x in endless]
  inverse = None
  if inside:
    n = len(inside)
    matrix = flint.fmpq_mat(n, n)
    for row, i in enumerate(inside):
      for j in range(p + 1):
        weight = _exact(weights[i, j])
        matrix[row, row] += weight
        if j in inside:
          matrix[row, inside.index(j)] -= weight
    inverse = matrix.inv()
    start = flint.fmpq_mat(1, n, [_exact(initial[i]) for i in inside])
    for i, time in zip(inside, (start * inverse).entries(), strict=True):
      times[i] = time
  visits = [_visits(weights, initial, times, j) for j in range(p)]
  first = second = math.inf
  if not any(endless):
    first = second = flint.fmpq(0)
    if inverse is not None:
      first = sum((times[i] for i in inside), first)
      ahead = inverse * flint.fmpq_mat(len(inside), 1, [1] * len(inside))
      ahead = zip(inside, ahead.entries(), strict=True)
      second = 2 * sum((times[i] * x for i, x in ahead), second)
      second = second - first if discrete else second
  variance = math.inf if first == math.inf else second - first * first
  found = {
    "mean": [first],
    "second_moment": [second],
    "variance": [variance],
    "stddev": [variance],
    "expected_visits": times if discrete else visits,
  }
  return found if discrete else {**found, "expected_sojourn_times": times}


def _visits(weights, initial, times, j):
  total = _exact(initial[j])
  for i, time in enumerate(times):
    if i == j or weights[i, j] == 0 or time == 0:
      continue
    if time == math.inf:
      return math.inf
    total += time * _exact(weights[i, j])
  return total


def is_right(
  actual: float, truth: Any, is_root: bool, flushes: bool = False
) -> bool:
  """Returns whether a result is right to 1e-12 or to the smallest number.

  Args:
    actual: the result.
    truth: a rational, or infinite.
    is_root: whether it is the square of the truth.
    flushes: whether numbers below the smallest normal one count as zeros.
  """
  smallest = _SMALLEST * (2**53 if flushes else 1)
  if truth == math.inf or actual == math.inf:
    limit = _LARGEST * _LARGEST if is_root else _LARGEST * (1 - _TOLERANCE)
    return actual == math.inf and (truth == math.inf or truth > limit)
  if not actual >= 0.0:
    return False
  found = _exact(actual)
  if not is_root:
    return abs(found - truth) <= _TOLERANCE * truth + smallest
  low, high = found - smallest, found + smallest
  below = low * low * (1 - 2 * _TOLERANCE) if low > 0 else flint.fmpq(0)
  return below <= truth <= high * high * (1 + 2 * _TOLERANCE)


def batches(seed: int, count: int, size: int) -> Iterator[Chains]:
  """Yields batches of chains."""
  state = onp.random.RandomState(seed)
  for _ in range(count // size):
    yield draw(state, size)
