"""The log likelihood of arrays of observations."""

from __future__ import annotations

from phasic.inference.data import observations
from phasic.inference.parameters.distribution_types import Distribution
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike


def log_likelihood(
  distribution: Distribution,
  lower: ArrayLike,
  upper: ArrayLike | None = None,
  weights: ArrayLike | None = None,
  entry: ArrayLike | None = None,
  cause: ArrayLike | None = None,
) -> Array:
  """Returns the log likelihood of observations, summed over the last axis.

  It is `Observations(lower, ...).log_likelihood(distribution)`, where
  arguments, formulas and errors are told. Many calls with the same data are
  quicker by way of that: values are checked once.

  Args:
    distribution: (batch...), one of `phasic.distributions`.
    lower: (..., n), as all the others; see `Observations`.
    upper: (..., n); None where all are exact.
    weights: (..., n); None for ones.
    entry: (..., n); None where nothing is truncated.
    cause: (..., n), integers; None where no cause is known.

  Returns:
    The sum for each distribution and data set, (...): the leading axes of the
    observations broadcast with the batch.

  Example: an event at 0.5, one after 2, and one between 1 and 2.

    >>> import math
    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> value = inference.log_likelihood(
    ...   Erlang(2, 1.0), [0.5, 2.0, 1.0], [0.5, math.inf, 2.0]
    ... )
    >>> print(f"{float(value):.6f}")
    -3.203946
  """
  if isinstance(lower, observations.Observations):
    raise TypeError(
      "lower is Observations: observations.log_likelihood(distribution) is "
      "theirs, log_likelihood takes arrays"
    )
  data = observations.Observations(lower, upper, weights, entry, cause)
  return data.log_likelihood(distribution)
