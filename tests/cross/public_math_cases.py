"""Arguments for every function of `ph.math`."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as onp

from tests.cross import comparisons

ARRAY = onp.asarray


class Case(NamedTuple):
  """A call of a function.

  Attributes:
    arguments: positional ones; of tangents each has one.
    named: arguments by name, which have tangents too.
    options: arguments by name without derivatives.
    exact: whether the value and its first derivatives come out of the kernel,
      and so are the same to the last bit.
  """

  arguments: tuple[Any, ...]
  named: Mapping[str, Any] = {}
  options: Mapping[str, Any] = {}
  exact: bool = False

  def values(self) -> tuple[Any, ...]:
    """All arguments in the order of their tangents."""
    return (*self.arguments, *self.named.values())


INITIAL = ARRAY([0.5, 0.375])
ATOM = ARRAY(0.125)
RATES = ARRAY([[0.0, 1.0], [0.25, 0.0]])
EXITS = ARRAY([0.5, 2.0])
PROBS = ARRAY([[0.25, 0.5], [0.125, 0.5]])
EXIT_PROBS = ARRAY([0.25, 0.375])
TIMES = ARRAY([0.1, 7.0])
COUNTS = ARRAY([1.0, 9.0])
LOWER = ARRAY([0.1, 7.0, 2.0, -1.0])
UPPER = ARRAY([0.1, onp.inf, 9.0, 3.0])
LOWER_COUNTS = ARRAY([1.0, 7.0, 2.0, -1.0])
UPPER_COUNTS = ARRAY([1.0, onp.inf, 9.0, 3.0])
LEVELS = ARRAY([0.3, 0.95])
REWARDS = ARRAY([1.0, 0.5])
WITH_ZERO = ARRAY([1.0, 0.0])
SEVERAL_REWARDS = ARRAY([[1.0, 0.0], [0.5, 1.0]])
MARK_RATES = ARRAY([0.5, 1.5])
EDGES = comparisons.in_numpy.math.EdgeRates(
  ARRAY([0, 0, 1]),
  ARRAY([1, 2, 2]),
  ARRAY([1.5, 0.5]),
  ARRAY([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]),
  ARRAY([0.0, 0.25, 0.0]),
)
EDGE_PROBS = comparisons.in_numpy.math.EdgeProbs(
  ARRAY([0, 0, 0, 1, 1]),
  ARRAY([0, 1, 2, 1, 2]),
  ARRAY([0.25, 0.5, 0.25, 0.625, 0.375]),
)
MODEL = (INITIAL, RATES, EXITS, ATOM)
STEPS = (INITIAL, PROBS, EXIT_PROBS, ATOM)
OTHER = (INITIAL, RATES * 1.25, EXITS * 0.75, ATOM)
OTHER_STEPS = (INITIAL, PROBS / 2, EXIT_PROBS + PROBS.sum(axis=1) / 2, ATOM)


def at(x: Any, discrete: bool = False) -> tuple[Any, ...]:
  """Positional arguments, with one between the matrix and the exits."""
  initial, matrix, exits, atom = STEPS if discrete else MODEL
  return (initial, matrix, x, exits, atom)


def _both(name: str, case: Case, discrete: Case) -> dict[str, Case]:
  return {name: case, f"discrete_phase_type_{name}": discrete}


CASES: dict[str, Case] = {}
for _name in ("survival", "cdf", "log_survival", "log_cdf"):
  CASES |= _both(
    _name,
    Case(at(TIMES), exact=True),
    Case(at(COUNTS, True), exact=True),
  )
for _name in ("density", "log_density"):
  CASES[_name] = Case(at(TIMES), exact=True)
for _name in ("prob", "log_prob"):
  CASES[f"discrete_phase_type_{_name}"] = Case(at(COUNTS, True), exact=True)
for _name in ("mean", "second_moment", "stddev", "variance", "expected_visits"):
  CASES |= _both(_name, Case(MODEL), Case(STEPS))
for _name in ("hazard", "log_hazard", "occupancy"):
  CASES |= _both(_name, Case(at(TIMES)), Case(at(COUNTS, True)))
for _name in ("laplace_transform", "moment_generating_function"):
  CASES |= _both(_name, Case(at(LEVELS / 8)), Case(at(LEVELS / 8, True)))
for _name in ("reward_covariance", "reward_cross_moments"):
  CASES |= _both(
    _name, Case(at(SEVERAL_REWARDS)), Case(at(SEVERAL_REWARDS, True))
  )
for _name, _x in (
  ("quantile", LEVELS),
  ("quantile_log_cdf", onp.log(LEVELS)),
  ("quantile_log_survival", onp.log1p(-LEVELS)),
):
  CASES |= _both(_name, Case(at(_x)), Case(at(_x, True)))
_TWO = {"order": 2}
CASES |= {
  **_both(
    "log_likelihood_terms",
    Case(
      (INITIAL, RATES, LOWER, UPPER),
      {"exit_rates": EXITS, "prob_zero": ATOM},
      exact=True,
    ),
    Case(
      (INITIAL, PROBS, LOWER_COUNTS, UPPER_COUNTS),
      {"exit_probs": EXIT_PROBS, "prob_zero": ATOM},
      exact=True,
    ),
  ),
  **_both(
    "raw_moments",
    Case(MODEL, options=_TWO),
    Case(STEPS, options=_TWO),
  ),
  **_both(
    "reward_moments",
    Case(at(REWARDS), options=_TWO),
    Case(at(REWARDS, True), options=_TWO),
  ),
  **_both(
    "expected_jumps",
    Case((INITIAL, EDGES, ATOM)),
    Case((INITIAL, EDGE_PROBS, ATOM)),
  ),
  **_both("hitting_probs", Case(at((1,))), Case(at((1,), True))),
  "cross_entropy": Case((MODEL, OTHER)),
  "entropy": Case((MODEL,)),
  "kl_divergence": Case((STEPS, OTHER_STEPS), options={"discrete": True}),
  "diagnose": Case(("log_density", *at(ARRAY([1.0, onp.nan])))),
  "discrete_reward_transform": Case(at(WITH_ZERO, True)),
  "expected_sojourn_times": Case(MODEL),
  "expected_statistics": Case(at(LOWER), options={"upper": UPPER}, exact=True),
  "feed_forward_log_density": Case(
    (
      ARRAY([1.0, 0.0]),
      ARRAY([[0.0, 1.5], [0.0, 0.0]]),
      ARRAY([[1.0, 0.0], [0.0, 2.0]]),
      ARRAY([0.5, 1.0]),
      ARRAY([0.0, 0.75]),
    ),
  ),
  "joint_laplace_transform": Case(
    (INITIAL, RATES, SEVERAL_REWARDS, MARK_RATES, EXITS, ATOM)
  ),
  "joint_mark_probs": Case(
    (INITIAL, RATES, SEVERAL_REWARDS, MARK_RATES, EXITS, ATOM),
    options={"max_counts": (1, 1)},
  ),
  "mixed_moment": Case(at(SEVERAL_REWARDS), options={"orders": (1, 1)}),
  "probability_generating_function": Case(at(LEVELS, True)),
  "reward_means": Case(at(SEVERAL_REWARDS)),
  "reward_transform": Case(at(WITH_ZERO)),
}


def direction(x: Any) -> Any:
  """Returns a tangent of an argument, or None where it can have none."""
  if isinstance(
    x, comparisons.in_numpy.math.EdgeRates | comparisons.in_numpy.math.EdgeProbs
  ):
    x = x.parameters
  if not isinstance(x, onp.ndarray):
    return None
  return onp.reshape(onp.linspace(0.25, 1.0, x.size), x.shape)
