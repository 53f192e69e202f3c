"""Graphs: state spaces whose weights are linear in parameters."""

import math
from typing import Any

import numpy as np
import numpy as onp

from phasic.graphs import builders
from phasic.graphs import describing
from phasic.graphs import networks
from phasic.graphs import parameters
from phasic.graphs import validation
from phasic.internal import static
from phasic.internal import structures
from phasic.math import edge_probs
from phasic.math import edge_rates


@structures.register
class Graph(builders.Builders):
  """A Markov chain with absorption, its weights linear in parameters.

  Edge e leads from phase sources[e] to phase targets[e] with the weight

      w_e = constants[e] + sum_c coefficients[e, c] params[..., c],

  a rate per unit of time or, in a discrete chain, a probability. With p phases
  a target p + c is absorption by causes[c]. Edges are in the order of their
  sources, no two are parallel and none leads from a phase to itself: in
  continuous time such an edge changes nothing, and in a discrete chain a phase
  is kept with the mass that the others leave of one. The initial weights are
  linear in the same way; those of row p are the atom at zero.

  In JAX a graph is a pytree: arrays are its leaves, and sizes, names, causes
  and `discrete` its structure, so that two graphs of one size share a
  compilation. What is rebuilt from leaves has no `states` and `notes`: these
  belong to the host. `jax.vmap` of a function of a batch of distributions would
  map the graph's arrays too, which are no batch: map a function of parameters,
  in which the distribution is made, or give

      in_axes = jax.tree_util.tree_map_with_path(
        lambda path, x: None if path[0].name == "graph" else 0, dist
      )

  Attributes:
    sources: int32 (m,), in [0, p).
    targets: int32 (m,), in [0, p + number of causes).
    constants: float64 (m,).
    coefficients: float64 (m, d).
    initial_constants: float64 (p + 1,).
    initial_coefficients: float64 (p + 1, d).

  Example: Kingman's coalescent of four lineages; pairs merge at one rate.

    >>> from phasic.graphs import ABSORBED, Graph
    >>> def transitions(n):
    ...   yield (n - 1 if n > 2 else ABSORBED), {"coal": n * (n - 1) / 2}
    >>> graph = Graph.from_transitions(transitions, 4, params=("coal",))
    >>> graph
    <Graph 3 phases, 3 edges, 1 parameter coal>
    >>> [float(w) for w in graph.edge_values({"coal": 2.0})]
    [12.0, 6.0, 2.0]

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
    T. Roikjer, A. Hobolth, K. Munch, Graph-based algorithms for phase-type
      distributions, Statistics and Computing 32, 2022.
  """

  def params_array(self, params: Any = None) -> Any:
    """Returns parameters as an array (..., d).

    Args:
      params: an array (..., d), or a mapping of the names to arrays that
        broadcast; None where there are no parameters.

    Raises:
      TypeError: dtypes differ or are no floats, or the parameters of the graph
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

  def edge_values(self, params: Any = None) -> Any:
    """Returns the weights of the edges, (..., m), in their order.

    They are differentiable in `params`, whatever their signs: what a negative
    weight means is left to those who use it.

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

  def initial_probs(self, params: Any = None) -> Any:
    """Returns the masses of the phases at time zero, alpha (..., p).

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

  def prob_zero(self, params: Any = None) -> Any:
    """Returns the atom at zero, (...).

    Args:
      params: as for `initial_probs`.
    """
    return self._initial_weights(params)[..., self.num_phases]

  def edge_weights(self, params: Any = None, edge_values: Any = None) -> Any:
    """Returns what functions of `math` take in place of a subgenerator.

    Args:
      params: as for `params_array`.
      edge_values: (..., m), weights of the edges in the order of the graph, in
        place of what is linear in parameters.

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
      >>> print(f"{float(pm.density(graph.initial_probs(), edges, 1.0)):.6f}")
      0.541341
    """
    kind = edge_probs.EdgeProbs if self.discrete else edge_rates.EdgeRates
    sources, targets = self._indices()
    if edge_values is not None:
      if params is not None:
        raise ValueError("params and edge_values are given: only one may be")
      edge_values = structures.as_array(edge_values, None, "edge_values")
      validation.check_edge_values(static.shape(edge_values), self.num_edges)
      return kind(sources, targets, edge_values)
    params = self.params_array(params)
    if self.num_params == 0:
      values = parameters.linear(self.constants, self.coefficients, params)
      return kind(sources, targets, values)
    dtype = structures.common_dtype({"params": params})
    return kind(
      sources,
      targets,
      params,
      structures.as_array(self.coefficients, dtype, "coefficients"),
      structures.as_array(self.constants, dtype, "constants"),
    )

  def to_json(self) -> str:
    """Returns the graph as a JSON text, for `from_json`.

    An object with the fields `format`, `version`, `discrete`, `num_phases`,
    `num_params`, `parameter_names`, `causes`, the six arrays by name, and
    `states`. States of numbers, strings, None and tuples of such (named ones
    become plain ones) are kept; if there are others, `states` is null.

    Raises:
      ValueError: the graph is traced.

    Example:

      >>> from phasic.graphs import ABSORBED, Graph
      >>> graph = Graph.from_edges([("up", ABSORBED, 0.5)], "up")
      >>> Graph.from_json(graph.to_json()).states
      ('up',)
    """
    from phasic.graphs import json_format  # Late: it takes long.

    return json_format.dumps(self._contents())

  def to_networkx(self) -> Any:
    """Returns a networkx.DiGraph, for `from_networkx`.

    Its nodes are the states, with their phase as `index`, and `ABSORBED` or
    `ABSORBED("cause")`. Edges have `constant` and `coefficients`, and `weight`
    where there are no parameters. Initial weights, parameters and `discrete`
    are kept in the network's attribute `phasic`.

    Raises:
      ModuleNotFoundError: networkx is not installed.
      ValueError: the graph is traced or has no states.
    """
    return networks.to_network(self._contents(), self.edges)

  def content_hash(self) -> str:
    """Returns 64 hexadecimal digits that are the same in every process.

    SHA-256 of the arrays, sizes, parameter names, causes and `discrete`. States
    and notes are not part of it: graphs of one hash have the same law for the
    same parameters, whatever their states are called.

    Raises:
      ValueError: the graph is traced.

    Example:

      >>> from phasic.graphs import ABSORBED, Graph
      >>> Graph.from_edges([(0, ABSORBED, 0.5)], 0).content_hash()[:12]
      '94b3c037cb21'
    """
    from phasic.graphs import hashing  # Late: it takes long.

    return hashing.content_hash(self._contents())

  def describe(self) -> str:
    """Returns a description of the graph, a text of several lines.

    Where the kernel can run it tells what an elimination takes, which is what
    moments are found by.

    Raises:
      ValueError: the graph is traced.

    Example:

      >>> from phasic.graphs import ABSORBED, Graph
      >>> print(Graph.from_edges([(0, ABSORBED, [2.0])], 0, 1).describe())
      Graph of a continuous chain
        phases: 1, 0
        edges: 1, 1 to absorption
        parameters: 1, without names
        causes of absorption: ABSORBED
        structure: acyclic
        starts in: 1 phase...
    """
    return describing.describe(self._contents())

  def plot(
    self, axes: Any = None, params: Any = None, max_phases: int = 100
  ) -> Any:
    """Draws the graph with matplotlib.

    Phases stand where Graphviz puts them, if its program `dot` is installed,
    and where networkx does, in layers, otherwise. Those in which the chain can
    start are blue.

    Args:
      axes: matplotlib's, to draw on; None for new ones.
      params: as for `params_array`: edges show their weights. None shows how
        these depend on parameters.
      max_phases: how many phases there may be.

    Returns:
      The axes.

    Raises:
      ModuleNotFoundError: `axes` is None and matplotlib is not installed, or
        neither Graphviz nor networkx is.
      ValueError: the graph is traced or has too many phases.
    """
    values = None
    if params is not None:
      values = static.concrete(self.edge_values(params))
    from phasic.graphs import plotting  # Late: it takes long.

    return plotting.plot(self._contents(), values, axes, max_phases)

  def _initial_weights(self, params: Any) -> Any:
    """Returns initial weights, (..., p + 1)."""
    constants, coefficients = self.initial_constants, self.initial_coefficients
    known = static.concrete(coefficients)
    is_constant = known is not None and not onp.any(known != 0.0)
    if (
      params is None and self.num_params > 0 and (known is None or is_constant)
    ):
      none = parameters.params_array(None, 0, None)
      found = parameters.linear(constants, coefficients[:, :0], none)
      # Of a traced graph it is not known yet whether they have parameters.
      lost = np.any(coefficients != 0.0)
      return np.where(lost, math.nan, found)
    params = self.params_array(params)
    if is_constant:
      coefficients, params = coefficients[:, :0], params[..., :0]
    return parameters.linear(constants, coefficients, params)
