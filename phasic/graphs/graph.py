"""Graphs: state spaces whose weights are linear in parameters."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy as onp

from phasic.graphs import contents
from phasic.graphs import exploration
from phasic.graphs import parameters
from phasic.graphs import validation
from phasic.internal import static
from phasic.internal import structures
from phasic.math import edge_probs
from phasic.math import edge_rates

# The arrays, in the constructor's order; the rest is structure.
_ARRAYS = (
  "sources",
  "targets",
  "constants",
  "coefficients",
  "initial_constants",
  "initial_coefficients",
)


@structures.register
class Graph:
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
  belong to the host.

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

  def __init__(
    self,
    sources: Any,
    targets: Any,
    constants: Any,
    coefficients: Any,
    initial_constants: Any,
    initial_coefficients: Any,
    parameter_names: Sequence[str] | None = None,
    causes: Sequence[str | None] = (None,),
    discrete: bool = False,
    states: Sequence[Hashable] | None = None,
    notes: Sequence[str] = (),
  ):
    """Makes a graph of host arrays, which are checked and copied.

    Args:
      sources: integers (m,), ascending.
      targets: integers (m,).
      constants: (m,).
      coefficients: (m, d).
      initial_constants: (p + 1,), the last one is the atom at zero.
      initial_coefficients: (p + 1, d).
      parameter_names: d names, or None.
      causes: what targets p, p + 1, ... are called; None is plain ABSORBED.
      discrete: whether weights are probabilities of steps.
      states: the p states that are the phases, or None.
      notes: remarks for `describe`.

    Raises:
      TypeError: something is of a wrong type.
      ValueError: shapes do not fit, an index is out of range, edges are not
        in order, a number is not finite, or a weight is negative.
    """
    checked = validation.checked(
      contents.Contents(
        sources,
        targets,
        constants,
        coefficients,
        initial_constants,
        initial_coefficients,
        None if parameter_names is None else tuple(parameter_names),
        tuple(causes),
        discrete,
        None if states is None else tuple(states),
        tuple(notes),
      )
    )
    values = checked._asdict()
    self._states: tuple[Hashable, ...] | None = values.pop("states")
    self._notes: tuple[str, ...] = values.pop("notes")
    self._numbers: dict[Hashable, int] | None = None
    p, d = onp.shape(checked.initial_coefficients)
    self._values: dict[str, Any] = {
      **values,
      "num_phases": p - 1,
      "num_params": d,
    }

  @classmethod
  def from_transitions(
    cls,
    transitions: Callable[[Any], Iterable[Any]],
    initial: Any,
    params: int | Sequence[str] = 0,
    discrete: bool = False,
    max_states: int = 1_000_000,
    progress: Callable[[int], Any] | None = None,
    allow_never_absorbing: bool = False,
  ) -> "Graph":
    """Returns the graph of all states that are reached, breadth first.

    A weight is a number, which is a constant, a sequence of d numbers, which
    are coefficients, or a mapping {name: coefficient, 1: constant}. Negative
    coefficients may stand beside positive ones, as in 1 - q. A weight that is
    zero for all parameters is no edge.

    Args:
      transitions: a function of a state that yields pairs (state, weight).
        States are hashable; `ABSORBED` or `ABSORBED("cause")` ends the time.
      initial: a state; or a mapping or a list of pairs of states and weights,
        `ABSORBED` among them for an atom at zero. Weights that have no
        parameters must sum to one within 4 p eps.
      params: the number of parameters d, or a tuple of their names.
      discrete: whether weights are probabilities of steps, not rates.
      max_states: how many states there may be.
      progress: called with the number of states found, now and then.
      allow_never_absorbing: whether there may be states from which absorption
        cannot be reached.

    Raises:
      TypeError: a state is not hashable, or something else has a wrong type.
      ValueError: a weight breaks a rule, absorption cannot be reached, or
        there are too many states. State, edge and rule are named.
    """
    found = exploration.explore(
      transitions,
      initial,
      params,
      discrete,
      max_states,
      progress,
      allow_never_absorbing,
    )
    return cls(**found._asdict())

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    """The names of the parts that are arrays."""
    return _ARRAYS

  def _parts(self) -> dict[str, Any]:
    """Arrays and static facts by name, without what belongs to the host."""
    return dict(self._values)

  @classmethod
  def _unflatten(cls, parts: dict[str, Any]) -> Any:
    """Builds a graph of any parts, without looking at them."""
    instance = object.__new__(cls)
    instance._values = dict(parts)
    instance._states = instance._numbers = None
    instance._notes = ()
    return instance

  @property
  def sources(self) -> Any:
    """The phases that edges leave, int32 (m,)."""
    return self._values["sources"]

  @property
  def targets(self) -> Any:
    """Where edges lead, int32 (m,); p + c is absorption by causes[c]."""
    return self._values["targets"]

  @property
  def constants(self) -> Any:
    """What weights have without parameters, (m,)."""
    return self._values["constants"]

  @property
  def coefficients(self) -> Any:
    """What weights have for each unit of a parameter, (m, d)."""
    return self._values["coefficients"]

  @property
  def initial_constants(self) -> Any:
    """The same of the initial weights, (p + 1,); the last is the atom."""
    return self._values["initial_constants"]

  @property
  def initial_coefficients(self) -> Any:
    """The same of the initial weights, (p + 1, d)."""
    return self._values["initial_coefficients"]

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return self._values["num_phases"]

  @property
  def num_params(self) -> int:
    """The number of parameters d."""
    return self._values["num_params"]

  @property
  def num_edges(self) -> int:
    """The number of edges m."""
    return static.shape(self.sources)[0]

  @property
  def parameter_names(self) -> tuple[str, ...] | None:
    """The names of the parameters, None where they have none."""
    return self._values["parameter_names"]

  @property
  def causes(self) -> tuple[str | None, ...]:
    """The causes of absorption; None is plain `ABSORBED`."""
    return self._values["causes"]

  @property
  def discrete(self) -> bool:
    """Whether weights are probabilities of steps, not rates."""
    return self._values["discrete"]

  @property
  def notes(self) -> tuple[str, ...]:
    """Remarks on what was left out when the graph was built."""
    return self._notes

  @property
  def states(self) -> tuple[Hashable, ...]:
    """The states that are the phases, in their order.

    Raises:
      ValueError: the graph has none, because it was rebuilt from arrays.
    """
    if self._states is None:
      raise ValueError(
        "the graph has no states: they stay with the graph that was built on "
        "the host, not with what jit, vmap, tree_map or a file make of it"
      )
    return self._states

  def index_of(self, state: Hashable) -> int:
    """Returns the phase that a state is.

    Raises:
      ValueError: there is no such state, or the graph has no states.
    """
    if self._numbers is None:
      self._numbers = {known: i for i, known in enumerate(self.states)}
    found = self._numbers.get(state)
    if found is None:
      raise ValueError(f"state {contents.shown(state)} is not in the graph")
    return found

  def params_array(self, params: Any = None) -> Any:
    """Returns parameters as an array (..., d).

    Args:
      params: an array (..., d), or a mapping of the names to arrays that
        broadcast; None where there are no parameters.

    Raises:
      TypeError: dtypes differ or are no floats, or the parameters of the graph
        have no names.
      ValueError: a name is unknown or missing, or shapes do not fit.
    """
    return parameters.params_array(
      params, self.num_params, self.parameter_names
    )

  def edge_values(self, params: Any = None) -> Any:
    """Returns the weights of the edges, (..., m), in their order.

    Args:
      params: as for `params_array`.
    """
    params = self.params_array(params)
    return parameters.linear(self.constants, self.coefficients, params)

  def initial_probs(self, params: Any = None) -> Any:
    """Returns the masses of the phases at time zero, alpha (..., p).

    Args:
      params: as for `params_array`; it may be None as well where the initial
        weights have no parameters and the graph is not traced.
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
    """
    kind = edge_probs.EdgeProbs if self.discrete else edge_rates.EdgeRates
    sources = structures.as_index_array(self.sources, "sources")
    targets = structures.as_index_array(self.targets, "targets")
    targets = np.minimum(targets, self.num_phases)
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

  def __repr__(self) -> str:
    return f"<{type(self).__name__} {self._counts()}>"

  def _counts(self) -> str:
    if not hasattr(self.sources, "shape"):
      return "parts unknown"  # A structure whose leaves are no arrays.
    facts = [
      validation.counted(self.num_phases, "phase"),
      validation.counted(self.num_edges, "edge"),
    ]
    if self.num_params:
      facts.append(parameters.counted(self.num_params, self.parameter_names))
    if self.causes != (None,):
      facts.append(f"causes {', '.join(str(c) for c in self.causes)}")
    if self.discrete:
      facts.append("discrete")
    return ", ".join(facts)

  def _initial_weights(self, params: Any) -> Any:
    """Returns initial weights, (..., p + 1)."""
    if params is None and self.num_params > 0:
      known = static.concrete(self.initial_coefficients)
      if known is not None and not onp.any(known != 0.0):
        return parameters.linear(
          self.initial_constants,
          np.zeros((self.num_phases + 1, 0)),
          parameters.params_array(None, 0, None),
        )
    params = self.params_array(params)
    return parameters.linear(
      self.initial_constants, self.initial_coefficients, params
    )
