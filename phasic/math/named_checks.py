"""Checks of values with messages that name argument, value and rule."""

from typing import Any

import numpy as onp

from phasic.internal import checks
from phasic.internal import static


def check(name: str, x: Any, good: Any, rule: str, what: Any = None) -> Any:
  """Returns `x`, checked; see `checks.check` for what happens if it fails.

  Args:
    name: the argument's name.
    x: the argument.
    good: boolean array that broadcasts to the shape of `x`.
    rule: the rule, as the end of the message.
    what: the values that the rule speaks of, if not `x` itself; of the shape
      of `good`.
  """
  values = static.concrete(x if what is None else what)
  bad = static.concrete(~good)
  message = f"{name}: {rule}"
  if values is not None and bad is not None and onp.any(bad):
    values, bad = onp.broadcast_arrays(values, bad)
    index = tuple(int(i) for i in onp.argwhere(bad)[0])
    where = "".join(f"[{', '.join(map(str, index))}]" if index else "")
    message = f"{name}{where} = {values[index]}: {rule}"
  return checks.check(good, message, x)
