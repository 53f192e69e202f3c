"""Joint probabilities of Poisson counts along a path, such as mutations."""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing
from phasic.math.model import phase_arguments
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.moments import mixed_moments
from phasic.math.numeric import array_utils

# The largest number of probabilities, and the largest sum of counts.
MAX_PROBS = 2**16
MAX_TOTAL = 1000


def joint_mark_probs(
  max_counts: ArrayLike,
  rewards: ArrayLike,
  mark_rates: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes P(N_1 = n_1, ..., N_R = n_R) for all counts up to a limit.

  Given the path of the chain, the N_r are independent Poisson numbers with
  means theta_r Y_r, where Y_r = sum_i r_ir (time spent in phase i): mutations
  on the branches of a coalescent tree, for example. With V = (Delta - S)^-1,
  Delta_ii = sum_r theta_r r_ir, and unit vectors e_r,

      x_0 = V s,   x_n = V sum_r theta_r diag(r_.r) x_{n - e_r},
      P(N = n) = alpha x_n + z [n = 0],

  without subtraction: small probabilities are as accurate as large ones.
  Counting ends if the chain gets into a trap in which no events happen.

  Derivatives exist in all arguments except the counts.

  Args:
    max_counts: R integers >= 0, the largest counts.
    rewards: r, (..., p, R), finite and >= 0, else results are NaN.
    mark_rates: theta, (..., R), per unit of reward, finite and >= 0.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it.

  Returns:
    An array (..., max_counts[0] + 1, ..., max_counts[R - 1] + 1).

  Raises:
    TypeError: dtypes differ, or are complex or bool, or
      `max_counts` are not integers.
    ValueError: shapes do not fit, there are no phases, there are more than 65536
      probabilities, or the counts sum to more than 1000.

  Example: two lineages with at most one mutation on the first branch.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> probs = pm.phase_type.joint_mark_probs(
    ...   (1, 0), [[1.0, 1.0]], [0.5, 0.5], [1.0], [[-1.0]]
    ... )
    >>> [f"{float(prob):.6f}" for prob in probs[:, 0]]
    ['0.500000', '0.125000']

  References:
    R. C. Griffiths, S. Tavare, The age of a mutation in a general coalescent
      tree, Stochastic Models 14, 1998.
    A. Hobolth, A. Siri-Jegousse, M. Bladt, Phase-type distributions in
      population genetics, Theor. Popul. Biol. 127, 2019.
  """
  rates = phase_arguments.weighted_rewards(
    rewards,
    mark_rates,
    "mark_rates",
    {
      "initial_probs": initial_probs,
      "exit_rates": exit_rates,
      "prob_zero": prob_zero,
    },
  )
  counts = checked_counts(max_counts, static.shape(rates)[-1])
  values = (initial_probs, subgenerator, rates, exit_rates, prob_zero)
  return chain_calls.value(probs, values, False, (counts,), rewards=2)


def checked_counts(max_counts: ArrayLike, size: int) -> tuple[int, ...]:
  """Converts `max_counts` to ints; raises ValueError if they are too large."""
  counts = mixed_moments.checked("max_counts", max_counts, size)
  number = math.prod(n + 1 for n in counts)
  if number > MAX_PROBS or sum(counts) > MAX_TOTAL:
    raise ValueError(
      f"max_counts is {counts}, which gives {number} probabilities and the sum "
      f"{sum(counts)}: there must be at most {MAX_PROBS} probabilities, and "
      f"the sum must be at most {MAX_TOTAL}; use smaller counts"
    )
  return counts


def probs(
  counts: tuple[int, ...], system: chain_solves.System, rates: Array
) -> Array:
  """Computes P(N_1 = n_1, ..., N_R = n_R) for all n <= counts.

  Returns:
    An array (..., counts[0] + 1, ..., counts[R - 1] + 1).
  """
  good = np.all(np.all((rates >= 0) & np.isfinite(rates), axis=-1), axis=-1)
  # Use the model's own unit of time: in the scaled unit rates may be out of
  # range.
  system = chain_solves.natural(system)
  system, ends = killing.killed_or_absorbed(system, np.sum(rates, axis=-1))
  alpha = system.initial[..., None, :]
  levels = mixed_moments.levels(counts)
  none = np.zeros_like(rates[..., :1])
  x = chain_solves.solve(system, none, ends[..., None])
  by_level = [np.matmul(alpha, x)[..., 0, :] + system.atom[..., None]]
  for before, level in itertools.pairwise(levels):
    terms = [
      rates[..., r, None] * mixed_moments.lowered(x, before, level, r)
      for r in range(len(counts))
    ]
    x = chain_solves.solve(system, sum(terms[1:], terms[0]))
    by_level.append(np.matmul(alpha, x)[..., 0, :])
  lost = np.where(system.bad | np.logical_not(good), math.nan, 0.0)[..., None]
  return laid_out(counts, [x + lost for x in by_level])


def laid_out(counts: tuple[int, ...], by_level: Sequence[Array]) -> Array:
  """Arranges probabilities, given by level, in an array with an axis per count.

  Args:
    counts: the largest counts.
    by_level: an array for each level of `mixed_moments.levels`, one column for
      each multi-index.

  Returns:
    An array (..., counts[0] + 1, ..., counts[R - 1] + 1).
  """
  batch = static.broadcast_shapes(*(static.shape(x)[:-1] for x in by_level))
  by_level = [
    np.broadcast_to(x, (*batch, static.shape(x)[-1])) for x in by_level
  ]
  tuples = itertools.chain(*mixed_moments.levels(counts))
  order = sorted((n, k) for k, n in enumerate(tuples))
  places = onp.asarray([k for _, k in order])
  flat = np.take(np.concatenate(by_level, axis=-1), places, axis=-1)
  flat = array_utils.at_most(flat, 1.0)
  return np.reshape(flat, (*batch, *(n + 1 for n in counts)))
