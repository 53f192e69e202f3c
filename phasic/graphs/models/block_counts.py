"""The states and edges of `block_counting`, a level of lineages at a time."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as onp

from phasic.graphs.parts import contents


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
    # States are distinguished by random sums of 64 bits. If two states share one
    # there are too few of them.
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
  # Two of a kind are needed, not one.
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
