"""Residual lifetimes."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import ClassVar

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.base import declared
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.wrapped import wrapped_distribution
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import value_rules
from phasic.math.model.model_types import Model
from phasic.math.moments import occupancy


@structures.register
class ResidualLife(wrapped_distribution.OnSamePhases):
  """The distribution of X - t given X > t.

  It is a phase-type distribution with the same phases, and starts where the
  chain is at time t: with pi = alpha exp(S t), in discrete time alpha T^t, the
  masses of its phases are pi / (pi 1). Nothing is subtracted, and nothing
  underflows however small P(X > t) is. Results are NaN where it is zero. If X
  may never end, nor may X - t.

  Example: an hour later, the bus has still not come.

    >>> from phasic.distributions import Hypoexponential, ResidualLife
    >>> wait = Hypoexponential([1.0, 3.0])
    >>> left = ResidualLife(wait, 1.0)
    >>> print(f"{float(wait.mean()):.6f}, {float(left.mean()):.6f}")
    1.333333, 1.031495

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  """

  _TIME_POWERS: ClassVar[Mapping[str, float]] = {"distribution": 1, "time": 1}

  time: declared.Required = declared.array(
    0,
    "nonnegative",
    "t, (...), >= 0 and finite, in discrete time a whole number; its shape "
    "broadcasts with the batch of the distribution.",
    fitted=False,
  )

  def _may_be_zero(self) -> bool:
    return False

  def _chain_of(self, time: Array) -> Model:
    model = self.distribution._model()
    _, matrix, exits, _ = model
    start = occupancy.transient(model, time, self._DISCRETE).probs
    return start, matrix, exits, np.zeros((), dtype=self.dtype)

  def _checked_parameters(
    self, arrays: Mapping[str, Array]
  ) -> dict[str, Array]:
    arrays = super()._checked_parameters(arrays)
    time = arrays["time"]
    if self._DISCRETE:
      rule = "in discrete time it must be an integer"
      time = value_rules.check("time", time, np.floor(time) == time, rule)
    return {**arrays, "time": time}

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    whole = not self._DISCRETE or onp.all(
      onp.floor(known["time"]) == known["time"]
    )
    return bool(whole) and super()._is_plausible(known)

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not.

    If the state of X at the time is not known, the reason says why.
    """
    found = super()._reasons(value, method)
    start = comparable.host(self._chain()[0])
    lost = onp.any(onp.isnan(start), axis=-1) & (found != "ok")
    lost = lost & ~onp.char.startswith(found, "time")
    why = self.distribution._reasons(self.time, "log_survival_function")
    never = "time: X has ended for certain"
    return onp.where(lost, onp.where(why == "ok", never, why), found)

  def _mode(self) -> Array:
    """Computes the mode of X minus t, clipped at the lowest possible value."""
    own = self._own()["time"]
    found = self.distribution._mode() - own
    found = np.maximum(found, 1.0 if self._DISCRETE else 0.0)
    return np.where((own >= 0) & (own < math.inf), found, math.nan)
