"""Warnings of NaN in the results of eager calls of functions of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import sys

import numpy as onp

from phasic.internal import static
from phasic.internal import user_warnings
from phasic.math.model import nan_table
from phasic.math.model import value_rules
from phasic.math.numeric import array_utils

_NO_DERIVATIVE = (
  "it is not defined there, e.g. in a number of steps, too few digits would be "
  "left, memory did not suffice, or it asks for more steps than the work limit, "
  "of which derivatives have a part"
)


def warn(
  package: str,
  name: str,
  result: object,
  args: Sequence[object],
  kwargs: Mapping[str, object],
) -> None:
  """Warns of NaN in a result, unless the arguments have NaN as well.

  Args:
    package: the public module of the function.
    name: its name there.
    result: its result, an array or a tuple of arrays.
    args: the positional arguments of the call.
    kwargs: the keyword arguments of the call.
  """
  with_nan = next((x for x in _arrays(result) if array_utils.has_nan(x)), None)
  if with_nan is None or not user_warnings.warns_of_nan():
    return
  if any(array_utils.has_nan(x) for x in _arrays((*args, *kwargs.values()))):
    return
  index, where = _first_nan(with_nan)
  try:
    diagnose = sys.modules[package].diagnose
    why = str(diagnose(*args, **kwargs, method=name)[index])
  except (NotImplementedError, TypeError, ValueError):
    # A value is traced, or `diagnose` does not know this function.
    why = nan_table.UNKNOWN
  user_warnings.warn(f"{name}{where} is NaN: {why}")


def warn_of_derivatives(
  name: str,
  derivatives: Sequence[object],
  values: Sequence[object],
  inputs: Sequence[object],
) -> None:
  """Warns of NaN in derivatives where the function has a value.

  It does not warn of NaN where the value or the arguments have NaN, too.

  Args:
    name: the public name of the function that differentiates.
    derivatives: arrays of derivatives.
    values: the arrays that are differentiated.
    inputs: the arguments, tangents and cotangents.
  """
  with_nan = next(filter(array_utils.has_nan, _arrays(derivatives)), None)
  if with_nan is None or not user_warnings.warns_of_nan():
    return
  if any(map(array_utils.has_nan, _arrays((*values, *inputs)))):
    return
  _, where = _first_nan(with_nan)
  why = _NO_DERIVATIVE
  for x in _arrays(values):
    known = static.at_hand(x)
    if known is not None and not onp.all(onp.isfinite(known)):
      index, place = value_rules.first_place(
        onp.logical_not(onp.isfinite(known))
      )
      why = f"the value{place} is {known[index]}, which has no derivatives"
      break
  user_warnings.warn(f"{name}: the derivative{where} is NaN: {why}")


def _first_nan(x: object) -> tuple[tuple[int, ...], str]:
  """Returns the index of the first NaN, and its text."""
  return value_rules.first_place(onp.isnan(onp.asarray(static.at_hand(x))))


def _arrays(x: object) -> Iterator[object]:
  """Yields the floating numbers and arrays of nested tuples."""
  if isinstance(x, (list, tuple)):
    for part in x:
      yield from _arrays(part)
  elif isinstance(x, float) or _is_floating(x):
    yield x


def _is_floating(x: object) -> bool:
  """Returns whether an array of any library has floating numbers."""
  name = getattr(getattr(x, "dtype", None), "name", "")
  return str(name).startswith(("float", "bfloat"))
