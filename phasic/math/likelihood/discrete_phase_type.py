"""Functions of discrete phase-type distributions.

A discrete phase-type variable is the number of steps until absorption of a
Markov chain with initial distribution alpha, probabilities T of going from
phase to phase and t of absorption in a step, and an atom z at zero. Its base
measure counts {0, 1, 2, ...}.

All functions take the model's arrays with batch dimensions, which broadcast
with each other and with `value`; the result has the broadcast shape. They are
differentiable in all arguments except the counts, see
`math.value_and_gradient`. Invalid values give NaN.

Counts may have any numeric dtype, and are converted to the model's dtype
(integers are exact up to 2^24 in float32). At a count that is not an integer,
probabilities are zero, and the survival function and cdf are those of the next
lower integer. At an integer, where the functions jump, the derivative in the
count is NaN. Between integers it is zero. Integer arrays have no derivatives in
JAX and TensorFlow.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
"""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import evaluation
from phasic.math.model.model_types import SubtransitionLike


def log_prob(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes log P(N = k) = log(alpha T^(k-1) t), log(z) at k = 0.

  Args:
    value: k, (...). The result is -inf for k < 0 and k = inf.
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subtransition: T, (..., p, p), probabilities of a step, including the
      diagonal, with row sums <= 1. Or `EdgeProbs`, the probabilities of a
      sparse model, without `exit_probs`.
    exit_probs: t, (..., p); None derives them, t = 1 - T 1, zero within 4 p
      eps. If given, each row of T and its exit sum to one within 4 p eps.
      Derivatives in T and t are then independent.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).

  Returns:
    An array with the broadcast shape of `value` and the model's batch.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: the first six of a die comes in the third throw.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.log_prob(3, [1.0], [[5 / 6]])
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
  """Computes P(N = k): alpha T^(k-1) t for k >= 1, and z for k = 0.

  Arguments, result and errors are as in `log_prob`; 0 for k < 0.

  Example: the first six of a die comes in the third throw, 25 / 216.

    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.prob(3, [1.0], [[5 / 6]])
    >>> print(f"{float(value):.6f}")
    0.115741
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
  """Computes log P(N > k) = log(alpha T^k 1).

  Arguments, result and errors are as in `log_prob`; 0 for k < 0.

  Example: no head in 2000 tosses of a coin, -2000 log(2).

    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.log_survival_function(2000, [1.0], [[0.5]])
    >>> print(f"{float(value):.2f}")
    -1386.29
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
  """Computes P(N > k) = alpha T^k 1.

  Arguments, result and errors are as in `log_prob`; 1 for k < 0.

  Example: three throws of a die without a six, 125 / 216.

    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.survival_function(3, [1.0], [[5 / 6]])
    >>> print(f"{float(value):.6f}")
    0.578704
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
  """Computes log P(N <= k), accurately in the left tail too.

  Arguments, result and errors are as in `log_prob`; -inf for k < 0.

  Example: twice in a row an event of probability 1e-20, -40 log(10).

    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0, 1], [1, 2], [1e-20, 1e-20])
    >>> value = pm.discrete_phase_type.log_cdf(2, [1.0, 0.0], edges)
    >>> print(f"{float(value):.4f}")
    -92.1034
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
  """Computes P(N <= k) = z + sum_{j<k} alpha T^j t.

  Arguments, result and errors are as in `log_prob`; 0 for k < 0.

  Example: a six in at most three throws of a die, 1 - 125 / 216.

    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.cdf(3, [1.0], [[5 / 6]])
    >>> print(f"{float(value):.6f}")
    0.421296
  """
  return evaluation.value(
    "cdf",
    (initial_probs, subtransition, value, exit_probs, prob_zero),
    discrete=True,
  )
