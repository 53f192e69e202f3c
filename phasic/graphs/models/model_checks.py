"""Checks of the arguments of the ready-made models."""

from __future__ import annotations

from collections.abc import Sequence
import numbers

from phasic.internal import raw_arguments
from phasic.internal.arrays import Integer


def at_least(name: str, value: object, least: Integer) -> None:
  """Raises unless an argument is an integer and at least `least`.

  Raises:
    TypeError: it is not an integer.
    ValueError: it is too small.
  """
  if isinstance(value, bool) or not isinstance(value, numbers.Integral):
    raise TypeError(
      f"{name} is {raw_arguments.shown(value)}: it must be an integer"
    )
  if value < least:
    raise ValueError(f"{name} is {value}: it must be at least {least}")


def counts(
  name: str, values: Sequence[Integer], entries: int, total: int
) -> tuple[int, ...]:
  """Checks a sequence of counts, and returns it as a tuple.

  Args:
    name: the argument's name.
    values: integers that are not negative.
    entries: how many there must be at least.
    total: the least sum of them.

  Raises:
    TypeError: it is not a sequence of integers.
    ValueError: there are too few, or one is negative.
  """
  if not isinstance(values, Sequence) or isinstance(values, str):
    raise TypeError(
      f"{name} is {raw_arguments.shown(values)}: it must be a sequence of integers"
    )
  for i, value in enumerate(values):
    at_least(f"{name}[{i}]", value, 0)
  if len(values) < entries or sum(values) < total:
    raise ValueError(
      f"{name} is {tuple(values)}: it must have at least {entries} entries, "
      f"whose sum is at least {total}"
    )
  return tuple(int(value) for value in values)
