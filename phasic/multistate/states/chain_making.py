"""Makes chains of states, of transitions or of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as onp

from phasic import graphs
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.multistate.states import chains
from phasic.multistate.states.sojourn_shapes import Shape


def of_transitions(
  states: Sequence[str],
  triples: Sequence[tuple[str, str, str]],
  sojourns: Mapping[str, int | Shape],
) -> chains.Chain:
  """Makes phases and edges of states and transitions."""
  made = _Edges()
  first: dict[str, int] = {}
  entry: list[float] = []
  for i, state in enumerate(states):
    first |= {state: len(made.phases)}
    shape = sojourns.get(state, 1)
    masses = (
      [1.0] + [0.0] * (shape - 1) if isinstance(shape, int) else [*shape.entry]
    )
    for k in range(len(masses)):
      several = len(masses) > 1
      made.phases.append(f"{state}[{k + 1}]" if several else state)
      made.state_of.append(i)
    entry += masses
  for state in states:
    shape = sojourns.get(state, 1)
    leaving = [(b, name) for a, b, name in triples if a == state]
    _add_inside(made, first[state], state, shape, [name for _, name in leaving])
    count = shape if isinstance(shape, int) else len(shape.exits)
    for target, name in leaving:
      i = states.index(target)
      inside = [k for k, x in enumerate(made.state_of) if x == i]
      for k in range(count):
        rate, factor = name, 1.0
        if isinstance(shape, int) and shape > 1:
          plain = name == f"{state} -> {target}"
          rate = (
            f"{state}[{k + 1}] -> {target}" if plain else f"{name}[{k + 1}]"
          )
        elif not isinstance(shape, int):
          factor = float(shape.exits[k])
        for inner in inside:
          if factor * entry[inner] > 0:
            made.add(first[state] + k, inner, {rate: factor * entry[inner]})
  return made.chain(states, entry)


def _add_inside(
  made: _Edges,
  first: int,
  state: str,
  shape: int | Shape,
  leaving: Sequence[str],
) -> None:
  """Adds the edges between the phases of a state.

  Args:
    made: phases and edges.
    first: the first phase of the state.
    state: its name.
    shape: its number of phases, or their distribution.
    leaving: the names of the rates at which it is left.
  """
  if isinstance(shape, int):
    for k in range(shape - 1):
      name = f"{state}[{k + 1}] -> {state}[{k + 2}]"
      made.add(first + k, first + k + 1, {name: 1.0})
    return
  out = {name: float(leaving.count(name)) for name in leaving}
  for k, row in enumerate(shape.rates):
    for j in onp.flatnonzero(row):
      weights = {name: count * float(row[j]) for name, count in out.items()}
      made.add(first + k, first + int(j), weights)


class _Edges:
  """Phases and edges as they are made."""

  def __init__(self) -> None:
    self.phases: list[str] = []
    self.state_of: list[int] = []
    self._edges: list[tuple[int, int, Mapping[str, float]]] = []

  def add(self, source: int, target: int, weights: Mapping[str, float]) -> None:
    """Adds an edge whose rate is a weighted sum of named rates."""
    self._edges.append((source, target, weights))

  def chain(
    self, states: Sequence[str], entry: Sequence[float]
  ) -> chains.Chain:
    """Returns the chain, with edges and rates in the order of their sources."""
    edges = sorted(self._edges, key=lambda edge: edge[0])
    rates = list(dict.fromkeys(name for *_, w in edges for name in w))
    coefficients = [
      [weights.get(name, 0.0) for name in rates] for *_, weights in edges
    ]
    return chains.Chain(
      states=tuple(states),
      phases=tuple(self.phases),
      state_of=onp.asarray(self.state_of),
      entry=onp.asarray(entry),
      sources=onp.asarray([a for a, _, _ in edges], onp.int32),
      targets=onp.asarray([b for _, b, _ in edges], onp.int32),
      rates=tuple(rates),
      coefficients=onp.asarray(coefficients),
      constants=onp.zeros(len(edges)),
      starts={},
    )


def of_graph(graph: graphs.Graph) -> chains.Chain:
  """Returns the chain of a graph with named parameters, as rates."""
  if graph.discrete:
    raise ValueError(
      "intensities is a graph in discrete time: it must be in continuous time"
    )
  if graph.parameter_names is None:
    raise ValueError(
      "intensities is a graph without names of parameters: make it with params=("
      '"onset", "death"), which are the names of the rates'
    )
  causes = ["absorbed" if x is None else str(x) for x in graph.causes]
  states = [
    x if isinstance(x, str) else raw_arguments.shown(x) for x in graph.states
  ] + causes
  if len(set(states)) < len(states):
    raise ValueError(
      f"intensities is a graph with states {states}: their names must differ"
    )
  return chains.Chain(
    states=tuple(states),
    phases=tuple(states),
    state_of=onp.arange(len(states)),
    entry=onp.ones(len(states)),
    sources=onp.asarray(static.concrete(graph.sources)),
    targets=onp.asarray(static.concrete(graph.targets)),
    rates=tuple(graph.parameter_names),
    coefficients=onp.asarray(static.concrete(graph.coefficients), onp.float64),
    constants=onp.asarray(static.concrete(graph.constants), onp.float64),
    starts={},
  )
