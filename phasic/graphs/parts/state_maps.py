"""Maps states of one epoch's graph to states of the next epoch's graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy as onp

from phasic.graphs.parts import batched_arrays
from phasic.graphs.parts import contents
from phasic.graphs.parts.contents import State
from phasic.internal import array_ops
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array

# The largest table of a map that is read from text, whose length may be far
# smaller.
_MOST_READ = 2**26


class HasStates(Protocol):
  """The attributes of a graph that state maps need."""

  @property
  def num_phases(self) -> int:
    """The number of phases."""

  @property
  def states(self) -> tuple[State, ...]:
    """The states of the phases, in their order."""

  def index_of(self, state: Hashable) -> int:
    """Returns the index of the phase with the given state."""


class StateMap(NamedTuple):
  """A map from the phases of one graph to the phases of the next.

  Attributes:
    phases: int32 (q, r); row j has the phases that are mapped to phase j,
      padded by p, the number of phases. None for the identity.
  """

  phases: Array | onp.ndarray | None

  def map_masses(self, masses: Array) -> Array:
    """Maps phase probabilities (..., p) to the next graph's phases (..., q)."""
    if self.phases is None:
      return masses
    padded = np.concatenate([masses, np.zeros_like(masses[..., :1])], axis=-1)
    taken = np.take(padded, _indices(self.phases), axis=-1)
    return np.sum(taken, axis=-1)

  def with_trap(self, count: int) -> StateMap:
    """Adds a trap to both graphs, the first of which has `count` phases.

    The new last phase of the first graph is mapped to the new last phase of
    the next graph.
    """
    if self.phases is None:
      return self
    phases = _indices(self.phases)
    row = np.where(onp.arange(static.shape(phases)[-1]) == 0, count, count + 1)
    row = structures.cast(row, "int32")[None, :]
    padded = np.where(phases == count, phases + 1, phases)
    return StateMap(np.concatenate([padded, row], axis=0))

  def targets(self, count: int) -> Array | None:
    """Returns the phase that each of `count` phases is mapped to.

    The result is an int32 array of shape (count,). It is None if no phase
    changes.
    """
    if self.phases is None:
      return None
    phases = _indices(self.phases)
    rows = structures.cast(np.arange(static.shape(phases)[0]), "int32")
    rows = np.broadcast_to(rows[:, None], static.shape(phases))
    images = array_ops.segment_sum(
      np.reshape(rows, (-1,)), np.reshape(phases, (-1,)), count + 1
    )
    return images[:count]


def _indices(phases: Array | onp.ndarray) -> Array:
  """Returns the phases of a map as int32, without axes that vmap has added."""
  phases = batched_arrays.unbatched("state_maps", phases, (None, None))
  return structures.cast(phases, "int32")


def make_all(
  functions: Sequence[object] | None, graphs: tuple[HasStates, ...]
) -> tuple[StateMap, ...]:
  """Makes the state maps between successive graphs.

  Args:
    functions: one fewer than graphs, or None; see `make`.
    graphs: the graphs.

  Raises:
    TypeError: as `make`, or `functions` is not a list or tuple.
    ValueError: as `make`, or the number of functions is wrong.
  """
  count = len(graphs) - 1
  if functions is None:
    functions = [None] * count
  raw_arguments.check_sequence("state_maps", functions, " of functions")
  if len(functions) != count:
    raise ValueError(
      f"state_maps has {len(functions)} functions: it must have {count}, one "
      "for each boundary between epochs"
    )
  return tuple(
    make(f"state_maps[{k}]", graphs[k], graphs[k + 1], function)
    for k, function in enumerate(functions)
  )


def make(
  name: str, graph: HasStates, following: HasStates, function: object
) -> StateMap:
  """Makes the state map from one graph to the next.

  Args:
    name: the function's name in messages.
    graph: a `Graph`.
    following: the `Graph` mapped to.
    function: maps states of `graph` to states of `following`; None if both have
      the same states in the same order; or a `StateMap`, which needs no states.

  Raises:
    TypeError: `function` is not a function.
    ValueError: an image is not a state of `following`, or there is no function
      and the graphs differ in their states.
  """
  if isinstance(function, StateMap):
    count = graph.num_phases
    if function.phases is not None:
      count = static.shape(function.phases)[-2]
    if count != following.num_phases:
      raise ValueError(
        f"{name} maps to {count} phases: it must map to the "
        f"{following.num_phases} phases of the next graph"
      )
    return function
  if function is None:
    if graph is not following and graph.states != following.states:
      raise ValueError(
        f"{name} is None: the graphs before and after it have different "
        "states; give a function that maps states to states of the next graph"
      )
    return StateMap(None)
  raw_arguments.check_callable(name, function, " of a state")
  assert callable(function)
  preimages: list[list[int]] = [[] for _ in following.states]
  for i, state in enumerate(graph.states):
    image = function(state)
    if contents.is_absorbed(image):
      raise ValueError(
        f"{name} maps {raw_arguments.shown(state)} to {raw_arguments.shown(image)}: it must return a "
        "state of the next graph, since no chain is absorbed at a boundary"
      )
    try:
      preimages[following.index_of(image)].append(i)
    except (TypeError, ValueError):
      raise ValueError(
        f"{name} maps {raw_arguments.shown(state)} to {raw_arguments.shown(image)}, which "
        "is not a state of the next graph"
      ) from None
  return _from_preimages(preimages, graph.num_phases)


def from_targets(name: str, targets: object, count: int, size: int) -> StateMap:
  """Makes a state map from the phases that phases are mapped to.

  Args:
    name: the argument's name in messages.
    targets: integers (count,) in [0, size), or None if no phase changes.
    count: the number of phases.
    size: the number of phases of the next graph.

  Raises:
    TypeError: the targets are not integers.
    ValueError: they have another shape, or one is out of range.
  """
  if targets is None:
    return StateMap(None)
  array: onp.ndarray = raw_arguments.host_array(targets, name)
  if array.dtype.kind not in "iu":
    raise TypeError(f"{name} has dtype {array.dtype}: it must be integers")
  if array.shape != (count,) or onp.any((array < 0) | (array >= size)):
    raise ValueError(
      f"{name} is {raw_arguments.shown(targets)}: it must have a phase of the "
      f"next graph, in [0, {size}), for each of the {count} phases"
    )
  preimages: list[list[int]] = [[] for _ in range(size)]
  for i, target in enumerate(array.tolist()):
    preimages[target].append(i)
  width = max(map(len, preimages))
  if size * width > _MOST_READ:
    raise ValueError(
      f"{name} maps {width} phases to one of {size}: the product must be at most "
      f"{_MOST_READ}"
    )
  return _from_preimages(preimages, count)


def _from_preimages(preimages: list[list[int]], count: int) -> StateMap:
  """Makes a state map, given the phases, of `count`, that have each image."""
  width = max(len(row) for row in preimages)
  rows = [row + [count] * (width - len(row)) for row in preimages]
  return StateMap(onp.asarray(rows, onp.int32))
