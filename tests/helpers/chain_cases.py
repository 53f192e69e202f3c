"""A table of chains, like the table of families in `family_cases`."""

from typing import Any

import mpmath

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm
from tests.helpers import family_cases
from tests.oracle import family_oracle
from tests.oracle import matrix_laws

_TIMES = (1e-3, 0.5, 2.0, 7.0, 40.0)
_COUNTS = (1.0, 2.0, 3.0, 7.0, 20.0, 150.0)


def _coalescent() -> Any:
  return pg.models.kingman(3)


def repairs() -> Any:
  """Builds a cycle of three states, whose start depends on parameters."""
  rates = {
    "a": [("b", {"on": 1.0}), ("c", {1: 0.25}), (pg.ABSORBED, {"off": 0.5})],
    "b": [("c", {"on": 2.0, 1: 0.5})],
    "c": [("a", {"on": 1.0, "off": 1.0}), (pg.ABSORBED, {"off": 2.0})],
  }
  initial = {"a": {"start": 1.0}, "b": {1: 0.75, "start": -1.0}}
  initial[pg.ABSORBED] = 0.25
  return pg.Graph.from_transitions(
    lambda state: rates[state], initial, params=("on", "off", "start")
  )


def _repairs_law(params: Any) -> Any:
  on, off, start = params
  quarter = mpmath.mpf(0.25)
  exits = [off / 2, mpmath.mpf(0), 2 * off]
  matrix = [
    [-on - quarter - off / 2, on, quarter],
    [0, -2 * on - 0.5, 2 * on + 0.5],
    [on + off, 0, -on - 3 * off],
  ]
  return matrix_laws.phase_type(
    [start, 3 * quarter - start, 0], matrix, exits, quarter
  )


def heads() -> Any:
  """Builds tosses until two heads; after tails another coin is used."""
  flips = {
    0: [(1, {"p": 1.0}), (10, {1: 1.0, "p": -1.0})],
    10: [(1, {"q": 1.0})],
    1: [(pg.ABSORBED, {"p": 0.5, "q": 0.25})],
  }
  return pg.Graph.from_transitions(
    lambda state: flips[state], 0, params=("p", "q"), discrete=True
  )


def _heads_law(params: Any) -> Any:
  p, q = params
  out = p / 2 + q / 4
  # The order is start, one head, one tail.
  matrix = [[0, p, 1 - p], [0, 1 - out, 0], [0, q, 1 - q]]
  return matrix_laws.discrete_phase_type(
    [mpmath.mpf(1), 0, 0], matrix, [0, out, 0], 0
  )


def _epochs(first: Any, second: Any, boundaries: Any, **options: Any) -> Any:
  return pd.Epochs(_coalescent(), [first, second], boundaries, **options)


def _epochs_law(first: Any, second: Any, boundaries: Any) -> Any:
  def matrix(rate: Any) -> Any:
    return [[-3 * rate, 3 * rate], [0, -rate]]

  return matrix_laws.two_epochs(
    [mpmath.mpf(1), 0], matrix(first[0]), matrix(second[0]), boundaries[0]
  )


def _with_exits_law(
  initial_probs: Any, subgenerator: Any, exit_rates: Any, prob_zero: Any
) -> Any:
  # With given exits the diagonal is minus the sum of the other rates.
  (_, a), (b, _) = subgenerator
  out = exit_rates
  matrix = [[-a - out[0], a], [b, -b - out[1]]]
  return matrix_laws.phase_type(initial_probs, matrix, out, prob_zero)


def _sparse(initial_probs: Any, rates: Any, **options: Any) -> Any:
  edges = pm.EdgeRates([0, 0, 1, 1], [1, 2, 0, 2], rates)
  return pd.PhaseType(initial_probs, edges, **options)


def _sparse_law(initial_probs: Any, rates: Any) -> Any:
  a, b, c, d = rates
  matrix = [[-a - b, a], [c, -c - d]]
  return matrix_laws.phase_type(initial_probs, matrix, [b, d])


def _sparse_steps(initial_probs: Any, probs: Any, **options: Any) -> Any:
  edges = pm.EdgeProbs([0, 0, 1, 1], [1, 2, 0, 2], probs)
  return pd.DiscretePhaseType(initial_probs, edges, **options)


def _sparse_steps_law(initial_probs: Any, probs: Any) -> Any:
  a, b, c, d = probs
  matrix = [[1 - a - b, a], [c, 1 - c - d]]
  return matrix_laws.discrete_phase_type(initial_probs, matrix, [b, d])


def _equilibrium(mixture_probs: Any, rates: Any, **options: Any) -> Any:
  checks = {k: v for k, v in options.items() if k == "validate_args"}
  return pd.Equilibrium(
    pd.Hyperexponential(mixture_probs, rates, **checks), **options
  )


def _equilibrium_law(mixture_probs: Any, rates: Any) -> Any:
  spent = [p / r for p, r in zip(mixture_probs, rates, strict=True)]
  laws = [family_oracle.exponential(r) for r in rates]
  return family_oracle.mixture([x / sum(spent) for x in spent], laws)


CASES: dict[str, family_cases.Case] = {
  "phase_type": family_cases.Case(
    pd.PhaseType,
    {
      "initial_probs": [0.5, 0.375, 0.0],
      "subgenerator": [
        [-2.0, 1.5, 0.25],
        [0.125, -1.0, 0.875],
        [3.0, 0.0, -4.0],
      ],
    },
    lambda initial_probs, subgenerator: matrix_laws.phase_type(
      initial_probs, subgenerator
    ),
    _TIMES,
    atom=True,
  ),
  "phase_type_exits": family_cases.Case(
    pd.PhaseType,
    {
      "initial_probs": [0.25, 0.5],
      "subgenerator": [[-2.0, 1.5], [0.125, -1.0]],
      "exit_rates": [0.5, 0.875],
      "prob_zero": 0.25,
    },
    _with_exits_law,
    _TIMES,
    atom=True,
  ),
  "discrete_phase_type": family_cases.Case(
    pd.DiscretePhaseType,
    {
      "initial_probs": [0.25, 0.625],
      "subtransition": [[0.5, 0.25], [0.125, 0.25]],
    },
    lambda initial_probs, subtransition: matrix_laws.discrete_phase_type(
      initial_probs, subtransition
    ),
    (0.0, *_COUNTS),
    discrete=True,
    atom=True,
  ),
  "graph": family_cases.Case(
    lambda params, **options: pd.GraphPhaseType(repairs(), params, **options),
    {"params": [1.5, 0.75, 0.5]},
    _repairs_law,
    _TIMES,
    atom=True,
  ),
  "discrete_graph": family_cases.Case(
    lambda params, **options: pd.GraphDiscretePhaseType(
      heads(), params, **options
    ),
    {"params": [0.25, 0.5]},
    _heads_law,
    (2.0, 3.0, 7.0, 20.0, 150.0),
    discrete=True,
  ),
  "epochs": family_cases.Case(
    _epochs,
    {"first": [2.0], "second": [0.5], "boundaries": [0.75]},
    _epochs_law,
    (1e-3, 0.5, 2.0, 7.0, 40.0),
  ),
  "sparse": family_cases.Case(
    _sparse,
    {"initial_probs": [0.5, 0.25], "rates": [2.0, 0.5, 0.125, 1.0]},
    _sparse_law,
    _TIMES,
    atom=True,
  ),
  "discrete_sparse": family_cases.Case(
    _sparse_steps,
    {"initial_probs": [0.5, 0.25], "probs": [0.25, 0.125, 0.5, 0.0625]},
    _sparse_steps_law,
    (0.0, *_COUNTS),
    discrete=True,
    atom=True,
  ),
  "equilibrium": family_cases.Case(
    _equilibrium,
    {"mixture_probs": [0.75, 0.25], "rates": [3.0, 0.5]},
    _equilibrium_law,
    _TIMES,
  ),
}
