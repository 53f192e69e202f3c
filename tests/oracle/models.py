"""Models and directions for the accuracy tests.

The rates are short binary fractions, so that the sums of rows are exact and
a model means the same with exits given and with exits derived.
"""

import itertools

import numpy as onp

from tests.oracle import phase_type_oracle as oracle


def erlang(phases: int = 10, rate: float = 1.0) -> oracle.Operands:
  """Returns the sum of `phases` exponential times."""
  return hypoexponential(onp.full(phases, rate))


def hypoexponential(rates: onp.ndarray) -> oracle.Operands:
  """Returns phases in series with these rates."""
  rates = onp.asarray(rates, onp.float64)
  p = len(rates)
  return _model(onp.eye(p)[0], onp.diag(rates[:-1], 1), rates * onp.eye(p)[-1])


def near_equal() -> oracle.Operands:
  """Returns rates that differ in the eighth digit, hard for fractions."""
  return hypoexponential(1.0 + 2.0**-27 * onp.arange(8))


def cyclic() -> oracle.Operands:
  """Returns a ring of three phases; one has no exit, one no initial mass."""
  rates = onp.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.5], [0.75, 0.0, 0.0]])
  return _model(onp.array([0.625, 0.375, 0.0]), rates, onp.array([0.25, 0, 1]))


def birth_death(phases: int = 40) -> oracle.Operands:
  """Returns a queue that ends from its first phase, started in the middle."""
  births = 0.75 + onp.arange(phases - 1) / 64.0
  deaths = 1.25 + onp.arange(phases - 1) / 32.0
  rates = onp.diag(births, 1) + onp.diag(deaths, -1)
  start = onp.zeros(phases)
  start[phases // 2] = 0.75
  start[1] = 0.25
  return _model(start, rates, 0.5 * onp.eye(phases)[0])


def hyperexponential() -> oracle.Operands:
  """Returns a mixture with a rare, slow component that rules the far tail."""
  rates = onp.array([1.0, 0.125])
  start = onp.array([1.0 - 2.0**-50, 2.0**-50])
  return _model(start, onp.zeros((2, 2)), rates)


def kingman(lineages: int = 10) -> oracle.Operands:
  """Returns Kingman's coalescent, with counts of blocks by size as states.

  Any two blocks merge at rate one; one block of all is absorption.

  Args:
    lineages: the number of blocks of size one at the start.

  Returns:
    A model with a phase for each partition but the last.
  """
  states = [(1,) * lineages]
  rates: dict[tuple, float] = {}
  for state in states:
    for i, j in itertools.combinations(range(len(state)), 2):
      rest = [size for k, size in enumerate(state) if k not in (i, j)]
      target = tuple(sorted([*rest, state[i] + state[j]]))
      if target not in states and len(target) > 1:
        states.append(target)
      rates[state, target] = rates.get((state, target), 0.0) + 1.0
  p = len(states)
  matrix, exits = onp.zeros((p, p)), onp.zeros(p)
  for (state, target), rate in rates.items():
    if len(target) == 1:
      exits[states.index(state)] = rate
    else:
      matrix[states.index(state), states.index(target)] = rate
  return _model(onp.eye(p)[0], matrix, exits)


def two_modes() -> oracle.Operands:
  """Returns twelve fast phases or twelve slow ones, with a gap between."""
  rates = onp.append(onp.full(12, 16.0), onp.full(12, 2.0**-7))
  onwards = onp.append(rates[:-1] * (onp.arange(23) != 11), 0.0)
  exits = rates - onwards
  start = onp.zeros(24)
  start[[0, 12]] = 0.5
  return _model(start, onp.diag(onwards[:-1], 1), exits)


def two_ways(
  phases: int, exit_rate: float, rate: float
) -> tuple[oracle.Operands, oracle.Operands]:
  """Returns a model with two ways to absorption, and a direction.

  The first phase exits at `exit_rate`. The other way, of the third phase and
  the fourth one, each left at `rate`, has no mass, but the direction gives it
  some. A second phase that is never entered has rate 1.
  """
  rates, exits = onp.zeros((phases, phases)), onp.zeros(phases)
  rates[2, 3] = exits[3] = rate
  exits[:2] = exit_rate, 1.0
  start, move = onp.eye(phases)[[0, 2]]
  nothing = oracle.Operands(
    move, 0.0 * rates, 0.0 * exits, onp.float64(0.0), onp.float64(0.0)
  )
  model = _model(start, rates, exits)._replace(prob_zero=onp.float64(0.0))
  return model, nothing


def with_options(
  model: oracle.Operands, exits: bool = True, atom: float | None = None
) -> oracle.Operands:
  """Returns the model with given or derived exits, and an atom.

  Args:
    model: a model with given exits.
    exits: whether they are given.
    atom: the mass at zero, taken from alpha; None leaves it to be derived.

  Returns:
    The operands.
  """
  mass = 1.0 if atom is None else 1.0 - atom
  return model._replace(
    initial_probs=model.initial_probs * mass,
    exit_rates=model.exit_rates if exits else None,
    prob_zero=atom if atom is None else onp.float64(atom),
  )


def direction(
  operands: oracle.Operands, rng: onp.random.Generator, zeros: float = 0.1
) -> oracle.Operands:
  """Draws a direction in which all operands move, by about their size.

  Args:
    operands: the model.
    rng: a generator.
    zeros: by how much entries move that are zero. Where t is tiny each of
      them shortens the way to absorption and so is worth many orders of
      magnitude: second derivatives may leave the range of floats.

  Returns:
    Tangents of the operands.
  """

  def tangent(x):
    if x is None:
      return None
    x = onp.asarray(x, onp.float64)
    return rng.standard_normal(x.shape) * onp.where(x, onp.abs(x), zeros)

  return oracle.Operands(*(tangent(x) for x in operands))


def _model(start, rates, exits) -> oracle.Operands:
  subgenerator = rates - onp.diag(onp.sum(rates, axis=1) + exits)
  return oracle.Operands(start, subgenerator, exits, None, 1.0)
