"""Multisets of phases, the states of several identical chains.

A multiset of m out of p phases is a row of counts that sum to m. The multisets
are numbered by the combinatorial number system.

Reference: D. E. Knuth, The art of computer programming, vol. 4A, 2011, sec.
  7.2.1.3.
"""

from __future__ import annotations

import itertools
import math

import numpy as onp


def count(p: int, m: int) -> int:
  """Returns the number of multisets of size m of p phases."""
  return math.comb(m + p - 1, m)


def all_of(p: int, m: int) -> onp.ndarray:
  """Lists all multisets of m out of p phases, in the order of `numbers`.

  Each row says how often each phase is in the multiset: (count(p, m), p).
  """
  separators = itertools.combinations(range(m + p - 1), p - 1)
  places = onp.asarray(list(separators), dtype=onp.int64)
  places = onp.reshape(places, (count(p, m), p - 1))
  edges = onp.full((len(places), 1), -1), onp.full((len(places), 1), m + p - 1)
  found = onp.diff(onp.hstack([edges[0], places, edges[1]]), axis=1) - 1
  return found[onp.argsort(numbers(found))]


def numbers(counts: onp.ndarray) -> onp.ndarray:
  """Computes the indices of multisets in the list of `all_of`."""
  p = counts.shape[-1]
  after = onp.cumsum(counts, axis=-1)
  total = onp.zeros(counts.shape[:-1], dtype=onp.int64)
  # In a combinatorial number system, phase i contributes a sum of (i + k - 1
  # choose k) over consecutive k. The sum is the difference of two entries
  # (i + k choose k) of Pascal's triangle.
  table = onp.ones(int(onp.max(after, initial=0)) + 1, dtype=onp.int64)
  for i in range(p):
    before = after[..., i] - counts[..., i]
    total = total + table[after[..., i]] - table[before]
    table = onp.cumsum(table)
  return total
