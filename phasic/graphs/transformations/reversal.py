"""The time-reversed Markov chain of a graph."""

from __future__ import annotations

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.parameters import ParamsLike
from phasic.graphs.transformations import host_graphs
from phasic.internal import static
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.moments import discrete_passages
from phasic.math.moments import passages


def reverse(
  graph: graph_lib.Graph, params: ParamsLike | None = None
) -> graph_lib.Graph:
  """Returns the time-reversed graph, with paths from absorption to start.

  With the weights w_ij, the exit weights s_i, the initial probabilities alpha
  and the expected sojourn times y = alpha U (of a discrete graph: visits),
  where U is the inverse of -S (of I - T), the reversed graph has the weights

      from j to i: y_i w_ij / y_j,   to absorption: alpha_j / y_j,

  the initial probabilities y_i s_i and the same atom at zero. Both graphs have
  the same distribution. Phases that are never visited are left out; causes are
  lost, since the end of a path is now its start.

  Args:
    graph: a `Graph`.
    params: parameters, an array (d,) or a mapping of names to numbers; None if
      the graph has none. The result has none.

  Raises:
    TypeError: `graph` is not a `Graph`, or an array is traced.
    ValueError: parameters are missing or are a batch, or a weight is negative
      or not finite.
    ArithmeticError: an expected sojourn time is not finite, or underflows.

  References:
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017, section 5.3.

  Example: the reversed chain of a coalescent counts lineages upwards.

    >>> from phasic import graphs
    >>> graph = graphs.reverse(graphs.models.kingman(4), {"coalescence": 1.0})
    >>> for edge in graph.edges:
    ...   print(edge.source, edge.target, f"{edge.constant:.6f}")
    4 ABSORBED 6.000000
    3 4 3.000000
    2 3 1.000000
  """
  host = host_graphs.read_at(graph, params)
  host = host_graphs.selected(host, host_graphs.reached(host))
  p = host.num_phases
  weights = host.weights[:, 0]
  starts = host.initial[:p, 0]
  sojourns = _sojourns(host)
  inner = host.targets < p
  # In the reversed chain, exits become initial weights and vice versa.
  ends = host_graphs.sums_by_source(host, onp.where(inner, 0.0, weights))
  begun = onp.flatnonzero(starts > 0.0)
  sources, targets = host.sources[inner], host.targets[inner]
  flows = sojourns[sources] * weights[inner]
  return host_graphs.build(
    host._replace(
      sources=onp.concatenate([targets, begun]),
      targets=onp.concatenate([sources, onp.full(len(begun), p)]),
      weights=onp.concatenate(
        [flows / sojourns[targets], starts[begun] / sojourns[begun]]
      )[:, None],
      initial=onp.append(sojourns * ends, host.initial[p])[:, None],
      causes=(None,),
    )
  )


def _sojourns(host: host_graphs.HostGraph) -> onp.ndarray:
  """Computes the expected sojourn times, or numbers of visits, (p,)."""
  p = host.num_phases
  initial = host.initial[:p, 0]
  edges = (host.sources, onp.minimum(host.targets, p), host.weights[:, 0])
  times = (
    discrete_passages.expected_visits(initial, edge_probs.EdgeProbs(*edges))
    if host.discrete
    else passages.expected_sojourn_times(initial, edge_rates.EdgeRates(*edges))
  )
  sojourns: onp.ndarray = onp.asarray(static.concrete(times), onp.float64)
  for i in onp.flatnonzero(~((sojourns > 0.0) & (sojourns < onp.inf)))[:1]:
    raise ArithmeticError(
      f"graph: the expected time in {host.name(int(i))} is {sojourns[i]}: it "
      "must be positive and finite for a reversed chain"
    )
  return sojourns
