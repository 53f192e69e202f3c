"""Cost of values, gradients and directional derivatives against q t.

Times go up to q t = x, where q is the largest rate and x is doubled from one
on. All calls are NumPy's; the gradient is that in every argument. Each call
has new rates, as in a fit, so that none continues the powers of the one before.
"""

from collections.abc import Callable, Iterator
import itertools
from typing import Any

import numpy as onp

from benchmarks import results
from benchmarks import timing
from phasic.substrates.numpy import math as pm

_DOUBLINGS = 20
_LONGEST = 0.25  # Seconds of a call from which on a model is left.
# The largest rate, not a power of two: Erlang chains of these need few terms.
_FASTEST = 0.75

Rates = Iterator[tuple[int, int, float]]


def _erlang(p: int) -> Rates:
  for i in range(p):
    yield i, i + 1, 1.0


def _hypoexponential(p: int) -> Rates:
  for i in range(p):
    yield i, i + 1, (i + 1) / p


def _ring(p: int) -> Rates:
  for i in range(p):
    yield i, (i + 1) % p, 0.99
    yield i, p, 0.01


def _birth_death(p: int) -> Rates:
  for i in range(p - 1):
    yield i, i + 1, 0.5
    yield i + 1, i, 0.4
  yield 0, p, 0.1


def _coalescent(p: int) -> Rates:
  for i in range(p):
    k = p + 1 - i
    yield i, i + 1, k * (k - 1) / ((p + 1) * p)


def _dense(p: int) -> Rates:
  weights = onp.random.default_rng(0).uniform(0.1, 1.0, (p, p + 1))
  onp.fill_diagonal(weights, 0.0)
  weights /= weights.sum(axis=1).max()
  for i, j in onp.argwhere(weights > 0.0):
    yield int(i), int(j), float(weights[i, j])


def _grid(p: int) -> Rates:
  """Yields a walk on a square, with absorption along one side."""
  side = round(p**0.5)
  for i in range(p):
    row, column = divmod(i, side)
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
      r, c = row + dr, (column + dc) % side
      if 0 <= r < side:
        yield i, r * side + c, 0.24
    if row == 0:
      yield i, p, 0.01


def _metastable(p: int) -> Rates:
  for i in range(p):
    for j in range(p):
      if i != j:
        yield i, j, (1.0 if (2 * i < p) == (2 * j < p) else 1e-6) / p
  yield p - 1, p, 1e-5


_STRUCTURES: dict[str, Callable[[int], Rates]] = {
  "Erlang": _erlang,
  "hypoexponential": _hypoexponential,
  "ring": _ring,
  "birth-death": _birth_death,
  "coalescent": _coalescent,
  "dense": _dense,
  "grid": _grid,
  "metastable": _metastable,
}
# Matrices; chains of stages, which take as many steps as stages; and large ones.
_SMALL = (2, 10, 41)
_SIZES = {
  "dense": _SMALL,
  "metastable": _SMALL,
  "ring": (*_SMALL, 626, 50_176),
  "birth-death": (*_SMALL, 626, 50_176),
  "grid": (50_176,),
}
# Of models and of times.
_COUNTS = ((1, 1), (1, 150), (1, 10_000), (150, 1))
_FEW_COUNTS = ((1, 1), (1, 150))


def _operands(structure: str, p: int, num_models: int) -> tuple[Any, ...]:
  """Returns initial probabilities, rates and exits: edges of many phases."""
  columns = zip(*_STRUCTURES[structure](p), strict=True)
  sources, targets, rates = map(onp.asarray, columns)
  alpha = onp.eye(1, p)[0]
  batch = (num_models,) if num_models > 1 else ()
  if p > 100:
    edges = pm.EdgeRates(sources, targets, onp.tile(rates, (*batch, 1)))
    return alpha, edges, None
  full = onp.zeros((p, p + 1))
  full[sources, targets] = rates
  return alpha, onp.tile(full[:, :p], (*batch, 1, 1)), full[:, p]


def _calls(
  operands: tuple[Any, ...], count: int, x: float
) -> dict[str, Callable[[], Any]]:
  alpha, rates, exits = operands
  times = x / _FASTEST * onp.arange(1, count + 1) / count
  atom = onp.asarray(0.0)
  first = rates.parameters if exits is None else rates
  directions = (None, first, None, None, exits)[: 4 if exits is None else 5]
  numbers = itertools.count()

  def arrays() -> tuple[Any, ...]:
    scale = _FASTEST * (1.0 - next(numbers) * 2.0**-45)
    own = (alpha, scale * first, times, atom)
    return own if exits is None else (*own, scale * exits)

  def value(alpha, own, times, atom, exits=None):
    own = rates._replace(parameters=own) if exits is None else own
    return pm.phase_type.log_prob(times, alpha, own, exits, atom)

  return {
    "value": lambda: value(*arrays()),
    "gradient": lambda: pm.value_and_gradient(value, *arrays()),
    "jvp": lambda: pm.jvp(value, arrays(), directions),
  }


def _cost(
  structure: str, p: int, num_models: int, num_times: int, repeats: int
) -> results.Cost:
  """Doubles q t until a call takes too long or is beyond the work limit."""
  operands = _operands(structure, p, num_models)
  found: list[dict[str, float]] = []
  for k in range(_DOUBLINGS + 1):
    calls = _calls(operands, num_models * num_times, 2.0**k)
    if onp.any(onp.isnan(calls["value"]())):
      break
    found.append(timing.interleaved(calls, repeats, target=2e-3, budget=0.5))
    if k > 0 and max(found[-1].values()) > _LONGEST:
      break
  times = f"{num_times:,}"
  if num_models > 1:
    times += f" for each of {num_models} models"
  return results.cost(structure, p, times, found)


def costs(repeats: int) -> Iterator[results.Cost]:
  """Measures all structures, numbers of phases and numbers of times."""
  for structure in _STRUCTURES:
    for p in _SIZES.get(structure, (*_SMALL, 626)):
      for counts in _COUNTS if p < 100 else _FEW_COUNTS:
        yield _cost(structure, p, *counts, repeats)
