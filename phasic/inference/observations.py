"""What is known of values that were observed, perhaps in part."""

from typing import Any

import numpy as np

from phasic.inference import observation_terms
from phasic.internal import static
from phasic.internal import structures


@structures.register
class Observations:
  """What is known of n values, each of them exactly or in part.

  Of X it is known that it lies between `lower` and `upper`:

      lower == upper:  X is there                log f(lower)
      upper == inf:    right-censored            log P(X > lower)
      lower < 0:       left-censored             log P(X <= upper)
      else:            interval-censored         log P(lower < X <= upper)

  The first that holds counts. P(X <= upper) has an atom at zero in it; zeros
  themselves are exact observations.

  Attributes:
    lower: (..., n), an array.
    upper: (..., n), an array of the same shape.
    weights: (..., n), how often each was observed, or None for once.
    entry: (..., n), times of entry e: that X > e was known when the observation
      began, and it would not have been made otherwise. Below zero for none; or
      None for none at all.
    cause: (..., n) integers, numbers of causes of absorption, -1 for unknown;
      or None.
  """

  def __init__(
    self,
    lower: Any,
    upper: Any = None,
    weights: Any = None,
    entry: Any = None,
    cause: Any = None,
  ):
    """Takes arrays, which broadcast with each other.

    Args:
      lower: (..., n).
      upper: (..., n); None for `lower`, observations that are all exact.
      weights: (..., n), >= 0, or None.
      entry: (..., n), or None.
      cause: (..., n) integers, or None.
    """
    given = {"lower": lower, "upper": upper, "weights": weights, "entry": entry}
    dtype = structures.common_dtype(given)
    arrays = {
      name: None if x is None else structures.as_array(x, dtype, name)
      for name, x in given.items()
    }
    if arrays["upper"] is None:
      arrays["upper"] = arrays["lower"]
    if cause is not None:
      cause = structures.as_index_array(cause, "cause")
    found = {**arrays, "cause": cause}
    shape = static.broadcast_shapes(
      *(static.shape(x) for x in found.values() if x is not None)
    )
    self._arrays = {
      name: None if x is None else np.broadcast_to(x, shape)
      for name, x in found.items()
    }

  @classmethod
  def exact(cls, times: Any) -> "Observations":
    """Returns observations of values that are all known, (..., n)."""
    return cls(times)

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return ("lower", "upper", "weights", "entry", "cause")

  def _parts(self) -> dict[str, Any]:
    return self._arrays

  @classmethod
  def _unflatten(cls, parts: dict[str, Any]) -> "Observations":
    instance = object.__new__(cls)
    instance._arrays = dict(parts)
    return instance

  @property
  def lower(self) -> Any:
    """The lower ends, (..., n)."""
    return self._arrays["lower"]

  @property
  def upper(self) -> Any:
    """The upper ends, (..., n)."""
    return self._arrays["upper"]

  @property
  def weights(self) -> Any:
    """The weights, (..., n), or None."""
    return self._arrays["weights"]

  @property
  def entry(self) -> Any:
    """The times of entry, (..., n), or None."""
    return self._arrays["entry"]

  @property
  def cause(self) -> Any:
    """The numbers of the causes, (..., n), or None."""
    return self._arrays["cause"]

  def log_likelihood(self, distribution: Any) -> Any:
    """Returns the sum of weights times log likelihoods, (...).

    Args:
      distribution: (batch...); the batch broadcasts with the leading axes of
        the observations.
    """
    terms = self.log_likelihood_terms(distribution)
    if self.weights is not None:
      terms = np.where(self.weights > 0, self.weights * terms, 0.0)
    return structures.as_result(np.sum(terms, axis=-1))

  def log_likelihood_terms(self, distribution: Any) -> Any:
    """Returns the log likelihoods one by one, (..., n), without weights."""
    return observation_terms.log_likelihood_terms(
      distribution, self.lower, self.upper, self.entry, self.cause
    )
