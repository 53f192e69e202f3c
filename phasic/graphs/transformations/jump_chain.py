"""The embedded jump chain of a continuous graph, also with Poisson events."""

from __future__ import annotations

from collections.abc import Hashable
import numbers
from typing import NamedTuple

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.parameters import ParamsLike
from phasic.graphs.transformations import host_graphs
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal.arrays import ArrayLike


class JumpChain(NamedTuple):
  """A discrete graph of jumps, and the mean sojourn times as rewards.

  Attributes:
    graph: the discrete graph.
    rewards: (p,), a host array, the mean holding time of each phase.

  Example: the mean reward is the mean busy period, here (1 + 1 / 2) / 2.

    >>> from phasic import graphs
    >>> from phasic import math as pm
    >>> queue = graphs.models.busy_period(2)
    >>> rates = {"arrival": 1.0, "service": 2.0}
    >>> graph, rewards = graphs.embedded_jump_chain(queue, rates)
    >>> (mean,) = pm.discrete_phase_type.reward_moments(
    ...   1, rewards, graph.initial_probs(), graph.edge_weights()
    ... )
    >>> print(f"{float(mean):.6f}")
    0.750000
  """

  graph: graph_lib.Graph
  rewards: onp.ndarray


def embedded_jump_chain(
  graph: graph_lib.Graph, params: ParamsLike | None = None
) -> JumpChain:
  """Returns the embedded jump chain, whose weights are jump probabilities.

  With w_ij the weights and w_i the sum of those that leave phase i, absorption
  included, the chain jumps from i to j with probability w_ij / w_i. The number
  of jumps to absorption has the distribution of this chain. With the rewards
  1 / w_i, the reward of a path is the mean time to absorption given the phases
  on it, and the mean reward is the mean time to absorption. Initial
  probabilities, the atom at zero, causes and states stay.

  Args:
    graph: a `Graph`. In a discrete graph, the jumps are the steps that leave a
      phase, and w_i is the probability of leaving it.
    params: parameters, an array (d,) or a mapping of names to numbers; None if
      the graph has none. The result has none.

  Raises:
    TypeError: `graph` is not a `Graph`, or an array is traced.
    ValueError: parameters are missing or are a batch, a weight is negative or
      not finite, or a phase has no outgoing weight.

  Example: a queue of at most two, where a departure is twice as likely as an
  arrival.

    >>> from phasic import graphs
    >>> queue = graphs.models.busy_period(2)
    >>> chain = graphs.embedded_jump_chain(queue, {"arrival": 1.0, "service": 2.0})
    >>> [round(float(r), 6) for r in chain.rewards]
    [0.333333, 0.5]
  """
  host = host_graphs.read_at(graph, params)
  totals = host_graphs.sums_by_source(host, host.weights[:, 0])
  for i in onp.flatnonzero(
    onp.logical_not((totals > 0.0) & (totals < onp.inf))
  )[:1]:
    raise ValueError(
      f"graph: the weights that leave {host.name(int(i))} sum up to "
      f"{totals[i]}: this sum must be positive and finite"
    )
  weights = host.weights / totals[host.sources][:, None]
  jumps = host._replace(weights=weights, discrete=True)
  return JumpChain(host_graphs.build(jumps), 1.0 / totals)


class Event(NamedTuple):
  """An added state of an event-counting graph: an event occurs in `state`.

  Example: the mutations while there are two lineages.

    >>> from phasic import graphs
    >>> pair = graphs.models.kingman(2)
    >>> chain = graphs.with_event_counts(pair, 2.0, params={"coalescence": 1.0})
    >>> chain.graph.states.index(graphs.Event(2))
    1
  """

  state: Hashable


class EventChain(NamedTuple):
  """A discrete graph, and the rewards that count the events.

  Attributes:
    graph: the discrete graph.
    rewards: (phases,), a host array, one in the phases that are events.

  Example: the states of the graph, and their rewards.

    >>> from phasic import graphs
    >>> pair = graphs.models.kingman(2)
    >>> chain = graphs.with_event_counts(pair, 2.0, params={"coalescence": 1.0})
    >>> dict(zip(chain.graph.states, chain.rewards.tolist()))
    {2: 0.0, Event(state=2): 1.0}
  """

  graph: graph_lib.Graph
  rewards: onp.ndarray


def with_event_counts(
  graph: graph_lib.Graph,
  rate: float,
  rewards: ArrayLike | None = None,
  params: ParamsLike | None = None,
) -> EventChain:
  """Returns a discrete graph whose rewards count Poisson events.

  While the graph is in phase i, events come at the rate theta r_i, as mutations
  do on the branches of a coalescent. The result is the embedded jump chain of
  the graph with its events: each event in phase i is a visit to an additional
  phase, from which the chain returns to i. With the subgenerator S, the exit
  rates s, the initial probabilities alpha and the atom z at zero, the number N
  of these visits has the distribution

      P(N = n) = alpha ((theta D(r) - S)^-1 theta D(r))^n (theta D(r) - S)^-1 s,

  and P(N = 0) is greater by z. N is the total reward of a path with the
  returned rewards: one in the event phases, zero in the phases of the graph.
  The matrix of this formula is dense; the returned graph is as sparse as the
  given one.

  Args:
    graph: a continuous `Graph` with p phases.
    rate: theta, per unit of time and of reward, positive.
    rewards: r, (p,), not negative; ones if None.
    params: parameters, an array (d,) or a mapping of names to numbers; None if
      the graph has none. The result has none.

  Returns:
    The discrete graph and its rewards. Its first p phases are the phases of the
    given graph, in their order. A phase for the events of each phase with a
    positive reward follows, with the state `Event(state)`.

  Raises:
    TypeError: `graph` is not a `Graph`, an array is traced, or `rate` is not a
      number.
    ValueError: the graph is discrete, the rewards have the wrong shape, or a
      value breaks a rule.

  References:
    A. Hobolth, A. Siri-Jegousse, M. Bladt, Phase-type distributions in
      population genetics, Theor. Popul. Biol. 127, 2019, section 3.

  Example: the number of mutations before two lineages coalesce is geometric,
  here with success probability 1/3.

    >>> from phasic import graphs
    >>> from phasic import math as pm
    >>> pair = graphs.models.kingman(2)
    >>> chain = graphs.with_event_counts(pair, 2.0, params={"coalescence": 1.0})
    >>> chain.graph.states
    (2, Event(state=2))
    >>> graph = chain.graph
    >>> alpha, matrix, exits, atom = pm.discrete_phase_type.reward_transform(
    ...   chain.rewards, graph.initial_probs(), graph.edge_weights()
    ... )
    >>> value = pm.discrete_phase_type.prob(2, alpha, matrix, exits, atom)
    >>> print(f"{float(value):.6f}")
    0.148148
  """
  host = host_graphs.read_at(graph, params)
  if host.discrete:
    raise ValueError(
      "graph is discrete: it must be continuous, since events occur at rates "
      "per unit of time"
    )
  theta = _rate(rate)
  p = host.num_phases
  with onp.errstate(over="ignore"):
    events = theta * _rewards(rewards, p)
  totals = host_graphs.sums_by_source(host, host.weights[:, 0]) + events
  if not onp.all(totals < onp.inf):
    raise ValueError(
      f"rate is {theta}: its product with the largest reward must be finite"
    )
  marked = onp.flatnonzero(events > 0.0)
  places = p + onp.arange(len(marked))
  is_exit = host.targets >= p
  probs = onp.concatenate(
    [
      host.weights[:, 0] / totals[host.sources],
      events[marked] / totals[marked],
      onp.ones(len(marked)),
    ]
  )
  initial = onp.concatenate(
    [host.initial[:p], onp.zeros((len(marked), 1)), host.initial[p:]]
  )
  states = host.states
  if states is not None:
    states = (*states, *(Event(states[i]) for i in marked))
  chain = host._replace(
    sources=onp.concatenate([host.sources, marked, places]),
    targets=onp.concatenate(
      [host.targets + onp.where(is_exit, len(marked), 0), places, marked]
    ),
    weights=probs[:, None],
    initial=initial,
    discrete=True,
    states=states,
  )
  counted = onp.concatenate([onp.zeros(p), onp.ones(len(marked))])
  return EventChain(host_graphs.build(chain), counted)


def _rate(rate: object) -> float:
  """Checks the rate of events, and returns it as a float."""
  if dtypes.concrete(rate, "rate") is None:
    raise host_graphs.traced("rate")
  if isinstance(rate, bool) or not isinstance(rate, numbers.Real):
    raise TypeError(f"rate is {raw_arguments.shown(rate)}: it must be a number")
  try:
    theta = float(rate)
  except OverflowError:
    theta = onp.inf
  if not 0.0 < theta < onp.inf:
    raise ValueError(
      f"rate is {raw_arguments.shown(rate)}: it must be positive and finite"
    )
  return theta


def _rewards(rewards: ArrayLike | None, p: int) -> onp.ndarray:
  """Checks rewards, and returns them as a host array (p,)."""
  if rewards is None:
    return onp.ones(p)
  array: onp.ndarray = host_graphs.concrete("rewards", rewards)
  if array.shape != (p,):
    raise ValueError(
      f"rewards have shape {array.shape}: they must be ({p},), one per phase"
    )
  for i in onp.flatnonzero(~((array >= 0.0) & (array < onp.inf)))[:1]:
    raise ValueError(
      f"rewards[{i}] is {array[i]}: it must be finite and not negative"
    )
  return array
