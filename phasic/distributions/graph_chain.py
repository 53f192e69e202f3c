"""What distributions whose chain is a graph have in common."""

from typing import Any

from phasic.distributions import competing_risks
from phasic.distributions import distribution
from phasic.distributions import parameter_properties
from phasic.graphs import chain_arrays
from phasic.graphs import graph as graph_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.math import edge_rates


class GraphChain(competing_risks.CompetingRisks):
  """A time until absorption whose chain is a graph.

  A subclass puts it before the class whose methods it has as well.
  """

  def __init__(
    self,
    graph: graph_lib.Graph,
    params: Any = None,
    edge_values: Any = None,
    initial_probs: Any = None,
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
      name: the distribution's name; None for that of its class.

    Raises:
      TypeError: the graph is none or of the other kind of time, dtypes differ,
        or are complex, bool or half precision.
      ValueError: a name is unknown or missing, `params` and `edge_values` are
        both given, or shapes do not fit; with `validate_args`, a value breaks
        a rule.
    """
    self._check_graph(graph)
    distribution.Distribution.__init__(
      self,
      {
        "graph": graph,
        "params": params,
        "edge_values": edge_values,
        "initial_probs": initial_probs,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": name or type(self).__name__,
      },
    )
    _check_initial(self._parameters["initial_probs"], graph.num_phases)
    super()._batch_shape()  # Of the chain, which is checked.
    if validate_args:
      self._model()

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
  def prob_zero(self) -> Any:
    """The mass at zero, z (...); None where `initial_probs` are given."""
    return self._chain()[3]

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return self.graph.num_phases

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

  def _batch_shape(self) -> static.Shape:
    properties = self._parameter_properties()
    shapes = parameter_properties.batch_shapes(properties, self._arrays())
    return static.broadcast_shapes(*shapes)

  def _dense(self) -> tuple[Any, Any]:
    """Returns the weights between phases (..., p, p), and exits (..., p).

    Raises:
      ValueError: there are too many phases.
    """
    p, most = self.num_phases, edge_rates.MAX_DENSE_PHASES
    if p > most:
      raise ValueError(
        f"a matrix of {p} x {p} phases is not made, {most} are the most: "
        "graph.edge_weights(params) is what functions of `math` take in its "
        "place, and the methods of this distribution need no matrix"
      )
    return edge_rates.dense(p, self._chain()[1])

  def _causes(self) -> tuple[str | None, ...]:
    return self.graph.causes

  def _by_cause(self) -> tuple[Any, Any, Any, Any]:
    initial_probs, edges, exits, prob_zero = self._model()
    targets = structures.as_index_array(self.graph.targets, "targets")
    return initial_probs, edges._replace(targets=targets), exits, prob_zero

  def _check_graph(self, graph: Any) -> None:
    """Raises TypeError unless it is a graph of the same kind of time."""
    if not isinstance(graph, graph_lib.Graph):
      raise TypeError(
        f"graph is {type(graph).__module__}.{type(graph).__name__}: it must be "
        f"a {graph_lib.Graph.__module__}.Graph"
      )
    if graph.discrete != self._DISCRETE:
      kinds = ("continuous", "discrete")
      other = ("PhaseType", "DiscretePhaseType")[graph.discrete]
      raise TypeError(
        f"graph is {kinds[graph.discrete]}: {type(self).__name__} takes "
        f"{kinds[self._DISCRETE]} ones; {other}.from_graph takes this one"
      )


def _check_initial(initial_probs: Any, num_phases: int) -> None:
  """Raises ValueError unless the shape is (..., p)."""
  if initial_probs is None:
    return
  shape = static.shape(initial_probs)
  known = len(shape) == 0 or isinstance(shape[-1], int)
  if known and shape[-1:] != (num_phases,):
    raise ValueError(
      f"initial_probs has shape {shape}: it must be (..., {num_phases}), the "
      f"graph has {num_phases} phases"
    )
