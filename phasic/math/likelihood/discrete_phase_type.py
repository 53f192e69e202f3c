"""Functions of discrete phase-type distributions.

A discrete phase-type variable is the number of steps until absorption of a
Markov chain with initial distribution alpha, probabilities T of going from
phase to phase and t of absorption in a step, and an atom z at zero. Its base
measure counts {0, 1, 2, ...}.

All functions take the model's arrays with batch dimensions, which broadcast
with each other and with `value`; the result has the broadcast shape. They are
differentiable in all arguments but the counts, see `math.value_and_gradient`.
Where a value breaks a rule the result is NaN.

Counts are numbers of any kind, made floats of the model's dtype (whole ones
are exact up to 2^24 in float32). At a count that is not whole a probability is
zero, and the survival function and cdf are those of the count below. At a whole
one, where they jump, no derivative in the count exists: it is NaN. In between
it is zero. Integer arrays have none in JAX and TensorFlow.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
"""

from __future__ import annotations

from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.calls import evaluation
from phasic.math.model.model_types import SubtransitionLike


def log_prob(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns log P(N = k) = log(alpha T^(k-1) t), log(z) at k = 0.

  Args:
    value: k, (...). -inf for k < 0 and k = inf.
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subtransition: T, (..., p, p), probabilities of a step. The diagonal is
      data like all else. No row's sum is above one. Or `EdgeProbs`, the
      probabilities of a sparse model, without `exit_probs`.
    exit_probs: t, (..., p); None derives them, t = 1 - T 1, zero within 4 p
      eps. If given, each row of T and its exit sum to one within 4 p eps, and
      all are free: derivatives in T leave t as it is.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).

  Returns:
    An array with the broadcast shape of `value` and the model's batch.

  Raises:
    TypeError: dtypes differ, or are complex, bool or half precision.
    ValueError: shapes do not fit, or an array is empty.

  Example: the first six of a die comes with the third throw.

    >>> import numpy as np
    >>> from phasic.math.likelihood import discrete_phase_type
    >>> value = discrete_phase_type.log_prob(3, [1.0], [[5 / 6]])
    >>> print(f"{float(value):.6f}")
    -2.156403
  """
  return evaluation.value(
    "log_density",
    (initial_probs, subtransition, value, exit_probs, prob_zero),
    discrete=True,
  )


def prob(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns P(N = k) = alpha T^(k-1) t, z at k = 0.

  Arguments, result and errors are those of `log_prob`; 0 for k < 0.
  """
  return evaluation.value(
    "density",
    (initial_probs, subtransition, value, exit_probs, prob_zero),
    discrete=True,
  )


def log_survival_function(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns log P(N > k) = log(alpha T^k 1).

  Arguments, result and errors are those of `log_prob`; 0 for k < 0.
  """
  return evaluation.value(
    "log_survival",
    (initial_probs, subtransition, value, exit_probs, prob_zero),
    discrete=True,
  )


def survival_function(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns P(N > k) = alpha T^k 1.

  Arguments, result and errors are those of `log_prob`; 1 for k < 0.
  """
  return evaluation.value(
    "survival",
    (initial_probs, subtransition, value, exit_probs, prob_zero),
    discrete=True,
  )


def log_cdf(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns log P(N <= k), accurate in the left tail too.

  Arguments, result and errors are those of `log_prob`; -inf for k < 0.
  """
  return evaluation.value(
    "log_cdf",
    (initial_probs, subtransition, value, exit_probs, prob_zero),
    discrete=True,
  )


def cdf(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns P(N <= k) = z + sum_{j<k} alpha T^j t.

  Arguments, result and errors are those of `log_prob`; 0 for k < 0.
  """
  return evaluation.value(
    "cdf",
    (initial_probs, subtransition, value, exit_probs, prob_zero),
    discrete=True,
  )
