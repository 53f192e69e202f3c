"""Graphs: state spaces with weights that are linear in parameters."""

from __future__ import annotations

from phasic.graphs.core import linear_weights
from phasic.graphs.formats import describing
from phasic.graphs.formats import networks
from phasic.graphs.parts.contents import Axes
from phasic.graphs.parts.contents import Network
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import control_flow
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Integer
from phasic.math.calls import evaluation
from phasic.math.moments import discrete_moments
from phasic.math.moments import moments as continuous_moments


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

  def _saved_parts(self) -> dict[str, object]:
    from phasic.graphs.formats import json_format

    return json_format.encode(self._contents())

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

    If the native kernel can run, the text says how much time and memory the
    mean and other moments take for each set of parameters.

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


def log_prob_and_moments(
  graph: Graph,
  params: ParamsLike | None,
  values: ArrayLike,
  rewards: ArrayLike | None = None,
  order: Integer = 2,
) -> tuple[Array, Array]:
  """Computes log densities at times, and moments, in one compiled call.

  Both follow from one set of weights. In JAX the call is compiled once for all
  graphs of one size, and may be part of a compiled function of which the graph
  is an argument. Derivatives exist in parameters, values and rewards.

  Args:
    graph: the graph; where it is discrete times are numbers of steps.
    params: (..., d), or a mapping of the graph's names to arrays.
    values: times, (..., n); leading axes broadcast with the parameters.
    rewards: r, (..., p), rewards per unit of time or per step in each phase;
      None for ones. They must be finite and >= 0, else moments are NaN.
    order: how many moments, a positive integer.

  Returns:
    The log densities of the times until absorption, (..., n), and the raw
    moments E[Y^k], k = 1, ..., order, (..., order), of the reward accumulated
    until then, Y = sum_i r_i (time spent in phase i): of the time itself
    without rewards.

  Raises:
    TypeError: dtypes differ, are complex or bool, or `graph` is not a graph.
    ValueError: shapes do not fit, a name is unknown or missing, or `order` is
      not a positive integer.

  Example: the age of the common ancestor and the length of the tree.

    >>> from phasic.graphs import ABSORBED, Graph, log_prob_and_moments
    >>> def transitions(n):
    ...   yield (n - 1 if n > 2 else ABSORBED), {"coal": n * (n - 1) / 2}
    >>> graph = Graph.from_transitions(transitions, 3, params=("coal",))
    >>> log_probs, moments = log_prob_and_moments(
    ...   graph, {"coal": 1.0}, [1.0], rewards=graph.states
    ... )
    >>> print(f"{float(log_probs[0]):.6f}, {float(moments[0]):.6f}")
    -0.739948, 3.000000
  """
  if not isinstance(graph, Graph):
    raise TypeError(f"graph is {type(graph).__name__}: it must be a Graph")
  params = graph.params_array(params)
  arguments = {"values": values, "rewards": rewards}
  if graph.num_params > 0:
    arguments = {"params": params, **arguments}
  dtype = dtypes.common_dtype(arguments)
  params = structures.cast(params, dtype)
  values = structures.as_array(values, dtype, "values")
  if static.rank(values) == 0:
    raise ValueError("values is a scalar: it must have shape (..., n)")
  if rewards is not None:
    rewards = structures.as_array(rewards, dtype, "rewards")
  return _run(order, dtype, graph, params, values, rewards)


def _evaluate(
  order: Integer,
  dtype: str,
  graph: Graph,
  params: Array,
  values: Array,
  rewards: Array | None,
) -> tuple[Array, Array]:
  model = linear_weights.chain_arrays(graph, params, None, None, dtype)
  initial_probs, edges, exits, prob_zero = model
  assert prob_zero is not None  # It is None only with given `initial_probs`.
  # A batch dimension of size one is inserted to broadcast with the values.
  edges = edges._replace(parameters=edges.parameters[..., None, :])
  log_probs = evaluation.value(
    "log_density",
    (initial_probs[..., None, :], edges, values, exits, prob_zero[..., None]),
    discrete=graph.discrete,
  )
  functions = discrete_moments if graph.discrete else continuous_moments
  if rewards is None:
    return log_probs, functions.raw_moments(order, *model)
  return log_probs, functions.reward_moments(order, rewards, *model)


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1))
