"""Epoch models for tests."""

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
