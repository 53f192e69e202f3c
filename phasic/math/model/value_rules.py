"""Checks of values with messages that name argument, value and rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy as onp

from phasic.internal import checks
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model import plausible

_INF = float("inf")
# An array, of the host too.
_X = TypeVar("_X", bound=Array | onp.ndarray)


class ValueRule(NamedTuple):
  """Which values an argument may have; NaN is nobody's mistake.

  Attributes:
    least: the least one.
    most: the greatest one.
    text: the rule, as the end of a message.
    whole: whether they are whole numbers.
    finite: whether they are finite.
  """

  least: float
  most: float
  text: str
  integer: bool = False
  finite: bool = True

  def holds(self, x: Array) -> Array:
    """Returns where values of an array keep to the rule, NaN not among them."""
    good = (x >= self.least) & (x <= self.most)
    if self.finite:
      good = good & (x < _INF)
    return good & (np.floor(x) == x) if self.integer else good


PROBABILITY = ValueRule(0.0, 1.0, "a probability must be in [0, 1]")
LOG_PROBABILITY = ValueRule(
  -_INF, 0.0, "the logarithm of a probability must be <= 0"
)
TIME = ValueRule(0.0, _INF, "it must be finite and >= 0")
COUNT = ValueRule(0.0, _INF, "it must be an integer >= 0", True)
REWARD = ValueRule(0.0, _INF, "rewards must be >= 0 and finite")
# The limit at infinity is no mistake, though it is NaN.
LAPLACE = ValueRule(
  0.0,
  _INF,
  "it must be finite and >= 0; for u < 0 take moment_generating_function(-u)",
  finite=False,
)
GENERATING = ValueRule(
  0.0,
  1.0,
  "it must be in [0, 1]; for z > 1 take moment_generating_function(log(z))",
)


def check(
  name: str,
  x: _X,
  good: Array | onp.ndarray,
  rule: str,
  what: Array | onp.ndarray | None = None,
) -> _X:
  """Returns `x`, checked; see `checks.check` for what happens if it fails.

  What is told of sums over the last axis is checked by `check_sums`.

  Args:
    name: the argument's name.
    x: the argument.
    good: boolean array that broadcasts to the shape of `x`.
    rule: the rule, as the end of the message.
    what: the values that the rule speaks of, if not `x` itself; of the shape
      of `good`.
  """
  what = x if what is None else what
  return checks.check(good, _message(name, good, rule, what), x, what)


def check_sums(
  name: str, x: Array, good: Array, rule: str, sums: Array
) -> Array:
  """Returns `x`, (..., n), checked by sums over its last axis.

  Args:
    name: what the sums are called.
    x: the argument.
    good: (...), whether each sum is.
    rule: the rule, as the end of the message.
    sums: (...), the sums.
  """
  message = _message(name, good, rule, sums)
  return checks.check(good[..., None], message, x, sums[..., None])


def warn(name: str, x: ArrayLike, rule: ValueRule) -> None:
  """Warns of an argument that breaks a rule, where it is at hand.

  Args:
    name: the argument's name.
    x: the argument; NaN breaks none.
    rule: the rule.
  """
  if user_warnings.is_derived():
    return
  known = _numbers([x])
  if known is None:
    return
  x = known[0]
  good: onp.ndarray = (x >= rule.least) & (x <= rule.most)
  if rule.finite:
    good = good & (x < _INF)
  if rule.integer:
    good = good & (onp.floor(x) == x)
  good = good | onp.isnan(x)
  if not onp.all(good):
    user_warnings.warn(_message(name, good, rule.text, x))


def _numbers(arrays: Sequence[ArrayLike]) -> list[onp.ndarray] | None:
  """Returns arrays of numbers on the host, None if one is not at hand."""
  try:
    known = plausible.values_at_hand(arrays)
  except (TypeError, ValueError):  # It raises elsewhere.
    return None
  if known is None or any(x.dtype.kind not in "fiu" for x in known):
    return None
  return known


def _message(
  name: str, good: Array | onp.ndarray, rule: str, what: Array | onp.ndarray
) -> str:
  """Returns the message, with the first value that breaks the rule if known."""
  values, holds = static.at_hand(what), static.at_hand(good)
  if values is None or holds is None or onp.all(holds):
    return f"{name}: {rule}"
  values, bad = onp.broadcast_arrays(values, onp.logical_not(holds))
  index = tuple(int(i) for i in onp.argwhere(bad)[0])
  where = "".join(f"[{', '.join(map(str, index))}]" if index else "")
  return f"{name}{where} = {values[index]}: {rule}"
