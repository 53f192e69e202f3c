"""Limits of the numbers of states, checked before a model is explored."""

from __future__ import annotations

import math

from phasic.graphs.models import model_checks
from phasic.internal.arrays import Integer

# How many states a model may have unless the user raises the limit.
MAX_STATES = 100_000

# Above this number its partitions are not counted.
_LARGEST = 1000


def check(
  num_samples: object, states: int, max_states: Integer, is_exact: bool = True
) -> None:
  """Raises unless a model's states are within the limit.

  Args:
    num_samples: the argument that sets the size, for the message.
    states: the number of states.
    max_states: the limit.
    is_exact: whether there may not be even more states.

  Raises:
    TypeError: max_states is not an integer.
    ValueError: max_states is below 1, or there are more states.
  """
  model_checks.at_least("max_states", max_states, 1)
  if states > max_states and not is_exact:
    raise ValueError(
      f"num_samples is {num_samples}: its model has at least {states} states, and "
      f"there must be at most max_states = {max_states}; take fewer samples"
    )
  if states > max_states:
    raise ValueError(
      f"num_samples is {num_samples}: its model has {states} states, and there "
      f"must be at most max_states = {max_states}; take fewer samples, or pass "
      f"max_states={states} if they fit in memory"
    )


def check_block_counts(num_samples: Integer, max_states: Integer) -> int:
  """Returns how many states there are, one for each partition of n but one.

  Raises:
    TypeError: max_states is not an integer.
    ValueError: max_states is below 1, or there are more states.
  """
  if num_samples > _LARGEST:
    raise ValueError(
      f"num_samples is {num_samples}: its model has more than 10^31 states; "
      "take fewer samples"
    )
  states = _partitions(num_samples) - 1
  check(num_samples, states, max_states)
  return states


def _partitions(n: Integer) -> int:
  """Returns the number of partitions of n, by the pentagonal number theorem.

  References:
    G. H. Hardy, E. M. Wright, An introduction to the theory of numbers, 19.10.
  """
  counts = [1]
  for total in range(1, int(n) + 1):
    found = 0
    # The pentagonal numbers are k (3 k - 1) / 2 for k = 1, -1, 2, -2, ..., and
    # none of them is below k^2.
    for k in range(1, math.isqrt(total) + 1):
      sign = 1 if k % 2 else -1
      for pentagonal in (k * (3 * k - 1) // 2, k * (3 * k + 1) // 2):
        if pentagonal <= total:
          found += sign * counts[total - pentagonal]
    counts.append(found)
  return counts[-1]


def deme_states(num_samples: Integer, demes: int) -> int:
  """Returns in how many ways 2, ..., n lineages can be spread over demes.

  The lineages that are in no deme are one more place for the n, and the states
  with fewer than two lineages are left out.
  """
  return math.comb(int(num_samples) + demes, demes) - 1 - demes


def two_locus_states(num_samples: Integer) -> int:
  """Returns the number of states of the coalescent of two loci.

  With x and y lineages left at the two loci, 2 <= x, y <= n, from none to
  min(x, y) of them carry both. After the last merger at one locus there are n
  - 1 states for the other.
  """
  rest = int(num_samples) - 1
  both = rest * (rest + 1) * (2 * rest + 1) // 6 + 2 * rest**2
  return both + 2 * rest
