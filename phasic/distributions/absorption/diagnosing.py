"""Why a method gives NaN."""

from typing import Any

import numpy as onp

from phasic.distributions.base import methods
from phasic.math.likelihood import diagnosis

# What the methods are called in `math`.
_KINDS = {
  "log_prob": "log_density",
  "prob": "density",
  "log_survival_function": "log_survival",
  "survival_function": "survival",
  "log_cdf": "log_cdf",
  "cdf": "cdf",
}


class Diagnosing(methods.Methods):
  """The reasons of NaN, for times until absorption of a chain."""

  _DISCRETE: bool

  def diagnose(self, value: Any, method: str = "log_prob") -> onp.ndarray:
    """Returns why a method of this distribution gives NaN, as strings.

    Args:
      value: what the method is called with; it must not be traced.
      method: the method's name: log_prob, prob, log_survival_function,
        survival_function, log_cdf or cdf.

    Returns:
      A host array of strings with the shape of the method's result, "ok" where
      it is not NaN.

    Raises:
      TypeError: value or parameters are traced.
      ValueError: there is no such method.

    Example:

      >>> import math
      >>> from phasic.distributions import PhaseType
      >>> str(PhaseType([1.0], [[-1.0]]).diagnose(math.nan, "cdf"))
      'value: is NaN'
    """
    kind = kind_of(method)
    initial_probs, matrix, exits, prob_zero = self._chain()
    return diagnosis.diagnose(
      kind,
      initial_probs,
      matrix,
      self._converted(value),
      exits,
      prob_zero,
      discrete=self._DISCRETE,
    )

  def _chain(self) -> tuple[Any, Any, Any, Any]:
    """Initial masses, rates, exits or None, and atom or None."""
    raise NotImplementedError

  def _converted(self, value: Any) -> Any:
    """Converts a value; raises where its shape or dtype does not fit."""
    raise NotImplementedError


def kind_of(method: str) -> str:
  """Returns what a method is called in `math`; raises ValueError for others."""
  if method not in _KINDS:
    raise ValueError(
      f"method is {method!r}: it must be one of {', '.join(_KINDS)}"
    )
  return _KINDS[method]
