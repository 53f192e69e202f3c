"""The hooks of families of distributions, with defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.base import observed_events
from phasic.distributions.base import samples
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, SanitizedSeed
from phasic.math.m_step import rate_updates
from phasic.math.numeric import special
from phasic.math.quadrature import quadrature_points

_NO_FORMULA = (
  "only chains that start at zero, and whose rates never change, have a formula"
)


@dataclass_transform(
  eq_default=False,
  field_specifiers=(
    declared.array,
    declared.count,
    declared.option,
    declared.static,
  ),
)
class Hooks:
  """The protected methods behind the public ones of `Distribution`.

  A public method converts its arguments, and calls the method of the same name
  with an underscore. A family has that, or it is made of others here, or it
  raises NotImplementedError and says why.

  A family has `_log_prob` or `_prob`; `_log_cdf` or `_cdf`; optionally the
  survival function or its logarithm; `_variance` or `_stddev`.
  """

  _parameters: Mapping[str, object]
  # Whether the constructor has warned of invalid values of the parameters.
  _is_warned_of: ClassVar[bool] = False

  @property
  def dtype(self) -> str:
    """The name of the dtype of parameters, values and results."""
    raise NotImplementedError

  def _arrays(self) -> dict[str, Any]:
    """Returns the current array parameters by name; None for absent ones."""
    raise NotImplementedError

  def _log_prob(self, value: Array) -> Array:
    return np.log(self._from("_prob", "_log_prob")(value))

  def _prob(self, value: Array) -> Array:
    return np.exp(self._from("_log_prob", "_prob")(value))

  def _log_cdf(self, value: Array) -> Array:
    return np.log(self._from("_cdf", "_log_cdf")(value))

  def _cdf(self, value: Array) -> Array:
    return np.exp(self._from("_log_cdf", "_cdf")(value))

  def _survival_function(self, value: Array) -> Array:
    if self._has("_log_survival_function"):
      return np.exp(self._log_survival_function(value))
    if self._has("_log_cdf"):
      return -np.expm1(self._log_cdf(value))
    return 1 - self._from("_cdf", "_survival_function")(value)

  def _log_survival_function(self, value: Array) -> Array:
    if self._has("_survival_function"):
      return np.log(self._survival_function(value))
    if self._has("_log_cdf"):
      return special.log1mexp(self._log_cdf(value))
    return np.log1p(-self._from("_cdf", "_log_survival_function")(value))

  def _hazard_function(self, value: Array) -> Array:
    found = self._log_hazard_function(value)
    with onp.errstate(over="ignore"):  # It may be beyond the range of numbers.
      return np.exp(found)

  def _cumulative_hazard(self, value: Array) -> Array:
    lost = self._cdf(value)
    is_early = lost < 0.5
    early = np.log1p(-np.where(is_early, lost, 0.0))
    late = self._log_survival_function(value)
    return 0.0 - np.where(is_early, early, late)

  def _log_hazard_function(self, value: Array) -> Array:
    log_prob = self._log_prob(value)
    log_left = self._log_survival_function(value)
    neither = (log_prob == -math.inf) & (log_left == -math.inf)
    return log_prob - np.where(neither, math.nan, log_left)

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    self._missing("sample", "its class must define _sample_n")

  def _quantile(self, value: Array) -> Array:
    self._missing("quantile")

  def _quantile_log_survival(self, value: Array) -> Array:
    self._missing("quantile_log_survival")

  def _quantile_log_cdf(self, value: Array) -> Array:
    self._missing("quantile_log_cdf")

  def _mean(self) -> Array:
    self._missing("mean")

  def _variance(self) -> Array:
    return np.square(self._from("_stddev", "_variance")())

  def _stddev(self) -> Array:
    return np.sqrt(self._from("_variance", "_stddev")())

  def _covariance(self) -> Array:
    self._missing(
      "covariance", "values are numbers and not vectors: use variance()"
    )

  def _moment(self, k: int) -> Array:
    self._missing(f"moment({k})")

  def _mode(self) -> Array:
    self._missing(
      "mode",
      "it is not known whether densities of this family have one maximum",
    )

  def _quadrature(self, method: str) -> quadrature_points.QuadraturePoints:
    """Returns quadrature points, over which the statistic `method` is a sum."""
    self._missing(method, "there is no quadrature rule for this family")

  def _entropy(self) -> Array:
    points = self._quadrature("entropy")
    entropy = quadrature_points.expected(
      points, points.log_prob, points.log_atom
    )
    return structures.cast(entropy, self.dtype)

  def _cross_entropy(self, other: Hooks) -> Array:
    self._missing(
      "cross_entropy",
      "there is no quadrature rule for this family",
    )

  def _laplace_transform(self, u: Array) -> Array:
    self._missing("laplace_transform", _NO_FORMULA)

  def _moment_generating_function(self, s: Array) -> Array:
    self._missing("moment_generating_function", _NO_FORMULA)

  def _probability_generating_function(self, z: Array) -> Array:
    why = "values are not whole numbers"
    if self._support().constraint == "nonnegative_integer":
      why = _NO_FORMULA
    self._missing("probability_generating_function", why)

  def _support(self) -> samples.Support:
    self._missing("support")

  def _batch_shape(self) -> static.Shape:
    raise NotImplementedError

  def _event_shape(self) -> static.Shape:
    return ()

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not."""
    self._missing("diagnose", "it is not known where its NaN come from")

  def _late(self) -> onp.ndarray:
    """Returns a value at which the density depends on all parameters."""
    return onp.ones(())

  def _chain_events(
    self, lower: Array, upper: Array | None, entry: Array | None
  ) -> observed_events.ChainEvents | None:
    """Maps observations to events of the chain; None if it has no chain."""
    return None

  def _for_one_call(self) -> Self:
    """Returns the same distribution, for several methods of one computation.

    It may keep what these methods share. The arrays of that must not be used in
    another trace.
    """
    return self

  def _may_be_zero(self) -> bool:
    """Returns whether P(X = 0) > 0 is possible, by a look at the parameters."""
    return True

  def _causes(self) -> tuple[str | None, ...] | None:
    """Returns the names of the causes of absorption; None if it has none."""
    return None

  def _log_observed(self, lower: Array, upper: Array) -> Array | None:
    """Computes log P(observation) of all kinds; None by density and cdf.

    Args:
      lower: (..., n), lower ends as `Observations` has them.
      upper: (..., n); the same array where all are exact.
    """
    return None

  def _log_observed_by(
    self, lower: Array, upper: Array, cause: str | None
  ) -> Array:
    """Computes log P(observation and absorption by the cause), (..., n)."""
    self._missing(
      "probabilities of observations with a cause",
      "drop the causes, or take a distribution of a graph that names them",
    )

  def _linear_chain(self) -> tuple[Hooks, float]:
    """Returns the chain for the E-step, and its absorption time minus X."""
    return self, 0.0

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    """Returns the distribution that maximizes the expected log likelihood.

    Phases, edges or components that share a parameter share their statistics: a
    rate is a sum of numbers of jumps, divided by the sum of times at risk.
    Rates without time at risk keep their values, and zeros stay zero.
    """
    raise TypeError(
      f"dist is {type(self).__name__}: EM has no M-step for it; fit_mle fits "
      "any distribution with a log likelihood"
    )

  def _em_update(
    self,
    lower: Array,
    upper: Array | None,
    weights: Array | None,
    entry: Array | None,
    cause: Array | None,
  ) -> Self | None:
    """Makes a step of EM, if the distribution is not one of a single chain.

    Args:
      lower: (..., n), as all the others; see `Observations`.
      upper: None where all are exact.
      weights: None for ones.
      entry: None if observations do not start late.
      cause: numbers of causes, or None.

    Returns:
      The distribution after the step; None if it has no step of its own.
    """
    return None

  def _m_step_fixed(self) -> tuple[str, ...]:
    """Returns dotted names of parameters that the M-step leaves unchanged."""
    return ()

  def _m_step_on_host(self) -> bool:
    """Returns whether the M-step needs concrete values of the statistics."""
    return False

  def _has(self, name: str) -> bool:
    """Returns whether a subclass has its own method of this name."""
    return getattr(type(self), name) is not getattr(Hooks, name)

  def _from(self, name: str, missing: str) -> Callable[..., Array]:
    """Returns the method that is used in place of a missing one."""
    if not self._has(name):
      self._missing(missing.lstrip("_"))
    return getattr(self, name)

  def _missing(self, what: str, why: str = "") -> NoReturn:
    """Raises NotImplementedError for a method that this family lacks."""
    reason = why or f"its class must define _{what.partition('(')[0]}"
    raise NotImplementedError(f"{type(self).__name__} has no {what}: {reason}")


def check_substrate(name: str, x: object) -> None:
  """Raises TypeError if a distribution belongs to another substrate."""
  kind = type(x)
  if isinstance(x, Hooks):
    return
  for base in kind.__mro__:
    if base.__name__ == Hooks.__name__:
      raise TypeError(
        f"{name} is {kind.__name__} of {_package(base)}: it must be a "
        f"distribution of {_package(Hooks)}"
      )


def check_distribution(name: str, x: object) -> None:
  """Raises TypeError unless an argument is a distribution of this substrate."""
  check_substrate(name, x)
  if not isinstance(x, Hooks):
    raise TypeError(f"{name} is {type(x).__name__}: it must be a distribution")


def _package(base: type) -> str:
  """Returns the name of the public package that a class is in."""
  return base.__module__.rsplit(".", 2)[0]
