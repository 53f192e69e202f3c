"""The base class of distributions whose chain is a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from phasic.distributions.absorption import competing_risks
from phasic.distributions.absorption import graph_m_step
from phasic.distributions.absorption import of_graph
from phasic.distributions.base import distribution
from phasic.distributions.base import parameter_properties
from phasic.graphs.core import graph as graph_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.m_step import rate_updates
from phasic.math.model import operands
from phasic.math.model import plausible
from phasic.math.model.model_types import EdgeModel


class GraphChain(of_graph.OfGraph, competing_risks.CompetingRisks):
  """A time until absorption whose chain is a graph.

  A subclass puts it before the class whose methods it has as well.
  """

  def __init__(
    self,
    graph: graph_lib.Graph,
    params: ArrayLike | Mapping[str, ArrayLike] | None = None,
    edge_values: ArrayLike | None = None,
    initial_probs: ArrayLike | None = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str | None = None,
  ):
    """Makes a batch of distributions.

    Args:
      graph: the states and what weights are, of the same kind of time.
      params: (..., d), or a mapping of the graph's names to arrays that
        broadcast; None where there are none.
      edge_values: (..., m), weights of the edges in the graph's order, in the
        place of those that are linear in parameters.
      initial_probs: alpha, (..., p), masses of the phases at time zero, in the
        place of the graph's initial weights; the mass at zero is what they
        lack of one.
      validate_args: whether to check values.
      allow_nan_stats: whether statistics may be NaN.
      name: the distribution's name; None for the name of its class.

    Raises:
      TypeError: the graph is none or of the other kind of time, dtypes differ,
        or are complex or bool.
      ValueError: a name is unknown or missing, `params` and `edge_values` are
        both given, or shapes do not fit; with `validate_args`, a value breaks
        a rule.
    """
    distribution.Distribution._keep(
      self,
      {
        "graph": graph,
        "params": params,
        "edge_values": edge_values,
        "initial_probs": initial_probs,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": type(self).__name__ if name is None else name,
      },
    )
    self._check_graph(graph, self._parameters["initial_probs"])
    self._check_shapes()
    self._check_values(self._model)

  def _check_shapes(self) -> None:
    self._chain()

  def _is_surely_valid(self) -> bool:
    if self._kept is None:
      return False
    return plausible.is_surely_model(self._chain(), self._DISCRETE)

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return self.graph.num_phases

  def _batch_shape(self) -> static.Shape:
    if self._kept is not None:
      return operands.batch_shape(self._chain())
    properties = self.parameter_properties()
    shapes = parameter_properties.batch_shapes(properties, self._arrays())
    return static.broadcast_shapes(*shapes)

  def _causes(self) -> tuple[str | None, ...]:
    return self.graph.causes

  def _by_cause(self) -> EdgeModel:
    initial_probs, edges, _, prob_zero = self._model()
    assert operands.is_edges(edges)  # A graph has edges.
    targets = structures.as_index_array(self.graph.targets, "targets")
    return initial_probs, edges._replace(targets=targets), None, prob_zero

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    arrays = self._arrays()
    changed: dict[str, Array | dict[str, Array]] = {}
    if arrays["initial_probs"] is not None:
      changed["initial_probs"] = rate_updates.updated(
        statistics.starts, statistics.total[..., None], arrays["initial_probs"]
      )
    if arrays["edge_values"] is not None:
      rule = (
        rate_updates.edge_probs
        if self._DISCRETE
        else rate_updates.edge_parameters
      )
      edges = self._model()[1]
      assert operands.is_edges(edges)
      changed["edge_values"] = rule(edges, statistics)
    elif arrays["params"] is not None:
      changed["params"] = graph_m_step.m_step(self, statistics)
    return self.copy(**changed)

  def _m_step_on_host(self) -> bool:
    return graph_m_step.needs_host(self)
