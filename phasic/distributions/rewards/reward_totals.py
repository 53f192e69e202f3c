"""The base classes of joint distributions of several totals of one path."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import ClassVar

import numpy as np

from phasic.distributions.absorption import kept_chain
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import conversions
from phasic.distributions.base import distribution
from phasic.distributions.base import samples
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import (
  Array,
  ArrayLike,
  Integer,
  Result,
  SanitizedSeed,
)
from phasic.math.elimination import chain_arguments
from phasic.math.model import phase_arguments
from phasic.math.model import value_checks
from phasic.math.model import value_rules
from phasic.math.model.model_types import Matrix, Model
from phasic.math.moments import mixed_moments
from phasic.math.moments import moments
from phasic.math.moments import occupancy
from phasic.math.moments import partial_rewards
from phasic.math.quadrature import quadrature_points
from phasic.math.rewards import multivariate
from phasic.math.rewards import reward_transforms
from phasic.math.sampling import jump_chain


class JointTotals(distribution.Distribution):
  """The vector of the totals Y_1, ..., Y_R >= 0 that one path accumulates."""

  # Messages about a method that vectors lack end with this text. It says which
  # methods exist instead.
  _ONE_TOTAL: ClassVar[str] = ""

  @property
  def num_rewards(self) -> int:
    """The number of rewards R."""
    return static.shape(self._parameters["rewards"])[-1]

  def correlation(self) -> Result:
    """Computes the correlations of the totals, of shape (..., R, R).

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
    correlation = covariance / np.where(scale > 0.0, scale, math.nan)
    return self._statistic("correlation", correlation)

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
    variances = self._diagonal(self._covariance())
    return np.where(self._mean() == math.inf, math.inf, variances)

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


class RewardTotals(JointTotals, kept_chain.KeptChain):
  """Rewards of one chain, accumulated until absorption.

  A subclass has `_derived_chain`, and `rewards` among its parameters.
  """

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters, see `Parameterized`."""
    super()._keep(parameters)
    self._batch_shape()
    self._check_values(self._rewarded)

  _ONE_TOTAL = "; marginal(r) and projection(w) have it"

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return static.shape(self._parameters["rewards"])[-2]

  def mixed_moment(self, orders: ArrayLike) -> Result:
    """Computes E[Y_1^n_1 ... Y_R^n_R] for orders n; it has the batch shape.

    Args:
      orders: R integers n_r >= 0.

    Raises:
      TypeError: the orders are not integers.
      ValueError: there are not R of them, or they are negative or too large.
    """
    value = mixed_moments.mixed_moment(orders, *self._rewarded())
    return self._statistic("mixed_moment", value)

  def expected_totals(
    self, until: ArrayLike, since: ArrayLike | None = None
  ) -> Result:
    """Computes the expected rewards gathered between two times.

    Args:
      until: (...), finite and >= 0, else results are NaN; broadcasts with the
        batch.
      since: (...), the same; None for zero. Nothing is gathered where it is not
        less than `until`.

    Returns:
      An array (..., R), of the common shape of times and batch.

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit.

    Example: what a machine earns in its first year, and in the second one.

      >>> from phasic.distributions import MultivariatePhaseType
      >>> matrix, gains = [[-1.0, 1.0], [0.0, -2.0]], [[10.0], [4.0]]
      >>> machine = MultivariatePhaseType([1.0, 0.0], matrix, gains)
      >>> totals = machine.expected_totals([1.0, 2.0], since=[0.0, 1.0])
      >>> [f"{float(total):.6f}" for total in totals[:, 0]]
      ['7.120358', '3.021579']

    Reference: M. L. Puterman, Markov decision processes, 1994, ch. 11.
    """
    name, rule = "expected_totals", value_rules.TIME
    end = self._checked(name, until, "until", rule)
    rewards, start, matrix, exits, prob_zero = self._rewarded()
    if since is not None:
      begin = self._checked(name, since, "since", rule)
      shapes = static.shape(end), static.shape(begin)
      try:
        static.broadcast_shapes(*shapes)
      except ValueError:
        raise ValueError(
          f"until has shape {shapes[0]} and since {shapes[1]}: they must "
          "broadcast"
        ) from None
      start = occupancy.occupancy(begin, start, matrix, exits, prob_zero)
      # Paths that have ended by then are the mass at zero from there on.
      prob_zero = 1.0 - np.sum(start, axis=-1)
      end = np.maximum(end - begin, 0.0) + 0.0 * end
    totals = partial_rewards.accumulated_reward_means(
      end, rewards, start, matrix, exits, prob_zero
    )
    return self._statistic(name, totals, end[..., None])

  def discounted_totals(self, u: ArrayLike) -> Result:
    """Computes the expected rewards, discounted by exp(-u t) at time t.

    Args:
      u: the rate of the discount, (...), per unit of time, finite and >= 0, else
        results are NaN; broadcasts with the batch.

    Returns:
      An array (..., R), of the common shape of u and batch; for u = 0 it is
      `mean()`.

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit.

    Example: the present value of what a machine earns until it fails.

      >>> from phasic.distributions import MultivariatePhaseType
      >>> matrix, gains = [[-1.0, 1.0], [0.0, -2.0]], [[10.0], [4.0]]
      >>> machine = MultivariatePhaseType([1.0, 0.0], matrix, gains)
      >>> print(f"{float(machine.discounted_totals(0.05)[0]):.6f}")
      11.382114

    Reference: M. L. Puterman, Markov decision processes, 1994, ch. 11.
    """
    u = self._checked("discounted_totals", u, "u", value_rules.TIME)
    totals = partial_rewards.discounted_reward_means(u, *self._rewarded())
    return self._statistic("discounted_totals", totals, u[..., None])

  def laplace_transform(self, u: ArrayLike) -> Result:
    """Computes E[exp(-u_1 Y_1 - ... - u_R Y_R)] for vectors u.

    Args:
      u: (..., R), finite and >= 0, else the result is NaN.

    Raises:
      ValueError: shapes do not fit.
    """
    rewards, alpha, matrix, exits, prob_zero = self._rewarded()
    u = self._as_array(u, "u")
    u = self._looked_at("laplace_transform", "u", u, value_rules.TIME)
    transform = multivariate.joint_laplace_transform(
      u, rewards, alpha, matrix, exits, prob_zero
    )
    return self._result("laplace_transform", transform, u)

  def marginal(self, index: Integer) -> phase_type.PhaseType:
    """Returns the phase-type distribution of one reward Y_r.

    Args:
      index: its number, negative ones count from the end.

    Raises:
      TypeError: it is not an integer.
      IndexError: there is no such reward.
    """
    size = self.num_rewards
    index = raw_arguments.integer("index", index, "the index of a reward")
    if not -size <= index < size:
      raise IndexError(
        f"index is {raw_arguments.shown(index)}: it must be the index of one of "
        f"{size} rewards"
      )
    conversions.warn_of_variables("marginal", self)
    rewards = self._arrays()["rewards"]
    return self._transformed(rewards[..., index % size])

  def projection(self, weights: ArrayLike) -> phase_type.PhaseType:
    """Returns the phase-type distribution of sum_r w_r Y_r.

    Args:
      weights: w, (..., R), finite and >= 0.

    Raises:
      ValueError: shapes do not fit.
    """
    conversions.warn_of_variables("projection", self, weights)
    rewards = self._arrays()["rewards"]
    name, rule = "weights", value_rules.TIME
    weights = self._as_array(weights, name)
    weights = self._looked_at("projection", name, weights, rule)
    rates = phase_arguments.weighted_rewards(rewards, weights, name, {})
    return self._transformed(np.sum(rates, axis=-1))

  def _transformed(self, rewards: Array) -> phase_type.PhaseType:
    """Returns the distribution of one reward, given its rates (..., p)."""
    _, alpha, matrix, exits, prob_zero = self._rewarded()
    model = reward_transforms.reward_transform(
      rewards, alpha, matrix, exits, prob_zero
    )
    return self._phase_type(*model)

  def _phase_type(
    self,
    alpha: Array,
    matrix: Matrix,
    exits: Array | None,
    prob_zero: Array | None,
  ) -> phase_type.PhaseType:
    with user_warnings.derived():
      return phase_type.PhaseType(
        alpha, matrix, exits, prob_zero, allow_nan_stats=self.allow_nan_stats
      )

  def _moment_generating_function(self, s: Array) -> Array:
    self._missing(
      "moment_generating_function",
      "laplace_transform(-s) is that for s <= 0, and "
      "projection(w).moment_generating_function(s) that along a direction",
    )

  def _mean(self) -> Array:
    return moments.reward_means(*self._rewarded())

  def _covariance(self) -> Array:
    return moments.reward_covariance(*self._rewarded())

  def _log_prob(self, value: Array) -> Array:
    rewards, alpha, matrix, exits, prob_zero = self._rewarded()
    return multivariate.joint_log_prob(
      value, rewards, alpha, matrix, exits, prob_zero
    )

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    rewards, alpha, matrix, exits, prob_zero = self._rewarded()
    return jump_chain.sample_rewards(
      n, seed, alpha, matrix, rewards, exits, prob_zero
    )

  def _rewarded(
    self,
  ) -> tuple[Array, Array, Matrix, Array | None, Array | None]:
    """Returns rewards and chain; with `validate_args` they are checked."""
    chain = self._model()
    rewards = self._arrays()["rewards"]
    if self.validate_args:
      rewards = value_rules.check(
        "rewards",
        rewards,
        (rewards >= 0) & np.isfinite(rewards),
        "rewards must be >= 0 and finite",
      )
    return (rewards, *chain)

  def _checked_chain(self) -> Model:
    return value_checks.check_model(
      *self._chain(), names=("initial_probs", "subgenerator")
    )

  def _batch_shape(self) -> static.Shape:
    alpha, matrix, exits, prob_zero = self._chain()
    return chain_arguments.convert(
      (alpha, matrix, self._arrays()["rewards"], exits, prob_zero),
      False,
      rewards=2,
    )[2]
