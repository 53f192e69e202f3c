"""Warnings of NaN in the results of eager calls of functions of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import sys

import numpy as onp

from phasic.internal import static
from phasic.internal import user_warnings
from phasic.math.model import function_kinds
from phasic.math.model import value_rules
from phasic.math.numeric import array_utils

_WHY = (
  "it is not defined there, too few digits would be left, or it asks for more "
  "steps than the work limit"
)


def warn(
  package: str,
  name: str,
  result: object,
  args: Sequence[object],
  kwargs: Mapping[str, object],
) -> None:
  """Warns of NaN in a result that the arguments did not have.

  Args:
    package: the public module of the function.
    name: its name there.
    result: what it returned, an array or a tuple of arrays.
    args: what it was called with.
    kwargs: the same by name.
  """
  with_nan = next((x for x in _arrays(result) if array_utils.has_nan(x)), None)
  if with_nan is None or user_warnings.is_derived():
    return
  if any(array_utils.has_nan(x) for x in _arrays((*args, *kwargs.values()))):
    return
  missing = onp.isnan(onp.asarray(static.at_hand(with_nan)))
  index, where = value_rules.first_place(missing)
  why = _WHY
  if name in function_kinds.KINDS:
    why = _reason(package, name, index, args, kwargs) or why
  user_warnings.warn(f"{name}{where} is NaN: {why}")


def _reason(
  package: str,
  name: str,
  index: tuple[int, ...],
  args: Sequence[object],
  kwargs: Mapping[str, object],
) -> str | None:
  """Returns why the entry of a result is NaN; None if that is not known."""
  try:
    diagnose = sys.modules[package].diagnose
    return str(diagnose(*args, **kwargs, method=name)[index])
  except (NotImplementedError, TypeError):
    return None  # A value is traced, or the portable path has no reasons.


def _arrays(x: object) -> Iterator[object]:
  """Yields the floating numbers and arrays of nested tuples."""
  if isinstance(x, (list, tuple)):
    for part in x:
      yield from _arrays(part)
  elif isinstance(x, float) or hasattr(x, "dtype"):
    yield x
