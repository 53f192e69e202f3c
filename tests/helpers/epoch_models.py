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


def random_rewards(seed: int) -> tuple[Any, Any, Any, Any, Any]:
  """Makes random epochs with rewards.

  There are one to six epochs of two to four phases, whose states are mapped to
  random ones at boundaries in every second model; half of the models have rates
  over eight decades, and a third of all rewards is zero.

  Returns:
    Graphs, parameters, boundaries, rewards and state maps.
  """
  rng = onp.random.RandomState(seed)
  count, size = rng.randint(1, 7), rng.randint(1, 4)
  sizes = [rng.randint(2, 5)] * count
  if seed % 2:
    sizes = [rng.randint(2, 5) for _ in range(count)]
  made = [_random_graph(rng, p) for p in sizes]
  decades = 4 if seed % 4 < 2 else 0.5
  params = [10.0 ** rng.uniform(-decades, decades, g.num_params) for g in made]
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
  return made, params, boundaries, rewards, maps


def _random_graph(rng: onp.random.RandomState, p: int) -> Any:
  """Makes a graph whose edges have one parameter each, and two causes."""
  edges = [
    (i, j)
    for i in range(p)
    for j in range(p + 2)
    if j != i and (j == p or rng.uniform() < 0.7)
  ]

  def transitions(state: int) -> Iterator[tuple[Any, Any]]:
    for e, (source, target) in enumerate(edges):
      if source == state:
        ends = {p: graphs.ABSORBED("a"), p + 1: graphs.ABSORBED("b")}
        yield ends.get(target, target), onp.eye(len(edges))[e].tolist()

  starts = [(i, 1.0 / p) for i in range(p)]
  return graphs.Graph.from_transitions(transitions, starts, len(edges))
