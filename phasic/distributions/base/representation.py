"""Distributions as text."""

from collections.abc import Mapping
import contextlib
import math
from typing import Any

import numpy as onp

from phasic.internal import static
from phasic.internal import structures

# `repr` shows parameters with at most this many numbers.
_FEW = 9


def text_of(distribution: Any, parameters: Mapping[str, object]) -> str:
  """Returns the text of `repr`: shapes, dtype and small known parameters."""
  kind, name = type(distribution).__name__, distribution.name
  names = distribution.parameter_properties()
  arrays = leaves({name: parameters[name] for name in names})
  facts = "parameters unknown"  # A structure whose leaves are no arrays.
  if all(x is None or hasattr(x, "shape") for x in arrays.values()):
    with contextlib.suppress(TypeError, ValueError):
      facts = (
        f"batch_shape={distribution.batch_shape}, "
        f"event_shape={distribution.event_shape}, dtype={distribution.dtype}"
        f"{_shown(parameters)}"
      )
  return f"<{kind} {name!r} {facts}>"


def leaves(arrays: Mapping[str, Any]) -> dict[str, Any]:
  """Returns arrays by name, entries of mappings as params['a']."""
  found: dict[str, Any] = {}
  for name, value in arrays.items():
    if isinstance(value, Mapping):
      found |= leaves({f"{name}[{k!r}]": v for k, v in value.items()})
    else:
      found[name] = value
  return found


def _shown(parameters: Mapping[str, object]) -> str:
  """Formats the parameters that are small and concrete."""
  text = ""
  for name, x in parameters.items():
    if isinstance(x, int) and not isinstance(x, bool):
      text += f", {name}={x}"
    if not hasattr(x, "shape") or structures.is_variable(x):
      continue
    shape = static.shape(x)
    if not all(isinstance(d, int) for d in shape) or math.prod(shape) > _FEW:
      continue
    host = static.concrete(x)
    if host is not None:
      shown = onp.array2string(
        host,
        separator=", ",
        max_line_width=1000,
        formatter={"float_kind": lambda number: f"{number:g}"},
      )
      text += f", {name}={shown}".replace("\n", "")
  return text
