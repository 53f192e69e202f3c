"""Constructors of graphs from transitions, edges, matrices and files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Self

from phasic.graphs.construction import edge_table
from phasic.graphs.construction import exploration
from phasic.graphs.construction import matrices
from phasic.graphs.core import graph_parts
from phasic.graphs.formats import networks
from phasic.graphs.parts import contents
from phasic.graphs.parts.contents import Network
from phasic.graphs.parts.contents import State
from phasic.internal import progress_bars
from phasic.internal.arrays import ArrayLike, Integer


class Builders(graph_parts.GraphParts):
  """The class methods of `Graph` that build graphs."""

  @classmethod
  def from_transitions(
    cls,
    transitions: Callable[[State], Iterable[tuple[Hashable, object]]],
    initial: object,
    params: Integer | Sequence[str] = 0,
    discrete: bool = False,
    max_states: Integer = 1_000_000,
    progress: bool | Callable[[int], object] = False,
    allow_never_absorbing: bool = False,
  ) -> Self:
    """Builds the graph of all states that can be reached, breadth first.

    A weight is a number, which is a constant, a sequence of d numbers, which
    are coefficients, or a mapping {name: coefficient, 1: constant}. Negative
    coefficients may be mixed with positive ones, as in 1 - q. A weight that is
    zero for all parameters is not an edge.

    Args:
      transitions: a function of a state that yields pairs (state, weight).
        States are hashable; `ABSORBED` or `ABSORBED("cause")` ends the time.
      initial: a state; or a mapping or a list of pairs of states and weights,
        `ABSORBED` among them for an atom at zero. Weights that have no
        parameters must sum to one within 4 p eps.
      params: the number of parameters d, or a tuple of their names.
      discrete: whether weights are probabilities of steps, not rates.
      max_states: how many states there may be.
      progress: True for a progress bar, which needs tqdm; or a function that
        is called with the number of states found, now and then.
      allow_never_absorbing: whether there may be states from which absorption
        cannot be reached.

    Raises:
      ModuleNotFoundError: `progress` is True and tqdm is not installed.
      TypeError: a state is not hashable, or something else has a wrong type.
      ValueError: a weight breaks a rule, absorption cannot be reached, or
        there are too many states. State, edge and rule are named.

    Example: a coin is tossed until two heads in a row have come.

      >>> from phasic.graphs import ABSORBED, Graph
      >>> def toss(heads):
      ...   yield (ABSORBED if heads else 1), {"head": 1.0}
      ...   yield 0, {1: 1.0, "head": -1.0}
      >>> graph = Graph.from_transitions(toss, 0, ("head",), discrete=True)
      >>> graph
      <Graph 2 phases, 3 edges, 1 parameter head, discrete>
    """
    with progress_bars.counting_states(progress) as report:
      built = exploration.explore(
        transitions,
        initial,
        params,
        discrete,
        max_states,
        report,
        allow_never_absorbing,
      )
    return cls(*built)

  @classmethod
  def from_edges(
    cls,
    edges: Iterable[edge_table.EdgeLike],
    initial: object,
    params: Integer | Sequence[str] = 0,
    discrete: bool = False,
    max_states: Integer = 1_000_000,
    allow_never_absorbing: bool = False,
  ) -> Self:
    """Builds the graph of listed edges; states are ordered breadth first.

    States that cannot be reached are left out, with a note.

    Args:
      edges: triples (state, state, weight), `ABSORBED` or `ABSORBED("cause")`
        in the place of the second state for absorption; or what `edges` of
        another graph has.
      initial: as in `from_transitions`, as are the others.
      params: the number of parameters d, or a tuple of their names.
      discrete: whether weights are probabilities of steps, not rates.
      max_states: how many states there may be.
      allow_never_absorbing: whether there may be states from which absorption
        cannot be reached.

    Raises:
      TypeError: an edge has something of a wrong type.
      ValueError: a weight breaks a rule, or absorption cannot be reached.

    Example:

      >>> from phasic.graphs import ABSORBED, Graph
      >>> edges = [("up", "down", 0.1), ("down", "up", 2.0)]
      >>> Graph.from_edges([*edges, ("down", ABSORBED, 0.5)], "up")
      <Graph 2 phases, 3 edges>
    """
    return cls(
      *edge_table.build(
        edges, initial, params, discrete, max_states, allow_never_absorbing
      )
    )

  @classmethod
  def from_matrices(
    cls,
    initial_probs: ArrayLike,
    matrix: ArrayLike,
    exits: ArrayLike | None = None,
    prob_zero: ArrayLike | None = None,
    discrete: bool = False,
    states: Sequence[Hashable] | None = None,
    allow_never_absorbing: bool = False,
  ) -> Self:
    """Builds a graph without parameters from the arrays of a phase-type model.

    Phases keep their order; those that cannot be reached are left out, with a
    note. An entry that is zero is not an edge.

    Args:
      initial_probs: alpha, (p,).
      matrix: the subgenerator S, (p, p), or T of a discrete chain.
      exits: the rates (p,) of absorption, or its probabilities. None derives
        them, s = -S 1 or t = 1 - T 1, where a sum within 4 p eps of zero,
        relative to the row in continuous time, counts as zero. If exit rates
        are given the diagonal of S is not read.
      prob_zero: the atom at zero. None derives it, 1 - sum(alpha), zero within
        4 p eps.
      discrete: whether `matrix` has the probabilities of a step.
      states: the names of the phases; None for 0, 1, ..., p - 1.
      allow_never_absorbing: whether there may be states from which absorption
        cannot be reached.

    Raises:
      TypeError: an array is traced, or its dtype does not fit.
      ValueError: shapes do not fit, a value breaks a rule, or absorption cannot
        be reached.

    Example:

      >>> from phasic.graphs import Graph
      >>> graph = Graph.from_matrices([1.0, 0.0], [[-2.0, 2.0], [0.0, -3.0]])
      >>> [float(w) for w in graph.edge_values()]
      [2.0, 3.0]
    """
    return cls(
      *matrices.build(
        initial_probs,
        matrix,
        exits,
        prob_zero,
        discrete,
        states,
        allow_never_absorbing,
      )
    )

  @classmethod
  def from_networkx(
    cls,
    network: Network,
    initial: object = None,
    params: Integer | Sequence[str] | None = None,
    discrete: bool | None = None,
    weight: str = "weight",
    absorbing: Mapping[State, contents.Absorbed] | None = None,
    max_states: Integer = 1_000_000,
    allow_never_absorbing: bool = False,
  ) -> Self:
    """Builds a graph from a directed networkx graph, whose nodes are states.

    Args:
      network: a networkx.DiGraph or MultiDiGraph. The node `ABSORBED` is
        absorption, and so is `ABSORBED("cause")`.
      initial: as in `from_transitions`. None, here and below, for what
        `to_networkx` kept.
      params: the number of parameters d, or a tuple of their names.
      discrete: whether weights are probabilities of steps, not rates.
      weight: the attribute of edges that has the weight. An edge without it
        has its weight in the attributes `constant` and `coefficients`.
      absorbing: what other nodes are absorption: {node: ABSORBED("cause")}.
      max_states: how many states there may be.
      allow_never_absorbing: whether there may be states from which absorption
        cannot be reached.

    Raises:
      TypeError: the network is not a directed one.
      ValueError: an edge has no weight, `initial` is not known, or as in
        `from_edges`.
    """
    kept = networks.defaults(network)
    if initial is None:
      if "initial" not in kept:
        raise ValueError(
          "initial is None: it must be given for a network that was not made "
          "by to_networkx"
        )
      initial = kept["initial"]
    return cls.from_edges(
      networks.edges_of(
        network, weight, {} if absorbing is None else absorbing
      ),
      initial,
      kept.get("params", 0) if params is None else params,
      kept.get("discrete", False) if discrete is None else discrete,
      max_states,
      allow_never_absorbing,
    )

  @classmethod
  def from_json(cls, text: str | bytes) -> Self:
    """Reads a graph from the text that `to_json` returned.

    The text is not trusted: every index, size and number is checked before it
    is used, and keys that the format does not have are refused.

    Args:
      text: version 1 of the format.

    Raises:
      TypeError: `text` is neither a str nor bytes.
      ValueError: it is not JSON, has another version, or breaks a rule.
    """
    # Imported here because the import is slow.
    from phasic.graphs.formats import json_format

    return cls(*json_format.loads(text))

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, object]) -> Self:
    from phasic.graphs.formats import json_format

    return cls(*json_format.decode(parts))
