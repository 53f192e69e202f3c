"""The base class of joint distributions of accumulated rewards."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phasic.distributions.absorption import kept_chain
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import conversions
from phasic.distributions.rewards import joint_totals
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Integer
from phasic.internal.arrays import Result
from phasic.internal.arrays import SanitizedSeed
from phasic.math.elimination import chain_arguments
from phasic.math.model import phase_arguments
from phasic.math.model import value_checks
from phasic.math.model import value_rules
from phasic.math.model.model_types import Matrix
from phasic.math.model.model_types import Model
from phasic.math.moments import mixed_moments
from phasic.math.moments import moments
from phasic.math.rewards import multivariate
from phasic.math.rewards import reward_transforms
from phasic.math.sampling import jump_chain


class RewardTotals(joint_totals.JointTotals, kept_chain.KeptChain):
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
    """Computes E[Y_1^n_1 ... Y_R^n_R] for orders n, (...).

    Args:
      orders: R integers n_r >= 0.

    Raises:
      TypeError: the orders are not integers.
      ValueError: there are not R of them, or they are negative or too large.
    """
    value = mixed_moments.mixed_moment(orders, *self._rewarded())
    return self._statistic("mixed_moment", value)

  # The base class takes one number, u. The vector has a public name of its own.
  def laplace_transform(self, arguments: ArrayLike) -> Result:  # pyright: ignore[reportIncompatibleMethodOverride]
    """Computes E[exp(-u_1 Y_1 - ... - u_R Y_R)] for arguments u, (...).

    Args:
      arguments: u, (..., R), >= 0.

    Raises:
      ValueError: shapes do not fit.
    """
    rewards, alpha, matrix, exits, prob_zero = self._rewarded()
    name, rule = "arguments", value_rules.TIME
    arguments = self._as_array(arguments, name)
    arguments = self._looked_at("laplace_transform", name, arguments, rule)
    found = multivariate.joint_laplace_transform(
      arguments, rewards, alpha, matrix, exits, prob_zero
    )
    return self._result("laplace_transform", found, arguments)

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
    names = ("initial_probs", "subgenerator")
    return value_checks.check_model(*self._chain(), names=names)

  def _batch_shape(self) -> static.Shape:
    alpha, matrix, exits, prob_zero = self._chain()
    return chain_arguments.convert(
      (alpha, matrix, self._arrays()["rewards"], exits, prob_zero),
      False,
      rewards=2,
    )[2]
