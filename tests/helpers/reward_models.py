"""Chains with rewards, for tests."""

import itertools

import flint
import numpy as onp

from tests.helpers import models


def random(p, size, acyclic=False):
  """Draws masses, off-diagonals, exits, an atom and rewards, some zero."""
  state = onp.random.RandomState(10 * p + size)
  model = models.random_model(p, state)
  off = model.subgenerator * (1 - onp.eye(p))
  off = onp.triu(off) if acyclic else off
  alpha = onp.round(model.initial_probs * 2**20) / 2**20
  rewards = state.gamma(0.5, size=(p, size))
  rewards[state.uniform(size=(p, size)) < 0.3] = 0.0
  return alpha, off, rewards, model.exit_rates, 1 - onp.sum(alpha)


def blocks():
  """Builds two phases with the first reward, then three with the second."""
  state = onp.random.RandomState(1)
  off = state.gamma(1.0, size=(5, 5)) * (1 - onp.eye(5))
  off[2:, :2] = 0.0
  exits = state.gamma(1.0, size=5)
  exits[1] = 0.0
  alpha = onp.asarray([0.25, 0.25, 0.125, 0.125, 0.125])
  rewards = onp.zeros((5, 2))
  rewards[:2, 0] = [1.0, 2.0]
  rewards[2:, 1] = [0.5, 1.0, 3.0]
  return alpha, off, rewards, exits, 0.125


def log_density_of_blocks(model, y):
  """Computes log f(y) for y > 0 of `blocks`, in ball arithmetic."""
  alpha, off, rewards, exits, _ = model
  units = onp.sum(rewards, axis=1)[:, None]
  total = onp.sum(off, axis=1) + exits
  rates = (off - onp.diag(total)) / units
  ends = (exits[:, None] / units).tolist()

  def ball(x):
    return flint.arb_mat(onp.asarray(x).tolist())

  parts = ball(alpha[None, :2])
  parts = parts * ball(rates[:2, :2] * y[0]).exp() * ball(rates[:2, 2:])
  parts = parts * ball(rates[2:, 2:] * y[1]).exp() * ball(ends[2:])
  return float(parts[0, 0].log())


def block_counting(n):
  """Builds the block-counting process of n samples: masses, S, rewards."""
  states = [(n, *[0] * (n - 2))]
  edges = {}
  for state in states:
    for i, j in itertools.combinations_with_replacement(range(n - 1), 2):
      pairs = state[i] * (state[j] - 1) / 2 if i == j else state[i] * state[j]
      if pairs == 0:
        continue
      after = list(state)
      after[i] -= 1
      after[j] -= 1
      if i + j + 2 == n:
        edges[(state, None)] = edges.get((state, None), 0) + pairs
        continue
      after[i + j + 1] += 1
      after = tuple(after)
      if after not in states:
        states.append(after)
      edges[(state, after)] = edges.get((state, after), 0) + pairs
  p = len(states)
  matrix = onp.zeros((p, p))
  for (state, after), rate in edges.items():
    matrix[states.index(state), states.index(state)] -= rate
    if after is not None:
      matrix[states.index(state), states.index(after)] = rate
  return onp.eye(p)[0], matrix, onp.asarray(states, onp.float64)
