"""Implements `diagnose`: the reasons why a method gives NaN."""

from __future__ import annotations

import numpy as onp

from phasic.distributions.base import hooks
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike
from phasic.math.model import function_kinds

_STATISTICS = ("mean", "variance", "stddev")


def reasons(
  distribution: hooks.Hooks, value: ArrayLike | None, method: str
) -> onp.ndarray:
  """Returns the reason of each NaN of a method, see `Distribution.diagnose`."""
  if method in _STATISTICS:
    return _reasons_of_statistic(distribution, value, method)
  kind_of(method)
  if value is None:
    raise ValueError(f"value is None: it must be the argument of {method}")
  return distribution._reasons(value, method)


def _reasons_of_statistic(
  distribution: hooks.Hooks, value: object, method: str
) -> onp.ndarray:
  """Returns the reason of each NaN of the mean, variance or stddev."""
  if value is not None:
    raise ValueError(
      f"value is {raw_arguments.shown(value)}: it must be None: {method} "
      "takes no value"
    )
  found = static.concrete(getattr(distribution, f"_{method}")())
  if found is None:
    raise TypeError(
      "parameters are traced: diagnose needs concrete parameters; call it "
      "outside jit"
    )
  why = distribution._reasons(distribution._late(), "survival_function")
  out_of_range = f"{method}: it is out of the range of numbers"
  why = onp.where(why == "ok", out_of_range, why)
  return onp.where(onp.isnan(found), why, "ok")


def kind_of(method: str) -> str:
  """Returns the kernel's name of a method; raises ValueError if it has none."""
  return function_kinds.kind_of(method, "method", _STATISTICS)
