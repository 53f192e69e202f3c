"""Graphs: state spaces with weights that are linear in parameters."""

from __future__ import annotations

from phasic.graphs.core import linear_weights
from phasic.graphs.formats import describing
from phasic.graphs.formats import networks
from phasic.graphs.parts.contents import Axes
from phasic.graphs.parts.contents import Network
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import static
from phasic.internal import structures


@structures.register
class Graph(linear_weights.LinearWeights):
  """An absorbing Markov chain whose weights are linear in parameters.

  Edge e leads from phase sources[e] to phase targets[e] with the weight

      w_e = constants[e] + sum_c coefficients[e, c] params[..., c],

  a rate per unit of time or, in a discrete chain, a probability. With p phases
  a target p + c is absorption by causes[c]. Edges are in the order of their
  sources, no two are parallel and none leads from a phase to itself: in
  continuous time such an edge changes nothing, and in a discrete chain a phase
  is kept with the mass that the others leave of one. The initial weights are
  linear in the same way; row p is the atom at zero.

  In JAX a graph is a pytree: arrays are its leaves, and sizes, names, causes
  and `discrete` its structure, so that two graphs of one size share a
  compilation. A graph rebuilt from leaves has no `states` and `notes`: these
  belong to the host. `jax.vmap` of a function of a batch of distributions would
  map the graph's arrays too, which have no batch axis: map a function of
  parameters, in which the distribution is made, or give

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

  def to_json(self) -> str:
    """Returns the graph as JSON text, which `from_json` reads.

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
    # Imported here because the import is slow.
    from phasic.graphs.formats import json_format

    return json_format.dumps(self._contents())

  def to_networkx(self) -> Network:
    """Converts the graph to a networkx.DiGraph, which `from_networkx` reads.

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
    """Returns a hash of 64 hexadecimal digits, the same in all processes.

    SHA-256 of the arrays, sizes, parameter names, causes and `discrete`. States
    and notes are not part of it: graphs of one hash have the same distribution
    for the same parameters, with any names of states.

    Raises:
      ValueError: the graph is traced.

    Example:

      >>> from phasic.graphs import ABSORBED, Graph
      >>> Graph.from_edges([(0, ABSORBED, 0.5)], 0).content_hash()[:12]
      '94b3c037cb21'
    """
    # Imported here because the import is slow.
    from phasic.graphs.formats import json_format

    return json_format.content_hash(self._contents())

  def describe(self) -> str:
    """Describes the graph in several lines of text.

    If the native kernel can run, the text includes the cost of the elimination
    by which moments are computed.

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
    self,
    axes: Axes | None = None,
    params: ParamsLike | None = None,
    max_phases: int = 100,
  ) -> Axes:
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
    # Imported here because the import is slow.
    from phasic.graphs.formats import plotting

    return plotting.plot(self._contents(), values, axes, max_phases)
