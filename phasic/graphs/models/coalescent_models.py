"""Graphs of coalescent processes with mergers of pairs, see `models`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import model_checks
from phasic.graphs.parts import contents
from phasic.graphs.parts.contents import ABSORBED
from phasic.internal.arrays import Integer


def kingman(
  num_samples: Integer, max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns Kingman's coalescent; states are numbers of lineages.

  Each pair of n lineages merges at the rate `coalescence`, one by one, until
  the most recent common ancestor is found: n goes to n - 1 at n (n - 1) / 2
  times that rate.

  Args:
    num_samples: n, the number of lineages at the start, at least 2. There are
      n - 1 states.
    max_states: how many states there may be.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are more than max_states states.

  References:
    J. F. C. Kingman, The coalescent, Stoch. Process. Appl. 13, 1982.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.kingman(4).states
    (4, 3, 2)
  """
  model_checks.at_least("num_samples", num_samples, 2)
  n = int(num_samples)
  model_checks.check_num_states(n, n - 1, n - 1, max_states)

  lineages = onp.arange(n, 1, -1)
  pairs = lineages * (lineages - 1) / 2.0
  states = onp.arange(n - 1)
  return graph_lib.Graph._from_built(
    merger_graph(states, states + 1, pairs, tuple(lineages.tolist()))
  )


def block_counting(
  num_samples: Integer, max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns the block-counting coalescent; it counts lineages by descendants.

  A state is the tuple (a_1, ..., a_n): a_i lineages have i descendants in the
  sample. Each pair merges at the rate `coalescence`. With rewards a_i the
  time is the total length of the branches that i of the sample descend from,
  whose mutations make the i-th entry of the site frequency spectrum.

  Args:
    num_samples: n, at least 2. There is a state for each partition of n but
      one: 41 of 10, 626 of 20, 37337 of 40.
    max_states: how many states there may be.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2, or there
      are more than max_states states.

  References:
    Y.-X. Fu, Statistical properties of segregating sites, Theor. Popul. Biol.
      48, 1995.
    A. Hobolth, A. Siri-Jegousse, M. Bladt, Phase-type distributions in
      population genetics, Theor. Popul. Biol. 127, 2019.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.block_counting(4).states
    ((4, 0, 0, 0), (2, 1, 0, 0), (0, 2, 0, 0), (1, 0, 1, 0))
  """
  model_checks.at_least("num_samples", num_samples, 2)
  states = model_checks.check_block_counts(num_samples, max_states)
  return graph_lib.Graph._from_built(block_counts(int(num_samples), states))


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
  # A state has at most five edges: four mergers and one split.
  model_checks.check_num_states(
    num_samples, states, 5 * states, max_states, num_params=2
  )

  def transitions(
    state: _State,
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    a, b, c = state
    # Of the lineages, a carry only the first locus, b only the second, and c
    # both. A merger removes one of the a, of the b or of the c lineages, or it
    # joins one of the a and one of the b lineages to one that carries both.
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


def block_counts(num_samples: int, num_states: int) -> contents.Contents:
  """Returns the graph of `block_counting`, in arrays.

  States with b lineages lead to states with b - 1. So one pass over the levels
  finds all states, in the order in which an exploration breadth first does.

  Args:
    num_samples: n, at least 2.
    num_states: the number of partitions of n less one.
  """
  seed = 0
  while True:
    # A random sum of 64 bits stands for each state. If two states have the same
    # sum, the graph lacks a state: try the next seed.
    graph = _explored(num_samples, onp.random.default_rng(seed))
    if len(graph.states or ()) == num_states:
      return graph
    seed += 1


def _explored(
  num_samples: int, generator: onp.random.Generator
) -> contents.Contents:
  """Returns the graph, with two states taken for one if their sums agree."""
  summands = generator.integers(0, 2**63, num_samples)
  counts = onp.zeros((1, num_samples), onp.int64)
  counts[0, 0] = num_samples
  levels, edges = [counts], []
  sums: onp.ndarray = num_samples * summands[:1]
  start = 0
  for lineages in range(num_samples, 2, -1):
    source, left, right = _mergers(counts, num_samples - lineages + 1)
    # Sums of 64 bits wrap around.
    split = summands[left] + summands[right]
    sums = sums[source] - split + summands[left + right + 1]
    listed = onp.asarray(sums).tolist()
    numbers = {key: i for i, key in enumerate(dict.fromkeys(listed))}
    target = onp.array([numbers[key] for key in listed])
    edges.append((source + start, target + start + len(counts), left, right))
    start += len(counts)
    entering = onp.empty(len(numbers), onp.int64)
    entering[target] = onp.arange(len(target))
    counts = _merged(counts, *(x[entering] for x in (source, left, right)))
    sums = sums[entering]
    levels.append(counts)
  source, left, right = _mergers(counts, num_samples - 1)
  last = start + len(counts)
  edges.append((source + start, onp.full_like(source, last), left, right))
  sources, targets, lefts, rights = map(onp.concatenate, zip(*edges))
  states = onp.concatenate(levels)
  same = lefts == rights
  partners = states[sources, rights] - same
  pairs = states[sources, lefts] * partners / onp.where(same, 2.0, 1.0)
  listed_states = tuple(map(tuple, states.tolist()))
  return merger_graph(sources, targets, pairs, listed_states)


def merger_graph(
  sources: onp.ndarray,
  targets: onp.ndarray,
  pairs: onp.ndarray,
  states: tuple[Hashable, ...],
) -> contents.Contents:
  """Returns the graph of a coalescent that starts in its first state.

  Args:
    sources: the state that each merger leaves, ascending.
    targets: the state that it leads to; the number of states is absorption.
    pairs: how many pairs of lineages make it, each at the rate `coalescence`,
      or another coefficient of that rate.
    states: the states.
  """
  initial = onp.zeros(len(states) + 1)
  initial[0] = 1.0
  return contents.Contents(
    sources=sources,
    targets=targets,
    constants=onp.zeros_like(pairs),
    coefficients=pairs[:, None],
    initial_constants=initial,
    initial_coefficients=onp.zeros((len(states) + 1, 1)),
    parameter_names=("coalescence",),
    causes=(None,),
    discrete=False,
    states=states,
    notes=(),
  )


def _mergers(
  counts: onp.ndarray, largest: int
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray]:
  """Returns which kinds of lineages can merge, in each state of a level.

  Args:
    counts: the states, (m, n). Entry i counts the lineages with i + 1
      descendants.
    largest: the most descendants that a lineage has.

  Returns:
    The numbers of the state and of both kinds, the smaller one first, in
    ascending order.
  """
  several = counts[:, :largest] > 0
  kinds = onp.arange(largest)
  can_merge = several[:, :, None] & several[:, None, :]
  can_merge &= kinds[:, None] <= kinds
  # A merger of two lineages of one kind needs at least two of that kind.
  can_merge[:, kinds, kinds] = counts[:, :largest] > 1
  source, left, right = onp.nonzero(can_merge)
  return source, left, right


def _merged(
  counts: onp.ndarray,
  source: onp.ndarray,
  left: onp.ndarray,
  right: onp.ndarray,
) -> onp.ndarray:
  """Returns the states after given mergers."""
  merged = counts[source]
  rows = onp.arange(len(source))
  merged[rows, left] -= 1
  merged[rows, right] -= 1
  merged[rows, left + right + 1] += 1
  return merged
