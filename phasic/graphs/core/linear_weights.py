"""The weights of a graph as functions of its parameters."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.graphs.core import builders
from phasic.graphs.parts import parameters
from phasic.graphs.parts import validation
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model.edge_rates import Edges
from phasic.math.model.model_types import EdgeModel


class LinearWeights(builders.Builders):
  """The weights of edges and initial states for given parameters."""

  def params_array(self, params: ParamsLike | None = None) -> Array:
    """Converts parameters to an array (..., d).

    Args:
      params: an array (..., d), or a mapping of the names to arrays that
        broadcast; None where there are no parameters.

    Raises:
      TypeError: dtypes differ or are not floats, or the parameters of the graph
        have no names.
      ValueError: a name is unknown or missing, or shapes do not fit.

    Example:

      >>> from phasic.graphs import ABSORBED, Graph
      >>> edges = [(0, 1, {"a": 1.0}), (1, ABSORBED, {"b": 1.0})]
      >>> graph = Graph.from_edges(edges, 0, params=("a", "b"))
      >>> [float(x) for x in graph.params_array({"b": 3.0, "a": 2.0})]
      [2.0, 3.0]
    """
    return parameters.params_array(
      params, self.num_params, self.parameter_names
    )

  def edge_values(self, params: ParamsLike | None = None) -> Array:
    """Computes the weights of the edges, an array of shape (..., m).

    They are differentiable in `params`, whatever their signs: the meaning of
    a negative weight is left to the caller.

    Args:
      params: as for `params_array`.

    Example:

      >>> from phasic.graphs import ABSORBED, Graph
      >>> edges = [(0, 1, {"a": 2.0}), (0, ABSORBED, {1: 1.0, "a": -1.0})]
      >>> graph = Graph.from_edges([*edges, (1, 0, 0.5)], 0, params=("a",))
      >>> [float(w) for w in graph.edge_values({"a": 0.25})]
      [0.5, 0.75, 0.5]
    """
    params = self.params_array(params)
    return parameters.linear(self.constants, self.coefficients, params)

  def initial_probs(self, params: ParamsLike | None = None) -> Array:
    """Computes alpha, the initial probabilities of the phases.

    The result has shape (..., p).

    Args:
      params: as for `params_array`; it may be None as well where the initial
        weights have no parameters (of a traced graph they are NaN if they do).

    Example:

      >>> from phasic.graphs import ABSORBED, Graph
      >>> start = {0: {"q": 1.0}, ABSORBED: {1: 1.0, "q": -1.0}}
      >>> graph = Graph.from_edges([(0, ABSORBED, 1.0)], start, params=("q",))
      >>> float(graph.initial_probs([0.75])[0]), float(graph.prob_zero([0.75]))
      (0.75, 0.25)
    """
    return self._initial_weights(params)[..., : self.num_phases]

  def prob_zero(self, params: ParamsLike | None = None) -> Array:
    """Computes the probability of absorption at time zero.

    The result has shape (...).

    Args:
      params: as for `initial_probs`.
    """
    return self._initial_weights(params)[..., self.num_phases]

  def edge_weights(
    self, params: ParamsLike | None = None, edge_values: ArrayLike | None = None
  ) -> Edges:
    """Returns the weighted edges as a sparse matrix for `phasic.math`.

    Args:
      params: as for `params_array`.
      edge_values: (..., m), weights of the edges in the order of the graph, in
        place of weights that are linear in parameters.

    Returns:
      `math.EdgeRates`, or `math.EdgeProbs` of a discrete graph. All causes of
      absorption are one.

    Raises:
      ValueError: both are given, or shapes do not fit.

    Example:

      >>> from phasic import math as pm
      >>> from phasic.graphs import ABSORBED, Graph
      >>> graph = Graph.from_edges([(0, 1, [1.0]), (1, ABSORBED, [1.0])], 0, 1)
      >>> edges = graph.edge_weights([2.0])
      >>> print(
      ...   f"{float(pm.phase_type.prob(1.0, graph.initial_probs(), edges)):.6f}"
      ... )
      0.541341
    """
    kind = edge_probs.EdgeProbs if self.discrete else edge_rates.EdgeRates
    sources, targets = self._indices()
    if edge_values is not None:
      if params is not None:
        raise ValueError(
          "params and edge_values are both given: pass only one of them"
        )
      edge_values = structures.as_array(edge_values, None, "edge_values")
      validation.check_edge_values(static.shape(edge_values), self.num_edges)
      return kind(sources, targets, edge_values)
    params = self.params_array(params)
    if self.num_params == 0:
      values = parameters.linear(self.constants, self.coefficients, params)
      return kind(sources, targets, values)
    dtype = static.dtype_name(params)
    return kind(
      sources,
      targets,
      params,
      structures.as_array(self.coefficients, dtype, "coefficients"),
      structures.as_array(self.constants, dtype, "constants"),
    )

  def _constant_start(self) -> onp.ndarray | None:
    """Returns the initial weights, (p + 1,), None if they may vary."""
    if self._start is not None:
      return self._start
    if not self._is_fixed() or onp.any(self.initial_coefficients):
      return None
    self._start = static.concrete(self.initial_constants)
    return self._start

  def _start_for(
    self, params: ParamsLike | None, dtype: str
  ) -> tuple[Array, Array]:
    """Returns `initial_probs` and `prob_zero` in a dtype."""
    p, known = self.num_phases, self._constant_start()
    if known is not None and (params is None or static.rank(params) == 1):
      return structures.cast(known[:p], dtype), structures.cast(known[p], dtype)
    weights = structures.cast(self._initial_weights(params), dtype)
    return weights[..., :p], weights[..., p]

  def _initial_weights(self, params: ParamsLike | None) -> Array:
    """Computes the initial weights, (..., p + 1), the atom at zero last."""
    constants, coefficients = self.initial_constants, self.initial_coefficients
    known = static.concrete(coefficients)
    is_constant = known is not None and not onp.any(known != 0.0)
    if (
      params is None and self.num_params > 0 and (known is None or is_constant)
    ):
      none = parameters.params_array(None, 0, None)
      weights = parameters.linear(constants, coefficients[:, :0], none)
      # A traced graph does not show whether its initial weights depend on
      # parameters. If they do, the result is NaN.
      lost = np.any(coefficients != 0.0)
      return np.where(lost, math.nan, weights)
    array = self.params_array(params)
    # Constant weights need no coefficients. But the coefficients of a graph
    # that is differentiated stay, since they have derivatives.
    if is_constant and self._is_fixed():
      coefficients, array = coefficients[:, :0], array[..., :0]
    return parameters.linear(constants, coefficients, array)


def start_arrays(
  graph: LinearWeights, params: ParamsLike | None, dtype: str
) -> tuple[Array, Array]:
  """Returns the `initial_probs` and `prob_zero` of a graph in a dtype."""
  return graph._start_for(params, dtype)


def chain_arrays(
  graph: LinearWeights,
  params: ParamsLike | None,
  edge_values: ArrayLike | None,
  initial_probs: ArrayLike | None,
  dtype: str,
) -> EdgeModel:
  """Returns the four arguments that describe a chain in `phasic.math`.

  They are the initial probabilities, the edges, None for the exits, and the
  atom at zero or None.

  Args:
    graph: the graph.
    params: its parameters (..., d) or None.
    edge_values: weights of the edges (..., m) in their place, or None.
    initial_probs: masses (..., p) in the place of the graph's initial weights,
      or None. Where they are given the mass at zero is None, to be derived.
    dtype: of the results.
  """
  edges = graph.edge_weights(params, edge_values)
  if static.dtype_name(edges.parameters) != dtype:
    linear = (edges.parameters, edges.coefficients, edges.constants)
    values, coefficients, constants = (
      None if x is None else structures.cast(x, dtype) for x in linear
    )
    edges = edges._replace(
      parameters=values, coefficients=coefficients, constants=constants
    )
  prob_zero = None
  if initial_probs is None:
    initial_probs, prob_zero = start_arrays(graph, params, dtype)
  return structures.cast(initial_probs, dtype), edges, None, prob_zero
