"""Which transitions a multi-state model has, and the names of their rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any

from phasic import distributions
from phasic import graphs
from phasic.internal import raw_arguments
from phasic.multistate.data import panel_columns
from phasic.multistate.data.panel_columns import State
from phasic.multistate.states import chain_making
from phasic.multistate.states import chains
from phasic.multistate.states import sojourn_shapes


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
      rates: values at which a fit starts, by name of the rate. Without them, or
        where these are more likely, it starts from crude rates of the data.
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
    self._chain = chain_making.of_transitions(
      self.states, triples, sojourn_shapes.read_shapes(sojourns, triples)
    )
    self.rates = self._chain.rates
    starts = checked_starts(rates, self.rates)
    self._chain = chains.with_starts(self._chain, starts)

  def __repr__(self) -> str:
    listed = ", ".join(f"{a} -> {b}" for a, b, _ in self.transitions)
    return f"Intensities({listed})"


def chain_of(intensities: object) -> chains.Chain:
  """Returns the chain of `Intensities` or of a graph."""
  if isinstance(intensities, Intensities):
    return intensities._chain  # noqa: SLF001
  if isinstance(intensities, graphs.Graph):
    return chain_making.of_graph(intensities)
  if isinstance(intensities, Mapping):
    return Intensities(intensities)._chain  # noqa: SLF001
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
    if isinstance(targets, str) or not hasattr(targets, "__iter__"):
      raise TypeError(
        f"transitions[{key!r}] is {raw_arguments.shown(targets)}: it must be a "
        "list of states, or a mapping from states to names of rates"
      )
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
