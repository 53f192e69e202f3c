"""Implements `diagnose`: the reasons why a method gives NaN."""

from __future__ import annotations

import numpy as onp

from phasic.distributions.base import hooks
from phasic.internal import static
from phasic.internal.arrays import ArrayLike
from phasic.math.model import function_kinds


def reasons(
  distribution: hooks.Hooks, value: ArrayLike | None, method: str
) -> onp.ndarray:
  """Returns the reason of each NaN of a method, see `Distribution.diagnose`."""
  if method in function_kinds.STATISTICS:
    return _reasons_of_statistic(distribution, value, method)
  function_kinds.kind_of_method(method)
  if value is None:
    raise ValueError(
      f"value is None: it must be an array of arguments of {method}"
    )
  return distribution._reasons(value, method)


def _reasons_of_statistic(
  distribution: hooks.Hooks, value: object, method: str
) -> onp.ndarray:
  """Returns the reason for each NaN of the mean, variance or stddev."""
  function_kinds.check_no_value(method, value=value)
  found = static.concrete(getattr(distribution, f"_{method}")())
  if found is None:
    raise TypeError(
      "parameters are traced: diagnose needs concrete parameters; call it "
      "outside jit"
    )
  why = distribution._reasons(distribution._late(), "survival_function")
  return function_kinds.reasons_of_statistic(method, found, why)
