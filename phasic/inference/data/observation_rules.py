"""Rules that observations must meet, and their error messages."""

from __future__ import annotations

from collections.abc import Mapping
import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import Tree
from phasic.math.model import value_rules

# The arrays of observations, in this order.
NAMES = ("lower", "upper", "weights", "entry", "cause")


def aligned(arrays: Mapping[str, Array | None]) -> dict[str, Tree]:
  """Broadcasts the arrays to their common shape (..., n)."""
  shapes = {
    name: static.shape(x) for name, x in arrays.items() if x is not None
  }
  try:
    shape = static.broadcast_shapes(*shapes.values())
  except ValueError:
    listed = ", ".join(f"{name} {size}" for name, size in shapes.items())
    raise ValueError(f"shapes do not broadcast: {listed}") from None
  if not shape:
    raise ValueError("lower is a scalar: observations have shape (..., n)")
  # Sizes that are dynamic cannot be compared.
  known = all(isinstance(d, int) for size in shapes.values() for d in size)
  broadcast = {
    name: x
    if x is None or (known and shapes[name] == shape)
    else np.broadcast_to(x, shape)
    for name, x in arrays.items()
  }
  return broadcast


def checked(arrays: dict[str, Tree]) -> dict[str, Tree]:
  """Returns the arrays after checks of their values.

  Raises:
    ValueError: a value breaks a rule; see `array_ops.check` for what happens
      while values are traced: the observations are then unknown, NaN.
  """
  given = arrays
  if arrays["upper"] is None:
    given = {**arrays, "upper": arrays["lower"]}
  known = {
    name: None if x is None else static.concrete(x) for name, x in given.items()
  }
  if all(x is None or known[name] is not None for name, x in given.items()):
    check_known(known, {})
    return arrays
  lower = arrays["lower"]
  for name, good, rule in _rules(**given):
    lower = array_ops.check(good, f"{name}: {rule}", lower, given[name])
  return {**arrays, "lower": lower}


def check_known(arrays: Mapping[str, Tree], labels: Mapping[str, str]) -> None:
  """Raises ValueError for invalid values in host arrays.

  Args:
    arrays: by `NAMES`; `upper` may be None for `lower`.
    labels: the names in messages, where they are not those of `NAMES`.
  """
  known = dict(arrays)
  if known["upper"] is None:
    known["upper"] = known["lower"]
  for name, good, rule in _rules(**known):
    value_rules.check(
      labels.get(name, name), known[name], onp.asarray(good), rule
    )


def _rules(
  lower: Array,
  upper: Array,
  weights: Array | None,
  entry: Array | None,
  cause: Array | None,
) -> list[tuple[str, Array, str]]:
  """Returns the name, mask of valid values, and text of each rule.

  The arrays are the host's or traced ones: only operators are used.
  """
  rules = [
    ("lower", lower == lower, "it must be a number"),
    ("upper", upper == upper, "it must be a number, or inf for right-censored"),
    ("upper", upper >= 0, "values are times or counts >= 0"),
    ("upper", upper >= lower, "it must be at least lower"),
    ("lower", lower < math.inf, "it must be finite"),
  ]
  if weights is not None:
    good = (weights >= 0) & (weights < math.inf)
    rules.append(("weights", good, "a weight must be >= 0 and finite"))
  if entry is not None:
    rules += [
      ("entry", entry < math.inf, "it must be finite, below zero for none"),
      (
        "entry",
        (entry < 0) | (entry < upper) & ((entry < lower) | (lower != upper)),
        "the exit must be after the entry, else it was not seen; an entry below "
        "zero is none",
      ),
      (
        "entry",
        (entry < 0) | (entry <= lower) | (upper != math.inf),
        "a right-censored value must have been seen at the entry or later",
      ),
    ]
  if cause is not None:
    rules += [
      ("cause", cause >= -1, "it must be the number of a cause, or -1"),
      (
        "cause",
        (cause < 0) | (upper != math.inf),
        "a right-censored value has no cause yet: it must be -1",
      ),
    ]
  return rules


def check_counts(lower: Array, upper: Array | None) -> None:
  """Raises ValueError if a count that is known exactly is not whole."""
  known = static.concrete(lower)
  ends = known if upper is None else static.concrete(upper)
  if known is None or ends is None:
    return
  good = (known != ends) | (onp.floor(known) == known)
  rule = "a count that is known exactly must be whole"
  value_rules.check("lower", known, onp.asarray(good), rule)


def check_causes(cause: Array, causes: tuple[str | None, ...]) -> None:
  """Raises ValueError if a concrete index of a cause is out of range."""
  known = static.concrete(cause)
  if known is not None:
    rule = f"there are {len(causes)} causes, {causes}"
    value_rules.check("cause", known, onp.asarray(known < len(causes)), rule)
