"""Several rewards of a chain whose parameters change at known times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
import numpy as onp

from phasic.distributions.base import hooks
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import special_methods
from phasic.distributions.epochs import epoch_arguments
from phasic.distributions.epochs import epoch_counts
from phasic.distributions.epochs import epoch_levels
from phasic.distributions.epochs import epoch_paths
from phasic.distributions.epochs import epoch_rewards
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epochs as epochs_lib
from phasic.distributions.rewards import reward_totals
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import (
  Array,
  ArrayLike,
  Result,
  SanitizedSeed,
)
from phasic.math.model import value_rules
from phasic.math.moments import mixed_moments
from phasic.math.moments import poisson_counts

_PROPERTIES = {
  "rewards": parameter_properties.ParameterProperties(2, "nonnegative"),
}


@structures.register
class MultivariateEpochs(reward_totals.JointTotals):
  """Rewards Y_r that a path with epochs gathers until absorption.

  In phase i of epoch k a path gathers r_kir of reward r per unit of time. One
  value is a vector of R totals: for instance the lengths of the branches above
  1, 2, ... samples of a genealogy, in a population whose size changed.

  Means, second and mixed moments, the joint Laplace transform and samples are
  exact, and nothing is subtracted but in covariances, for which rewards are
  counted from their mean rate in each epoch: an error is small beside the second
  moments of these differences. A covariance is NaN where less than six digits are
  left, relative to the standard deviations; phases that are reached with a
  probability below 1e-262 count as empty. They have
  derivatives in all parameters, rewards and boundaries. As boundaries lie in
  clock time, a total is not phase-type: there are no densities or quantiles,
  of one total neither.

  References:
    V. Kulkarni, A new class of multivariate phase type distributions, Oper.
      Res. 37, 1989.
    R. C. Griffiths, S. Tavare, The age of a mutation in a general coalescent
      tree, Stoch. Models 14, 1998.

  Example: the height of the tree of three samples, and the length of all its
  branches, in a population that was half as large before time one.

    >>> import numpy as np
    >>> from phasic import graphs
    >>> from phasic.distributions import Epochs, MultivariateEpochs
    >>> tree = graphs.models.kingman(3)
    >>> history = Epochs(tree, [[1.0], [2.0]], [1.0])
    >>> rewards = np.asarray([[1.0, n] for n in tree.states])
    >>> dist = MultivariateEpochs(history, rewards)
    >>> [f"{float(m):.6f}" for m in dist.mean()]
    ['1.061573', '2.448181']
  """

  _ONE_TOTAL = (
    ", and totals through boundaries are not phase-type; mean(), covariance(), "
    "mixed_moment(orders), laplace_transform(u) and sample() exist"
  )

  def __init__(
    self,
    distribution: epochs_lib.Epochs,
    rewards: ArrayLike | Sequence[ArrayLike],
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "MultivariateEpochs",
  ):
    """Makes the joint distribution of R totals.

    Args:
      distribution: the `Epochs`, whose batch broadcasts with that of the
        rewards.
      rewards: r, per unit of time, finite and >= 0. An array (..., p, R) where
        all epochs have p phases and the same rewards; or a list of K arrays
        (..., p_k, R), one for each epoch; or these in one array (..., P, R),
        one after the other, P the sum of all p_k.
      validate_args: whether to check values.
      allow_nan_stats: whether statistics may be NaN.
      name: the distribution's name.

    Raises:
      TypeError: `distribution` is not an `Epochs`, or dtypes differ.
      ValueError: shapes do not fit; with `validate_args`, a value breaks a rule.
    """
    hooks.check_substrate("distribution", distribution)
    if not isinstance(distribution, epochs_lib.Epochs):
      raise TypeError(
        f"distribution is {type(distribution).__name__}: it must be Epochs; for "
        "a chain without changes there is MultivariatePhaseType"
      )
    sizes = [graph.num_phases for graph in distribution.graphs]
    rewards = epoch_arguments.epoch_rewards(rewards, sizes, distribution.dtype)
    self._keep(
      {
        "distribution": distribution,
        "rewards": rewards,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": name,
      }
    )
    self._batch_shape()
    self._check_values(self._rewards)

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters, see `Parameterized`."""
    super()._keep(parameters)
    dtype = dtypes.common_dtype({"rewards": parameters["rewards"]})
    epochs_dtype = self.distribution.dtype
    if dtype != epochs_dtype:
      raise TypeError(
        f"distribution is {epochs_dtype} and rewards are {dtype}: floating arguments "
        "must have one dtype"
      )

  @classmethod
  def _parameter_properties(cls) -> parameter_properties.Properties:
    return _PROPERTIES

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return ("distribution", *super()._children())

  @property
  def distribution(self) -> epochs_lib.Epochs:
    """The time until absorption, with its epochs."""
    return self._parameters["distribution"]

  @property
  def rewards(self) -> Array:
    """The rewards of the phases of all epochs, concatenated to (..., P, R)."""
    return self._parameters["rewards"]

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

    Example: the height of a tree that there is on average by times 0.5 and 1.

      >>> import numpy as np
      >>> from phasic import graphs
      >>> from phasic.distributions import Epochs, MultivariateEpochs
      >>> pair = graphs.models.kingman(2)
      >>> history = Epochs(pair, [[1.0], [0.5]], [1.0])
      >>> dist = MultivariateEpochs(history, np.asarray([[1.0]]))
      >>> [f"{float(m):.6f}" for m in dist.expected_totals([0.5, 1.0])[:, 0]]
      ['0.393469', '0.632121']
    """
    name = "expected_totals"
    begin, end, ends = epoch_arguments.window(self._checked, name, since, until)
    times = epoch_levels.sojourn_times_within(self._history(), begin, end)
    totals = epoch_rewards.expected_totals(times, self._rewards())
    totals = self._finished(totals, static.shape(ends), (self.num_rewards,))
    return self._statistic(name, totals, ends[..., None])

  def mixed_moment(self, orders: ArrayLike) -> Result:
    """Computes E[Y_1^n_1 ... Y_R^n_R] for orders n; it has the batch shape.

    Args:
      orders: R integers n_r >= 0, with a sum of at most 6.

    Raises:
      TypeError: the orders are not integers.
      ValueError: there are not R of them, they are negative or too large, or
        all states of the moment are too many.

    Example: the third moment of an exponential time.

      >>> import numpy as np
      >>> from phasic import graphs
      >>> from phasic.distributions import Epochs, MultivariateEpochs
      >>> pair = graphs.models.kingman(2)
      >>> same = Epochs(pair, [[1.0], [1.0]], [1.0])
      >>> dist = MultivariateEpochs(same, np.asarray([[1.0]]))
      >>> print(f"{float(dist.mixed_moment([3])):.6f}")
      6.000000
    """
    counts = mixed_moments.checked_orders(orders, self.num_rewards)
    if sum(counts) > epoch_rewards.MAX_ORDER:
      raise ValueError(
        f"orders is {counts}: their sum must be at most "
        f"{epoch_rewards.MAX_ORDER}"
      )
    history, rewards = self._history(), self._rewards()
    if sum(counts) == 0:
      moment = np.zeros((), dtype=static.wide_float()) + 1.0
    else:
      moment = epoch_rewards.mixed_moment(history, rewards, counts)
    return self._statistic("mixed_moment", self._finished(moment))

  def joint_mark_probs(
    self, max_counts: ArrayLike, mark_rates: ArrayLike
  ) -> Result:
    """Computes P(N_1 = n_1, ..., N_R = n_R) for all counts up to a limit.

    Given the path, the N_r are independent Poisson numbers with means
    theta_r Y_r: mutations on branches, for example. Nothing is subtracted.

    Args:
      max_counts: R integers >= 0, the largest counts.
      mark_rates: theta, (..., R), per unit of reward, finite and >= 0, else the
        result is NaN.

    Returns:
      An array (..., max_counts[0] + 1, ..., max_counts[R - 1] + 1).

    Raises:
      TypeError: dtypes differ, or `max_counts` are not integers.
      ValueError: shapes do not fit, or there are too many counts.

    Example: mutations on the two branches of a pair, in a population that was
      smaller before time one.

      >>> import numpy as np
      >>> from phasic import graphs
      >>> from phasic.distributions import Epochs, MultivariateEpochs
      >>> history = Epochs(graphs.models.kingman(2), [[1.0], [4.0]], [1.0])
      >>> dist = MultivariateEpochs(history, np.asarray([[2.0]]))
      >>> [f"{float(x):.6f}" for x in dist.joint_mark_probs([2], [0.5])]
      ['0.540601', '0.278420', '0.120534']
    """
    counts = poisson_counts.checked_counts(max_counts, self.num_rewards)
    rates = self._checked_vector("joint_mark_probs", "mark_rates", mark_rates)
    probs = epoch_counts.joint_mark_probs(
      self._history(), self._rewards(), rates, counts
    )
    event = tuple(n + 1 for n in counts)
    probs = self._finished(probs, static.shape(rates)[:-1], event)
    return self._statistic("joint_mark_probs", probs, rates)

  def laplace_transform(self, u: ArrayLike) -> Result:
    """Computes E[exp(-u_1 Y_1 - ... - u_R Y_R)] for vectors u.

    Args:
      u: (..., R), finite and >= 0, else the result is NaN.

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit.
    """
    u = self._checked_vector("laplace_transform", "u", u)
    value = epoch_rewards.laplace_transform(self._history(), self._rewards(), u)
    value = self._finished(value, static.shape(u)[:-1])
    return self._result("laplace_transform", value, u)

  def _checked_vector(self, method: str, name: str, x: ArrayLike) -> Array:
    """Converts an argument (..., R) to the widest dtype, after checks."""
    vector = self._as_array(x, name)
    vector = self._looked_at(method, name, vector, value_rules.TIME)
    shape, size = static.shape(vector), self.num_rewards
    if len(shape) < 1 or shape[-1] != size:
      raise ValueError(
        f"{name} has shape {shape}: it must be (..., R), R = {size}"
      )
    return structures.cast(vector, static.wide_float())

  def _moment_generating_function(self, s: Array) -> Array:
    self._missing(
      "moment_generating_function", "laplace_transform(-s) is that for s <= 0"
    )

  def _log_prob(self, value: Array) -> Array:
    self._missing("log_prob", self._no_joint_law())

  def _mean(self) -> Array:
    means = epoch_rewards.means(self._history(), self._rewards())
    return self._finished(means, (), (self.num_rewards,))

  def _covariance(self) -> Array:
    covariance = epoch_rewards.covariance(self._history(), self._rewards())
    return self._finished(covariance, (), (self.num_rewards,) * 2)

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    totals = epoch_paths.sample_totals(
      n, seed, self._history(), self._rewards(), self._batch_shape()
    )
    return structures.cast(totals, self.dtype)

  def _finished(
    self, x: Array, batch: static.Shape = (), event: static.Shape = ()
  ) -> Array:
    """Broadcasts a result to both batches, and casts it to `dtype`.

    Args:
      x: the result, (..., *event).
      batch: the batch dimensions of the method's argument.
      event: the dimensions of the result that are no batch.
    """
    batch = static.broadcast_shapes(batch, self._batch_shape())
    return structures.cast(np.broadcast_to(x, (*batch, *event)), self.dtype)

  def _history(self) -> epoch_stages.History:
    return self.distribution._history()

  def _rewards(self) -> list[Array]:
    """Returns rewards (..., p_k, R); with `validate_args` they are checked."""
    rewards = self._arrays()["rewards"]
    good = (rewards >= 0) & np.isfinite(rewards)
    if self.validate_args:
      rule = "rewards must be >= 0 and finite"
      rewards = value_rules.check("rewards", rewards, good, rule)
    rewards = structures.cast(rewards, static.wide_float())
    rewards = np.where(good, rewards, float("nan"))
    sizes = [graph.num_phases for graph in self.distribution.graphs]
    ends = onp.cumsum(sizes).tolist()
    return [
      rewards[..., end - p : end, :] for p, end in zip(sizes, ends, strict=True)
    ]

  def _batch_shape(self) -> static.Shape:
    return parameter_properties.batch_shape(
      self.parameter_properties(),
      self._parameters,
      self.distribution._batch_shape(),
    )

  def _sliced(
    self, index: special_methods.Index, batch: static.Shape | None = None
  ) -> Self:
    batch = self._batch_shape() if batch is None else batch
    sliced = special_methods.slice_parameters(
      self.parameter_properties(),
      {**self._parameters, **self._arrays()},
      index,
      batch,
    )
    return self.copy(
      distribution=self.distribution._sliced(index, batch), **sliced
    )
