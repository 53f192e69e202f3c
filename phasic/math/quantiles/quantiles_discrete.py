"""Quantiles of discrete phase-type distributions.

    Q(u) = min{k in {0, 1, 2, ...}: F(k) >= u}

is zero up to the atom at zero, and inf as in `quantiles`. It is consistent with
the functions of `discrete_phase_type`: at k = Q(u) `cdf` is at least u, or
`survival_function` is at most 1 - u if u is above one half, and before k `cdf`
is below u. Counts go up to 2^52, in float32 to 2^24. Quantiles are NaN beyond,
and where the functions are NaN.

Quantiles are step functions: differentiation raises NotImplementedError.
"""

from __future__ import annotations

from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model.model_types import SubtransitionLike
from phasic.math.quantiles import quantiles


def quantile(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes Q(u) = min{k: P(N <= k) >= u}.

  Args:
    value: probabilities u, (...); outside [0, 1] the result is NaN.
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subtransition: T, (..., p, p), probabilities of a step. Or `EdgeProbs`, the
      probabilities of a sparse model, without `exit_probs`.
    exit_probs: t, (..., p); None derives them, t = 1 - T 1.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).

  Returns:
    An array with the broadcast shape of u and the model's batch: integers, in a
    floating dtype.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: the number of throws of a die by which a six came, at 90 %.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.quantile(0.9, [1.0], [[5 / 6]])
    >>> print(int(value))
    13
  """
  arguments = (initial_probs, subtransition, value, exit_probs, prob_zero)
  return quantiles.evaluate("cdf", arguments, discrete=True)


def quantile_log_cdf(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes min{k: log P(N <= k) >= value}, the inverse log cdf.

  Arguments, result and errors are as in `quantile`, with a log probability, at
  most zero, as the value.

  Example: in four throws of a die a six is more likely than not.

    >>> import math
    >>> from phasic import math as pm
    >>> asked = math.log(0.5)
    >>> value = pm.discrete_phase_type.quantile_log_cdf(asked, [1.0], [[5 / 6]])
    >>> print(int(value))
    4
  """
  arguments = (initial_probs, subtransition, value, exit_probs, prob_zero)
  return quantiles.evaluate("log_cdf", arguments, discrete=True)


def quantile_log_survival(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes min{k: log P(N > k) <= value}, the inverse log survival function.

  Arguments, result and errors are as in `quantile`, with a log probability, at
  most zero, as the value.

  Example: throws of a die that have no six with probability 1e-100.

    >>> import math
    >>> from phasic import math as pm
    >>> asked = -100 * math.log(10)
    >>> value = pm.discrete_phase_type.quantile_log_survival(
    ...   asked, [1.0], [[5 / 6]]
    ... )
    >>> print(int(value))
    1263
  """
  arguments = (
    initial_probs,
    subtransition,
    value,
    exit_probs,
    prob_zero,
  )
  return quantiles.evaluate("log_survival", arguments, discrete=True)
