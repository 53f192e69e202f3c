"""The embedded jump chain of a continuous graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.parameters import ParamsLike
from phasic.graphs.transformations import host_graphs


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
