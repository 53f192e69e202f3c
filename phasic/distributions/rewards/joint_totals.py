"""The base class of joint distributions of several totals of one path."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from phasic.distributions.base import distribution
from phasic.distributions.base import samples
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import Result
from phasic.math.model import value_checks
from phasic.math.quadrature import quadrature_points


class JointTotals(distribution.Distribution):
  """Totals Y_1, ..., Y_R of one path, a vector with values >= 0."""

  # Messages on what vectors do not have say here what has it.
  _ONE_TOTAL: ClassVar[str] = ""

  @property
  def num_rewards(self) -> int:
    """The number of rewards R."""
    return static.shape(self._parameters["rewards"])[-1]

  def correlation(self) -> Result:
    """Computes the correlations of the totals, (..., R, R).

    They are NaN where a variance is zero or infinite.

    Example: two times that have a part in common.

      >>> import numpy as np
      >>> from phasic.distributions import MultivariatePhaseType
      >>> matrix = np.asarray([[-1.0, 1.0], [0.0, -1.0]])
      >>> rewards = np.asarray([[1.0, 1.0], [0.0, 1.0]])
      >>> dist = MultivariatePhaseType([1.0, 0.0], matrix, rewards)
      >>> print(f"{float(dist.correlation()[0, 1]):.6f}")
      0.707107
    """
    covariance = self._covariance()
    spread = np.sqrt(self._diagonal(covariance))
    scale = spread[..., None] * spread[..., None, :]
    found = covariance / np.where(scale > 0.0, scale, math.nan)
    return self._statistic("correlation", found)

  def _support(self) -> samples.Support:
    return samples.Support("nonnegative", event_ndims=1)

  def _no_joint_law(self) -> str:
    return (
      "there is no formula for the joint distribution of rewards"
      f"{self._ONE_TOTAL}"
    )

  def _no_quantile(self) -> str:
    return f"vectors have no order{self._ONE_TOTAL}"

  def _cdf(self, value: Array) -> Array:
    self._missing("cdf", self._no_joint_law())

  def _quantile(self, value: Array) -> Array:
    self._missing("quantile", self._no_quantile())

  def _quantile_log_survival(self, value: Array) -> Array:
    self._missing("quantile_log_survival", self._no_quantile())

  def _quantile_log_cdf(self, value: Array) -> Array:
    self._missing("quantile_log_cdf", self._no_quantile())

  def _quadrature(self, method: str) -> quadrature_points.QuadraturePoints:
    self._missing(method, self._no_joint_law())

  def _cross_entropy(self, other: object) -> Array:
    self._missing("cross_entropy", self._no_joint_law())

  def _moment(self, k: int) -> Array:
    self._missing(f"moment({k})", "mixed_moment(orders) has it for vectors")

  def _probability_generating_function(self, z: Array) -> Array:
    self._missing(
      "probability_generating_function",
      "rewards are not whole numbers; laplace_transform takes a vector",
    )

  def _diagonal(self, covariance: Array) -> Array:
    eye = np.eye(self.num_rewards, dtype=self.dtype) > 0
    return np.sum(np.where(eye, covariance, 0.0), axis=-1)

  def _variance(self) -> Array:
    found = self._diagonal(self._covariance())
    return np.where(self._mean() == math.inf, math.inf, found)

  def _check_value(self, value: Array) -> Array:
    return value_checks.check_times(value)

  def _check_value_shape(self, value: Array) -> None:
    shape = static.shape(value)
    size = self.num_rewards
    if len(shape) < 1 or shape[-1] != size:
      raise ValueError(
        f"value has shape {shape}: it must be (..., R) with R = {size} rewards"
      )
    super()._check_value_shape(value)

  def _event_shape(self) -> static.Shape:
    return (self.num_rewards,)
