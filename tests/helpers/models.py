"""Phase-type models for tests, as host arrays."""

from typing import NamedTuple

import numpy as onp


class Model(NamedTuple):
  """Constructor arguments of a phase-type distribution."""

  initial_probs: onp.ndarray
  subgenerator: onp.ndarray
  exit_rates: onp.ndarray | None = None
  prob_zero: onp.ndarray | None = None


def exponential(rate: float) -> Model:
  """Returns a model of one phase."""
  return Model(onp.ones(1), onp.asarray([[-rate]]))


def hypoexponential(rates: onp.ndarray) -> Model:
  """Returns a model of phases in series."""
  rates = onp.asarray(rates, onp.float64)
  p = len(rates)
  matrix = onp.diag(rates[:-1], 1) if p > 1 else onp.zeros((1, 1))
  return Model(onp.eye(p)[0], matrix - onp.diag(rates))


def erlang(p: int, rate: float) -> Model:
  """Returns a model of `p` equal phases in series."""
  return hypoexponential(onp.full(p, rate))


def hyperexponential(probs: onp.ndarray, rates: onp.ndarray) -> Model:
  """Returns a model of parallel phases."""
  return Model(onp.asarray(probs, onp.float64), -onp.diag(rates))


def cyclic() -> Model:
  """Returns a cycle of three phases with an exit in the last, and an atom."""
  matrix = onp.asarray(
    [[-2.0, 1.5, 0.25], [0.125, -1.0, 0.875], [3.0, 0.0, -4.0]]
  )
  return Model(onp.asarray([0.5, 0.4, 0.0]), matrix)


def birth_death(p: int) -> Model:
  """Returns a birth-death chain with exits from the first phase."""
  up, down = onp.full(p - 1, 1.25), onp.full(p - 1, 1.0)
  off = onp.diag(up, 1) + onp.diag(down, -1)
  exits = onp.zeros(p)
  exits[0] = 0.5
  matrix = off - onp.diag(onp.sum(off, axis=-1) + exits)
  return Model(onp.eye(p)[p // 2], matrix)


def random_model(p: int, state: onp.random.RandomState) -> Model:
  """Returns a random model with positive rates between all phases, and an atom."""
  off = state.gamma(0.5, size=(p, p)) * (1 - onp.eye(p))
  exits = state.gamma(0.5, size=p)
  alpha = state.dirichlet(onp.ones(p + 1))
  matrix = off - onp.diag(onp.sum(off, axis=-1) + exits)
  return Model(alpha[:p], matrix, exits, onp.asarray(1 - onp.sum(alpha[:p])))


ALL = {
  "exponential": exponential(2.0),
  "erlang": erlang(10, 3.0),
  "hypoexponential": hypoexponential([1.0, 1.0 + 1e-9, 2.0]),
  "hyperexponential": hyperexponential([0.3, 0.7], [1.0, 20.0]),
  "cyclic": cyclic(),
  "birth_death": birth_death(8),
  "random": random_model(5, onp.random.RandomState(7)),
}
