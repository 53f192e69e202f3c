"""Log likelihoods of exact, right-, left- and interval-censored times.

One power sequence and one adjoint of the kernel serve all kinds together.
"""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import observation_calls
from phasic.math.likelihood import phase_type
from phasic.math.model.model_types import SubgeneratorLike


def log_likelihood_terms(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  lower: ArrayLike,
  upper: ArrayLike | None = None,
  *,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
  validate_args: bool = False,
) -> Array:
  """Computes the log likelihood of each observation of X.

  An observation states that X is between `lower` and `upper`:

      lower == upper:  X is there                log f(lower)
      upper == inf:    right-censored            log P(X > lower)
      lower < 0:       left-censored             log P(X <= upper)
      else:            interval-censored         log P(lower < X <= upper)

  The first matching line counts. P(X <= upper) includes the atom at zero, and
  P(0 < X <= upper) does not. The kernel computes all of them to full accuracy,
  including narrow intervals and intervals in far tails:

      P(l < X <= u) = sum_k a_k / q int_{q l}^{q u} exp(-y) y^k / k! dy

  with the nonnegative terms a_k of uniformization at rate q. The portable path
  subtracts the smaller pair, P(X > l) - P(X > u) or P(X <= u) - P(X <= l). Its
  relative error is about 1e-14 times min(P(X > l), P(X <= u)) / P(l < X <= u).

  Args:
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subgenerator: S, (..., p, p), rates per unit of time; off-diagonals >= 0.
      Or `EdgeRates`, the rates of a sparse model, without `exit_rates`.
    lower: (...), in units of time.
    upper: (...), not below `lower`; None for exact observations.
    exit_rates: s, (..., p); None derives them, s = -S 1. If given, the
      diagonal of S is not read and its derivative is zero by definition.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).
    validate_args: whether to check the values of `lower` and `upper`.

  Returns:
    An array with the broadcast shape of `lower`, `upper` and the model's batch.
    It is NaN where upper < lower or one of them is NaN. Exact observations have
    derivatives in `lower`, left-censored ones in `upper`.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases; with `validate_args`,
      upper < lower somewhere, or NaN.

  Example: an event at 0.5, one after 2, and one between 1 and 2.

    >>> import math
    >>> import numpy as np
    >>> from phasic.math.likelihood import observations
    >>> lower = np.asarray([0.5, 2.0, 1.0])
    >>> upper = np.asarray([0.5, math.inf, 2.0])
    >>> terms = observations.log_likelihood_terms(
    ...   [1.0], [[-2.0]], lower, upper
    ... )
    >>> print([f"{float(x):.6f}" for x in terms])
    ['-0.306853', '-4.000000', '-2.145413']

  References:
    J. P. Klein, M. L. Moeschberger, Survival analysis, 2003, ch. 3.5.
    M. Olsson, Estimation of phase-type distributions from censored data,
      Scand. J. Statist. 23, 1996.
  """
  if upper is None and not validate_args:
    return phase_type.log_prob(
      lower, initial_probs, subgenerator, exit_rates, prob_zero
    )
  upper = lower if upper is None else upper
  arguments = (initial_probs, subgenerator, lower, upper, exit_rates, prob_zero)
  return observation_calls.ObservationsCall(arguments, validate_args).value()
