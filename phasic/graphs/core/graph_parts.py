"""The arrays, static attributes and states of a graph."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Self

import numpy as np
import numpy as onp

from phasic.graphs.construction import edge_table
from phasic.graphs.construction import state_space
from phasic.graphs.parts import batched_arrays
from phasic.graphs.parts import contents
from phasic.graphs.parts import parameters
from phasic.graphs.parts import validation
from phasic.graphs.parts.contents import State
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, Tree
from phasic.saving import pickles


class GraphParts(pickles.Versioned):
  """The arrays, static attributes and states of a `Graph`, as properties."""

  _values: dict[str, Tree]
  # These keep the results of `_indices` and `_constant_start` if the arrays
  # cannot change, see `_is_fixed`.
  _ends: tuple[onp.ndarray, onp.ndarray] | None = None
  _start: onp.ndarray | None = None
  _NOT_PICKLED = ("_ends", "_start")
  _SAVES_PLAIN_PARTS = True

  def __init__(
    self,
    sources: onp.ndarray,
    targets: onp.ndarray,
    constants: onp.ndarray,
    coefficients: onp.ndarray,
    initial_constants: onp.ndarray,
    initial_coefficients: onp.ndarray,
    parameter_names: Sequence[str] | None = None,
    causes: Sequence[str | None] = (None,),
    discrete: bool = False,
    states: Sequence[Hashable] | None = None,
    notes: Sequence[str] = (),
  ):
    """Makes a graph from host arrays, which are checked and copied.

    Args:
      sources: integers (m,), ascending.
      targets: integers (m,).
      constants: (m,).
      coefficients: (m, d).
      initial_constants: (p + 1,), the last one is the atom at zero.
      initial_coefficients: (p + 1, d).
      parameter_names: d names, or None.
      causes: the names of targets p, p + 1, ...; None is plain ABSORBED.
      discrete: whether weights are probabilities of steps.
      states: the p states that are the phases, or None.
      notes: remarks for `describe`.

    Raises:
      TypeError: something is of a wrong type.
      ValueError: shapes do not fit, an index is out of range, edges are not
        in order, a number is not finite, or a weight is negative.
    """
    for name, x, what in (
      ("parameter_names", parameter_names, " of strings"),
      ("causes", causes, " of strings and None"),
      ("states", states, ""),
      ("notes", notes, " of strings"),
    ):
      if x is not None or name in ("causes", "notes"):
        raw_arguments.check_sequence(name, x, what)
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
    self._set_contents(checked)

  @classmethod
  def _from_built(cls, built: contents.Contents) -> Self:
    """Makes a graph of the arrays of a model, which are right as they are."""
    instance = object.__new__(cls)
    instance._set_contents(validation.frozen(built))
    return instance

  def _set_contents(self, checked: contents.Contents) -> None:
    values = checked._asdict()
    rows, d = onp.shape(checked.initial_coefficients)
    self._set_host(values.pop("states"), values.pop("notes"))
    self._values = {**values, "num_phases": rows - 1, "num_params": d}

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    """Returns the names of the attributes that are arrays."""
    return contents.ARRAYS

  def _parts(self) -> Mapping[str, object]:
    """Returns arrays and static attributes by name, but no states and notes."""
    return dict(self._values)

  @classmethod
  def _unflatten(cls, parts: Mapping[str, object]) -> Self:
    """Makes a graph from arrays and static attributes, without checks."""
    instance = object.__new__(cls)
    instance._values = dict(parts)
    instance._set_host(None, ())
    return instance

  def _set_host(
    self, states: tuple[Hashable, ...] | None, notes: tuple[str, ...]
  ) -> None:
    """Sets states and notes; a graph rebuilt from arrays has neither."""
    self._states = states
    self._notes = notes
    self._numbers: dict[Hashable, int] | None = None
    self._edges: tuple[edge_table.Edge, ...] | None = None
    self._ends = self._start = None

  @property
  def sources(self) -> Array:
    """The source phase of each edge, an int32 array of shape (m,)."""
    return self._array("sources")

  @property
  def targets(self) -> Array:
    """The target of each edge, an int32 array of shape (m,).

    The target p + c is absorption by causes[c].
    """
    return self._array("targets")

  @property
  def constants(self) -> Array:
    """The constant terms of the edges' weights, an array of shape (m,)."""
    return self._array("constants")

  @property
  def coefficients(self) -> Array:
    """The coefficients of the edges' weights, an array of shape (m, d)."""
    return self._array("coefficients")

  @property
  def initial_constants(self) -> Array:
    """The constants of the initial weights, an array of shape (p + 1,).

    The last entry belongs to the atom at zero.
    """
    return self._array("initial_constants")

  @property
  def initial_coefficients(self) -> Array:
    """The coefficients of the initial weights.

    An array of shape (p + 1, d), whose last row belongs to the atom at
    zero.
    """
    return self._array("initial_coefficients")

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
    """The names of the parameters, None if they have no names."""
    return self._values["parameter_names"]

  @property
  def causes(self) -> tuple[str | None, ...]:
    """The names of the causes of absorption; None for plain `ABSORBED`."""
    return self._values["causes"]

  @property
  def discrete(self) -> bool:
    """Whether weights are probabilities of steps, not rates."""
    return self._values["discrete"]

  @property
  def notes(self) -> tuple[str, ...]:
    """Remarks on transitions that were omitted when the graph was built."""
    return self._notes

  @property
  def states(self) -> tuple[State, ...]:
    """The states of the phases, in their order.

    Raises:
      ValueError: the graph has none, because it was rebuilt from arrays.
    """
    if self._states is None:
      raise ValueError(
        "the graph has no states: jit, vmap, tree_map and files may drop them; "
        "use the graph from which this one was made"
      )
    return self._states

  @property
  def edges(self) -> tuple[edge_table.Edge, ...]:
    """The edges with the states that they join, in their order.

    Raises:
      ValueError: the graph has no states, because it was rebuilt from arrays.
    """
    if self._edges is None:
      self._edges = edge_table.listed(self._contents(), self.states)
    return self._edges

  def index_of(self, state: Hashable) -> int:
    """Returns the index of the phase with the given state.

    Raises:
      TypeError: it is not hashable.
      ValueError: there is no such state, or the graph has no states.
    """
    if self._numbers is None:
      self._numbers = {known: i for i, known in enumerate(self.states)}
    index = state_space.lookup(self._numbers, state)
    if index is None:
      raise ValueError(
        f"state {raw_arguments.shown(state)} is not in the graph"
      )
    return index

  def __repr__(self) -> str:
    return f"<{type(self).__name__} {self._counts()}>"

  def _counts(self) -> str:
    if not hasattr(self.sources, "shape"):
      # A pytree may have placeholders in place of arrays: the sizes are
      # unknown.
      return "parts unknown"
    facts = [
      contents.counted(self.num_phases, "phase"),
      contents.counted(self.num_edges, "edge"),
    ]
    if self.num_params:
      facts.append(parameters.counted(self.num_params, self.parameter_names))
    if self.causes != (None,):
      facts.append(f"causes {', '.join(str(c) for c in self.causes)}")
    if self.discrete:
      facts.append("discrete")
    return ", ".join(facts)

  def _array(self, name: str) -> Array:
    """Returns an array of the graph, without batch dimensions added by vmap."""
    x = self._values[name]
    linear = name.endswith("coefficients")
    if batched_arrays.is_plain(x, 1 + linear):
      return x
    rows = self.num_phases + 1 if name.startswith("initial") else None
    event = (rows, self.num_params) if linear else (rows,)
    return batched_arrays.unbatched(name, x, event)

  def _indices(self) -> tuple[Array | onp.ndarray, Array | onp.ndarray]:
    """Returns sources and targets; absorption by any cause is target p."""
    if self._ends is not None:
      return self._ends
    sources, targets = self.sources, self.targets
    known = static.concrete(sources), static.concrete(targets)
    if known[0] is not None and known[1] is not None:
      lowest: onp.ndarray = onp.minimum(known[1], self.num_phases)
      if self._is_fixed():
        lowest.setflags(write=False)
        self._ends = known[0], lowest
      return known[0], lowest
    sources = structures.as_index_array(sources, "sources")
    targets = structures.as_index_array(targets, "targets")
    return sources, np.minimum(targets, self.num_phases)

  def _is_fixed(self) -> bool:
    """Returns whether all arrays are those that a constructor has checked.

    These are read-only arrays of the host. Graphs that pickle or transformations
    of JAX have made have others.
    """
    arrays = [self._values[name] for name in contents.ARRAYS]
    on_host = {*map(type, arrays)} == {onp.ndarray}
    return on_host and structures.are_lasting(arrays)

  def _contents(self) -> contents.Contents:
    """Returns the data of the graph as host arrays."""
    host: dict[str, Tree] = {
      name: static.concrete(self._array(name)) for name in contents.ARRAYS
    }
    if any(x is None for x in host.values()):
      raise ValueError(
        "the graph is traced: its arrays must be concrete; call this outside "
        "of compiled functions"
      )
    return contents.Contents(
      **host,
      parameter_names=self.parameter_names,
      causes=self.causes,
      discrete=self.discrete,
      states=self._states,
      notes=self._notes,
    )
