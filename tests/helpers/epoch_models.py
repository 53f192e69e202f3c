"""Epoch models for tests."""

from collections.abc import Iterator
import itertools
from typing import Any

import numpy as onp

from phasic import graphs


def history(epochs: int, seed: int = 0) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns rates and boundaries of a population that changes in size."""
  state = onp.random.RandomState(seed + epochs)
  rates = onp.exp(state.normal(size=(epochs, 1)))
  return rates, onp.cumsum(state.uniform(0.05, 0.3, size=epochs - 1))


def migration() -> Any:
  """Builds isolation with migration: graphs, parameters, boundaries, maps."""
  recent, ancestral, merge = graphs.models.isolation_with_migration([3, 2])
  params = [[1.0, 0.5, 0.25, 2.0], [0.3]]
  return [recent, ancestral], params, [0.7], [merge]


def middle(ball: Any) -> float:
  """Returns the midpoint of a ball."""
  return float(ball.mid())


# Orders of mixed moments, by the number of rewards.
ORDERS = {
  1: [(3,), (6,)],
  2: [(2, 1), (1, 3)],
  3: [(1, 1, 1), (2, 0, 1)],
}


def random_rewards(
  seed: int, free_starts: bool = False
) -> tuple[Any, Any, Any, Any, Any]:
  """Makes random epochs with rewards.

  There are one to six epochs of two to four phases, whose states are mapped to
  random ones at boundaries in every second model; half of the models have rates
  over eight decades, and a third of all rewards is zero.

  Args:
    seed: an integer.
    free_starts: whether the initial probabilities are the last parameters of the
      first epoch. Then there is mass at zero, too.

  Returns:
    Graphs, parameters, boundaries, rewards and state maps.
  """
  rng = onp.random.RandomState(seed)
  count, size = rng.randint(1, 7), rng.randint(1, 4)
  sizes = [rng.randint(2, 5)] * count
  if seed % 2:
    sizes = [rng.randint(2, 5) for _ in range(count)]
  edges = [_random_edges(rng, p) for p in sizes]
  made = [
    _graph(own, p, free_starts and k == 0)
    for k, (own, p) in enumerate(zip(edges, sizes, strict=True))
  ]
  decades = 4 if seed % 4 < 2 else 0.5
  params = [10.0 ** rng.uniform(-decades, decades, len(own)) for own in edges]
  boundaries = onp.cumsum(10.0 ** rng.uniform(-2, 1, count - 1))
  rewards = [
    onp.where(rng.uniform(size=(p, size)) < 0.3, 0.0, 1.0)
    * 10.0 ** rng.uniform(-2, 2, (p, size))
    for p in sizes
  ]
  maps = []
  for before, after in itertools.pairwise(sizes):
    images = rng.randint(0, after, before)
    maps.append(lambda state, images=images: int(images[state]))
  if free_starts:
    probs = 0.9 * rng.dirichlet(onp.ones(sizes[0]))
    params[0] = onp.concatenate([params[0], probs])
  return made, params, boundaries, rewards, maps


def _random_edges(rng: onp.random.RandomState, p: int) -> list[tuple[int, int]]:
  """Draws edges of p phases and two causes, p and p + 1."""
  return [
    (i, j)
    for i in range(p)
    for j in range(p + 2)
    if j != i and (j == p or rng.uniform() < 0.7)
  ]


def _graph(edges: list[tuple[int, int]], p: int, free_starts: bool) -> Any:
  """Makes a graph whose edges, and starts, have one parameter each."""
  count = len(edges) + (p if free_starts else 0)
  units = onp.eye(count)

  def transitions(state: int) -> Iterator[tuple[Any, Any]]:
    for e, (source, target) in enumerate(edges):
      if source == state:
        ends = {p: graphs.ABSORBED("a"), p + 1: graphs.ABSORBED("b")}
        yield ends.get(target, target), units[e].tolist()

  starts: list[tuple[Any, Any]] = [(i, 1.0 / p) for i in range(p)]
  if free_starts:
    starts = [(i, units[len(edges) + i].tolist()) for i in range(p)]
    rest = {f"p{e}": -1.0 for e in range(len(edges), count)}
    starts.append((graphs.ABSORBED, {1: 1.0, **rest}))
    names = tuple(f"p{e}" for e in range(count))
    return graphs.Graph.from_transitions(transitions, starts, names)
  return graphs.Graph.from_transitions(transitions, starts, count)
