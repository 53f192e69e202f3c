"""The base class of reward distributions whose chain is a graph."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as onp

from phasic.distributions.absorption import of_graph
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import distribution
from phasic.distributions.base import parameter_properties
from phasic.distributions.rewards import reward_totals
from phasic.graphs.core import graph as graph_lib
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model import operands
from phasic.math.model.model_types import Matrix


class GraphRewards(of_graph.OfGraph, reward_totals.RewardTotals):
  """The accumulated rewards of a chain that is given by a graph.

  A subclass puts it before the class whose methods it has as well.
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
