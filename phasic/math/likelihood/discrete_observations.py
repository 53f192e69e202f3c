"""Log likelihoods of observed step counts, exact or censored."""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import observation_calls
from phasic.math.likelihood import discrete_phase_type
from phasic.math.model.model_types import SubtransitionLike


def log_likelihood_terms(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  lower: ArrayLike,
  upper: ArrayLike | None = None,
  *,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
  validate_args: bool = False,
) -> Array:
  """Computes the log likelihood of each observation of N.

  An observation states that the number of steps N is between `lower` and
  `upper`:

      lower == upper:  N is there                log P(N = lower)
      upper == inf:    right-censored            log P(N > lower)
      lower < 0:       left-censored             log P(N <= upper)
      else:            interval-censored         log P(lower < N <= upper)

  The first matching line counts. Bounds that are not integers are rounded down;
  no derivative in a bound exists. The kernel sums the probabilities of an
  interval; the portable path subtracts, see
  `observations.log_likelihood_terms`.

  Args:
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subtransition: T, (..., p, p), probabilities of a step, or `EdgeProbs`, the
      probabilities of a sparse model, without `exit_probs`.
    lower: (...), counts.
    upper: (...), not below `lower`; None for exact observations.
    exit_probs: t, (..., p); None derives them.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).
    validate_args: whether to check the values of `lower` and `upper`.

  Returns:
    An array with the broadcast shape of `lower`, `upper` and the model's batch.
    It is NaN where upper < lower or one of them is NaN.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases; with `validate_args`,
      upper < lower somewhere, or NaN.

  Example: a first six with the third throw, and none in three throws.

    >>> import math
    >>> from phasic.math.likelihood import discrete_observations
    >>> terms = discrete_observations.log_likelihood_terms(
    ...   [1.0], [[5 / 6]], [3.0, 3.0], [3.0, math.inf]
    ... )
    >>> print([f"{float(x):.6f}" for x in terms])
    ['-2.156403', '-0.546965']
  """
  if upper is None and not validate_args:
    return discrete_phase_type.log_prob(
      lower, initial_probs, subtransition, exit_probs, prob_zero
    )
  upper = lower if upper is None else upper
  arguments = (initial_probs, subtransition, lower, upper)
  return observation_calls.ObservationsCall(
    (*arguments, exit_probs, prob_zero), validate_args, discrete=True
  ).value()
