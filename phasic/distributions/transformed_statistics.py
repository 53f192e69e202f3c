"""Mean, moments and mode of a function of a phase-type variable."""

import math
from typing import Any

import numpy as np
import numpy as onp

from phasic.distributions import wrapped_distribution
from phasic.internal import static
from phasic.math import expectations

_NO_MOMENTS = (
  "expectations of g(X) have no closed form, and a quadrature cannot tell "
  "whether there are any"
)
_NO_MODE = (
  "it is not known that the density has one top; it is for an Erlang X, and for "
  "a hyperexponential one where h' does not grow"
)


class TransformedStatistics(wrapped_distribution.WrappedDistribution):
  """Statistics of Y = g(X).

  A subclass has `_forwarded`, `_own`, and for its mode `_mode_of_stages` and
  `_speeds_up`.
  """

  # Whether g grows no faster than some power, so that there are all moments.
  _GROWS_SLOWLY = False

  def _forwarded(self, x: Any) -> Any:
    """Returns g(x), inf without a warning where that is too large."""
    raise NotImplementedError(f"{type(self).__name__} has no _forwarded")

  def _own(self) -> dict[str, Any]:
    """Returns the parameters, checked with `validate_args`, else NaN if bad."""
    raise NotImplementedError(f"{type(self).__name__} has no _own")

  def _mean(self) -> Any:
    return self._mean_and_variance("mean")[0]

  def _variance(self) -> Any:
    return self._mean_and_variance("variance")[1]

  def _stddev(self) -> Any:
    return np.sqrt(self._mean_and_variance("stddev")[1])

  def _mean_and_variance(self, name: str) -> tuple[Any, Any]:
    """Returns both, by quadrature."""
    model = self._model_with_moments(name)
    return expectations.mean_and_variance(model, self._forwarded)

  def _model_with_moments(self, name: str) -> tuple[Any, Any, Any, Any]:
    """Returns X's chain with all of the batch, where moments are known."""
    if not self._GROWS_SLOWLY:
      self._missing(name, _NO_MOMENTS)
    return self._broadcast_model(self._batch_shape())

  def _mode(self) -> Any:
    nothing: Any = 0.0  # But NaN where a parameter is bad.
    for x in self._own().values():
      nothing = nothing + 0.0 * x
    parts = self.distribution._erlang_parts()
    if parts is not None:
      count, rate = parts
      return self._mode_of_stages(count, rate) + (0.0 * rate + nothing)
    falls = ~self._speeds_up()
    known = static.concrete(falls)
    if not self.distribution._FALLS or (
      known is not None and not onp.all(known)
    ):
      self._missing("mode", _NO_MODE)
    found = self.distribution._mode() + nothing
    return np.where(falls, found, math.nan)

  def _mode_of_stages(self, count: int, rate: Any) -> Any:
    """Returns the mode where X has that many stages of a rate."""
    del count, rate
    self._missing("mode", _NO_MODE)

  def _speeds_up(self) -> Any:
    """Returns where h' is known to grow somewhere, (...)."""
    raise NotImplementedError(f"{type(self).__name__} has no _speeds_up")

  def _moment(self, k: int) -> Any:
    model = self._model_with_moments(f"moment({k})")
    return expectations.raw_moment(model, self._forwarded, k)
