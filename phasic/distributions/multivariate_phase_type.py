"""Multivariate phase-type distributions: several rewards of one chain."""

import math
from typing import Any

import numpy as np

from phasic.distributions import distribution
from phasic.distributions import parameter_properties
from phasic.distributions import phase_type
from phasic.distributions import value_checks
from phasic.graphs import chain_arrays
from phasic.graphs import graph as graph_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.math import jump_chain
from phasic.math import mixed_moments
from phasic.math import moments
from phasic.math import multivariate
from phasic.math import named_checks
from phasic.math import operands
from phasic.math import reward_operands
from phasic.math import reward_transforms


@structures.register
class MultivariatePhaseType(distribution.Distribution):
  """Rewards Y_r = sum_i r_ir (time spent in phase i) until absorption.

  This is the class MPH* of Kulkarni, with an atom. One value is a vector of R
  rewards. Each reward, and each sum of them with weights >= 0, is a
  `PhaseType`; means, covariances, mixed moments, the joint Laplace transform
  and samples exist for all, on the edges of a graph at any size. There is no
  formula for the joint density in general: `log_prob` and `prob` exist where
  the chain is feed-forward, see `math.feed_forward_log_density`.

  Example: the times in two stages of a queue, of which the second may be left
  out.

    >>> import numpy as np
    >>> from phasic.distributions import MultivariatePhaseType
    >>> matrix = np.asarray([[-2.0, 1.0], [0.0, -4.0]])
    >>> dist = MultivariatePhaseType([1.0, 0.0], matrix, np.eye(2))
    >>> [f"{float(m):.3f}" for m in dist.mean()]
    ['0.500', '0.125']
    >>> print(f"{float(dist.prob([0.5, 0.25])):.6f}")
    0.541341
    >>> print(f"{float(dist.projection([1.0, 2.0]).mean()):.3f}")
    0.750

  References:
    V. Kulkarni, A new class of multivariate phase type distributions, Oper.
      Res. 37, 1989.
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017, chapter 8.
  """

  def __init__(
    self,
    initial_probs: Any,
    subgenerator: Any,
    rewards: Any,
    exit_rates: Any = None,
    prob_zero: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "MultivariatePhaseType",
  ):
    """Makes a batch of multivariate phase-type distributions.

    Args:
      initial_probs: alpha, (..., p), the masses of the phases at time zero.
      subgenerator: S, (..., p, p), the rates between phases, per unit of time.
      rewards: r, (..., p, R), per unit of time, finite and >= 0.
      exit_rates: s, (..., p). None derives them as in `PhaseType`.
      prob_zero: z, (...), the mass at the origin of paths that never start.
        None derives it as in `PhaseType`.
      validate_args: whether to check values.
      allow_nan_stats: whether statistics may be NaN.
      name: the distribution's name.

    Raises:
      TypeError: dtypes differ, or are complex, bool or half precision.
      ValueError: shapes do not fit, or an array is empty; with
        `validate_args`, a value breaks a rule.
    """
    super().__init__(
      {
        "initial_probs": initial_probs,
        "subgenerator": subgenerator,
        "rewards": rewards,
        "exit_rates": exit_rates,
        "prob_zero": prob_zero,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": name,
      }
    )
    self._batch_shape()
    if validate_args:
      self._model()

  @classmethod
  def _parameter_properties(cls) -> parameter_properties.Properties:
    properties = parameter_properties.ParameterProperties
    return {
      "initial_probs": properties(1, "subprobabilities"),
      "subgenerator": properties(2, "subgenerator"),
      "rewards": properties(2, "nonnegative"),
      "exit_rates": properties(1, "nonnegative", optional=True),
      "prob_zero": properties(0, "probability", optional=True),
    }

  @classmethod
  def from_graph(
    cls,
    graph: graph_lib.Graph,
    params: Any = None,
    rewards: Any = None,
    edge_values: Any = None,
    initial_probs: Any = None,
    **options: Any,
  ) -> "GraphMultivariatePhaseType":
    """Returns the rewards of the chain of a graph.

    Args:
      graph: a continuous `graphs.Graph`.
      params: its parameters, as for `GraphPhaseType`.
      rewards: r, (..., p, R), in the order of the graph's states.
      edge_values: weights in the place of parameters.
      initial_probs: masses in the place of the graph's initial weights.
      **options: `validate_args`, `allow_nan_stats` and `name`.

    Raises:
      TypeError: as `GraphPhaseType`, or there are no rewards.
      ValueError: as `GraphPhaseType`.

    Example: the tree of four lineages: its height, and the length of all
    branches.

      >>> from phasic.distributions import MultivariatePhaseType
      >>> from phasic.graphs import ABSORBED, Graph
      >>> def transitions(n):
      ...   yield (n - 1 if n > 2 else ABSORBED), {"coal": n * (n - 1) / 2}
      >>> graph = Graph.from_transitions(transitions, 4, params=("coal",))
      >>> rewards = [[1.0, n] for n in graph.states]
      >>> tree = MultivariatePhaseType.from_graph(graph, {"coal": 1.0}, rewards)
      >>> [f"{float(m):.3f}" for m in tree.mean()]
      ['1.500', '3.667']
    """
    return GraphMultivariatePhaseType(
      graph, params, rewards, edge_values, initial_probs, **options
    )

  @property
  def initial_probs(self) -> Any:
    """Masses of the phases at time zero, alpha (..., p)."""
    return self._parameters["initial_probs"]

  @property
  def subgenerator(self) -> Any:
    """Rates between the phases, S (..., p, p)."""
    return self._parameters["subgenerator"]

  @property
  def rewards(self) -> Any:
    """Rewards per unit of time, r (..., p, R)."""
    return self._parameters["rewards"]

  @property
  def exit_rates(self) -> Any:
    """Exit rates as given, s (..., p) or None."""
    return self._parameters["exit_rates"]

  @property
  def prob_zero(self) -> Any:
    """The mass of paths that never start as given, z (...) or None."""
    return self._parameters["prob_zero"]

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return static.shape(self.rewards)[-2]

  @property
  def num_rewards(self) -> int:
    """The number of rewards R."""
    return static.shape(self.rewards)[-1]

  def covariance(self) -> Any:
    """Returns the covariances of the rewards, (..., R, R)."""
    return self._statistic("covariance", self._covariance())

  def mixed_moment(self, orders: Any) -> Any:
    """Returns E[Y_1^n_1 ... Y_R^n_R], (...).

    Args:
      orders: R integers n_r >= 0.

    Raises:
      TypeError: the orders are no integers.
      ValueError: there are not R of them, or they are negative or too large.
    """
    value = mixed_moments.mixed_moment(*self._model(), orders=orders)
    return self._statistic("mixed_moment", value)

  def laplace_transform(self, arguments: Any) -> Any:
    """Returns E[exp(-u_1 Y_1 - ... - u_R Y_R)], (...).

    Args:
      arguments: u, (..., R), >= 0.

    Raises:
      ValueError: shapes do not fit.
    """
    alpha, matrix, rewards, exits, prob_zero = self._model()
    return multivariate.joint_laplace_transform(
      alpha, matrix, rewards, arguments, exits, prob_zero
    )

  def marginal(self, index: int) -> phase_type.PhaseType:
    """Returns the distribution of one reward.

    Args:
      index: its number, negative ones count from the end.

    Raises:
      IndexError: there is no such reward.
    """
    size = self.num_rewards
    if not -size <= index < size:
      raise IndexError(f"index is {index}: there are {size} rewards")
    rewards = self._arrays()["rewards"]
    return self._transformed(rewards[..., index % size])

  def projection(self, weights: Any) -> phase_type.PhaseType:
    """Returns the distribution of sum_r w_r Y_r.

    Args:
      weights: w, (..., R), finite and >= 0.

    Raises:
      ValueError: shapes do not fit.
    """
    rewards = self._arrays()["rewards"]
    rates = reward_operands.weighted_rewards(rewards, weights, "weights", {})
    return self._transformed(np.sum(rates, axis=-1))

  def _transformed(self, rewards: Any) -> phase_type.PhaseType:
    """Returns the distribution of one reward (..., p)."""
    alpha, matrix, _, exits, prob_zero = self._model()
    model = reward_transforms.reward_transform(
      alpha, matrix, rewards, exits, prob_zero
    )
    return self._phase_type(*model)

  def _phase_type(
    self, alpha: Any, matrix: Any, exits: Any, prob_zero: Any
  ) -> phase_type.PhaseType:
    return phase_type.PhaseType(
      alpha, matrix, exits, prob_zero, allow_nan_stats=self.allow_nan_stats
    )

  def _mean(self) -> Any:
    return moments.reward_means(*self._model())

  def _covariance(self) -> Any:
    return moments.reward_covariance(*self._model())

  def _variance(self) -> Any:
    eye = np.eye(self.num_rewards, dtype=self.dtype) > 0
    found = np.sum(np.where(eye, self._covariance(), 0.0), axis=-1)
    return np.where(self._mean() == math.inf, math.inf, found)

  def _log_prob(self, value: Any) -> Any:
    alpha, matrix, rewards, exits, prob_zero = self._model()
    return multivariate.feed_forward_log_density(
      alpha, matrix, rewards, value, exits, prob_zero
    )

  def _sample_n(self, n: int, seed: Any) -> Any:
    return jump_chain.sample_rewards(n, seed, *self._model())

  def _chain(self) -> tuple[Any, Any, Any, Any]:
    """Initial masses, rates (a matrix or edges), exits or None, atom or None.

    As they are now: variables are read.
    """
    arrays = self._arrays()
    names = ("initial_probs", "subgenerator", "exit_rates", "prob_zero")
    initial_probs, matrix, exits, prob_zero = (arrays[name] for name in names)
    return initial_probs, matrix, exits, prob_zero

  def _model(self) -> tuple[Any, Any, Any, Any, Any]:
    """Chain and rewards as `math` takes them, checked with `validate_args`."""
    alpha, matrix, exits, prob_zero = self._chain()
    rewards = self._arrays()["rewards"]
    if self.validate_args:
      alpha, matrix, exits, prob_zero = value_checks.check_model(
        alpha, matrix, exits, prob_zero
      )
      rewards = named_checks.check(
        "rewards",
        rewards,
        (rewards >= 0) & np.isfinite(rewards),
        "rewards must be >= 0 and finite",
      )
    return alpha, matrix, rewards, exits, prob_zero

  def _check_value(self, value: Any) -> Any:
    return value_checks.check_times(value)

  def _check_value_shape(self, value: Any) -> None:
    shape = static.shape(value)
    size = self.num_rewards
    if len(shape) < 1 or shape[-1] != size:
      raise ValueError(
        f"value has shape {shape}: it must be (..., R) with R = {size} rewards"
      )
    super()._check_value_shape(value)

  def _batch_shape(self) -> static.Shape:
    alpha, matrix, exits, prob_zero = self._chain()
    return reward_operands.check_vectors(
      (alpha, matrix, self._arrays()["rewards"], exits, prob_zero)
    )

  def _event_shape(self) -> static.Shape:
    return (self.num_rewards,)


@structures.register
class GraphMultivariatePhaseType(MultivariatePhaseType):
  """Rewards of the chain of a graph, see `MultivariatePhaseType`.

  Weights of edges are linear in parameters, or given as `edge_values`. No
  matrix is made, but for densities and for the distributions of rewards that
  are zero in some phases: these take up to 4096 phases. Derivatives exist in
  `params`, `rewards`, `edge_values` and `initial_probs`.

  Example:

    >>> from phasic.distributions import GraphMultivariatePhaseType
    >>> from phasic.graphs import ABSORBED, Graph
    >>> graph = Graph.from_transitions(lambda n: [(ABSORBED, [n])], 4, 1)
    >>> dist = GraphMultivariatePhaseType(graph, [0.5], [[1.0, 3.0]])
    >>> [f"{float(m):.3f}" for m in dist.mean()]
    ['0.500', '1.500']
  """

  def __init__(
    self,
    graph: graph_lib.Graph,
    params: Any = None,
    rewards: Any = None,
    edge_values: Any = None,
    initial_probs: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "GraphMultivariatePhaseType",
  ):
    """Makes a batch of distributions.

    Args:
      graph: a continuous `graphs.Graph`.
      params: (..., d), or a mapping of the graph's names to arrays that
        broadcast; None where there are none.
      rewards: r, (..., p, R), in the order of the graph's states.
      edge_values: (..., m), weights of the edges in the place of those that
        are linear in parameters.
      initial_probs: alpha, (..., p), in the place of the graph's initial
        weights.
      validate_args: whether to check values.
      allow_nan_stats: whether statistics may be NaN.
      name: the distribution's name.

    Raises:
      TypeError: as `GraphPhaseType`, or there are no rewards.
      ValueError: as `GraphPhaseType`.
    """
    if rewards is None:
      raise TypeError("rewards is None: it must be an array (..., p, R)")
    # Checks the graph and what belongs to it.
    phase_type.GraphPhaseType(graph, params, edge_values, initial_probs)
    distribution.Distribution.__init__(
      self,
      {
        "graph": graph,
        "params": params,
        "rewards": rewards,
        "edge_values": edge_values,
        "initial_probs": initial_probs,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": name,
      },
    )
    self._batch_shape()
    if validate_args:
      self._model()

  @classmethod
  def _parameter_properties(cls) -> parameter_properties.Properties:
    properties = parameter_properties.ParameterProperties
    return {
      "params": properties(1, "parameters", optional=True),
      "rewards": properties(2, "nonnegative"),
      "edge_values": properties(1, "nonnegative", optional=True),
      "initial_probs": properties(1, "subprobabilities", optional=True),
    }

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return ("graph", *super()._children())

  @property
  def graph(self) -> graph_lib.Graph:
    """The graph."""
    return self._parameters["graph"]

  @property
  def params(self) -> Any:
    """Its parameters as given, an array (..., d), a mapping or None."""
    return self._parameters["params"]

  @property
  def edge_values(self) -> Any:
    """Weights of the edges as given, (..., m) or None."""
    return self._parameters["edge_values"]

  @property
  def initial_probs(self) -> Any:
    """Masses of the phases at time zero, alpha (..., p)."""
    return self._chain()[0]

  @property
  def subgenerator(self) -> Any:
    """Rates between the phases, S (..., p, p), for up to 4096 phases."""
    return self._times().subgenerator

  @property
  def exit_rates(self) -> Any:
    """Exit rates, s (..., p), for up to 4096 phases."""
    return self._times().exit_rates

  @property
  def prob_zero(self) -> Any:
    """The mass of paths that never start, z (...) or None."""
    return self._chain()[3]

  def _times(self) -> phase_type.GraphPhaseType:
    """The distribution of the time of the same paths."""
    arrays = self._arrays()
    return phase_type.GraphPhaseType(
      self.graph,
      arrays["params"],
      arrays["edge_values"],
      arrays["initial_probs"],
    )

  def _phase_type(
    self, alpha: Any, matrix: Any, exits: Any, prob_zero: Any
  ) -> phase_type.PhaseType:
    if not operands.is_edges(matrix):
      return super()._phase_type(alpha, matrix, exits, prob_zero)
    return phase_type.GraphPhaseType(
      self.graph,
      edge_values=matrix.parameters,
      initial_probs=alpha,
      allow_nan_stats=self.allow_nan_stats,
    )

  def _arrays(self) -> dict[str, Any]:
    arrays = super()._arrays()
    params = arrays["params"]
    if params is None:
      return arrays
    return {**arrays, "params": self.graph.params_array(params)}

  def _chain(self) -> tuple[Any, Any, Any, Any]:
    arrays = self._arrays()
    return chain_arrays.chain_arrays(
      self.graph,
      arrays["params"],
      arrays["edge_values"],
      arrays["initial_probs"],
      structures.common_dtype(arrays),
    )
