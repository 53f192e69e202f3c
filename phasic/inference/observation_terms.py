"""Log likelihoods of observations, one by one, of any distribution."""

from typing import Any

import numpy as np

from phasic.internal import static
from phasic.math import observations


def log_likelihood_terms(
  distribution: Any, lower: Any, upper: Any, entry: Any, cause: Any
) -> Any:
  """Returns log P(observation | X > entry), (..., n), without weights.

  Observations and what they are conditional on are pairs of times of one call
  of the kernel.

  Args:
    distribution: (batch...), one of `phasic.distributions`.
    lower: (..., n), as all the others.
    upper: as lower.
    entry: as lower, or None.
    cause: integers, or None.
  """
  if cause is not None:
    raise NotImplementedError("causes")
  if distribution._batch_shape():
    distribution = distribution._sliced((..., None))
  n = static.shape(lower)[-1]
  if entry is not None:
    # What is before the entry is known not to be.
    exact = lower == upper
    cut = np.maximum(lower, entry)
    lower = np.where(exact, lower, cut)
    forever = np.zeros_like(entry) + float("inf")
    lower = np.concatenate([lower, entry], axis=-1)
    upper = np.concatenate([upper, forever], axis=-1)
  initial_probs, matrix, exits, prob_zero = distribution._model()
  found = observations.log_likelihood_terms(
    initial_probs,
    matrix,
    lower,
    upper,
    exit_rates=exits,
    prob_zero=prob_zero,
  )
  return found if entry is None else found[..., :n] - found[..., n:]
