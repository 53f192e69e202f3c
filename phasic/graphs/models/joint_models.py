"""Coalescents that count the samples of each population below each lineage."""

from __future__ import annotations

import collections
from collections.abc import Hashable, Iterator, Mapping, Sequence
import itertools
import math

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import model_checks
from phasic.graphs.models import structured_models
from phasic.graphs.parts.contents import ABSORBED
from phasic.internal.arrays import Integer

# A lineage is the tuple of the numbers of its samples from each population. A
# deme is the sorted tuple of its lineages.
_Deme = tuple[tuple[int, ...], ...]


def joint_block_counting(
  num_samples: Sequence[Integer],
  num_demes: Integer | None = None,
  max_states: Integer = model_checks.MAX_STATES,
) -> graph_lib.Graph:
  """Returns the structured coalescent that counts samples of each population.

  A lineage is the tuple of the numbers of samples below it from each population,
  and a state has for each deme the sorted tuple of its lineages. A pair in deme
  i merges at the rate `coalescence_i`; each lineage moves, back in time, from
  deme i to deme j at the rate `migration_ij`. It ends at the most recent common
  ancestor. With `joint_spectrum_rewards` it has the joint spectrum.

  Args:
    num_samples: the samples from each population, n in all, at least 2.
    num_demes: one to nine demes; None for one for each population. The samples
      of population i start in deme i, or in the last one if there are fewer.
      After a split of populations, back in time, there are fewer demes: give
      their number, and `merge_demes` as the state map of `Epochs`.
    max_states: how many states there may be, and 100 times as many edges, or
      10 million if that is more. Of two populations and two demes there are 4
      states for (1, 1), 44 for (2, 2), 266 for (3, 3) and 1429 for (4, 4).

  Returns:
    The graph. Its parameters are those of `structured_coalescent`.

  Raises:
    TypeError, ValueError: an argument is not of such integers, or there are too
      many states or edges.

  References:
    J. Wakeley, J. Hey, Estimating ancestral population parameters, Genetics
      145, 1997.
    H. Chen, The joint allele frequency spectrum of multiple populations: a
      coalescent theory approach, Theor. Popul. Biol. 81, 2012.

  Example:

    >>> from phasic import graphs
    >>> graph = graphs.models.joint_block_counting([1, 1])
    >>> graph.states[0]
    (((1, 0),), ((0, 1),))
    >>> graph.num_phases
    4
  """
  samples = model_checks.counts("num_samples", num_samples, 1, 2)
  count = len(samples) if num_demes is None else num_demes
  model_checks.at_least("num_demes", count, 1)
  if count > 9:
    raise ValueError(
      f"num_demes is {count}: there must be at most nine; give num_demes, "
      "or write the transitions for Graph.from_transitions"
    )
  demes = range(int(count))
  model_checks.at_least("max_states", max_states, 1)
  states, edges, is_exact = _num_states(samples, len(demes), int(max_states))
  model_checks.check_num_states(
    samples, states, edges, max_states, is_exact, len(demes) ** 2
  )
  start: list[_Deme] = [()] * len(demes)
  for i, number in enumerate(samples):
    lineage = tuple(int(k == i) for k in range(len(samples)))
    at = min(i, len(demes) - 1)
    start[at] = tuple(sorted((*start[at], *[lineage] * number)))

  def transitions(
    state: tuple[_Deme, ...],
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    total = sum(map(len, state))
    for i in demes:
      numbers = collections.Counter(state[i])
      for one, other in itertools.combinations_with_replacement(numbers, 2):
        pairs = numbers[one] * numbers[other]
        if one == other:
          pairs = math.comb(numbers[one], 2)
        if pairs:
          both = tuple(map(sum, zip(one, other, strict=True)))
          rest = _without(_without(state[i], one), other)
          merged = _replaced(state, {i: tuple(sorted((*rest, both)))})
          target = ABSORBED if total == 2 else merged
          yield target, {f"coalescence_{i + 1}": float(pairs)}
      for lineage, number in numbers.items():
        rest = _without(state[i], lineage)
        for j in demes:
          if j != i:
            moved = {i: rest, j: tuple(sorted((*state[j], lineage)))}
            name = structured_models.migration_name(i, j)
            yield _replaced(state, moved), {name: float(number)}

  return graph_lib.Graph.from_transitions(
    transitions,
    tuple(start),
    structured_models.parameter_names(len(demes)),
    max_states=max_states,
  )


def joint_spectrum_rewards(graph: graph_lib.Graph) -> onp.ndarray:
  """Counts the lineages of each state with i and j samples of two populations.

  As rewards of `MultivariatePhaseType` or `MultivariateEpochs` they give the
  lengths of the branches above i of n_1 and j of n_2 samples. Times the rate at
  which a lineage mutates these are the joint site frequency spectrum. Their
  means, reshaped to (n_1 + 1, n_2 + 1), are what tskit's
  `allele_frequency_spectrum` of two sample sets estimates, of branches and not
  folded.

  Args:
    graph: a graph of `joint_block_counting`, of samples from d populations.

  Returns:
    An array (p, (n_1 + 1) ... (n_d + 1)), in the order of `numpy.ndindex`. No
    lineage has none of the samples, or all of them: these entries are zero.

  Raises:
    TypeError: `graph` is not a `Graph`.
    ValueError: the graph is a different one.

  Example: two islands that exchange migrants.

    >>> from phasic import graphs
    >>> from phasic.distributions import MultivariatePhaseType
    >>> graph = graphs.models.joint_block_counting([1, 1])
    >>> lengths = MultivariatePhaseType.from_graph(
    ...   graph,
    ...   [1.0, 1.0, 0.25, 0.25],
    ...   graphs.models.joint_spectrum_rewards(graph),
    ... )
    >>> [f"{float(x):.3f}" for x in lengths.mean()]
    ['0.000', '4.000', '4.000', '0.000']
  """
  if not isinstance(graph, graph_lib.Graph):
    raise TypeError(
      f"graph is {type(graph).__name__}: it must be a Graph of "
      "joint_block_counting"
    )
  try:
    lineage_lists = [list(itertools.chain(*state)) for state in graph.states]
    sums = {
      tuple(map(sum, zip(*lineages, strict=True))) for lineages in lineage_lists
    }
    (samples,) = sums
    rewards = onp.zeros((len(lineage_lists), *(n + 1 for n in samples)))
    for place, lineages in enumerate(lineage_lists):
      for lineage in lineages:
        rewards[(place, *lineage)] += 1.0
  except (TypeError, ValueError, IndexError):
    raise ValueError(
      f"graph is {graph!r}: it must be made by joint_block_counting, so that its "
      "states have the samples below each lineage"
    ) from None
  return onp.reshape(rewards, (len(lineage_lists), -1))


def _num_states(
  samples: tuple[int, ...], demes: int, most: int
) -> tuple[int, int, bool]:
  """Counts the partitions of a vector into parts that are in one of some demes.

  The generating function is the product of 1 / (1 - x^part) over parts and
  demes. The whole vector is not a part: states of one lineage are left out.
  Small parts come first, so that a number above the limit is soon known to be.

  Args:
    samples: the vector.
    demes: the number of demes.
    most: the limit.

  Returns:
    The number, or one above the limit that is not larger than it; the number of
    edges that leave these states; and whether the first is the number.
  """
  # A lower bound: each vector that is neither zero nor a unit gives a
  # partition, whose other parts are units.
  least = math.prod(n + 1 for n in samples) - len(samples) - 1
  if least > most:
    return least, 0, False
  vectors = list(itertools.product(*(range(n + 1) for n in samples)))
  ways = {vector: int(not any(vector)) for vector in vectors}
  parts = sorted(vectors, key=sum)[1:-1]
  for part in parts:
    for _ in range(demes):
      for total in vectors:
        rest = tuple(a - b for a, b in zip(total, part, strict=True))
        if min(rest) >= 0:
          ways[total] += ways[rest]
    if part != parts[-1] and ways[vectors[-1]] > most:
      return ways[vectors[-1]], 0, False
  edges = 0
  for part in vectors[1:]:
    remaining = ways[tuple(a - b for a, b in zip(samples, part, strict=True))]
    # Count two kinds of edges: two lineages that have these samples together
    # merge in a deme, or a single lineage with these samples moves.
    halves = int(all(n % 2 == 0 for n in part))
    pairs = (math.prod(n + 1 for n in part) - 2 + halves) // 2
    moves = demes - 1 if part != vectors[-1] else 0
    edges += demes * (pairs + moves) * remaining
  return ways[vectors[-1]], edges, True


def _without(lineages: _Deme, one: tuple[int, ...]) -> _Deme:
  """Removes one lineage."""
  at = lineages.index(one)
  return (*lineages[:at], *lineages[at + 1 :])


def _replaced(
  state: tuple[_Deme, ...], changed: Mapping[int, _Deme]
) -> tuple[_Deme, ...]:
  return tuple(changed.get(i, deme) for i, deme in enumerate(state))
