"""Chains as lists of edges, for tests of eliminations."""

from typing import NamedTuple

import numpy as onp

from phasic import math as pm

MODE = "numpy"


class Edges(NamedTuple):
  """A model: target p is absorption.

  Attributes:
    initial_probs: (p,).
    sources: (m,).
    targets: (m,).
    weights: rates, or probabilities of a step, (m,).
    rewards: (p,).
    discrete: whether time is discrete.
  """

  initial_probs: onp.ndarray
  sources: onp.ndarray
  targets: onp.ndarray
  weights: onp.ndarray
  rewards: onp.ndarray
  discrete: bool

  @property
  def phases(self) -> int:
    return len(self.initial_probs)

  @property
  def pairs(self) -> list[tuple[int, int]]:
    return list(zip(self.sources, self.targets, strict=True))

  def structure(self, weights=None):
    """Returns `EdgeRates` or `EdgeProbs`, with other weights if given."""
    kind = pm.EdgeProbs if self.discrete else pm.EdgeRates
    weights = self.weights if weights is None else weights
    return kind(self.sources, self.targets, weights)

  def dense(self) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns matrix and exits; the diagonal is exact only in discrete time."""
    p = self.phases
    full = onp.zeros((p, p + 1))
    onp.add.at(full, (self.sources, self.targets), self.weights)
    leaving = onp.sum(full, axis=1)
    diagonal = 1 - leaving if self.discrete else -leaving
    return full[:, :p] + onp.diag(diagonal), full[:, p]


def random_edges(
  seed: int, phases: int, discrete: bool = False, acyclic: bool = False
) -> Edges:
  """Draws about half of all edges, with short binary fractions as weights."""
  state = onp.random.RandomState(seed)
  pairs = [
    (i, j)
    for i in range(phases)
    for j in range(phases + 1)
    if i != j
    and not (acyclic and j < i)
    and (j == i + 1 or state.uniform() < 0.5)
  ]
  sources, targets = onp.asarray(pairs, onp.int32).T
  weights = onp.ceil(state.gamma(0.5, size=len(pairs)) * 1024) / 1024
  if discrete:
    # With at most 16 edges no sum is above one.
    weights = onp.ceil(weights / onp.max(weights) * 64) / 1024
  alpha = onp.floor(state.dirichlet(onp.ones(phases + 1)) * 64) / 64
  rewards = onp.floor(state.gamma(0.7, size=phases) * 64) / 64
  return Edges(alpha[:phases], sources, targets, weights, rewards, discrete)


def queue(discrete: bool = False) -> Edges:
  """Builds M/M/1/60 at load 5, with a mean busy period above 1e40."""
  p, up, down = 60, 5.0, 1.0
  if discrete:
    up, down = 0.625, 0.125
  pairs = [(i, i + 1) for i in range(p - 1)] + [
    (i + 1, i) for i in range(p - 1)
  ]
  sources, targets = onp.asarray([*pairs, (0, p)], onp.int32).T
  weights = onp.asarray([up] * (p - 1) + [down] * p)
  rewards = 1.0 + onp.arange(p) / 64
  return Edges(onp.eye(p)[0], sources, targets, weights, rewards, discrete)


SMALL = {
  **{f"cyclic{p}": random_edges(p, p) for p in (1, 3, 6)},
  **{f"acyclic{p}": random_edges(p, p, acyclic=True) for p in (2, 5)},
  **{f"discrete{p}": random_edges(p, p, True) for p in (1, 4, 6)},
  "discrete_acyclic": random_edges(3, 4, True, True),
}
ALL = {**SMALL, "queue": queue(), "discrete_queue": queue(True)}
# Names for sweeps: JAX and TensorFlow compile each model again.
NAMES = sorted(ALL)
if MODE != "numpy":
  NAMES = ["acyclic5", "cyclic6", "discrete6", "discrete_queue", "queue"]


def ring(p: int = 700) -> tuple[onp.ndarray, pm.EdgeRates]:
  """Returns a chain in a circle, too large for squaring, with rates up to one."""
  phases = onp.arange(p)
  edges = pm.EdgeRates(
    onp.append(phases, 0),
    onp.append((phases + 1) % p, p),
    onp.append(onp.full(p, 0.5), 0.25),
  )
  return onp.eye(p)[0], edges
