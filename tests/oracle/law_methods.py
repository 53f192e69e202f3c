"""Methods of distributions and their derivatives, in mpmath.

Derivatives are central differences with so many digits that their error is
negligible. Set the precision around calls.
"""

from collections.abc import Callable, Iterator, Sequence
import copy
from typing import Any, NamedTuple

import mpmath

from tests.oracle import family_oracle

METHODS = (
  "log_prob",
  "prob",
  "cdf",
  "log_cdf",
  "survival_function",
  "log_survival_function",
  "hazard_function",
  "log_hazard_function",
  "cumulative_hazard",
)
_STEP = 40  # The number of digits in which a number and its neighbor agree.


class Point(NamedTuple):
  """Functions of a distribution at a value, or their derivatives.

  Attributes:
    prob: the density, or the probability of a number.
    cdf: P(X <= t).
    sf: P(X > t).
    alive: the denominator of the hazard, P(X > t), in discrete time P(X >= t).
  """

  prob: Any
  cdf: Any
  sf: Any
  alive: Any


def point(law: family_oracle.Law, t: Any, discrete: bool) -> Point:
  """Computes functions of a distribution at a value."""
  t = mpmath.mpf(t)
  survival = law.sf(t)
  alive = survival
  if discrete:
    alive = law.sf(t - 1) if t >= 1 else mpmath.mpf(1)
  return Point(law.prob(t), law.cdf(t), survival, alive)


def value(method: str, at: Point) -> Any:
  """Computes a method's value."""
  return {
    "log_prob": lambda: mpmath.log(at.prob),
    "prob": lambda: at.prob,
    "cdf": lambda: at.cdf,
    "log_cdf": lambda: mpmath.log(at.cdf),
    "survival_function": lambda: at.sf,
    "log_survival_function": lambda: mpmath.log(at.sf),
    "hazard_function": lambda: at.prob / at.alive,
    "log_hazard_function": lambda: mpmath.log(at.prob / at.alive),
    "cumulative_hazard": lambda: -mpmath.log(at.sf),
  }[method]()


def slope(method: str, at: Point, change: Point) -> Any:
  """Computes a method's derivative, from derivatives of the functions."""
  log_hazard = change.prob / at.prob - change.alive / at.alive
  return {
    "log_prob": lambda: change.prob / at.prob,
    "prob": lambda: change.prob,
    "cdf": lambda: change.cdf,
    "log_cdf": lambda: change.cdf / at.cdf,
    "survival_function": lambda: change.sf,
    "log_survival_function": lambda: change.sf / at.sf,
    "hazard_function": lambda: log_hazard * at.prob / at.alive,
    "log_hazard_function": lambda: log_hazard,
    "cumulative_hazard": lambda: -change.sf / at.sf,
  }[method]()


class Neighbors(NamedTuple):
  """Two distributions whose parameters differ in one number."""

  above: family_oracle.Law
  below: family_oracle.Law
  distance: Any

  def change(self, function: Callable[[family_oracle.Law], Any]) -> Any:
    """Computes the derivative of a function, or of a tuple of functions."""
    high, low = function(self.above), function(self.below)
    if not isinstance(high, tuple):
      return (high - low) / self.distance
    slopes = ((x - y) / self.distance for x, y in zip(high, low, strict=True))
    return Point(*slopes) if isinstance(high, Point) else tuple(slopes)


def indices(x: Any) -> Iterator[tuple[int, ...]]:
  """Returns the positions in a number or in nested lists, in order."""
  if not isinstance(x, list):
    yield ()
    return
  for i, part in enumerate(x):
    for rest in indices(part):
      yield (i, *rest)


def neighbors(
  law: Callable[..., family_oracle.Law],
  parameters: dict[str, Any],
  name: str,
  index: Sequence[int],
) -> Neighbors:
  """Returns distributions with a number of a parameter moved up and down."""

  def moved(sign: int) -> tuple[family_oracle.Law, Any]:
    box = copy.deepcopy(parameters)
    whole: Any = box
    path = (name, *index)
    for key in path[:-1]:
      whole = whole[key]
    x = whole[path[-1]]
    step = (abs(x) if x else 1) * mpmath.mpf(10) ** -_STEP
    whole[path[-1]] = x + sign * step
    return law(**box), step

  (above, step), (below, _) = moved(1), moved(-1)
  return Neighbors(above, below, 2 * step)
