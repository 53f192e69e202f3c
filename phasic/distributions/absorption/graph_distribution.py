"""The base class of all distributions of a graph."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy as onp

from phasic.distributions.absorption import kept_chain
from phasic.distributions.base import parameter_properties
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.core import linear_weights
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal.arrays import Array, Result
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model import plausible
from phasic.math.model import value_checks
from phasic.math.model import value_rules
from phasic.math.model.model_types import EdgeModel, Model


class GraphDistribution(kept_chain.KeptChain):
  """A distribution whose Markov chain is given by a graph.

  Its parameters are `graph`, `params`, `edge_values` and `initial_probs`, and
  others.
  """

  _DERIVES = True

  @classmethod
  def _parameter_properties(cls) -> parameter_properties.Properties:
    properties = parameter_properties.ParameterProperties
    return {
      "params": properties(1, "parameters", optional=True),
      "edge_values": properties(1, "nonnegative", optional=True),
      "initial_probs": properties(1, "subprobabilities", optional=True),
    }

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return ("graph", *super()._children())

  @property
  def graph(self) -> graph_lib.Graph:
    """The graph of states and transitions."""
    return self._parameters["graph"]

  @property
  def params(self) -> ParamsLike | None:
    """The graph's parameters as given: an array (..., d), a mapping or None."""
    return self._parameters["params"]

  @property
  def edge_values(self) -> Array | None:
    """The weights of the edges as given: an array (..., m) or None."""
    return self._parameters["edge_values"]

  @property
  def initial_probs(self) -> Array:
    """The initial masses of the phases, alpha, an array (..., p)."""
    return self._chain()[0]

  @property
  def prob_zero(self) -> Result:
    """The mass at zero, z (...), derived from the masses if it is not given."""
    return kept_chain.shown_mass(self)

  def _arrays(self) -> dict[str, ParameterValue]:
    arrays = super()._arrays()
    params = arrays["params"]
    if params is None:
      return arrays
    return {**arrays, "params": self.graph.params_array(params)}

  def _origin(self) -> tuple[object, ...]:
    given = tuple(self._parameters.values())
    params = self._parameters["params"]
    # Users can change a mapping that they see: its names and arrays are listed
    # too, so that a change is noticed.
    if isinstance(params, Mapping):
      return (*given, *params, *params.values())
    return given

  def _origin_arrays(self) -> tuple[object, ...]:
    # A graph that is not fixed is listed here as well. As it is not a read-only
    # array, nothing that is derived from it is kept.
    fixed = () if self.graph._is_fixed() else (self.graph,)
    return (*fixed, *super()._origin_arrays())

  def _converted_model(self, chain: Model) -> Model:
    if not self.graph._is_fixed():
      return super()._converted_model(chain)
    # The arrays of a fixed graph have been converted, and their shapes checked.
    # Only arrays that the user passed need a check.
    given = self._parameters
    if given["edge_values"] is not None or given["initial_probs"] is not None:
      operands.check_shapes(*chain)
    return chain

  def _derived_chain(self) -> EdgeModel:
    arrays = self._arrays()
    return linear_weights.chain_arrays(
      self.graph,
      arrays["params"],
      arrays["edge_values"],
      arrays["initial_probs"],
      dtypes.common_dtype(arrays),
    )

  def _checked_chain(self) -> EdgeModel:
    check_params("params", self.graph, self._arrays()["params"])
    initial, edges = "initial_probs", "edge_values"
    if self._parameters[initial] is None:
      initial = "graph.initial_probs(params)"
    if self._parameters[edges] is None:
      edges = "graph.edge_values(params)"
    alpha, weights, _, prob_zero = self._chain()
    assert operands.is_edges(weights)  # A graph has edges.
    alpha, weights, prob_zero = value_checks.check_edge_model(
      alpha, weights, prob_zero, self._DISCRETE, (initial, edges)
    )
    return alpha, weights, None, prob_zero

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    rewards = known.get("rewards")
    if rewards is not None and not plausible.is_parameter(
      rewards, "nonnegative"
    ):
      return False
    start, values = known["initial_probs"], known["edge_values"]
    if values is None:
      return is_plausible(self.graph, known["params"], start)
    return is_plausible(self.graph, known["params"], start, values)

  def _dense(self) -> tuple[Array, Array]:
    """Returns the weights between phases (..., p, p), and exits (..., p).

    Raises:
      ValueError: there are too many phases.
    """
    p, most = self.graph.num_phases, edge_rates.MAX_DENSE_PHASES
    if p > most:
      raise ValueError(
        f"graph has {p} phases: a dense matrix must have at most {most}; pass "
        "graph.edge_weights(params) to functions of `math`, or use methods of "
        "this distribution, which need no matrix"
      )
    edges = self._chain()[1]
    assert operands.is_edges(edges)
    return edge_rates.dense(p, edges)

  def _dense_subgenerator(self) -> Array:
    """Returns the rates between the phases, S (..., p, p)."""
    between, exits = self._dense()
    totals = np.sum(between, axis=-1) + exits
    eye = np.eye(self.graph.num_phases, dtype=self.dtype)
    return between - eye * totals[..., None]

  def _check_graph(self, graph: object, initial_probs: Array | None) -> None:
    """Raises if the graph's kind or the shape of initial_probs is wrong."""
    if not isinstance(graph, graph_lib.Graph):
      inner = getattr(graph, "graph", None)
      is_result = isinstance(inner, graph_lib.Graph)
      raise TypeError(
        f"graph is {type(graph).__module__}.{type(graph).__name__}: it must be "
        f"a {graph_lib.Graph.__module__}.Graph"
        + ("; pass its attribute .graph" if is_result else "")
      )
    if graph.discrete != self._DISCRETE:
      kinds = ("continuous", "discrete")
      other = ("PhaseType", "DiscretePhaseType")[graph.discrete]
      raise TypeError(
        f"graph is {kinds[graph.discrete]}: for {type(self).__name__} it must "
        f"be {kinds[self._DISCRETE]}; use {other}.from_graph"
      )
    if initial_probs is None:
      return
    shape, p = static.shape(initial_probs), graph.num_phases
    known = len(shape) == 0 or isinstance(shape[-1], int)
    if known and shape[-1:] != (p,):
      raise ValueError(
        f"initial_probs has shape {shape}: it must be (..., {p}), as the graph "
        f"has {p} phases"
      )


def is_plausible(
  graph: graph_lib.Graph,
  params: ParameterValue,
  initial_probs: onp.ndarray | None = None,
  edge_values: onp.ndarray | None = None,
) -> bool:
  """Returns whether the weights of a graph appear to be valid.

  Args:
    graph: the graph.
    params: its parameters on the host, (..., d), a mapping or None.
    initial_probs: masses in the place of the graph's, on the host, or None.
    edge_values: the same of the edges' weights.
  """
  arrays = [
    graph.constants,
    graph.coefficients,
    graph.initial_constants,
    graph.initial_coefficients,
    graph.sources,
    graph.targets,
  ]
  known = plausible.values_at_hand(arrays)
  if known is None:
    return True
  constants, coefficients, first, moved, sources, targets = known
  if isinstance(params, Mapping):
    named = [params[name] for name in graph.parameter_names or ()]
    params = onp.stack(onp.broadcast_arrays(*named), axis=-1) if named else None
  if params is not None and not onp.all(onp.isfinite(params)):
    return False
  factors = params if graph.num_params > 0 else None
  if edge_values is None:
    edge_values = constants
    if factors is not None:
      edge_values = constants + onp.matmul(factors, onp.transpose(coefficients))
  masses, prob_zero = initial_probs, None
  if masses is None:
    if factors is not None:
      first = first + onp.matmul(factors, onp.transpose(moved))
    masses, prob_zero = first[..., :-1], first[..., -1]
  edges = edge_rates.EdgeRates(sources, targets, edge_values)
  return plausible.is_model(masses, edges, None, prob_zero, graph.discrete)


def check_params(
  name: str, graph: graph_lib.Graph, params: Array | None
) -> None:
  """Raises ValueError if a graph's parameters are concrete and not finite.

  Args:
    name: the name of the parameters in messages.
    graph: the graph.
    params: (..., d), or None.
  """
  known = None if params is None else static.concrete(params)
  # Traced parameters are not checked here: if they are not finite, the weights
  # are not finite either, and these are checked later.
  if known is None:
    return
  good = onp.isfinite(known)
  rule = "parameters must be finite"
  for c, one in enumerate(graph.parameter_names or ()):
    value_rules.check(f"{name}[{one!r}]", known[..., c], good[..., c], rule)
  value_rules.check(name, known, good, rule)
