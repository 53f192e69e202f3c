"""Graphs of coalescents with multiple mergers, see `models`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
import itertools
import math

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import block_counts
from phasic.graphs.models import model_checks
from phasic.graphs.parts.absorbed import ABSORBED
from phasic.internal.arrays import Integer


def lambda_coalescent(
  num_samples: Integer, max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns the Lambda coalescent; states are numbers of lineages.

  Each set of k among b lineages merges into one at the rate lambda_{b,k}, for
  k = 2, ..., b, until the most recent common ancestor is found. `beta_rates`
  and `psi_rates` compute these rates from the parameter of a model, as the
  `edge_values` of a distribution of this graph.

  With the parameter `coalescence` instead, the rate of a pair that is alone, it
  is the Bolthausen-Sznitman coalescent:

      lambda_{b,k} = coalescence (k - 2)! (b - k)! / (b - 1)!.

  Args:
    num_samples: n, the number of lineages at the start, at least 2. There are
      n - 1 states and n (n - 1) / 2 edges.
    max_states: how many states there may be, and 100 times as many edges, or
      10 million if that is more: the default allows n = 4472.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are too many states or edges.

  References:
    J. Pitman, Coalescents with multiple collisions, Ann. Probab. 27, 1999.
    E. Bolthausen, A.-S. Sznitman, On Ruelle's probability cascades and an
      abstract cavity method, Comm. Math. Phys. 197, 1998.

  Example: the age of the common ancestor of four lineages.

    >>> from phasic import graphs
    >>> from phasic.distributions import PhaseType
    >>> graph = graphs.models.lambda_coalescent(4)
    >>> graph.states
    (4, 3, 2)
    >>> rates = graphs.models.beta_rates(graph, 1.5)
    >>> age = PhaseType.from_graph(graph, edge_values=rates)
    >>> print(f"{float(age.mean()):.6f}")
    1.457143
  """
  model_checks.at_least("num_samples", num_samples, 2)
  n = int(num_samples)
  model_checks.check_num_states(n, n - 1, n * (n - 1) // 2, max_states)

  lineages = onp.arange(n, 1, -1)
  sources = onp.repeat(onp.arange(n - 1), lineages - 1)
  before = lineages[sources]
  # The first merger of each state joins two lineages.
  first = onp.cumsum(lineages - 1) - (lineages - 1)
  merging = onp.arange(len(sources)) - first[sources] + 2
  # All sets of k together: (b choose k) (k - 2)! (b - k)! / (b - 1)!.
  weights = before / (merging * (merging - 1))
  built = block_counts.merger_graph(
    sources, sources + merging - 1, weights, tuple(lineages.tolist())
  )
  return graph_lib.Graph._from_built(built)


def lambda_block_counting(
  num_samples: Integer, max_states: Integer = 2000
) -> graph_lib.Graph:
  """Returns the Lambda coalescent that counts lineages by their descendants.

  A state is the tuple (a_1, ..., a_n): a_i lineages have i descendants in the
  sample. Rates and the parameter are those of `lambda_coalescent`, and rewards
  those of `block_counting`: with a_i the time is the total length of the
  branches that i of the sample descend from.

  Args:
    num_samples: n, at least 2. There is a state for each partition of n but
      one, and an edge for each way in which some of its lineages can merge: 41
      states and 342 edges of 10, 626 and 22128 of 20, 5603 and 560499 of 30.
    max_states: how many states there may be, and 100 times as many edges, or
      10 million if that is more; the default allows n = 25.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are too many states or edges.

  References:
    M. Birkner, J. Blath, B. Eldon, Statistical properties of the site-frequency
      spectrum associated with Lambda-coalescents, Genetics 195, 2013.
    A. Hobolth, A. Siri-Jegousse, M. Bladt, Phase-type distributions in
      population genetics, Theor. Popul. Biol. 127, 2019.

  Example: the expected site frequency spectrum of four, if mutations come to a
  lineage at rate 1 / 2.

    >>> from phasic import graphs
    >>> from phasic.distributions import MultivariatePhaseType
    >>> graph = graphs.models.lambda_block_counting(4)
    >>> rates = graphs.models.psi_rates(graph, 0.25)
    >>> lengths = MultivariatePhaseType.from_graph(
    ...   graph, edge_values=rates, rewards=[s[:3] for s in graph.states]
    ... )
    >>> [f"{float(x) / 2:.4f}" for x in lengths.mean()]
    ['1.1313', '0.4030', '0.3313']
  """
  model_checks.at_least("num_samples", num_samples, 2)
  model_checks.check_block_counts(num_samples, max_states, all_mergers=True)

  def transitions(
    counts: tuple[int, ...],
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    b = sum(counts)
    sizes = [i for i, count in enumerate(counts) if count > 0]
    ranges = [range(counts[i] + 1) for i in sizes]
    for taken in itertools.product(*ranges):
      k = sum(taken)
      if k < 2:
        continue
      merged = list(counts)
      ways, descendants = 1, 0
      for i, number in zip(sizes, taken):
        ways *= math.comb(counts[i], number)
        merged[i] -= number
        # Entry i counts the lineages with i + 1 descendants.
        descendants += (i + 1) * number
      merged[descendants - 1] += 1
      target = ABSORBED if k == b else tuple(merged)
      yield target, {"coalescence": _weight(ways, b, k)}

  initial = (int(num_samples),) + (0,) * (int(num_samples) - 1)
  return graph_lib.Graph.from_transitions(
    transitions, initial, ("coalescence",), max_states=max_states
  )


def _weight(ways: int, b: int, k: int) -> float:
  """Returns the Bolthausen-Sznitman rate of mergers of k among b lineages.

  Args:
    ways: how many sets of k lineages there are that make the merger.
    b: the number of lineages.
    k: how many of them merge.
  """
  # A quotient of integers: large ones do not overflow, and it is rounded once.
  return ways / ((b - 1) * math.comb(b - 2, k - 2))
