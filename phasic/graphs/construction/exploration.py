"""Breadth-first exploration of the reachable states."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
import math

import numpy as onp

from phasic.graphs.construction import state_space
from phasic.graphs.parts import contents
from phasic.graphs.parts import validation
from phasic.graphs.parts import weights
from phasic.graphs.parts.contents import State
from phasic.graphs.parts.contents import counted
from phasic.internal import raw_arguments
from phasic.internal.arrays import Integer
from phasic.internal.raw_arguments import shown

EPS = float(onp.finfo(float).eps)

# The number of explored states between two progress reports.
_REPORT = 1000


def explore(
  transitions: Callable[[State], Iterable[tuple[Hashable, object]]],
  initial: object,
  params: Integer | Sequence[str],
  discrete: bool,
  max_states: Integer,
  progress: Callable[[int], object] | None,
  allow_never_absorbing: bool,
) -> contents.Contents:
  """Builds the graph of all states that a function of transitions reaches.

  See `Graph.from_transitions`.
  """
  raw_arguments.check_flags(
    discrete=discrete, allow_never_absorbing=allow_never_absorbing
  )
  raw_arguments.check_callable("transitions", transitions, " of a state")
  reader = weights.WeightReader(params)
  space = state_space.StateSpace(max_states)
  start = _read_initial(initial, space, reader)
  edges = state_space.EdgeList(
    reader.num_params, state_space.max_edges(max_states)
  )
  for i, state in enumerate(space.states):
    pairs = transitions(state)
    _explore_state(pairs, i, state, space, reader, edges, discrete)
    if progress is not None and (i + 1) % _REPORT == 0:
      progress(len(space.states))
  if progress is not None:
    progress(len(space.states))
  space.check_hashes()
  result = _contents(space, reader, edges, start, discrete)
  if not allow_never_absorbing:
    contents.check_absorption(result)
  return result


def _explore_state(
  pairs: Iterable[object],
  number: int,
  state: Hashable,
  space: state_space.StateSpace,
  reader: weights.WeightReader,
  edges: state_space.EdgeList,
  discrete: bool,
) -> None:
  """Appends the edges that leave a state; parallel edges are summed."""
  if pairs is None or not hasattr(pairs, "__iter__"):
    raise TypeError(
      f"transitions({shown(state)}) returned {shown(pairs)}: it must yield "
      "pairs (state, weight)"
    )
  edge_indices: dict[int, int] = {}
  known = space.numbers
  # The probabilities that do not depend on parameters. They are checked in a
  # discrete chain: their sum must not exceed one.
  fixed: list[float] = []
  for item in pairs:
    if not isinstance(item, (tuple, list)) or len(item) != 2:
      raise TypeError(
        f"transitions({shown(state)}) yields {shown(item)}: it must yield "
        "pairs (state, weight)"
      )
    try:
      weight = reader.read(item[1])
      # A weight that is zero for all parameters makes no edge.
      if weight is None:
        continue
      target = known.get(item[0])
      if target is None:
        target = space.number(item[0])
    except RecursionError:
      raise TypeError(
        f"edge from {shown(state)}: {state_space.too_deep(item[0])}"
      ) from None
    except (TypeError, ValueError) as error:
      raise state_space.same_kind(
        error,
        f"edge from {shown(state)} to {shown(item[0])} with weight "
        f"{shown(item[1])}: {state_space.hash_problem(item[0]) or error}",
      ) from error
    if discrete and not weight.terms:
      fixed.append(weight.constant)
    if target == number:
      edges.loops.append(number)
    elif target in edge_indices:
      edges.increase(edge_indices[target], weight)
    else:
      edge_indices[target] = edges.add(number, target, weight)
  if discrete:
    mass = math.fsum(fixed)
    if mass > 1.0 + 4 * len(fixed) * EPS:
      raise ValueError(
        f"the probabilities of the edges from {shown(state)} sum to {mass!r}: "
        "this sum must be <= 1 within 4 eps per edge"
      )


def _read_initial(
  initial: object, space: state_space.StateSpace, reader: weights.WeightReader
) -> list[tuple[int, weights.Weight]]:
  """Returns initial states as (index, weight); index -1 is the atom at zero."""
  if isinstance(initial, Mapping):
    pairs = list(initial.items())
  elif isinstance(initial, list):
    pairs = initial
  else:
    pairs = [(initial, 1.0)]
  starts: list[tuple[int, weights.Weight]] = []
  for item in pairs:
    if not isinstance(item, (tuple, list)) or len(item) != 2:
      raise TypeError(
        f"initial is a list with the item {shown(item)}: each item must be a "
        "pair (state, weight); to start in one state, give that state alone"
      )
    state, weight = item
    try:
      read = reader.read(weight)
      if read is None:
        continue
      starts.append((_initial_number(state, space), read))
    except (TypeError, ValueError) as error:
      raise state_space.same_kind(
        error,
        f"initial state {shown(state)} with weight {shown(weight)}: {error}",
      ) from error
  if not space.states:
    raise ValueError(
      f"initial is {shown(initial)}: at least one state must have a weight > 0"
    )
  return starts


def _initial_number(state: Hashable, space: state_space.StateSpace) -> int:
  if not contents.is_absorbed(state):
    return space.number(state)
  if state.cause is not None:
    raise ValueError(
      "the atom at zero has no cause: use ABSORBED without a cause"
    )
  return -1


def _contents(
  space: state_space.StateSpace,
  reader: weights.WeightReader,
  edges: state_space.EdgeList,
  start: list[tuple[int, weights.Weight]],
  discrete: bool,
) -> contents.Contents:
  p = len(space.states)
  # Initial weights are added up like edges, one for each phase and one for the
  # atom at zero.
  initial = state_space.EdgeList(reader.num_params)
  for i in range(p + 1):
    initial.add(i, i, weights.Weight(0.0, []))
  for i, weight in start:
    initial.increase(p if i < 0 else i, weight)
  initial_constants, initial_coefficients = initial.sums()
  validation.check_initial_mass(
    initial_constants, initial_coefficients, 4 * (p + 1) * EPS
  )
  constants, coefficients = edges.sums()
  targets = onp.asarray(edges.targets, onp.int64)
  targets = onp.where(targets < 0, p - 1 - targets, targets)
  return contents.Contents(
    sources=onp.asarray(edges.sources, onp.int32),
    targets=onp.asarray(targets, onp.int32),
    constants=constants,
    coefficients=coefficients,
    initial_constants=initial_constants,
    initial_coefficients=initial_coefficients,
    parameter_names=reader.names,
    causes=tuple(space.causes) or (None,),
    discrete=discrete,
    states=tuple(space.states),
    notes=_notes(
      onp.concatenate([coefficients, initial_coefficients]),
      reader.names,
      edges.loops,
      space.states,
      discrete,
    ),
  )


def _notes(
  table: onp.ndarray,
  names: Sequence[str] | None,
  loops: Sequence[int],
  states: Sequence[Hashable],
  discrete: bool,
) -> tuple[str, ...]:
  """Returns notes on omitted self-transitions and on unused parameters.

  Args:
    table: coefficients of all weights, (n, d).
    names: of the parameters, or None.
    loops: states with an edge to itself.
    states: all states.
    discrete: whether it is a discrete chain.
  """
  unused = onp.flatnonzero(~onp.any(table != 0.0, axis=0))
  notes = [
    f"parameter {c if names is None else repr(names[c])} is in no weight"
    for c in map(int, unused)
  ]
  if loops:
    stays = "the rest of each row stays"
    same = "they do not change the distribution"
    notes.append(
      f"left out: {counted(len(loops), 'transition')} from a state to itself "
      f"({stays if discrete else same}), the first at {shown(states[loops[0]])}"
    )
  return tuple(notes)
