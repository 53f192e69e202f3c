"""Graphs of coalescents with recombination, see `models`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import model_checks
from phasic.graphs.parts.absorbed import ABSORBED
from phasic.internal.arrays import Integer

_State = tuple[int, int, int]


def two_locus_coalescent(
  num_samples: Integer, max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns the coalescent with recombination between two loci.

  A state is the triple (a, b, c): a lineages carry ancestors of the sample at
  the first locus only, b at the second only, and c at both. Each pair merges at
  the rate `coalescence`, and each lineage with both loci splits into one of
  each at the rate `recombination`. A locus whose most recent common ancestor is
  found is followed no more; absorption is when both are found.

  The first locus is a reward of one in the states with a + c > 0, the second in
  those with b + c > 0: these are the two times to the common ancestors. Rewards
  a + c and b + c give the total branch lengths. With the rates 1 and r the two
  times of n = 2 have the correlation

      (rho + 18) / (rho^2 + 13 rho + 18), rho = 2 r.

  Args:
    num_samples: n, at least 2, all with both loci. With m = n - 1 there are
      m (m + 1) (2 m + 1) / 6 + 2 m^2 + 2 m states: 5 of 2, 70 of 5, 465 of 10,
      3230 of 20.
    max_states: how many states there may be.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are more than max_states states.

  References:
    R. C. Griffiths, Neutral two-locus multiple allele models with
      recombination, Theor. Popul. Biol. 19, 1981.
    K. L. Simonsen, G. A. Churchill, A Markov chain model of coalescence with
      recombination, Theor. Popul. Biol. 52, 1997.

  Example: each of the two times has the variance one.

    >>> from phasic import graphs
    >>> from phasic.distributions import MultivariatePhaseType
    >>> graph = graphs.models.two_locus_coalescent(2)
    >>> graph.states
    ((0, 0, 2), (1, 1, 1), (0, 2, 0), (2, 0, 0), (2, 2, 0))
    >>> rewards = [
    ...   [float(a + c > 0), float(b + c > 0)] for a, b, c in graph.states
    ... ]
    >>> ages = MultivariatePhaseType.from_graph(graph, [1.0, 1.0], rewards)
    >>> print(f"{float(ages.covariance()[0, 1]):.6f}")
    0.416667
  """
  model_checks.at_least("num_samples", num_samples, 2)
  states = model_checks.two_locus_states(num_samples)
  # A state has at most four mergers and one split.
  model_checks.check_num_states(
    num_samples, states, 5 * states, max_states, num_params=2
  )

  def transitions(
    state: _State,
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    a, b, c = state
    # Mergers of the first locus only, of the second only, of both, and of one
    # lineage of each.
    mergers = [
      ((a - 1, b, c), a * (a - 1) / 2 + a * c),
      ((a, b - 1, c), b * (b - 1) / 2 + b * c),
      ((a, b, c - 1), c * (c - 1) / 2),
      ((a - 1, b - 1, c + 1), a * b),
    ]
    for merged, pairs in mergers:
      if pairs > 0:
        yield _followed(*merged), {"coalescence": pairs}
    if c > 0:
      yield (a + 1, b + 1, c - 1), {"recombination": c}

  return graph_lib.Graph.from_transitions(
    transitions,
    (0, 0, int(num_samples)),
    ("coalescence", "recombination"),
    max_states=max_states,
  )


def _followed(a: int, b: int, c: int) -> Hashable:
  """Returns the state without the loci whose common ancestors are found."""
  first, second = a + c > 1, b + c > 1
  if first and second:
    return a, b, c
  if first:
    return a + c, 0, 0
  return (0, b + c, 0) if second else ABSORBED
