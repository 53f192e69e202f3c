"""Maps public names such as "log_prob" to the kernel's function names."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as onp

from phasic.internal import raw_arguments

KINDS = {
  "log_prob": "log_density",
  "prob": "density",
  "log_survival_function": "log_survival",
  "survival_function": "survival",
  "log_cdf": "log_cdf",
  "cdf": "cdf",
}
# The functions without a time that `diagnose` explains.
STATISTICS = ("mean", "variance", "stddev")


def kind_of(name: str, argument: str, more_names: Sequence[str] = ()) -> str:
  """Returns the kernel's name of a function, given its public name.

  Args:
    name: the function's public name.
    argument: the argument that the caller got the name from, for messages.
    more_names: further names that the message lists.

  Raises:
    ValueError: there is no such function.
  """
  if not is_in(name, KINDS):
    names = ", ".join((*KINDS, *more_names))
    shown = raw_arguments.shown(name)
    raise ValueError(f"{argument} is {shown}: it must be one of {names}")
  return KINDS[name]


def is_in(name: object, names: Container[str]) -> bool:
  """Returns whether an argument, of any type, is one of some names."""
  return isinstance(name, str) and name in names


def kind_of_method(method: str) -> str:
  """Returns the kernel's name of a method whose NaN `diagnose` explains."""
  return kind_of(method, "method", STATISTICS)


def check_no_value(method: str, **arguments: object) -> None:
  """Raises ValueError if a statistic such as the mean is given a value."""
  for name, x in arguments.items():
    if x is not None:
      raise ValueError(
        f"{name} is {raw_arguments.shown(x)}: it must be None: {method} takes "
        "no value"
      )


def reasons_of_statistic(
  method: str, found: onp.ndarray, why: onp.ndarray
) -> onp.ndarray:
  """Returns why each mean, variance or standard deviation is NaN, or "ok".

  Args:
    method: one of STATISTICS.
    found: its values.
    why: the reasons why values of the model are NaN, or "ok".
  """
  out_of_range = f"{method}: it is out of the range of numbers"
  why = onp.where(why == "ok", out_of_range, why)
  return onp.where(onp.isnan(found), why, "ok")
