"""Rules for values, with messages that name argument, value and rule."""

from __future__ import annotations

from collections.abc import Sequence
import sys
from typing import NamedTuple, TypeVar

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import plausible

_INF = float("inf")
# An array of the backend or the host.
_X = TypeVar("_X", bound=Array | onp.ndarray)


class ValueRule(NamedTuple):
  """A range of valid values of an argument; NaN is always valid.

  Attributes:
    least: the least valid value.
    most: the greatest valid value.
    text: the rule, as the end of a message.
    integer: whether values must be integers.
    finite: whether values must be finite.
  """

  least: float
  most: float
  text: str
  integer: bool = False
  finite: bool = True

  def holds(self, x: Array) -> Array:
    """Returns which values are valid; NaN counts as invalid here."""
    good = (x >= self.least) & (x <= self.most)
    if self.finite:
      good = good & (x < _INF)
    return good & (np.floor(x) == x) if self.integer else good

  def holds_on_host(self, x: onp.ndarray) -> onp.ndarray:
    """Evaluates `holds` for an array on the host."""
    good: onp.ndarray = (x >= self.least) & (x <= self.most)
    if self.finite:
      good = good & (x < _INF)
    return good & (onp.floor(x) == x) if self.integer else good


PROBABILITY = ValueRule(0.0, 1.0, "a probability must be in [0, 1]")
LOG_PROBABILITY = ValueRule(
  -_INF, 0.0, "the logarithm of a probability must be <= 0"
)
TIME = ValueRule(0.0, _INF, "it must be finite and >= 0")
COUNT = ValueRule(0.0, _INF, "it must be an integer >= 0", True)
WEIGHT = ValueRule(0.0, _INF, "a weight must be >= 0 and finite")
FACTOR = ValueRule(-sys.float_info.max, _INF, "a weight must be finite")
LENGTH = ValueRule(0.0, _INF, "it must be >= 0", finite=False)
REWARD = ValueRule(0.0, _INF, "rewards must be >= 0 and finite")
# Infinity is a valid argument, though the result there is NaN.
LAPLACE = ValueRule(
  0.0,
  _INF,
  "it must be finite and >= 0; for u < 0 take moment_generating_function(-u)",
  finite=False,
)
DISCOUNT = ValueRule(0.0, 1.0, "the discount of a step must be in [0, 1]")
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
  """Checks that a rule holds for `x`, and returns `x`.

  `array_ops.check` describes how the check fails.

  For rules about sums over the last axis use `check_sums`.

  Args:
    name: the argument's name.
    x: the argument.
    good: boolean array that broadcasts to the shape of `x`.
    rule: the rule, as the end of the message.
    what: the values that the rule is about, if not `x`; with the shape of
      `good`.
  """
  what = x if what is None else what
  return array_ops.check(good, _message(name, good, rule, what), x, what)


def check_sums(
  name: str, x: Array, good: Array, rule: str, sums: Array
) -> Array:
  """Checks sums over the last axis of `x`, and returns `x`.

  Args:
    name: the name of the sums in messages.
    x: the argument, (..., n).
    good: (...), whether each sum is valid.
    rule: the rule, as the end of the message.
    sums: (...), the sums.
  """
  message = _message(name, good, rule, sums)
  return array_ops.check(good[..., None], message, x, sums[..., None])


def warn(owner: str, name: str, x: ArrayLike, rule: ValueRule) -> None:
  """Warns of an invalid argument if its value is on the host.

  Args:
    owner: the name of the function or method.
    name: the argument's name.
    x: the argument; NaN is valid.
    rule: the rule.
  """
  if user_warnings.is_derived():
    return
  known = _numbers([x])
  if known is None:
    return
  x = known[0]
  good = rule.holds_on_host(x) | onp.isnan(x)
  if not onp.all(good):
    message = _message(name, good, rule.text, x)
    user_warnings.warn(f"{owner}: {message}")


def first_place(mask: onp.ndarray) -> tuple[tuple[int, ...], str]:
  """Returns the index of the first true entry, and its text, such as [0, 1]."""
  index = tuple(int(i) for i in onp.argwhere(mask)[0])
  return index, f"[{', '.join(map(str, index))}]" if index else ""


def _numbers(arrays: Sequence[ArrayLike]) -> list[onp.ndarray] | None:
  """Returns arrays on the host; None unless all are available and numeric."""
  try:
    known = plausible.values_at_hand(arrays)
  except (TypeError, ValueError):  # The checked function raises.
    return None
  if known is None or any(
    x is None or x.dtype.kind not in "fiu" for x in known
  ):
    return None
  return known


def _message(
  name: str, good: Array | onp.ndarray, rule: str, what: Array | onp.ndarray
) -> str:
  """Formats the message, with the first invalid value if it is known."""
  values, holds = static.at_hand(what), static.at_hand(good)
  if values is None or holds is None or onp.all(holds):
    return f"{name}: {rule}"
  values, bad = onp.broadcast_arrays(values, onp.logical_not(holds))
  index, where = first_place(bad)
  return f"{name}{where} = {values[index]}: {rule}"
