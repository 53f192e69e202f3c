"""Checks of the arguments and of the numbers of states of ready-made models."""

from __future__ import annotations

from collections.abc import Sequence
import math
import numbers

from phasic.internal import raw_arguments
from phasic.internal.arrays import Integer

# How many states a model may have unless the user raises the limit.
MAX_STATES = 100_000
# Above this number its partitions are not counted.
_LARGEST = 1000


def at_least(name: str, value: object, least: Integer) -> None:
  """Raises unless an argument is an integer and at least `least`.

  Raises:
    TypeError: it is not an integer.
    ValueError: it is too small.
  """
  if isinstance(value, bool) or not isinstance(value, numbers.Integral):
    raise TypeError(
      f"{name} is {raw_arguments.shown(value)}: it must be an integer"
    )
  if value < least:
    raise ValueError(f"{name} is {value}: it must be at least {least}")


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
  if not isinstance(values, Sequence) or isinstance(values, str):
    raise TypeError(
      f"{name} is {raw_arguments.shown(values)}: it must be a sequence of integers"
    )
  for i, value in enumerate(values):
    at_least(f"{name}[{i}]", value, 0)
  if len(values) < entries or sum(values) < total:
    raise ValueError(
      f"{name} is {tuple(values)}: it must have at least {entries} entries, "
      f"whose sum is at least {total}"
    )
  return tuple(int(value) for value in values)


def check_num_states(
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
  at_least("max_states", max_states, 1)
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
  check_num_states(num_samples, states, max_states)
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
