"""Graphs of coalescents in populations with structure, see `models`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import coalescent_models
from phasic.graphs.models import model_checks
from phasic.graphs.parts.contents import ABSORBED
from phasic.internal import raw_arguments
from phasic.internal.arrays import Integer


def island_coalescent(
  num_samples: Sequence[Integer], max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns the structured coalescent, on islands of equal size.

  A state is the tuple of the lineages on each island. A pair on one island
  merges at the rate `coalescence`; each lineage moves to each other island at
  the rate `migration`. It ends at the most recent common ancestor.

  Two lineages on d islands of size 1, with the migration m, take the mean times
  d if they start on one island and d + 1 / (2 m) if they do not. On two islands
  Hudson's F_ST, 1 - within / between, is 1 / (1 + 4 m). The statistic
  that tskit calls `Fst` divides by the mean of both in the place of the time
  between; it is 1 / (1 + 8 m).

  Args:
    num_samples: the lineages on each island at the start, two islands or
      more, at least 2 lineages in all. For n lineages on d islands there are
      C(n + d, d) - 1 - d states: 63 of 10 on two, 1766 of 20 on three.
    max_states: how many states there may be, and 100 times as many edges, or
      10 million if that is more.

  Raises:
    TypeError, ValueError: num_samples has something else than such integers, or
      there are too many states or edges.

  References:
    C. Strobeck, Average number of nucleotide differences in a sample from a
      single subpopulation, Genetics 117, 1987.
    R. R. Hudson, M. Slatkin, W. P. Maddison, Estimation of levels of gene flow
      from DNA sequence data, Genetics 132, 1992.
    H. M. Herbots, The structured coalescent, in Progress in population
      genetics and human evolution, 1997.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.island_coalescent([2, 0]).states
    ((2, 0), (1, 1), (0, 2))
    >>> from phasic.distributions import PhaseType
    >>> rates = {"coalescence": 1.0, "migration": 0.25}
    >>> within, between = (
    ...   float(
    ...     PhaseType.from_graph(
    ...       graphs.models.island_coalescent(lineages), rates
    ...     ).mean()
    ...   )
    ...   for lineages in ([2, 0], [1, 1])
    ... )
    >>> print(f"{within:.3f}, {between:.3f}, {1 - within / between:.3f}")
    2.000, 4.000, 0.500
  """
  initial = model_checks.counts("num_samples", num_samples, 2, 2)
  _check_size(initial, max_states, 2)

  def transitions(
    lineages: tuple[int, ...],
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    total = sum(lineages)
    for i, here in enumerate(lineages):
      if here >= 2:
        target = ABSORBED if total == 2 else _moved(lineages, i, None)
        yield target, {"coalescence": here * (here - 1) / 2}
      if here >= 1:
        for j in range(len(lineages)):
          if j != i:
            yield _moved(lineages, i, j), {"migration": here}

  return graph_lib.Graph.from_transitions(
    transitions,
    initial,
    ("coalescence", "migration"),
    max_states=max_states,
  )


def structured_coalescent(
  num_samples: Sequence[Integer], max_states: Integer = model_checks.MAX_STATES
) -> graph_lib.Graph:
  """Returns the structured coalescent, with a rate per deme and per direction.

  A state is the tuple of the lineages in each deme, numbered from 1. A pair in
  deme i merges at the rate `coalescence_i`; each lineage moves, back in time,
  from deme i to deme j at the rate `migration_ij`. It ends at the most recent
  common ancestor. In a deme of size N a pair merges at the rate 1 / N. For
  demes that split at known times use `distributions.Epochs` with `merge_demes`.

  Args:
    num_samples: the lineages in each deme at the start, one to nine demes, at
      least 2 lineages in all. For n lineages in d demes there are
      C(n + d, d) - 1 - d states: 63 of 10 in two, 1766 of 20 in three.
    max_states: how many states there may be, and 100 times as many edges, or
      10 million if that is more.

  Returns:
    The graph. Its parameters are `coalescence_1` to `coalescence_d`, and then
    `migration_12`, `migration_13`, ..., `migration_21` and so on.

  Raises:
    TypeError, ValueError: num_samples has something else than such integers, or
      there are too many states or edges.

  References:
    M. Notohara, The coalescent and the genealogical process in geographically
      structured population, J. Math. Biol. 29, 1990.

  Example:

    >>> from phasic import graphs
    >>> graph = graphs.models.structured_coalescent([2, 0])
    >>> graph.states
    ((2, 0), (1, 1), (0, 2))
    >>> graph.parameter_names
    ('coalescence_1', 'coalescence_2', 'migration_12', 'migration_21')
  """
  initial = model_checks.counts("num_samples", num_samples, 1, 2)
  demes = range(len(initial))
  if len(initial) > 9:
    raise ValueError(
      f"num_samples has {len(initial)} entries: it must have at most nine; take "
      "island_coalescent, or write the transitions for Graph.from_transitions"
    )
  _check_size(initial, max_states, len(demes) ** 2)

  def transitions(
    lineages: tuple[int, ...],
  ) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    for i in demes:
      if lineages[i] >= 2:
        pairs = lineages[i] * (lineages[i] - 1) / 2
        merged = _moved(lineages, i, None)
        target = ABSORBED if sum(merged) == 1 else merged
        yield target, {f"coalescence_{i + 1}": pairs}
    for i in demes:
      for j in demes:
        if lineages[i] >= 1 and i != j:
          yield _moved(lineages, i, j), {migration_name(i, j): lineages[i]}

  names = parameter_names(len(demes))
  return graph_lib.Graph.from_transitions(
    transitions, initial, names, max_states=max_states
  )


def _check_size(
  lineages: tuple[int, ...], max_states: Integer, num_params: int
) -> None:
  """Raises unless a model of lineages in demes is within the limits."""
  n, demes = sum(lineages), len(lineages)
  model_checks.check_num_states(
    lineages,
    model_checks.deme_states(n, demes),
    model_checks.deme_edges(n, demes),
    max_states,
    num_params=num_params,
  )


def parameter_names(count: int) -> list[str]:
  """Returns the names of the rates: coalescence per deme, then migration."""
  demes = range(count)
  pairs = [migration_name(i, j) for i in demes for j in demes if i != j]
  return [f"coalescence_{i + 1}" for i in demes] + pairs


def migration_name(i: int, j: int) -> str:
  """Returns the name of the migration rate from deme i to deme j; i, j >= 0."""
  return f"migration_{i + 1}{j + 1}"


def _moved(lineages: tuple[int, ...], i: int, j: int | None) -> tuple[int, ...]:
  """Returns the state with one lineage less in i, and one more in j if any."""
  counts = list(lineages)
  counts[i] -= 1
  if j is not None:
    counts[j] += 1
  return tuple(counts)


def merge_demes(
  source: Integer, target: Integer
) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
  """Returns the state map of a split of populations, for `Epochs`.

  Back in time the lineages of one deme go to another deme, from which it split,
  and the next epoch has one deme less: those after `source` have numbers lower
  by one. Take for it the graph of all the lineages in one of its demes, which
  has all states that can be reached.

  Args:
    source: the number of the deme that ends, from 1.
    target: the number of the deme that it joins, another one.

  Returns:
    A function from the tuple of the lineages in d demes to such a tuple of d -
    1 demes, for states of `structured_coalescent` or `joint_block_counting`. It
    raises ValueError if it is given fewer demes than the numbers name.

  Raises:
    TypeError, ValueError: the numbers are not integers from 1, or are equal.

  Example: three demes, the third of which split from the first at time 0.5.

    >>> from phasic import graphs
    >>> from phasic.distributions import Epochs
    >>> models = graphs.models
    >>> joined = models.merge_demes(3, 1)
    >>> joined((1, 0, 2))
    (3, 0)
    >>> parts = [
    ...   models.structured_coalescent([1, 0, 1]),
    ...   models.structured_coalescent([2, 0]),
    ... ]
    >>> rates = [[1.0, 1.0, 1.0] + [0.5] * 6, [1.0, 1.0, 0.25, 0.25]]
    >>> age = Epochs(parts, rates, [0.5], [joined])
    >>> print(f"{float(age.mean()):.4f}")
    2.9063
  """
  model_checks.at_least("source", source, 1)
  model_checks.at_least("target", target, 1)
  if source == target:
    raise ValueError(
      f"source and target are {source}: a deme must join another one"
    )

  def merged(lineages: tuple[int, ...]) -> tuple[int, ...]:
    raw_arguments.check_sequence("lineages", lineages, " of numbers, a state")
    if len(lineages) < max(source, target):
      raise ValueError(
        f"the state {lineages} has {len(lineages)} demes: source {source} and "
        f"target {target} must be among them"
      )
    demes = list(lineages)
    both = demes[target - 1] + demes[source - 1]
    # A deme is a number of lineages, or a sorted tuple of lineages.
    demes[target - 1] = tuple(sorted(both)) if isinstance(both, tuple) else both
    del demes[source - 1]
    return tuple(demes)

  return merged


def isolation_with_migration(
  num_samples: Sequence[Integer],
  max_states: Integer = model_checks.MAX_STATES,
) -> tuple[graph_lib.Graph, graph_lib.Graph, Callable[[tuple[int, ...]], int]]:
  """Returns the two graphs and the state map of isolation with migration.

  Back in time there are two populations that exchange migrants, whose state
  is the pair of their lineages, until the time at which they split from an
  ancestral one, whose state is the number of lineages.

  Args:
    num_samples: the lineages in each of the two populations at the start, n
      in all. The recent graph has (n + 1) (n + 2) / 2 - 3 states.
    max_states: how many states each graph may have.

  Returns:
    The graph of the recent epoch, with the rates `coalescence_1` and
    `coalescence_2` of a pair in each population and `migration_12` and
    `migration_21` of a lineage's move, back in time, from the first to the
    second and from the second to the first; the graph of the ancestral one,
    with the rate `coalescence`; and the function from the states of the first
    to the states of the second.

  Raises:
    TypeError, ValueError: num_samples is not two integers in their range, or
      there are too many states or edges.

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

  ancestral = coalescent_models.kingman(sum(initial), max_states)
  return structured_coalescent(initial, max_states), ancestral, sum
