"""Sets of rows in which every pair of choices occurs."""

from collections.abc import Hashable, Sequence
import itertools

Row = tuple[Hashable, ...]


def covering(factors: Sequence[Sequence[Hashable]]) -> list[Row]:
  """Returns rows, one choice of each factor, that cover all pairs.

  Pairs are choices of two different factors. The algorithm is greedy and
  deterministic: it takes the first row with the most missing pairs.

  Args:
    factors: at least two lists of choices.

  Reference: D. M. Cohen et al., The AETG system, IEEE Trans. Softw. Eng. 23,
    1997, without its random choices.
  """
  rows = list(itertools.product(*factors))
  missing = {pair for row in rows for pair in pairs(row)}
  found = []
  while missing:
    row = max(rows, key=lambda row: len(pairs(row) & missing))
    found.append(row)
    rows.remove(row)
    missing -= pairs(row)
  return found


def pairs(row: Row) -> set[tuple[tuple[int, Hashable], ...]]:
  """Returns the pairs of choices in a row, with their factors."""
  return set(itertools.combinations(enumerate(row), 2))
