"""Chains of counts whose probabilities are given, one after the other.

A count of at least k goes on with probability P(N > k | N >= k), and ends with
P(N = k | N >= k). Both are quotients of sums of probabilities >= 0: no
probability is one minus another.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.closures import chain_parts
from phasic.math.numeric import special

# From here on sums are computed as logarithms; one is negligible beside them, and
# their squares do not overflow.
_MOST = {"float64": 2.0**300, "float32": 2.0**50}


def from_probs(probs: Array) -> tuple[Array, Array]:
  """Computes where a count ends, from its probabilities.

  Args:
    probs: P(N = k) for k = 0, ..., n, (..., n + 1). Their sum counts as one,
      so that each is a free coordinate for derivatives.

  Returns:
    P(N = k | N >= k), (..., n + 1), which is 1 where P(N >= k) is zero, and
    P(N > k | N >= k) for k < n, (..., n).
  """
  least = _suffix_sums(probs, np.ones_like(probs[..., 1:]))
  some = least > 0.0
  one = np.ones_like(least[..., :1])
  base = np.concatenate([one, least[..., 1:]], axis=-1)
  safe = np.where(some, base, 1.0)
  ends = np.where(some, probs / safe, 1.0)
  return ends, np.where(some[..., :-1], least[..., 1:] / safe[..., :-1], 0.0)


def from_ratios(ratios: Array) -> tuple[Array, Array]:
  """Computes where a count ends, from quotients of its probabilities.

  With c_k = P(N >= k) / P(N = k) and x = r_(k+1) c_(k+1), c_k is 1 + x. Large x
  are computed as logarithms, whose rounding errors are relative ones of 1 / x.

  Args:
    ratios: P(N = k) / P(N = k - 1) for k = 1, ..., n, (..., n).

  Returns:
    As `from_probs`. Probabilities that underflow are zero.
  """
  most = _MOST[static.dtype_name(ratios)]
  one = np.ones_like(ratios[..., :1])
  terms = np.concatenate([np.ones_like(ratios), one], axis=-1)
  least = _suffix_sums(terms, ratios)
  x = ratios * least[..., 1:]
  is_large = (x >= most) | (least[..., 1:] >= most)
  x = np.where(is_large, 1.0, x)
  logs = np.log(np.where(ratios > 0.0, ratios, 1.0))
  log_x = logs + _log_suffix_sums(logs, ratios > 0.0)[..., 1:]
  log_x = np.where(is_large, log_x, 1.0)
  # Beyond `most` the one that is added to x is negligible.
  ends = np.where(is_large, np.exp(0.0 - log_x), 1.0 / (1.0 + x))
  goes_on = np.where(is_large, 1.0, x / (1.0 + x))
  return np.concatenate([ends, one], axis=-1), goes_on


def _log_suffix_sums(logs: Array, some: Array) -> Array:
  """Computes log c_k for c_k = 1 + r_(k+1) c_(k+1), c_n = 1, by doubling.

  Args:
    logs: log r, (..., n).
    some: whether r is not zero, (..., n).
  """
  end = np.zeros_like(logs[..., :1])
  factors = np.where(some, logs, -math.inf)
  factors = np.concatenate([factors, end - math.inf], axis=-1)
  terms = np.concatenate([np.zeros_like(logs), end], axis=-1)
  step = 1
  while step < static.shape(terms)[-1]:
    none = np.zeros_like(terms[..., :step]) - math.inf
    later = np.concatenate([terms[..., step:], none], axis=-1)
    terms = special.logaddexp(terms, factors + later)
    later = np.concatenate([factors[..., step:], none], axis=-1)
    factors = factors + later
    step *= 2
  return terms


def _suffix_sums(terms: Array, factors: Array) -> Array:
  """Computes c_k = a_k + b_k c_(k+1), by doubling; large sums are capped.

  Args:
    terms: a, >= 0, (..., n + 1).
    factors: b, >= 0, (..., n).
  """
  most = _MOST[static.dtype_name(terms)]
  size = static.shape(terms)[-1]
  none = np.zeros_like(terms[..., :1])
  factors = np.concatenate([factors, none], axis=-1)
  step = 1
  with onp.errstate(over="ignore"):
    while step < size:
      zeros = np.zeros_like(terms[..., :step])
      later = np.concatenate([terms[..., step:], zeros], axis=-1)
      terms = _capped(terms + factors * later, most)
      later = np.concatenate([factors[..., step:], zeros], axis=-1)
      factors = _capped(factors * later, most)
      step *= 2
  return terms


def _capped(x: Array, most: float) -> Array:
  """Replaces numbers above `most`; NaN stays."""
  return np.where(x > most, most, x)


class Recursion(NamedTuple):
  """Counts with P(N = k) / P(N = k - 1) = (first + growth (k - 1)) / k.

  They are Poisson numbers, of which `growth` is zero, and negative binomial
  ones. Arrays are of the backend, or on the host.

  Attributes:
    log_zero: log P(N = 0), (...).
    first: P(N = 1) / P(N = 0), (...).
    growth: what the quotients tend to, (...), in [0, 1).
  """

  log_zero: Array
  first: Array
  growth: Array

  def ratios(self, k: onp.ndarray) -> Array:
    """Returns P(N = k) / P(N = k - 1), (..., m)."""
    return (self.first[..., None] + self.growth[..., None] * (k - 1.0)) / k


def log_tail(law: Recursion, n: int) -> Array:
  """Bounds log P(N > n) by a geometric series, (...); inf where it grows."""
  later = np.maximum(law.ratios(onp.array([n + 2.0]))[..., 0], law.growth)
  falls = later < 1.0
  with onp.errstate(divide="ignore"):
    logs = np.log(law.ratios(onp.arange(1.0, n + 2.0)))
  log_next = law.log_zero + np.sum(logs, axis=-1)
  log_sum = 0.0 - np.log1p(0.0 - np.where(falls, later, 0.0))
  return np.where(falls, log_next + log_sum, math.inf)


def needed(law: Recursion, tail: float) -> int | None:
  """Returns the least n >= 1 with P(N > n) <= tail for all of a batch.

  Args:
    law: with arrays on the host.
    tail: > 0.

  Returns:
    n, or None if it is more than chains may have phases.
  """
  low, high = 0, 1
  while not _is_enough(law, high, tail):
    if high >= chain_parts.MAX_PHASES:
      return None
    low, high = high, min(2 * high, chain_parts.MAX_PHASES)
  while high - low > 1:
    middle = (low + high) // 2
    if _is_enough(law, middle, tail):
      high = middle
    else:
      low = middle
  return high


def _is_enough(law: Recursion, n: int, tail: float) -> bool:
  """Returns whether P(N > n) <= tail for all of a batch on the host."""
  k = onp.arange(1.0, n + 3.0)
  with onp.errstate(divide="ignore", invalid="ignore"):
    ratios = onp.asarray(law.ratios(k))
    later = onp.maximum(ratios[..., -1], law.growth)
    logs = law.log_zero + onp.log(ratios[..., :-1]).sum(axis=-1)
    bound = onp.where(later < 1.0, logs - onp.log1p(-later), onp.inf)
  return bool(onp.all(bound <= math.log(tail)))
