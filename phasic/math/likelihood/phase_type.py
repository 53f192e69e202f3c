"""Functions of continuous phase-type distributions.

A phase-type variable is the time until absorption of a Markov chain with
initial distribution alpha, subgenerator S, exit rates s and an atom z at zero.
Its base measure is Lebesgue's on (0, inf) plus a unit mass at 0.

All functions take the model's arrays with batch dimensions, which broadcast
with each other and with `value`; the result has the broadcast shape. They are
differentiable in all arguments, see `math.value_and_gradient`. Invalid values
give NaN.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
"""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import evaluation
from phasic.math.model.model_types import SubgeneratorLike


def log_prob(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes log(alpha exp(S t) s), and log(z) at t = 0 if z > 0.

  Derivatives in time lose digits if x, the largest rate times t, is huge. If
  the error of t^r d^r/dt^r may be 1e-3, it is NaN: derivatives in time and in
  another argument for x above 1e12; second derivatives in time for x above 1e12
  or 1e13, depending on the number of phases; second derivatives in time and
  first in another argument for x above 7e5.

  Args:
    value: t, (...), in units of time. The result is -inf for t < 0 and t = inf.
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subgenerator: S, (..., p, p), rates per unit of time; off-diagonals >= 0.
      Or `EdgeRates`, the rates of a sparse model, without `exit_rates`.
    exit_rates: s, (..., p); None derives them, s = -S 1. If given, the
      diagonal of S is not read and its derivative is zero by definition.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).

  Returns:
    An array with the broadcast shape of `value` and the model's batch.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example:

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> value = pm.phase_type.log_prob(0.5, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6f}")
    -0.306853
  """
  return evaluation.value(
    "log_density", (initial_probs, subgenerator, value, exit_rates, prob_zero)
  )


def prob(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes alpha exp(S t) s, and z at t = 0 if z > 0.

  Arguments, result and errors are as in `log_prob`; 0 for t < 0.

  Example: an exponential time of rate two, 2 exp(-1).

    >>> from phasic import math as pm
    >>> value = pm.phase_type.prob(0.5, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6f}")
    0.735759
  """
  return evaluation.value(
    "density", (initial_probs, subgenerator, value, exit_rates, prob_zero)
  )


def log_survival_function(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes log P(X > t) = log(alpha exp(S t) 1).

  Arguments, result and errors are as in `log_prob`; 0 for t < 0.

  Example: the survival function of an exponential time underflows here.

    >>> from phasic import math as pm
    >>> value = pm.phase_type.log_survival_function(500.0, [1.0], [[-2.0]])
    >>> print(f"{float(value):.3f}")
    -1000.000
  """
  return evaluation.value(
    "log_survival", (initial_probs, subgenerator, value, exit_rates, prob_zero)
  )


def survival_function(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes P(X > t) = alpha exp(S t) 1.

  Arguments, result and errors are as in `log_prob`; 1 for t < 0.

  Example: an exponential time of rate two, exp(-1).

    >>> from phasic import math as pm
    >>> value = pm.phase_type.survival_function(0.5, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6f}")
    0.367879
  """
  return evaluation.value(
    "survival", (initial_probs, subgenerator, value, exit_rates, prob_zero)
  )


def log_cdf(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes log P(X <= t), accurately in the left tail too.

  P(X <= t) = z + integral from 0 to t of alpha exp(S u) s du.

  Arguments, result and errors are as in `log_prob`; -inf for t < 0.

  Example: an early exponential time, about log(2e-20).

    >>> from phasic import math as pm
    >>> value = pm.phase_type.log_cdf(1e-20, [1.0], [[-2.0]])
    >>> print(f"{float(value):.4f}")
    -45.3586
  """
  return evaluation.value(
    "log_cdf", (initial_probs, subgenerator, value, exit_rates, prob_zero)
  )


def cdf(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes P(X <= t) = z + integral from 0 to t of alpha exp(S u) s du.

  Arguments, result and errors are as in `log_prob`; 0 for t < 0.

  Example: an exponential time of rate two, 1 - exp(-1).

    >>> from phasic import math as pm
    >>> value = pm.phase_type.cdf(0.5, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6f}")
    0.632121
  """
  return evaluation.value(
    "cdf", (initial_probs, subgenerator, value, exit_rates, prob_zero)
  )
