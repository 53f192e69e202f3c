"""Joint moments of several rewards, by elimination, and levels of multi-indices.

Recursions over multi-indices of counts go by levels of equal sums. Arrays of a
level have one column for each multi-index, a tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import moment_chains
from phasic.math.model import phase_arguments
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.numeric import exact_sums


def checked(name: str, values: ArrayLike, size: int) -> tuple[int, ...]:
  """Checks `size` nonnegative integers; returns a tuple of ints."""
  known = dtypes.concrete(values, name)
  if known is None or known.dtype.kind not in "iu" or onp.ndim(known) != 1:
    raise TypeError(
      f"{name} is {raw_arguments.shown(values)}: it must be a sequence of integers"
    )
  integers = tuple(int(n) for n in known)
  if len(integers) != size or min(integers, default=0) < 0:
    raise ValueError(
      f"{name} is {integers}: it must have R = {size} integers >= 0, one for "
      "each reward"
    )
  return integers


def levels(counts: tuple[int, ...]) -> list[list[tuple[int, ...]]]:
  """Lists the multi-indices n <= counts, grouped by their sums 0, 1, ..."""
  by_sum: list[list[tuple[int, ...]]] = [[] for _ in range(sum(counts) + 1)]
  for n in itertools.product(*(range(c + 1) for c in counts)):
    by_sum[sum(n)].append(n)
  return by_sum


def lowered(
  x: Array,
  before: Sequence[tuple[int, ...]],
  level: Sequence[tuple[int, ...]],
  k: int,
) -> Array:
  """Returns the columns of x at n - e_k, for each n of a level; 0 if absent.

  Args:
    x: (..., number of tuples of the level before).
    before: the level before.
    level: the level of the result.
    k: the index of the count.
  """
  places, none = {n: i for i, n in enumerate(before)}, len(before)
  columns = onp.asarray(
    [places.get((*n[:k], n[k] - 1, *n[k + 1 :]), none) for n in level]
  )
  x = np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1)
  return np.take(x, columns, axis=-1)


# The largest number of moments E[Y^m] with m <= orders, since all of them are
# computed.
MAX_PRODUCTS = 2**16


def mixed_moment(
  orders: ArrayLike,
  rewards: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E[Y_1^n_1 ... Y_R^n_R], Y_r = sum_i r_ir (time in phase i).

  With U = (-S)^-1 it is alpha m_n, where

      m_0 = 1,   m_n = U sum_r n_r diag(r_.r) m_{n - e_r},

  which is the sum of alpha U diag(r_a) U diag(r_b) ... 1 over all permutations
  of the factors. All terms are nonnegative.

  Args:
    orders: R integers >= 0.
    rewards: r, (..., p, R), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it. It is checked, but not used unless all
      orders are zero.

  Returns:
    An array (...): inf if a reward with a positive order may be infinite; then
    derivatives are NaN.

  Raises:
    TypeError: dtypes differ, or are complex or bool, or orders
      are not integers.
    ValueError: shapes do not fit, there are no phases, or orders are negative or
      too large.

  Example: the time in two stages, one after the other.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> matrix = np.asarray([[-1.0, 1.0], [0.0, -2.0]])
    >>> value = pm.phase_type.mixed_moment(
    ...   (2, 1), np.eye(2), [1.0, 0.0], matrix
    ... )
    >>> print(f"{float(value):.6f}")
    1.000000

  References:
    V. Kulkarni, A new class of multivariate phase type distributions, Oper.
      Res. 37, 1989.
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017, theorem 8.1.5.
  """
  size = phase_arguments.num_rewards(rewards)
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  return chain_calls.value(
    moment, values, False, (checked_orders(orders, size),), rewards=2
  )


def checked_orders(orders: ArrayLike, size: int) -> tuple[int, ...]:
  """Converts the orders to ints; raises ValueError if they are too large."""
  converted = checked("orders", orders, size)
  number = math.prod(n + 1 for n in converted)
  if number > MAX_PRODUCTS:
    raise ValueError(
      f"orders is {converted}, which needs {number} moments up to these "
      f"orders: there must be at most {MAX_PRODUCTS}; use smaller orders"
    )
  return converted


def factors(level: Sequence[tuple[int, ...]], k: int) -> onp.ndarray:
  """Returns n_k for each multi-index n of a level, as a host array."""
  return onp.asarray([float(n[k]) for n in level])


def moment(
  orders: tuple[int, ...], system: chain_solves.System, rewards: Array
) -> Array:
  """Computes the mixed moment E[Y_1^n_1 ... Y_R^n_R].

  The result has shape (...).
  """
  y, _, r, infinite, undefined = moment_chains.start_all(system, rewards)
  endless = np.any(infinite & (onp.asarray(orders) > 0), axis=-1)
  reached = (autodiff.stop_gradient(y) > 0)[..., None]
  x = np.ones_like(r[..., :1])
  unit = np.zeros_like(x[..., 0, 0])
  for before, level in itertools.pairwise(levels(orders)):
    terms = [
      r[..., k, None] * factors(level, k) * lowered(x, before, level, k)
      for k in range(len(orders))
    ]
    x = chain_solves.solve(system, sum(terms[1:], terms[0]))
    size = np.max(np.where(reached, x, 0.0), axis=-1)
    scale = chain_solves.largest_exponent(size)
    x = exact_sums.times_power(x, -scale[..., None, None])
    unit = unit + scale
  total, exponent = exact_sums.dot(system.initial, x[..., 0])
  if sum(orders) == 0:
    total = total + exact_sums.times_power(system.atom, -exponent)
  exponent = exponent + unit - sum(orders) * system.exponent
  value = exact_sums.times_power(total, exponent)
  value = np.where(endless, math.inf, value) + undefined
  return chain_solves.checked(system, value)
