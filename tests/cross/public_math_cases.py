"""Arguments for every function of models in `ph.math`."""

from collections.abc import Mapping
import inspect
from typing import Any, NamedTuple

import numpy as onp

from tests.cross import comparisons

ARRAY = onp.asarray


class Case(NamedTuple):
  """A call of a function.

  Attributes:
    arguments: positional arguments, with tangents.
    named: arguments by name, with tangents.
    options: arguments by name without derivatives.
    exact: whether the kernel computes the value and its first derivatives, so
      that they agree bitwise.
  """

  arguments: tuple[Any, ...]
  named: Mapping[str, Any] = {}
  options: Mapping[str, Any] = {}
  exact: bool = False

  def values(self) -> tuple[Any, ...]:
    """Returns all arguments in the order of their tangents."""
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
LEVELS = ARRAY([0.3, 0.95])
REWARDS = ARRAY([1.0, 0.5])
SIGNED = ARRAY([1.0, -0.5])
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


def at(*x: Any) -> tuple[Any, ...]:
  """Returns positional arguments of functions of the continuous model."""
  return (*x, *MODEL)


def steps_at(*x: Any) -> tuple[Any, ...]:
  """Returns positional arguments of functions of the discrete model."""
  return (*x, *STEPS)


def _both(name: str, case: Case, discrete: Case) -> dict[str, Case]:
  return {
    f"phase_type.{name}": case,
    f"discrete_phase_type.{name}": discrete,
  }


def _of_the_model() -> dict[str, Case]:
  """Returns the cases of all functions of a model alone."""
  math = comparisons.in_numpy.math
  cases = {}
  for module, case in (
    ("phase_type", Case(MODEL)),
    ("discrete_phase_type", Case(STEPS)),
  ):
    functions = getattr(math, module)
    for name in functions.__all__:
      parameters = inspect.signature(getattr(functions, name)).parameters
      if [*parameters][:1] == ["initial_probs"]:
        cases[f"{module}.{name}"] = case
  return cases


CASES: dict[str, Case] = {}
for _name in (
  *("prob", "log_prob", "survival_function", "cdf"),
  *("log_survival_function", "log_cdf"),
):
  CASES |= _both(
    _name,
    Case(at(TIMES), exact=True),
    Case(steps_at(COUNTS), exact=True),
  )
CASES |= _of_the_model()
for _name in ("hazard_function", "log_hazard_function", "occupancy"):
  CASES |= _both(_name, Case(at(TIMES)), Case(steps_at(COUNTS)))
for _name in ("phase_expectation", "log_phase_expectation"):
  CASES |= _both(
    _name,
    Case(at(TIMES, REWARDS), exact=True),
    Case(steps_at(COUNTS, REWARDS), exact=True),
  )
for _name in ("transition_probs", "log_transition_probs"):
  CASES |= _both(
    _name,
    Case((TIMES, RATES, EXITS)),
    Case((COUNTS, PROBS, EXIT_PROBS)),
  )
for _name in ("absorption_probs", "log_absorption_probs"):
  CASES[f"phase_type.{_name}"] = Case((TIMES, RATES, EXITS))
for _name in ("laplace_transform", "moment_generating_function"):
  CASES |= _both(_name, Case(at(LEVELS / 8)), Case(steps_at(LEVELS / 8)))
for _name in ("reward_covariance", "reward_cross_moments"):
  CASES |= _both(
    _name, Case(at(SEVERAL_REWARDS)), Case(steps_at(SEVERAL_REWARDS))
  )
for _name, _x in (
  ("quantile", LEVELS),
  ("quantile_log_cdf", onp.log(LEVELS)),
  ("quantile_log_survival", onp.log1p(-LEVELS)),
):
  CASES |= _both(_name, Case(at(_x)), Case(steps_at(_x)))
for _name in ("cross_entropy", "kl_divergence"):
  CASES |= _both(_name, Case((MODEL, OTHER)), Case((STEPS, OTHER_STEPS)))
_UNKNOWN = ARRAY([1.0, onp.nan])
CASES |= {
  **_both("raw_moments", Case(at(2)), Case(steps_at(2))),
  **_both("reward_moments", Case(at(2, REWARDS)), Case(steps_at(2, REWARDS))),
  **_both(
    "expected_jumps",
    Case((INITIAL, EDGES, None, ATOM)),
    Case((INITIAL, EDGE_PROBS, None, ATOM)),
  ),
  **_both("hitting_probs", Case(at((1,))), Case(steps_at((1,)))),
  **_both("diagnose", Case(at(_UNKNOWN)), Case(steps_at(_UNKNOWN))),
  **_both("reward_transform", Case(at(WITH_ZERO)), Case(steps_at(WITH_ZERO))),
  "discrete_phase_type.probability_generating_function": Case(steps_at(LEVELS)),
  "phase_type.expected_statistics": Case(
    at(LOWER), options={"upper": UPPER}, exact=True
  ),
  "phase_type.expm_multiply": Case((SIGNED, ARRAY(0.75), RATES, EXITS)),
  "phase_type.joint_log_prob": Case(
    (
      ARRAY([0.5, 1.0]),
      ARRAY([[1.0, 0.0], [0.0, 2.0]]),
      ARRAY([1.0, 0.0]),
      ARRAY([[0.0, 1.5], [0.0, 0.0]]),
      ARRAY([0.0, 0.75]),
    ),
  ),
  "phase_type.joint_laplace_transform": Case(at(MARK_RATES, SEVERAL_REWARDS)),
  "phase_type.joint_mark_probs": Case(at((1, 1), SEVERAL_REWARDS, MARK_RATES)),
  "phase_type.mixed_moment": Case(at((1, 1), SEVERAL_REWARDS)),
  "phase_type.reward_means": Case(at(SEVERAL_REWARDS)),
  **_both(
    "accumulated_reward_means",
    Case(at(TIMES, SEVERAL_REWARDS)),
    Case(steps_at(COUNTS, SEVERAL_REWARDS)),
  ),
  **_both(
    "discounted_reward_means",
    Case(at(LEVELS / 8, SEVERAL_REWARDS)),
    Case(steps_at(LEVELS, SEVERAL_REWARDS)),
  ),
}


def direction(x: Any) -> Any:
  """Returns a tangent of an argument, or None if it has none."""
  if isinstance(
    x, comparisons.in_numpy.math.EdgeRates | comparisons.in_numpy.math.EdgeProbs
  ):
    x = x.parameters
  if not isinstance(x, onp.ndarray):
    return None
  return onp.reshape(onp.linspace(0.25, 1.0, x.size), x.shape)
