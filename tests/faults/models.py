"""Models of any size for NumPy, whose calls take as long or as much as is needed."""

import numpy as onp

from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import math as pm


def ring(p: int) -> pd.PhaseType:
  """Returns phases in a circle; each is left for the next one or for good."""
  phases = onp.arange(p)
  edges = pm.EdgeRates(
    onp.append(phases, phases),
    onp.append((phases + 1) % p, onp.full(p, p)),
    onp.append(onp.full(p, 0.5), onp.linspace(0.001, 0.002, p)),
  )
  return pd.PhaseType(onp.eye(1, p)[0], edges)


def with_rates(model: pd.PhaseType, rates: object) -> pd.PhaseType:
  """Returns a model with the same edges and other rates."""
  edges = model.subgenerator._replace(parameters=rates)
  return pd.PhaseType(model.initial_probs, edges)


def log_prob_of_rates(model: pd.PhaseType, times: onp.ndarray) -> object:
  """Returns the function from rates of edges to the sum of log densities."""
  return lambda rates: onp.sum(with_rates(model, rates).log_prob(times))


def dense(p: int) -> pd.PhaseType:
  """Returns a model with an edge between any two phases."""
  rates = onp.random.default_rng(1).uniform(size=(p, p))
  onp.fill_diagonal(rates, 0.0)
  return pd.PhaseType(onp.full(p, 1 / p), rates, onp.ones(p))


def grid(n: int) -> pd.PhaseType:
  """Returns a random walk in a square of n x n phases, which fills in."""
  phases = onp.arange(n * n)
  x, y = phases % n, phases // n
  sources, targets = [], []
  for u, v in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
    inside = (u >= 0) & (u < n) & (v >= 0) & (v < n)
    sources.append(phases[inside])
    targets.append((u + v * n)[inside])
  # The first phase alone leads to absorption.
  edges = pm.EdgeRates(
    onp.append(onp.concatenate(sources), 0),
    onp.append(onp.concatenate(targets), n * n),
    onp.ones(sum(map(len, sources)) + 1),
  )
  return pd.PhaseType(onp.full(n * n, 1 / n**2), edges)
