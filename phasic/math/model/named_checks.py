"""Checks of values with messages that name argument, value and rule."""

from typing import Any

import numpy as onp

from phasic.internal import checks
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.math.model import plausible

# The least and the greatest value of an argument, and the rule.
PROBABILITY = (0.0, 1.0, "a probability must be in [0, 1]")
LOG_PROBABILITY = (
  float("-inf"),
  0.0,
  "the logarithm of a probability must be <= 0",
)


def check(name: str, x: Any, good: Any, rule: str, what: Any = None) -> Any:
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


def check_sums(name: str, x: Any, good: Any, rule: str, sums: Any) -> Any:
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


def warn(name: str, x: Any, low: float, high: float, rule: str) -> None:
  """Warns of an argument that is out of range, where it is at hand.

  Args:
    name: the argument's name.
    x: the argument; NaN is in range.
    low: the least value.
    high: the greatest one.
    rule: the rule, as the end of the message.
  """
  known = plausible.values_at_hand([x])
  if known is None or known[0].dtype.kind not in "fiu":
    return
  good = onp.logical_not((known[0] < low) | (known[0] > high))
  if not onp.all(good):
    user_warnings.warn(_message(name, good, rule, known[0]))


def _message(name: str, good: Any, rule: str, what: Any) -> str:
  """Returns the message, with the first value that breaks the rule if known."""
  values, held = static.concrete(what), static.concrete(good)
  if values is None or held is None or onp.all(held):
    return f"{name}: {rule}"
  values, bad = onp.broadcast_arrays(values, onp.logical_not(held))
  index = tuple(int(i) for i in onp.argwhere(bad)[0])
  where = "".join(f"[{', '.join(map(str, index))}]" if index else "")
  return f"{name}{where} = {values[index]}: {rule}"
