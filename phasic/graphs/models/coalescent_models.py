"""Graphs of coalescent processes, see `models`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import model_checks
from phasic.graphs.parts.absorbed import ABSORBED
from phasic.internal.arrays import Integer


def kingman(num_samples: Integer) -> graph_lib.Graph:
  """Returns Kingman's coalescent; states are numbers of lineages.

  Each pair of n lineages merges at the rate `coalescence`, one by one, until
  the most recent common ancestor is found: n goes to n - 1 at n (n - 1) / 2
  times that rate.

  Args:
    num_samples: the number of lineages at the start, at least 2.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2.

  References:
    J. F. C. Kingman, The coalescent, Stoch. Process. Appl. 13, 1982.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.kingman(4).states
    (4, 3, 2)
  """
  model_checks.at_least("num_samples", num_samples, 2)

  def transitions(n: int) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    yield n - 1 if n > 2 else ABSORBED, {"coalescence": n * (n - 1) / 2}

  return graph_lib.Graph.from_transitions(
    transitions, num_samples, ("coalescence",)
  )


def block_counting(num_samples: Integer) -> graph_lib.Graph:
  """Returns the block-counting coalescent; it counts lineages by descendants.

  A state is the tuple (a_1, ..., a_n): a_i lineages have i descendants in the
  sample. Each pair merges at the rate `coalescence`. With rewards a_i the
  time is the total length of the branches that i of the sample descend from,
  whose mutations make the i-th entry of the site frequency spectrum.

  Args:
    num_samples: n, at least 2. There is a state for each partition of n but
      one: 41 of 10, 626 of 20, 37337 of 40.

  Raises:
    TypeError, ValueError: num_samples is not an integer of at least 2.

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

  def transitions(
    counts: tuple[int, ...],
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    sizes = [i for i, count in enumerate(counts) if count > 0]
    for place, i in enumerate(sizes):
      for j in sizes[place:]:
        pairs = counts[i] * (counts[j] if j > i else counts[i] - 1)
        if pairs == 0:
          continue
        merged = list(counts)
        merged[i] -= 1
        merged[j] -= 1
        # Entry i counts the lineages with i + 1 descendants.
        merged[i + j + 1] += 1
        found = ABSORBED if sum(merged) == 1 else tuple(merged)
        yield found, {"coalescence": pairs if j > i else pairs / 2}

  initial = (num_samples,) + (0,) * (num_samples - 1)
  return graph_lib.Graph.from_transitions(
    transitions, initial, ("coalescence",)
  )


def island_coalescent(num_samples: Sequence[Integer]) -> graph_lib.Graph:
  """Returns the structured coalescent, on islands of equal size.

  A state is the tuple of the lineages on each island. A pair on one island
  merges at the rate `coalescence`; each lineage moves to each other island at
  the rate `migration`. It ends at the most recent common ancestor.

  Args:
    num_samples: the lineages on each island at the start, two islands or
      more, at least 2 lineages in all.

  Raises:
    TypeError, ValueError: num_samples has something else than such integers.

  References:
    H. M. Herbots, The structured coalescent, in Progress in population
      genetics and human evolution, 1997.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.island_coalescent([2, 0]).states
    ((2, 0), (1, 1), (0, 2))
  """
  initial = model_checks.counts("num_samples", num_samples, 2, 2)

  def transitions(
    lineages: tuple[int, ...],
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    total = sum(lineages)
    for i, here in enumerate(lineages):
      if here >= 2:
        merged = (*lineages[:i], here - 1, *lineages[i + 1 :])
        pairs = here * (here - 1) / 2
        yield ABSORBED if total == 2 else merged, {"coalescence": pairs}
      if here >= 1:
        for j in range(len(lineages)):
          if j != i:
            moved = list(lineages)
            moved[i] -= 1
            moved[j] += 1
            yield tuple(moved), {"migration": here}

  return graph_lib.Graph.from_transitions(
    transitions, initial, ("coalescence", "migration")
  )


def isolation_with_migration(
  num_samples: Sequence[Integer],
) -> tuple[graph_lib.Graph, graph_lib.Graph, Callable[[tuple[int, ...]], int]]:
  """Returns the two graphs and the state map of isolation with migration.

  Back in time there are two populations that exchange migrants, whose state
  is the pair of their lineages, until the time at which they split from an
  ancestral one, whose state is the number of lineages.

  Args:
    num_samples: the lineages in each of the two populations at the start.

  Returns:
    The graph of the recent epoch, with the rates `coalescence_1` and
    `coalescence_2` of a pair in each population and `migration_12` and
    `migration_21` of a lineage's move, back in time, from the first to the
    second and from the second to the first; the graph of the ancestral one,
    with the rate `coalescence`; and the function from the states of the first
    to the states of the second.

  Raises:
    TypeError, ValueError: num_samples is not two integers in their range.

  References:
    R. Nielsen, J. Wakeley, Distinguishing migration from isolation, Genetics
      158, 2001.

  Example:

    >>> from phasic import graphs
    >>> recent, ancestral, merged = graphs.models.isolation_with_migration([2, 1])
    >>> recent.num_phases, ancestral.states, merged((2, 1))
    (7, (3, 2), 3)
  """
  initial = model_checks.counts("num_samples", num_samples, 2, 2)
  if len(initial) != 2:
    raise ValueError(
      f"num_samples has {len(initial)} entries: it must have two, one for each "
      "population"
    )

  def transitions(
    lineages: tuple[int, ...],
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    one, two = lineages
    last = one + two == 2
    if one >= 2:
      pairs = one * (one - 1) / 2
      yield ABSORBED if last else (one - 1, two), {"coalescence_1": pairs}
    if two >= 2:
      pairs = two * (two - 1) / 2
      yield ABSORBED if last else (one, two - 1), {"coalescence_2": pairs}
    if one >= 1:
      yield (one - 1, two + 1), {"migration_12": one}
    if two >= 1:
      yield (one + 1, two - 1), {"migration_21": two}

  names = ("coalescence_1", "coalescence_2", "migration_12", "migration_21")
  recent = graph_lib.Graph.from_transitions(transitions, initial, names)
  return recent, kingman(sum(initial)), sum
