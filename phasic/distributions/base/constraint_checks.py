"""Checks of parameters against their declared constraints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as onp

from phasic.distributions.base import parameter_properties
from phasic.internal import raw_arguments
from phasic.internal.arrays import Array


def check_options(parameters: Mapping[str, object]) -> None:
  """Raises TypeError for options, such as `validate_args`, of a wrong type.

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
  arrays: Mapping[str, Array | None],
  properties: parameter_properties.Properties,
) -> dict[str, Array | None]:
  """Checks parameters, and returns them by name; None stays None."""
  return {
    name: x if x is None else properties[name].constraint.check(name, x)
    for name, x in arrays.items()
  }
