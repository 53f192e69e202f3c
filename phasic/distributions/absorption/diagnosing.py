"""Why a method gives NaN."""

from __future__ import annotations

from typing import ClassVar

import numpy as onp

from phasic.distributions.base import distribution
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike
from phasic.math.likelihood import diagnosis
from phasic.math.model import function_kinds
from phasic.math.model.model_types import Model

_STATISTICS = ("mean", "variance", "stddev")


class Diagnosing(distribution.Distribution):
  """The reasons of NaN.

  They fit a time until absorption of a chain; another distribution has
  `_reasons` of its own.
  """

  _DISCRETE: ClassVar[bool]

  def diagnose(
    self, value: ArrayLike | None = None, method: str = "log_prob"
  ) -> onp.ndarray:
    """Returns why a method of this distribution gives NaN, as strings.

    Args:
      value: what the method is called with; it must not be traced. None for
        mean, variance and stddev.
      method: the method's name: log_prob, prob, log_survival_function,
        survival_function, log_cdf, cdf, mean, variance or stddev.

    Returns:
      A host array of strings with the shape of the method's result, "ok" where
      it is not NaN.

    Raises:
      TypeError: value or parameters are traced.
      ValueError: there is no such method, or it takes a value and there is
        none, or the other way round.

    Example:

      >>> import math
      >>> from phasic.distributions import PhaseType
      >>> str(PhaseType([1.0], [[-1.0]]).diagnose(math.nan, "cdf"))
      'value: is NaN'
    """
    if method in _STATISTICS:
      return self._reasons_of_statistic(value, method)
    kind_of(method)
    if value is None:
      raise ValueError(f"value is None: it must be the argument of {method}")
    return self._reasons(value, method)

  def _reasons_of_statistic(self, value: object, method: str) -> onp.ndarray:
    if value is not None:
      raise ValueError(
        f"value is {raw_arguments.shown(value)}: it must be None: {method} "
        "takes no value"
      )
    found = static.concrete(getattr(self, f"_{method}")())
    if found is None:
      raise TypeError(
        "parameters are traced: diagnose needs concrete parameters; call it outside jit"
      )
    why = self._reasons(self._late(), "survival_function")
    lost = f"{method}: it is out of the range of numbers"
    return onp.where(onp.isnan(found), onp.where(why == "ok", lost, why), "ok")

  def _late(self) -> onp.ndarray:
    """Returns a value at which all parameters count."""
    return onp.ones(())

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method with a value gives NaN."""
    initial_probs, matrix, exits, prob_zero = self._chain()
    value = self._converted(value)
    return diagnosis.reasons(
      kind_of(method),
      (initial_probs, matrix, value, exits, prob_zero),
      discrete=self._DISCRETE,
    )

  def _chain(self) -> Model:
    """Initial masses, rates, exits or None, and atom or None."""
    raise NotImplementedError


def kind_of(method: str) -> str:
  """Returns what the kernel calls a method; raises ValueError for others."""
  return function_kinds.kind_of(method, "method", _STATISTICS)
