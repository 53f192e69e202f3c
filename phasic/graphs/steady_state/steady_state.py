"""Stationary distributions, long-run rewards and availability of graphs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as onp

from phasic.graphs.construction import state_space
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.contents import State
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.steady_state import state_chains
from phasic.math.steady_state import steady_state


def stationary_distribution(
  graph: graph_lib.Graph, params: ParamsLike | None = None
) -> Array:
  """Computes the share of time that a graph spends in each state.

  The graph has no absorption: make it with `allow_never_absorbing=True`. Its
  initial weights are not used. Each probability has a small relative error,
  however rare its state is; transient states have probability zero.
  Derivatives exist in `params`.

  Args:
    graph: a `Graph` without edges to absorption.
    params: as for `Graph.params_array`.

  Returns:
    The probabilities of the states, (..., p), in the order of `graph.states`.
    They are NaN where a weight is negative or not finite, or where there are
    several recurrent classes; a call whose values are known warns of it.

  Raises:
    TypeError: `graph` is not a graph, or is traced.
    ValueError: it has edges to absorption, or parameters do not fit.

  Example: a machine that fails once in 100 days and is repaired in two.

    >>> from phasic.graphs import Graph, stationary_distribution
    >>> edges = [("up", "down", {"fail": 1.0}), ("down", "up", 0.5)]
    >>> machine = Graph.from_edges(
    ...   edges, "up", ("fail",), allow_never_absorbing=True
    ... )
    >>> probs = stationary_distribution(machine, {"fail": 0.01})
    >>> [f"{float(x):.6f}" for x in probs]
    ['0.980392', '0.019608']

  Reference: W. K. Grassmann, M. I. Taksar, D. P. Heyman, Regenerative analysis
    and steady state distributions for Markov chains, Oper. Res. 33, 1985.
  """
  return steady_state.evaluate("stationary_distribution", _chain(graph, params))


def long_run_reward_rate(
  graph: graph_lib.Graph, rewards: ArrayLike, params: ParamsLike | None = None
) -> Array:
  """Computes the reward of a graph per unit of time in the long run.

  Args:
    graph: as in `stationary_distribution`.
    rewards: r, (..., p), finite rewards per unit of time (of a discrete graph
      per step) in the states.
    params: as for `Graph.params_array`.

  Returns:
    The sum of pi_j r_j over the states, (...), with pi the stationary
    distribution.

  Raises:
    TypeError: as `stationary_distribution`, or dtypes differ.
    ValueError: as `stationary_distribution`, or rewards do not fit.

  Example: a day of work earns 20, a day of repair costs 100.

    >>> from phasic.graphs import Graph, long_run_reward_rate
    >>> edges = [("up", "down", 0.01), ("down", "up", 0.5)]
    >>> machine = Graph.from_edges(edges, "up", allow_never_absorbing=True)
    >>> print(f"{float(long_run_reward_rate(machine, [20.0, -100.0])):.6f}")
    17.647059
  """
  chain = _chain(graph, params)
  return steady_state.evaluate_reward_rate(
    "long_run_reward_rate", chain, rewards
  )


def availability(
  graph: graph_lib.Graph,
  up: Callable[[State], bool] | Iterable[Hashable],
  params: ParamsLike | None = None,
) -> Array:
  """Computes the share of time in which a system works, in the long run.

  It is a sum of stationary probabilities. So the availability of the states in
  which the system is down, which is the unavailability, has all its digits.

  Args:
    graph: as in `stationary_distribution`.
    up: the states in which the system works, or a function that is true for
      them.
    params: as for `Graph.params_array`.

  Returns:
    An array (...).

  Raises:
    TypeError: as `stationary_distribution`, `up` is a text, or a state is not
      hashable.
    ValueError: as `stationary_distribution`, the graph has lost its states, or
      `up` has none of them, or another one.

  Example: the share of time in which a machine is down.

    >>> from phasic.graphs import Graph, availability
    >>> edges = [("up", "down", 1e-6), ("down", "up", 0.5)]
    >>> machine = Graph.from_edges(edges, "up", allow_never_absorbing=True)
    >>> print(f"{float(availability(machine, ['down'])):.12e}")
    1.999996000008e-06
  """
  chain = _chain(graph, params)
  inside = state_space.indicator(graph.states, up, "up")
  rewards = onp.asarray(inside, chain.dtype)
  return steady_state.evaluate_reward_rate("availability", chain, rewards)


def _chain(
  graph: graph_lib.Graph, params: ParamsLike | None
) -> state_chains.StateChain:
  """Converts a graph with parameters to a chain without absorption."""
  if not isinstance(graph, graph_lib.Graph):
    raise TypeError(f"graph is {type(graph).__name__}: it must be a Graph")
  edges = graph.edge_weights(params)
  return state_chains.read_edges(
    "graph", edges, graph.num_phases, graph.discrete
  )
