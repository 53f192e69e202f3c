"""Checks of the arguments and of the sizes of ready-made models."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as onp

from phasic.graphs.construction import state_space
from phasic.internal import raw_arguments
from phasic.internal.arrays import Integer

# How many states a model may have unless the user raises the limit.
MAX_STATES = 100_000
# How many states a model without the argument `max_states` may have.
FIXED_STATES = 1_000_000
# The largest count.
_MOST = 2**31 - 1
# A larger number of samples is refused without counting its partitions.
_LARGEST = 1000


def at_least(name: str, value: object, least: Integer) -> None:
  """Raises unless an argument is an integer from `least` to 2^31 - 1.

  Raises:
    TypeError: it is not an integer.
    ValueError: it is too small or too large.
  """
  if isinstance(value, bool) or not isinstance(value, (int, onp.integer)):
    raise TypeError(
      f"{name} is {raw_arguments.shown(value)}: it must be an integer"
    )
  if value < least:
    raise ValueError(
      f"{name} is {raw_arguments.shown(value)}: it must be at least {least}"
    )
  if value > _MOST:
    raise ValueError(
      f"{name} is {raw_arguments.shown(value)}: it must be at most {_MOST}"
    )


def counts(
  name: str, values: Sequence[Integer], entries: int, total: int
) -> tuple[int, ...]:
  """Checks a sequence of counts, and returns it as a tuple.

  Args:
    name: the argument's name.
    values: integers that are not negative.
    entries: how many there must be at least.
    total: the least sum of them.

  Raises:
    TypeError: it is not a sequence of integers.
    ValueError: there are too few, or one is negative.
  """
  if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
    raise TypeError(
      f"{name} is {raw_arguments.shown(values)}: it must be a sequence of integers"
    )
  for i, value in enumerate(values):
    at_least(f"{name}[{i}]", value, 0)
  if len(values) < entries or sum(values) < total:
    raise ValueError(
      f"{name} is {raw_arguments.shown(tuple(values))}: it must have at least "
      f"{entries} entries, "
      f"whose sum is at least {total}"
    )
  return tuple(int(value) for value in values)


def check_num_states(
  num_samples: object,
  states: int,
  edges: int,
  max_states: Integer,
  is_exact: bool = True,
  num_params: int = 1,
) -> None:
  """Raises unless a model's states and edges are within the limits.

  Args:
    num_samples: the argument that sets the size, for the message.
    states: the number of states.
    edges: the number of edges.
    max_states: the limit of states, which sets the limit of edges.
    is_exact: whether there may not be even more states.
    num_params: the number of parameters.

  Raises:
    TypeError: max_states is not an integer.
    ValueError: max_states is below 1, or there are more states or edges.
  """
  at_least("max_states", max_states, 1)
  shown = raw_arguments.shown
  argument = f"num_samples is {shown(num_samples)}"
  if states > max_states and not is_exact:
    raise ValueError(
      f"{argument}: its model has at least {shown(states)} states, and "
      f"there must be at most max_states = {max_states}; take fewer samples"
    )
  if states > max_states:
    raise ValueError(
      f"{argument}: its model has {shown(states)} states, and there must be at "
      f"most max_states = {max_states}; take fewer samples, or pass "
      f"max_states={shown(states)}, {_cost(edges, num_params)}"
    )
  most = state_space.max_edges(max_states)
  size = f"its model has {states} states and {edges} edges"
  if edges > most:
    raise ValueError(
      f"{argument}: {size}, and there must be at most {most} edges; take fewer "
      f"samples, or pass max_states={-(-edges // state_space.EDGES_PER_STATE)}, "
      f"{_cost(edges, num_params)}"
    )
  if edges * (num_params + 1) > state_space.MAX_NUMBERS:
    raise ValueError(
      f"{argument}: {size} with {num_params} coefficients each, and a graph can "
      f"hold at most {state_space.MAX_NUMBERS} constants and coefficients; take "
      "fewer samples"
    )


def _cost(edges: int, num_params: int) -> str:
  """Says what building a graph takes.

  Measured on six ready models: 70 to 230 bytes for each edge besides its
  coefficients, and 0.1 to 20 microseconds, the most where states are explored
  one by one.
  """
  count = float(min(edges, 10**30))
  gigabytes = count * (230 + 8 * num_params) * 1e-9
  minutes = count * 20e-6 / 60.0
  return f"which takes up to {gigabytes:.2g} GB and {minutes:.2g} minutes"


def check_fixed_states(name: str, value: object, states: int) -> None:
  """Raises ValueError if a model without `max_states` has too many states.

  Args:
    name: the argument that sets the size.
    value: its value.
    states: the number of states.
  """
  if states > FIXED_STATES:
    raise ValueError(
      f"{name} is {value}: its model has {states} states, and there must be at "
      f"most {FIXED_STATES}; take a smaller {name}, or write the transitions "
      "for Graph.from_transitions, which has max_states"
    )


def check_block_counts(
  num_samples: Integer, max_states: Integer, all_mergers: bool = False
) -> int:
  """Checks and returns the number of states: the partitions of n less one.

  Args:
    num_samples: n.
    max_states: the limit.
    all_mergers: whether any number of lineages may merge at once, not only two.

  Raises:
    TypeError: max_states is not an integer.
    ValueError: max_states is below 1, or there are more states or edges.
  """
  at_least("max_states", max_states, 1)
  if num_samples > _LARGEST:
    raise ValueError(
      f"num_samples is {num_samples}: its model has more than 10^31 states; "
      "take fewer samples"
    )
  n = int(num_samples)
  ways = _partitions(n)
  if all_mergers:
    # A merger splits a partition into the lineages that merge and the other
    # lineages. Splits in which no lineage or a single lineage merges do not
    # count.
    pairs = sum(ways[i] * ways[n - i] for i in range(n + 1))
    edges = pairs - ways[n] - sum(ways[:n])
  else:
    # Two lineages with i and s - i descendants are in as many partitions of n
    # as there are partitions of n - s.
    edges = sum((s // 2) * ways[n - s] for s in range(2, n + 1))
  check_num_states(num_samples, ways[n] - 1, edges, max_states)
  return ways[n] - 1


def _partitions(n: int) -> list[int]:
  """Returns the numbers of partitions of 0, ..., n.

  They follow from the pentagonal number theorem.

  References:
    G. H. Hardy, E. M. Wright, An introduction to the theory of numbers, 19.10.
  """
  counts = [1]
  for total in range(1, n + 1):
    count = 0
    # The pentagonal numbers are k (3 k - 1) / 2 for k = 1, -1, 2, -2, .... The
    # number of k is at least k^2, so only |k| <= sqrt(total) are needed.
    for k in range(1, math.isqrt(total) + 1):
      sign = 1 if k % 2 else -1
      for pentagonal in (k * (3 * k - 1) // 2, k * (3 * k + 1) // 2):
        if pentagonal <= total:
          count += sign * counts[total - pentagonal]
    counts.append(count)
  return counts


def deme_states(num_samples: Integer, demes: int) -> int:
  """Returns in how many ways 2, ..., n lineages can be spread over demes.

  The lineages that are in no deme are one more place for the n, and the states
  with fewer than two lineages are left out.
  """
  return math.comb(int(num_samples) + demes, demes) - 1 - demes


def deme_edges(num_samples: Integer, demes: int) -> int:
  """Returns how many mergers and moves leave the states of `deme_states`.

  A deme has a lineage in as many states of k lineages as there are states of k
  - 1, and two lineages in as many as there are of k - 2.
  """
  n = int(num_samples)
  moves = math.comb(n + demes - 1, demes) - 1
  return demes * (demes - 1) * moves + demes * math.comb(n + demes - 2, demes)


def two_locus_states(num_samples: Integer) -> int:
  """Returns the number of states of the coalescent of two loci.

  With x and y lineages left at the two loci, 2 <= x, y <= n, from none to
  min(x, y) of them carry both. After the last merger at one locus there are n
  - 1 states for the other.
  """
  rest = int(num_samples) - 1
  both = rest * (rest + 1) * (2 * rest + 1) // 6 + 2 * rest**2
  return both + 2 * rest
