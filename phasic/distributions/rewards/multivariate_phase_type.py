"""Multivariate phase-type distributions: several rewards of one chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as onp

from phasic.distributions.absorption import graph_distribution
from phasic.distributions.absorption import kept_chain
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import declared
from phasic.distributions.base import distribution
from phasic.distributions.base import parameter_properties
from phasic.distributions.rewards import reward_totals
from phasic.graphs.core import graph as graph_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import operands
from phasic.math.model.model_types import Matrix, Model


@structures.register
class MultivariatePhaseType(reward_totals.RewardTotals):
  """Rewards Y_r = sum_i r_ir (time spent in phase i) until absorption.

  This is the class MPH* of Kulkarni, with an atom. One value is a vector of R
  rewards. Each reward, and each sum of them with weights >= 0, is a
  `PhaseType`; means, covariances, mixed moments, the joint Laplace transform
  and samples exist for all, on the edges of a graph at any size. There is no
  formula for the joint density in general: `log_prob` and `prob` exist where
  the chain is feed-forward, see `math.phase_type.joint_log_prob`.

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

  _DERIVES = False

  initial_probs: declared.Required = declared.array(
    1,
    "subprobabilities",
    "alpha, (..., p), the masses of the phases at time zero.",
  )
  subgenerator: declared.Rates = declared.array(
    2,
    "subgenerator",
    "S, (..., p, p), the rates between phases, per unit of time; or "
    "`math.EdgeRates`, as in `PhaseType`.",
  )
  rewards: declared.Required = declared.array(
    2, "nonnegative", "r, (..., p, R), per unit of time, finite and >= 0."
  )
  exit_rates: declared.Optional = declared.array(
    1,
    "nonnegative",
    "s, (..., p). None derives them as in `PhaseType`.",
    default=None,
  )
  prob_zero: declared.Derived = kept_chain.prob_zero(
    "z, (...), the mass at the origin of paths that never start. None "
    "derives it as in `PhaseType`.",
  )

  @classmethod
  def from_graph(
    cls,
    graph: graph_lib.Graph,
    params: ArrayLike | Mapping[str, ArrayLike] | None = None,
    rewards: ArrayLike | None = None,
    edge_values: ArrayLike | None = None,
    initial_probs: ArrayLike | None = None,
    **options: Unpack[declared.Options],
  ) -> GraphMultivariatePhaseType:
    """Returns the joint distribution of rewards of a graph's chain.

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

  def _derived_chain(self) -> Model:
    arrays = self._arrays()
    names = ("initial_probs", "subgenerator", "exit_rates", "prob_zero")
    initial_probs, matrix, exits, prob_zero = (arrays[name] for name in names)
    return initial_probs, matrix, exits, prob_zero


@structures.register
class GraphMultivariatePhaseType(  # type: ignore[override]
  graph_distribution.GraphDistribution, MultivariatePhaseType
):
  """Accumulated rewards of a graph's chain, see `MultivariatePhaseType`.

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
    params: ArrayLike | Mapping[str, ArrayLike] | None = None,
    rewards: ArrayLike | None = None,
    edge_values: ArrayLike | None = None,
    initial_probs: ArrayLike | None = None,
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
    distribution.Distribution._keep(
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
    self._check_graph(graph, self._parameters["initial_probs"])
    self._batch_shape()
    self._check_values(self._rewarded)

  @property  # type: ignore[misc]
  def subgenerator(self) -> Array:  # type: ignore[override]
    """The rates between the phases, S, an array (..., p, p) for p <= 4096."""
    return self._dense_subgenerator()

  @property  # type: ignore[misc]
  def exit_rates(self) -> Array:  # type: ignore[override]
    """The exit rate of each phase, s, an array (..., p) for p <= 4096."""
    return self._dense()[1]

  @classmethod
  def _parameter_properties(cls) -> parameter_properties.Properties:
    rewards = parameter_properties.ParameterProperties(2, "nonnegative")
    params, *others = super()._parameter_properties().items()
    return dict([params, ("rewards", rewards), *others])

  def _phase_type(
    self,
    alpha: Array,
    matrix: Matrix,
    exits: Array | None,
    prob_zero: Array | None,
  ) -> phase_type.PhaseType:
    if not operands.is_edges(matrix):
      return super()._phase_type(alpha, matrix, exits, prob_zero)
    # The graph's own initial weights are used if they have no parameters: an
    # atom derived from alpha, 1 - sum(alpha), loses digits if it is small.
    given = self._parameters["initial_probs"] is not None
    linear = static.concrete(self.graph.initial_coefficients)
    constant = linear is not None and not onp.any(linear != 0.0)
    with user_warnings.derived():
      return phase_type.GraphPhaseType(
        self.graph,
        edge_values=matrix.parameters,
        initial_probs=None if constant and not given else alpha,
        allow_nan_stats=self.allow_nan_stats,
      )
