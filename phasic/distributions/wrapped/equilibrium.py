"""Equilibrium distributions of renewal theory."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import ClassVar

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.wrapped import wrapped_distribution
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import plausible
from phasic.math.model import value_rules
from phasic.math.model.model_types import Model
from phasic.math.moments import renewals


@structures.register
class Equilibrium(wrapped_distribution.OnSamePhases):
  """The stationary excess distribution of X, with the density P(X > t) / E[X].

  It is the distribution of the time until the next renewal where times
  distributed as X have followed each other for ever. It is of phase type with
  the same phases, and starts in them as X spends its time: with masses alpha
  (-S)^-1 / E[X]. In discrete time P(X_e = k) = P(X >= k) / E[X] for k = 1, 2,
  ..., and the masses are alpha (I - T)^-1 / E[X]. An atom of X at zero counts for
  nothing, and X_e has none.

  Results are NaN where E[X] is zero or infinite.

  Example: buses come irregularly, so that one waits long for the next.

    >>> from phasic.distributions import Equilibrium, Hyperexponential
    >>> gap = Hyperexponential([0.5, 0.5], [1.0, 0.25])
    >>> wait = Equilibrium(gap)
    >>> print(f"{float(gap.mean()):.6f}, {float(wait.mean()):.6f}")
    2.500000, 3.400000

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec.
      2.4.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {"distribution": 1}

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    model = plausible.host_model(self.distribution._chain())
    if model is None:
      return True
    mean = static.concrete(self.distribution._mean())
    # A parameter that makes the mean NaN has already caused a warning.
    return mean is None or not onp.any((mean <= 0.0) | (mean == math.inf))

  def _checked_chain(self) -> Model:
    model = super()._checked_chain()
    mean = self.distribution._mean()
    mean = value_rules.check(
      "mean of distribution",
      mean,
      (mean > 0) & (mean < math.inf),
      "it must be > 0 and finite for an equilibrium; a chain that may be "
      "caught in some phases, or never starts, has none",
    )
    start, matrix, exits, prob_zero = model
    return start + 0.0 * mean[..., None], matrix, exits, prob_zero

  @property
  def dtype(self) -> str:
    """The name of the dtype of parameters, values and results."""
    return self.distribution.dtype

  def _as_array(self, x: ArrayLike, name: str) -> Array:
    # This class has no arrays: the wrapped distribution knows the dtype.
    return self.distribution._as_array(x, name)

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not."""
    reasons = super()._reasons(value, method)
    mean = comparable.host(self.distribution._mean())
    lost = onp.logical_not((mean > 0) & (mean < math.inf)) & (reasons != "ok")
    why = self.distribution._reasons(1.0, "log_survival_function")
    endless = "distribution: its mean must be > 0 and finite"
    return onp.where(lost, onp.where(why == "ok", endless, why), reasons)

  def _may_be_zero(self) -> bool:
    return False

  def _chain_of(self) -> Model:
    model = self.distribution._model()
    start = renewals.equilibrium_probs(model, self._DISCRETE)
    return start, model[1], model[2], np.zeros((), dtype=self.dtype)
