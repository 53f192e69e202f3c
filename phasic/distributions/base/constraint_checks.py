"""Checks of parameters against their declared constraints."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy as onp

from phasic.distributions.base import parameter_properties
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.math.model.named_checks import check
from phasic.math.model.named_checks import check_sums
from phasic.math.numeric import exact_sums


def check_options(parameters: Mapping[str, Any]) -> None:
  """Raises TypeError for options of a wrong type, as one number too many has.

  Args:
    parameters: a constructor's arguments by name, the options among them.
  """
  for option in ("validate_args", "allow_nan_stats"):
    value = parameters[option]
    if not isinstance(value, (bool, onp.bool_)):
      raise TypeError(
        f"{option} is {raw_arguments.shown(value)}: it must be True or False"
      )
  name = parameters["name"]
  if not isinstance(name, str):
    raise TypeError(f"name is {raw_arguments.shown(name)}: it must be a string")


def check_parameters(
  arrays: Mapping[str, Any], properties: parameter_properties.Properties
) -> dict[str, Any]:
  """Returns parameters by name, each checked; None stays None."""
  return {
    name: x
    if x is None
    else check_constraint(name, x, properties[name].constraint)
    for name, x in arrays.items()
  }


def check_constraint(name: str, x: Any, constraint: str) -> Any:
  """Returns a parameter, checked.

  Args:
    name: the parameter's name.
    x: its value.
    constraint: one of "positive", "increasing", "nonnegative", "probability",
      "positive probability", "probabilities" and "subprobabilities", see
      `ParameterProperties`.
  """
  finite = np.isfinite(x)
  if constraint == "positive":
    return check(name, x, (x > 0) & finite, "it must be > 0 and finite")
  if constraint == "increasing":
    x = check(name, x, (x > 0) & finite, "it must be > 0 and finite")
    before = np.concatenate([x[..., :1], x[..., :-1]], axis=-1)
    return check(name, x, x >= before, "they must be ascending")
  if constraint == "positive probability":
    return check(name, x, (x > 0) & (x <= 1), "it must be in (0, 1]")
  if constraint == "probability":
    return check(name, x, (x >= 0) & (x <= 1), "it must be in [0, 1]")
  x = check(name, x, (x >= 0) & finite, "it must be >= 0 and finite")
  if constraint == "nonnegative":
    return x
  sums = exact_sums.compensated_sum(x)
  tolerance = sum_tolerance(x)
  if constraint == "subprobabilities":
    rule = "this sum must be <= 1 within 4 p eps"
    return check_sums(f"sum({name})", x, sums <= 1 + tolerance, rule, sums)
  rule = "this sum must be 1 within 4 p eps"
  good = np.abs(sums - 1) <= tolerance
  return check_sums(f"sum({name})", x, good, rule, sums)


def sum_tolerance(probs: Any) -> float:
  """Returns how far from one the sum of p probabilities may be, 4 p eps."""
  return 4 * static.shape(probs)[-1] * static.finfo_eps(probs)


def broken_rule(
  x: onp.ndarray, prop: parameter_properties.ParameterProperties
) -> tuple[onp.ndarray, str]:
  """Returns where a parameter has no meaning, and why.

  Args:
    x: its values, (..., event), on the host.
    prop: its properties.

  Returns:
    A bool array (...), and what it must be.
  """
  kind = prop.constraint
  good, rule = (x >= 0) & onp.isfinite(x), "it must be >= 0 and finite"
  if kind in ("positive", "increasing"):
    # Zero is told by no NaN.
    rule = "it must be > 0 and finite"
  if kind in ("probability", "positive probability"):
    good, rule = (x >= 0) & (x <= 1), "it must be in [0, 1]"
  good = onp.all(good, axis=tuple(range(-prop.event_ndims, 0)))
  if kind not in ("probabilities", "subprobabilities"):
    return ~good, rule
  excess = onp.sum(x, axis=-1) - 1.0
  tolerance = sum_tolerance(x)
  small = excess <= tolerance
  if kind == "subprobabilities":
    return ~(good & small), "they must be >= 0, and their sum <= 1"
  good = good & small & (excess >= -tolerance)
  return ~good, "they must be >= 0, and their sum 1"
