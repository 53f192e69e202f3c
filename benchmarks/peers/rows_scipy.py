"""Rows of SciPy.

Frozen gamma distributions are made in each call. Densities are by `expm`: the
times have equal distances, so that one matrix exponential is enough, and one
product of a vector with it for each time; the rate is a new one in each call.
"""

import itertools

import kingman
import numpy as np
from scipy import linalg
from scipy import stats


def small_log_prob(times):
  times = np.array(times)
  return lambda: stats.gamma(3.0, scale=0.5).logpdf(times)


def small_mean():
  return lambda: stats.gamma(3.0, scale=0.5).mean()


def small_quantile():
  return lambda: stats.gamma(3.0, scale=0.5).ppf(0.9)


def _subgenerator(lineages):
  states = [kingman.initial(lineages)]
  index = {states[0]: 0}
  edges = []
  for source, state in enumerate(states):  # It grows as states are found.
    for merged, pairs in kingman.transitions(state):
      if sum(merged) > 1 and merged not in index:
        index[merged] = len(states)
        states.append(merged)
      edges.append((source, merged, pairs))
  matrix = np.zeros((len(states), len(states)))
  for source, merged, pairs in edges:
    matrix[source, source] -= pairs
    if sum(merged) > 1:
      matrix[source, index[merged]] += pairs
  return matrix


def density(lineages, times):
  matrix, step = _subgenerator(lineages), times[1] - times[0]
  steps = range(round(times[-1] / step))
  exits = -matrix.sum(axis=1)
  rates = (1.0 + 1e-7 * k for k in itertools.count())

  def call():
    rate = next(rates)
    transition = linalg.expm(matrix * (rate * step))
    state = np.zeros(len(matrix))
    state[0] = 1.0
    found = []
    for _ in steps:
      state = state @ transition
      found.append(state @ exits)
    return rate * np.array(found)

  return call
