"""The models of the benchmark, linear in two parameters.

A model is what its users have: a state space, found by following transitions
from an initial state, and rates that are linear in parameters theta.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as onp
import scipy.linalg
import scipy.optimize

State = Any
# Yields (next state or None for absorption, coefficients of theta).
Transitions = Callable[[State], Iterator[tuple[State, tuple[float, ...]]]]


class Model(NamedTuple):
  """A phase-type model with off-diagonals and exits linear in theta.

  Attributes:
    name: for the table.
    states: the p states, in the order in which they were found.
    initial_probs: [p].
    rates: [p, p, d], coefficients of the off-diagonals; zero diagonal.
    exits: [p, d], coefficients of the exit rates.
    theta: [d], the parameters at which speed is measured.
  """

  name: str
  states: tuple[State, ...]
  initial_probs: onp.ndarray
  rates: onp.ndarray
  exits: onp.ndarray
  theta: onp.ndarray

  def at(self, theta: onp.ndarray) -> tuple[onp.ndarray, onp.ndarray]:
    """The subgenerator [p, p] and the exit rates [p] at theta."""
    off, exits = self.rates @ theta, self.exits @ theta
    return off - onp.diag(off.sum(axis=1) + exits), exits

  def survival(self, t: float) -> float:
    """P(X > t), by SciPy's matrix exponential."""
    subgenerator, _ = self.at(self.theta)
    return float(
      onp.sum(self.initial_probs @ scipy.linalg.expm(subgenerator * t))
    )

  def times(self, count: int = 100, left: float = 1e-3) -> onp.ndarray:
    """`count` times at equal distances, to where P(X > t) is `left`."""
    high = 1.0
    while self.survival(high) > left:
      high *= 2.0
    last = scipy.optimize.brentq(
      lambda t: self.survival(t) - left, 0.0, high, xtol=1e-12
    )
    return last * onp.arange(1, count + 1) / count


def nearby(theta: onp.ndarray) -> list[onp.ndarray]:
  """Parameters that differ by some 1e-15, for calls that take turns with them."""
  return [onp.asarray(theta) * (1.0 + 2.0**-50 * k) for k in range(16)]


def thetas(model: Model, count: int) -> onp.ndarray:
  """A batch of parameters [count, d], each at most the model's own."""
  rng = onp.random.default_rng(3)
  spread = rng.uniform(0.75, 1.0, (count, len(model.theta)))
  return model.theta * spread


def explore(
  name: str, transitions: Transitions, initial: State, theta: onp.ndarray
) -> Model:
  """Follows the transitions from the initial state to all states.

  Args:
    name: of the model.
    transitions: the transitions out of a state.
    initial: the state in which the chain starts.
    theta: parameters, of the length of the coefficients.

  Returns:
    The model.
  """
  index = {initial: 0}
  states = [initial]
  edges, exits = [], []
  for state in states:  # Grows while it is walked.
    source = index[state]
    for target, coefficients in transitions(state):
      if target is None:
        exits.append((source, coefficients))
        continue
      if target not in index:
        index[target] = len(states)
        states.append(target)
      edges.append((source, index[target], coefficients))
  p, d = len(states), len(theta)
  rates, leaving = onp.zeros((p, p, d)), onp.zeros((p, d))
  for source, target, coefficients in edges:
    rates[source, target] += coefficients
  for source, coefficients in exits:
    leaving[source] += coefficients
  theta = onp.asarray(theta, onp.float64)
  return Model(name, tuple(states), onp.eye(p)[0], rates, leaving, theta)


def erlang(phases: int = 10) -> Model:
  """A chain of phases; odd ones have rate theta_0, even ones theta_1."""

  def transitions(phase):
    coefficients = (1.0, 0.0) if phase % 2 == 0 else (0.0, 1.0)
    yield (phase + 1 if phase + 1 < phases else None), coefficients

  return explore(f"Erlang-{phases}", transitions, 0, onp.array([1.0, 1.0]))


def kingman(lineages: int = 10) -> Model:
  """The block-counting process of Kingman's coalescent.

  A state counts the blocks of each size: state[i] blocks of i + 1 lineages.
  Any two blocks merge, at rate theta_0 if both are single lineages and at
  rate theta_1 otherwise. One block of all lineages is absorption.

  Args:
    lineages: the number of lineages at the start.

  Returns:
    A model with a state for each partition of `lineages` but the last.
  """

  def merged(state, i, j):
    counts = list(state)
    counts[i] -= 1
    counts[j] -= 1
    counts[i + j + 1] += 1
    return tuple(counts) if sum(counts) > 1 else None

  def transitions(state):
    present = [i for i, count in enumerate(state) if count]
    for i in present:
      for j in present:
        if j < i or (i == j and state[i] < 2):
          continue
        pairs = state[i] * (state[i] - 1) / 2 if i == j else state[i] * state[j]
        both_single = i == 0 and j == 0
        coefficients = (pairs, 0.0) if both_single else (0.0, pairs)
        yield merged(state, i, j), coefficients

  initial = (lineages,) + (0,) * (lineages - 1)
  return explore(
    f"Kingman-{lineages}", transitions, initial, onp.array([1.0, 1.25])
  )


def dense(phases: int = 50, seed: int = 0) -> Model:
  """Every phase leads to every other; theta scales the two halves."""
  rng = onp.random.default_rng(seed)
  weights = rng.uniform(0.1, 1.0, (phases, phases))
  leaving = rng.uniform(0.1, 1.0, phases)

  def transitions(phase):
    half = phase < phases // 2
    for target in range(phases):
      if target != phase:
        rate = weights[phase, target]
        yield target, (rate, 0.0) if half else (0.0, rate)
    yield None, (leaving[phase], 0.0) if half else (0.0, leaving[phase])

  return explore(f"dense-{phases}", transitions, 0, onp.array([0.125, 0.25]))


def birth_death(phases: int = 100) -> Model:
  """A stiff chain: phase i is left upwards at theta_0 r_i, r from 1e3 to 1e-2.

  Downwards it is left at theta_1 r_i / 4; up from the last phase is
  absorption.
  """
  speeds = onp.geomspace(1e3, 1e-2, phases)

  def transitions(phase):
    up = phase + 1 if phase + 1 < phases else None
    yield up, (speeds[phase], 0.0)
    if phase > 0:
      yield phase - 1, (0.0, speeds[phase] / 4.0)

  return explore(f"birth-death-{phases}", transitions, 0, onp.array([1.0, 1.0]))


def circulant(phases: int, degree: int, parameters: int = 2) -> Model:
  """Every phase leads to `degree` others, at equal distances, and out.

  The total rate out of a phase is between one half and one, whatever the
  sizes, so that the number of steps is the same. Parameters take turns.
  """
  rng = onp.random.default_rng(1)
  weights = rng.uniform(0.5, 0.9, (phases, degree)) / degree
  units = onp.eye(parameters)
  gap = phases // (degree + 1)

  def transitions(phase):
    for k in range(degree):
      # The first is the next phase, so that all can be reached.
      target = (phase + 1 + k * gap) % phases
      yield target, tuple(weights[phase, k] * units[(phase + k) % parameters])
    yield None, tuple(units[0] / 16.0)

  name = f"circulant-{phases}-{degree}"
  return explore(name, transitions, 0, onp.ones(parameters))


class EdgeModel(NamedTuple):
  """A model too large for arrays [p, p]: its edges, linear in theta.

  Attributes:
    name: for the table.
    phases: their number p.
    sources: [e].
    targets: [e]; p means absorption.
    coefficients: [e, d].
    theta: [d].
    rate: the largest total rate out of a phase is at most this power of two.
  """

  name: str
  phases: int
  sources: onp.ndarray
  targets: onp.ndarray
  coefficients: onp.ndarray
  theta: onp.ndarray
  rate: float


def large(phases: int = 100_000) -> EdgeModel:
  """Each phase leads to two others, one far away, and out."""
  rng = onp.random.default_rng(2)
  phase = onp.arange(phases)
  rates = rng.uniform(0.2, 0.4, (2, phases))
  coefficients = onp.zeros((3 * phases, 2))
  coefficients[:phases, 0], coefficients[phases : 2 * phases, 1] = rates
  coefficients[2 * phases :, 0] = 2.0**-10
  return EdgeModel(
    name=f"{phases:,} states x {3 * phases:,} edges",
    phases=phases,
    sources=onp.tile(phase, 3),
    targets=onp.concatenate(
      [
        (phase + 1) % phases,
        (phase + phases // 3) % phases,
        onp.full(phases, phases),
      ]
    ),
    coefficients=coefficients,
    theta=onp.ones(2),
    rate=1.0,
  )
