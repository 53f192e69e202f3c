"""Which transitions a multi-state model has, and the names of their rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any, NamedTuple

import numpy as onp

from phasic import distributions
from phasic import graphs
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.multistate import chains
from phasic.multistate import panel_columns
from phasic.multistate.panel_columns import State


class Intensities:
  """The allowed transitions between states, with rates by name.

  A transition from state "well" to "ill" has the rate named "well -> ill",
  unless another name is given; transitions with the same name share a rate. A
  state without transitions is absorbing.

  The time in a state is exponential. With `sojourns` it has another
  distribution, and the state consists of hidden phases:

      an integer k: k phases in a row, each of which can be left to all states
        at rates of its own (a Coxian distribution), named "ill[1] -> dead";
        "ill[1] -> ill[2]" leads to the next phase;
      a phase-type distribution: the time in the state has this distribution,
        scaled to the mean 1 / (sum of the rates out of the state). Where the
        chain goes then does not depend on the time. So `Erlang(3, 1.0)`, or
        `weibull(1.5)` and `gamma(2.5)`, are shapes, and have no parameters.

  Attributes:
    states: the names of the states.
    rates: the names of the rates.
    transitions: triples of two states and the name of the rate.

  Example: illness and death; both deaths have one rate.

    >>> from phasic import multistate
    >>> rates = multistate.Intensities(
    ...   {"well": {"ill": "onset", "dead": "death"}, "ill": {"dead": "death"}}
    ... )
    >>> rates.states, rates.rates
    (('well', 'ill', 'dead'), ('onset', 'death'))
  """

  states: tuple[str, ...]
  rates: tuple[str, ...]
  transitions: tuple[tuple[str, str, str], ...]

  def __init__(
    self,
    transitions: Mapping[State, Sequence[State] | Mapping[State, str]],
    *,
    rates: Mapping[str, float] | None = None,
    sojourns: Mapping[State, int | distributions.Distribution] | None = None,
  ):
    """Makes intensities.

    Args:
      transitions: for each state that can be left, the states to which it leads;
        or a mapping from these to names of rates.
      rates: values at which a fit starts, by name of the rate; without them it
        starts from crude rates of the data.
      sojourns: distributions of the time in some states.

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: a state leads to itself, or a name is unknown.
    """
    triples = _triples(transitions)
    self.states = tuple(
      dict.fromkeys(
        [panel_columns.text(x, "a state") for x in transitions]
        + [target for _, target, _ in triples]
      )
    )
    self.transitions = tuple(triples)
    self._chain = _chain(self.states, triples, _sojourns(sojourns, triples))
    self.rates = self._chain.rates
    starts = checked_starts(rates, self.rates)
    self._chain = chains.with_starts(self._chain, starts)

  def chain(self) -> chains.Chain:
    """Returns the chain of phases."""
    return self._chain

  def __repr__(self) -> str:
    listed = ", ".join(f"{a} -> {b}" for a, b, _ in self.transitions)
    return f"Intensities({listed})"


def chain_of(intensities: object) -> chains.Chain:
  """Returns the chain of `Intensities` or of a graph."""
  if isinstance(intensities, Intensities):
    return intensities.chain()
  if isinstance(intensities, graphs.Graph):
    return _chain_of_graph(intensities)
  if isinstance(intensities, Mapping):
    return Intensities(intensities).chain()
  raise TypeError(
    f"intensities is {raw_arguments.shown(intensities)}: it must be "
    "Intensities, a Graph, or a mapping from states to lists of states"
  )


def checked_starts(
  given: Mapping[str, float] | None, rates: Sequence[str]
) -> dict[str, float]:
  """Returns starting values of rates; raises unless they are positive."""
  if given is None:
    return {}
  if not isinstance(given, Mapping):
    raise TypeError(
      f"rates is {raw_arguments.shown(given)}: it must map names of rates to "
      "numbers"
    )
  for name, x in given.items():
    if name not in rates:
      raise ValueError(
        f"rates has {name!r}: it must be one of the rates {', '.join(rates)}"
      )
    if not 0.0 < float(x) < math.inf:
      raise ValueError(f"rates[{name!r}] is {x}: it must be > 0 and finite")
  return {name: float(x) for name, x in given.items()}


def _triples(transitions: Any) -> list[tuple[str, str, str]]:
  """Returns pairs of states, with the name of the rate."""
  if not isinstance(transitions, Mapping):
    raise TypeError(
      f"transitions is {raw_arguments.shown(transitions)}: it must map states to "
      "the states to which they lead"
    )
  triples: list[tuple[str, str, str]] = []
  for key, targets in transitions.items():
    source = panel_columns.text(key, "a state")
    named = isinstance(targets, Mapping)
    for target in panel_columns.names(f"transitions[{key!r}]", list(targets)):
      if target == source:
        raise ValueError(
          f"transitions[{key!r}] has {target!r}: a state cannot lead to itself"
        )
      triples.append((source, target, f"{source} -> {target}"))
    if named:
      names = list(targets.values())
      for i, name in enumerate(names):
        raw_arguments.check_string(f"transitions[{key!r}]", name)
        at = len(triples) - len(names) + i
        triples[at] = (*triples[at][:2], name)
  pairs = [(a, b) for a, b, _ in triples]
  for pair in pairs:
    if pairs.count(pair) > 1:
      raise ValueError(
        f"transitions has {pair[0]} -> {pair[1]} twice: each must be there once"
      )
  if not triples:
    raise ValueError("transitions is empty: there must be at least one")
  return triples


class _Shape(NamedTuple):
  """A phase-type distribution with mean one.

  Attributes:
    entry: initial probabilities, (k,).
    rates: between phases, (k, k).
    exits: (k,).
  """

  entry: onp.ndarray
  rates: onp.ndarray
  exits: onp.ndarray


def _sojourns(
  given: Any, triples: Sequence[tuple[str, str, str]]
) -> dict[str, int | _Shape]:
  """Returns numbers of phases, or shapes, by name of the state."""
  if given is None:
    return {}
  if not isinstance(given, Mapping):
    raise TypeError(
      f"sojourns is {raw_arguments.shown(given)}: it must map states to numbers "
      "of phases or distributions"
    )
  left = list(dict.fromkeys(source for source, _, _ in triples))
  read: dict[str, int | _Shape] = {}
  for key, x in given.items():
    state = panel_columns.text(key, "a state of sojourns")
    if state not in left:
      raise ValueError(
        f"sojourns has {state!r}: it must be one of the states that are left, "
        f"{', '.join(left)}"
      )
    if isinstance(x, distributions.Distribution):
      read |= {state: _shape_of(state, x)}
      continue
    count = raw_arguments.integer(
      f"sojourns[{state!r}]", x, "a number of phases or a distribution"
    )
    if not 1 <= count <= 64:
      raise ValueError(
        f"sojourns[{state!r}] is {count}: it must be from 1 to 64"
      )
    read |= {state: count}
  return read


def _shape_of(state: str, dist: distributions.Distribution) -> _Shape:
  """Returns the phases of a distribution, scaled to the mean one."""
  chain = dist.as_phase_type() if hasattr(dist, "as_phase_type") else dist
  if not isinstance(chain, distributions.PhaseType):
    raise TypeError(
      f"sojourns[{state!r}] is a {type(dist).__name__}: it must be phase-type, "
      "in continuous time; weibull and gamma make close ones of these families"
    )
  mean = float(onp.asarray(static.concrete(chain.mean())))
  entry = onp.asarray(static.concrete(chain.initial_probs), onp.float64)
  matrix = onp.asarray(static.concrete(chain.subgenerator), onp.float64)
  if entry.ndim != 1:
    raise ValueError(
      f"sojourns[{state!r}] has batch shape {entry.shape[:-1]}: it must be one "
      "distribution"
    )
  eps = static.finfo_eps(static.dtype_name(chain.initial_probs))
  if chain.exit_rates is None:
    exits = -onp.sum(matrix, axis=-1)
    # Rows that sum to zero do so up to rounding.
    exits = onp.where(exits > -16.0 * eps * onp.diagonal(matrix), exits, 0.0)
  else:
    exits = onp.asarray(static.concrete(chain.exit_rates), onp.float64)
  total = float(onp.sum(entry))
  if abs(total - 1.0) > 64.0 * eps:
    raise ValueError(
      f"sojourns[{state!r}] has mass at zero: it must be a positive time"
    )
  off = onp.where(onp.eye(len(entry), dtype=bool), 0.0, matrix)
  return _Shape(entry / total, off * mean, exits * mean)


def _chain(
  states: Sequence[str],
  triples: Sequence[tuple[str, str, str]],
  sojourns: Mapping[str, int | _Shape],
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
  shape: int | _Shape,
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


def _chain_of_graph(graph: graphs.Graph) -> chains.Chain:
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
