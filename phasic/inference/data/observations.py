"""Observations: exact, censored, truncated and weighted values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import numpy as np
import numpy as onp

from phasic.distributions.base import adopted_dtypes
from phasic.distributions.base import distribution as distributions
from phasic.distributions.base import hooks
from phasic.distributions.base import inferring
from phasic.inference.data import observation_makers
from phasic.inference.data import observation_rules
from phasic.inference.data import observation_terms
from phasic.inference.parameters.host_values import host_values
from phasic.internal import dtypes
from phasic.internal import halves
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Result
from phasic.math.numeric import array_utils
from phasic.saving import saved
from phasic.saving import texts

_T = TypeVar("_T")


@structures.register
class Observations(observation_makers.ObservationMakers, saved.Saved):
  """Observations of n values, each known exactly or to lie in an interval.

  Of X it is known that it lies between `lower` and `upper`:

      lower == upper:  X is there                log f(lower)
      upper == inf:    right-censored            log P(X > lower)
      lower < 0:       left-censored             log P(X <= upper)
      else:            interval-censored         log P(lower < X <= upper)

  The first that holds counts. f is the density, in discrete time the
  probability. P(X <= upper) has an atom at zero in it; a zero itself is an
  exact observation.

  With a time of entry e >= 0 the value would not have been observed had it not
  been above e (it is left-truncated): all is then conditional on X > e, and
  what of (lower, upper] is before e is cut off. The log likelihood is NaN where
  log P(X > e) is below -2.8e8 (-8.4e3 in float32), as the difference of two
  logarithms has less than six digits (three) there.

  There may be none, n = 0: the log likelihood is zero then. Fits and estimates
  ask for at least one.

  With a cause c the path is known to have ended by `graph.causes[c]`: the
  density and the probabilities are joint ones of the time and the cause.

  A structure of arrays: in JAX a pytree. Its arrays are copies, in NumPy
  read-only ones. Values are checked when it is made, where they are known;
  traced ones that break a rule give NaN (TensorFlow raises when the function
  runs).

  Attributes:
    lower: (..., n).
    upper: (..., n).
    weights: (..., n), or None for ones.
    entry: (..., n), below zero for none; or None.
    cause: (..., n) integers, -1 for unknown; or None.

  Example: an event at 0.5, one after 2, and one between 1 and 2.

    >>> import math
    >>> from phasic.distributions import Erlang
    >>> from phasic.inference import Observations
    >>> data = Observations([0.5, 2.0, 1.0], [0.5, math.inf, 2.0])
    >>> print(f"{float(data.log_likelihood(Erlang(2, 1.0))):.6f}")
    -3.203946

  References:
    J. P. Klein, M. L. Moeschberger, Survival analysis, 2003, ch. 3.
    M. Olsson, Estimation of phase-type distributions from censored data,
      Scand. J. Statist. 23, 1996.
  """

  _NOT_PICKLED = ("_kept",)

  def __init__(
    self,
    lower: ArrayLike,
    upper: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    cause: ArrayLike | None = None,
  ):
    """Makes observations from arrays that broadcast with each other.

    Args:
      lower: (..., n), times, or counts of steps; finite, or below zero (-inf
        too) where values are left-censored.
      upper: (..., n), >= 0 and not below `lower`; None for `lower`,
        observations that are all exact.
      weights: (..., n), how often each was observed, finite and >= 0; None for
        once.
      entry: (..., n), times of entry, below zero for none; None for none at
        all.
      cause: (..., n), integers, -1 where the cause is not known; None for none.

    Raises:
      TypeError: dtypes differ, or are complex or bool, or
        causes are not integers.
      ValueError: shapes do not fit, or a value breaks a rule: the message has
        the argument, the first such value and the rule.
    """
    given = {"lower": lower, "upper": upper, "weights": weights, "entry": entry}
    dtypes.numeric(lower, "lower")
    dtype = dtypes.common_dtype(given)
    arrays: dict[str, Array | None] = {
      name: None
      if x is None
      else structures.as_array(x, dtype, name, copy=True)
      for name, x in given.items()
    }
    if isinstance(cause, onp.ndarray):
      cause = onp.array(cause)
    arrays["cause"] = (
      None if cause is None else structures.as_index_array(cause, "cause")
    )
    self._arrays = observation_rules.checked(observation_rules.aligned(arrays))
    structures.make_lasting(self._arrays.values())

  def __setstate__(self, state: dict[str, object]) -> None:
    # Copying and pickling lose the read-only flag of arrays, which is set again
    # here.
    super().__setstate__(state)
    structures.make_lasting(self._arrays.values())

  def _saved_parts(self) -> dict[str, Array | None]:
    return self._arrays

  @classmethod
  def _from_saved_parts(cls, parts: dict[str, Any]) -> Self:
    texts.check_keys(parts, observation_rules.NAMES, "parameters")
    return cls(**parts)

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return observation_rules.NAMES

  def _parts(self) -> Mapping[str, object]:
    return self._arrays

  @classmethod
  def _unflatten(cls, parts: Mapping[str, object]) -> Observations:
    instance = object.__new__(cls)
    instance._arrays = dict(parts)
    return instance

  def __repr__(self) -> str:
    given = [name for name, x in self._arrays.items() if x is not None]
    shape = getattr(self.lower, "shape", "unknown")
    return f"<Observations shape={shape}, with {', '.join(given)}>"

  @property
  def lower(self) -> Array:
    """The lower ends of the intervals, an array of shape (..., n)."""
    return self._arrays["lower"]

  @property
  def upper(self) -> Array:
    """The upper ends of the intervals, equal to `lower` for exact values.

    The shape is (..., n).
    """
    upper = self._arrays["upper"]
    return self.lower if upper is None else upper

  @property
  def weights(self) -> Array | None:
    """The weights, an array of shape (..., n), or None if all are one."""
    return self._arrays["weights"]

  @property
  def entry(self) -> Array | None:
    """The entry times, of shape (..., n), or None without delayed entry."""
    return self._arrays["entry"]

  @property
  def cause(self) -> Array | None:
    """The causes of absorption, indices of shape (..., n), or None."""
    return self._arrays["cause"]

  def log_likelihood(self, distribution: distributions.Distribution) -> Result:
    """Computes the weighted sum of the observations' log likelihoods.

    The sum is over the last axis. It has exact derivatives in the parameters of
    the distribution and in the times, as the distribution's methods have.

    Args:
      distribution: (batch...), one of `phasic.distributions` of one variable;
        the batch broadcasts with the leading axes of the observations.

    Raises:
      NotImplementedError: the distribution has no cdf.
      TypeError: it is not a distribution, dtypes differ, or there are causes
        and it is not made of a graph.
      ValueError: batches do not broadcast, a count is not whole, or there is no
        such cause.
    """
    distribution = self._fitting(distribution)
    converted = in_dtype_of(self, distribution)
    lower, upper, weights, entry, cause = converted.counting()
    terms = observation_terms.log_likelihood_terms(
      distribution, lower, upper, entry, cause
    )
    if weights is not None:
      terms = weights * np.where(weights != 0, terms, 0.0)
    total = np.sum(terms, axis=-1)
    if array_utils.has_nan(total):
      observation_rules.warn_of_nan(distribution, lower, upper, entry, terms)
    return structures.as_result(total)

  def log_likelihood_terms(
    self, distribution: distributions.Distribution
  ) -> Array:
    """Computes the log likelihood of each observation, without weights.

    The result has shape (..., n). Argument and errors are as for
    `log_likelihood`.
    """
    distribution = self._fitting(distribution)
    converted = in_dtype_of(self, distribution)
    lower, upper, _, entry, cause = (
      converted._arrays[name]  # noqa: SLF001
      for name in observation_rules.NAMES
    )
    terms = observation_terms.log_likelihood_terms(
      distribution, lower, upper, entry, cause
    )
    if array_utils.has_nan(terms):
      observation_rules.warn_of_nan(distribution, lower, upper, entry, terms)
    return terms

  def _fitting(
    self, distribution: distributions.Distribution
  ) -> distributions.Distribution:
    """Returns a distribution in the dtype in which likelihoods are computed."""
    distribution = halves.as_single(distribution)
    return adopted_dtypes.adopted(distribution, self.lower)

  def counting(
    self,
  ) -> tuple[Array, Array | None, Array | None, Array | None, Array | None]:
    """Returns the arrays, with placeholders for observations of weight zero.

    Thus impossible values of weight zero have no effect. `upper` is None if all
    observations are exact, which halves the number of times to evaluate.
    """
    lower, upper, weights, entry, cause = (
      self._arrays[name] for name in observation_rules.NAMES
    )
    if weights is None:
      return lower, upper, None, entry, cause
    counts = weights != 0
    if upper is None:
      lower = np.where(counts, lower, 1.0)
    else:
      lower = np.where(counts, lower, -1.0)
      upper = np.where(counts, upper, float("inf"))
    entry = None if entry is None else np.where(counts, entry, -1.0)
    cause = None if cause is None else np.where(counts, cause, -1)
    return lower, upper, weights, entry, cause

  def check_fits(self, distribution: object) -> None:
    """Raises unless the observations are compatible with a distribution.

    Raises:
      TypeError: it is not a distribution of one variable, or dtypes differ.
      ValueError: batches do not broadcast.
    """
    hooks.check_distribution("distribution", distribution)
    assert isinstance(distribution, distributions.Distribution)
    kind = type(distribution).__name__
    if distribution.event_shape:
      raise TypeError(
        f"distribution is {kind}, a distribution of vectors: it must have one "
        "variable, e.g. marginal(r)"
      )
    times_dtype = static.dtype_name(self.lower)
    dtype = halves.as_single(distribution).dtype
    is_free = adopted_dtypes.is_weak(distribution) or dtypes.is_narrower(
      self.lower, "lower", dtype
    )
    if dtype != times_dtype and not is_free:
      raise TypeError(
        f"distribution is {dtype} and the observations are {times_dtype}: "
        "floating arguments must have one dtype"
      )
    batch = inferring.batch_shape(distribution)
    leading = static.shape(self.lower)[:-1]
    try:
      static.broadcast_shapes(batch, leading)
    except ValueError:
      raise ValueError(
        f"distribution has batch shape {batch} and the observations have shape "
        f"{static.shape(self.lower)}: the leading axes of the observations must "
        "broadcast with the batch"
      ) from None


def in_dtype_of(
  observations: Observations, distribution: distributions.Distribution
) -> Observations:
  """Converts observations to the dtype of a distribution, after checks.

  It raises as `check_fits`.
  """
  observations.check_fits(distribution)
  dtype = distribution.dtype
  if static.dtype_name(observations.lower) == dtype:
    return observations
  return Observations._unflatten(  # noqa: SLF001
    {
      name: x if x is None or name == "cause" else structures.cast(x, dtype)
      for name, x in observations._parts().items()  # noqa: SLF001
    }
  )


def with_weights(
  observations: Observations, weights: onp.ndarray
) -> Observations:
  """Returns the same observations with other weights, (n,), on the host."""
  dtype = static.dtype_name(observations.lower)
  arrays = {**observations._parts(), "weights": structures.cast(weights, dtype)}  # noqa: SLF001
  return Observations._unflatten(arrays)  # noqa: SLF001


def check_data(observations: object) -> None:
  """Raises unless the argument is an `Observations` that is not empty.

  Raises:
    TypeError: it is something else.
    ValueError: there is no observation.
  """
  if not isinstance(observations, Observations):
    raise TypeError(
      f"observations is {type(observations).__name__}: it must be "
      "inference.Observations"
    )
  shape = static.shape(observations.lower)
  if isinstance(shape[-1], int) and shape[-1] == 0:
    raise ValueError(
      f"observations is empty, of shape {shape}: it must be (..., n) with "
      "n > 0, at least one observation"
    )


def host_arrays(
  observations: Observations,
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray]:
  """Returns lower ends, upper ends and weights as host arrays."""
  lower = host_values("lower", observations.lower)
  upper = host_values("upper", observations.upper)
  if observations.weights is None:
    return lower, upper, onp.ones(onp.shape(lower))
  return lower, upper, host_values("weights", observations.weights)


def middles(lower: onp.ndarray, upper: onp.ndarray) -> onp.ndarray:
  """Returns the midpoints of intervals; lower ends if right-censored."""
  start = onp.maximum(lower, 0.0)
  # The ends are halved before they are added, so that the sum does not
  # overflow.
  return start / 2 + onp.where(upper < onp.inf, upper, start) / 2


def kept(observations: Observations, key: object, make: Callable[[], _T]) -> _T:
  """Makes a result once for each key, and keeps it with the observations."""
  results: dict[object, _T] = observations.__dict__.setdefault("_kept", {})
  if key not in results:
    results[key] = make()
  return results[key]


def total_weight(observations: Observations) -> float:
  """Returns the sum of the weights."""
  _, _, weights = host_arrays(observations)
  return float(onp.sum(weights))
