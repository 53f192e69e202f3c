"""Observations of hidden states: wrong labels, and measured outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math
from typing import Any, TypeAlias

import numpy as np
import numpy as onp

from phasic import distributions
from phasic import math as math_lib
from phasic.internal import frameworks
from phasic.internal import random
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Seed

_REAL = (-math.inf, math.inf)
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class Outcome:
  """A density of a measured outcome in one state, with named parameters.

  Example: a density of one's own, Laplace's; its scale is fitted.

    >>> import numpy as np
    >>> from phasic import multistate
    >>> def log_density(y, scale):
    ...   return -np.abs(y) / scale - np.log(2.0 * scale)
    >>> noise = multistate.Outcome(log_density, {"scale": 2.0})
    >>> print(f"{float(noise.log_prob(np.asarray(1.0))):.4f}")
    -1.8863
  """

  def __init__(
    self,
    log_prob: Callable[..., ArrayLike],
    parameters: Mapping[str, ArrayLike] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    sample: Callable[..., ArrayLike] | None = None,
  ):
    """Makes an outcome.

    Args:
      log_prob: computes the log density of values (n,), given the parameters
        as arguments by name.
      parameters: values at which a fit starts, numbers by name.
      bounds: of parameters; those without are positive.
      sample: draws values (n,), given a random generator of NumPy, n, and the
        parameters by name; `simulate` needs it.

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: bounds name no parameter.
    """
    raw_arguments.check_callable("log_prob", log_prob)
    if sample is not None:
      raw_arguments.check_callable("sample", sample)
    self._log_prob = log_prob
    self._sample = sample
    self.parameters = dict(parameters or {})
    self.bounds = dict(bounds or {})
    for name in self.bounds:
      if name not in self.parameters:
        raise ValueError(
          f"bounds has {name!r}: it must be one of the parameters "
          f"{', '.join(self.parameters)}"
        )

  def log_prob(self, value: ArrayLike, **parameters: ArrayLike) -> Array:
    """Computes the log density of values, (n,)."""
    result: Any = self._log_prob(value, **{**self.parameters, **parameters})
    return result

  def sample(
    self, num_samples: int, *, seed: Seed, **parameters: ArrayLike
  ) -> onp.ndarray:
    """Draws values, (num_samples,), on the host.

    Args:
      num_samples: how many.
      seed: as for `Distribution.sample`.
      **parameters: by name; those left out are as in `parameters`.

    Raises:
      NotImplementedError: the outcome was made without `sample`.
    """
    if self._sample is None:
      raise NotImplementedError(
        "the outcome has no sample: make it with Outcome(..., sample=), a "
        "function that draws values"
      )
    numbers = {
      name: float(onp.asarray(static.concrete(x)))
      for name, x in {**self.parameters, **parameters}.items()
    }
    rng = generator(seed)
    return onp.asarray(self._sample(rng, num_samples, **numbers), onp.float64)


def generator(seed: Seed) -> onp.random.Generator:
  """Returns a generator of NumPy, given a seed as for `Distribution.sample`."""
  shares = random.uniform(random.sanitize_seed(seed), (4,), "float32")
  words = onp.asarray(static.concrete(shares), onp.float64) * 2.0**24
  return onp.random.default_rng(onp.asarray(words, onp.uint32))


# What has the density of an outcome in a state; other objects need a method
# `log_prob`.
OutcomeLike: TypeAlias = (
  Outcome | distributions.Distribution | Callable[..., ArrayLike] | object
)


def normal(mean: ArrayLike, stddev: ArrayLike) -> Outcome:
  """Returns a normal outcome.

  Args:
    mean: where a fit starts.
    stddev: likewise, > 0.

  Example:

    >>> import numpy as np
    >>> from phasic import multistate
    >>> fev = multistate.normal(100.0, 16.0)
    >>> print(f"{float(fev.log_prob(np.asarray(84.0))):.4f}")
    -4.1915
  """
  return Outcome(
    _log_normal,
    {"mean": mean, "stddev": stddev},
    {"mean": _REAL},
    lambda rng, n, mean, stddev: rng.normal(mean, stddev, n),
  )


def truncated_normal(
  mean: ArrayLike, stddev: ArrayLike, low: float, high: float
) -> Outcome:
  """Returns a normal outcome given that it is between two numbers.

  Args:
    mean: of the normal distribution before truncation, where a fit starts.
    stddev: likewise, > 0.
    low: the least value, or -inf.
    high: the largest value, or inf.

  Example:

    >>> import math
    >>> import numpy as np
    >>> from phasic import multistate
    >>> half = multistate.truncated_normal(0.0, 1.0, 0.0, math.inf)
    >>> print(f"{float(half.log_prob(np.asarray(1.0))):.4f}")
    -0.7258
  """
  if not low < high:
    raise ValueError(
      f"low is {low} and high {high}: low must be less than high"
    )

  def log_prob(value: Array, mean: Array, stddev: Array) -> Array:
    inside = (value >= low) & (value <= high)
    mass = _log_normal_mass((low - mean) / stddev, (high - mean) / stddev)
    density = _log_normal(value, mean, stddev) - mass
    return np.where(inside, density, -math.inf)

  def sample(
    rng: onp.random.Generator, n: int, mean: float, stddev: float
  ) -> onp.ndarray:
    with frameworks.needed_by("samples of a truncated normal outcome"):
      from scipy import stats

    ends = (low - mean) / stddev, (high - mean) / stddev
    drawn = stats.truncnorm.rvs(*ends, size=n, random_state=rng)
    return mean + stddev * onp.asarray(drawn)

  return Outcome(
    log_prob, {"mean": mean, "stddev": stddev}, {"mean": _REAL}, sample
  )


def poisson(rate: ArrayLike) -> Outcome:
  """Returns a count with a Poisson distribution.

  Args:
    rate: its mean, where a fit starts, > 0.

  Example:

    >>> import numpy as np
    >>> from phasic import multistate
    >>> visits = multistate.poisson(2.0)
    >>> print(f"{float(visits.log_prob(np.asarray(0.0))):.4f}")
    -2.0000
  """
  return Outcome(
    _log_poisson,
    {"rate": rate},
    sample=lambda rng, n, rate: rng.poisson(rate, n),
  )


def _log_normal(value: Array, mean: Array, stddev: Array) -> Array:
  z = (value - mean) / stddev
  return -0.5 * z * z - np.log(stddev) - _HALF_LOG_TWO_PI


# Nodes and weights of Gauss and Legendre on [0, 1]. The integrand falls by at
# most e^-40 there, which so many nodes integrate to full precision.
_NODES, _WEIGHTS = onp.polynomial.legendre.leggauss(48)
_NODES, _WEIGHTS = 0.5 + 0.5 * _NODES, 0.5 * _WEIGHTS
_FALL = 40.0


def _log_normal_mass(low: Array, high: Array) -> Array:
  """Computes the log probability that a standard normal is in (low, high).

  It is integrated outwards from its largest density in the interval, so that
  nothing is subtracted, in the tails too.
  """
  mode = np.minimum(np.maximum(low, 0.0), high)
  both = [_fallen_mass(mode, high - mode), _fallen_mass(-mode, mode - low)]
  return np.log(both[0] + both[1]) - 0.5 * mode * mode - _HALF_LOG_TWO_PI


def _fallen_mass(slope: Array, length: Array) -> Array:
  """Integrates exp(-slope u - u^2 / 2) over [0, length]; zero for length 0.

  The slope is >= 0 unless the length is zero.
  """
  fixed = math_lib.stop_gradient(np.maximum(slope, 0.0))
  # Beyond this length the integrand has fallen by e^-40.
  end = 2.0 * _FALL / (fixed + np.sqrt(fixed * fixed + 2.0 * _FALL))
  length = np.minimum(length, end)
  u = length[..., None] * structures.cast(_NODES, static.dtype_name(length))
  values = np.exp(-slope[..., None] * u - 0.5 * u * u)
  weights = structures.cast(_WEIGHTS, static.dtype_name(length))
  return length * np.sum(values * weights, axis=-1)


# Logarithms of the factorials 0!, 1!, ...; above them Stirling's series is exact.
_LOG_FACTORIALS = onp.concatenate(
  [[0.0], onp.cumsum(onp.log(onp.arange(1.0, 256.0)))]
)


def _log_poisson(value: Array, rate: Array) -> Array:
  """Computes the log probability of a count; -inf unless it is whole, >= 0."""
  is_count = (value >= 0.0) & (np.floor(value) == value)
  count = np.where(is_count, value, 0.0)
  size = len(_LOG_FACTORIALS)
  table = structures.cast(_LOG_FACTORIALS, static.dtype_name(count))
  index = structures.cast(np.minimum(count, size - 1.0), "int32")
  x = np.maximum(count, size - 1.0)
  series = (1.0 - 1.0 / (30.0 * x * x)) / (12.0 * x)
  large = (x + 0.5) * np.log(x) - x + _HALF_LOG_TWO_PI + series
  log_factorial = np.where(count < size, np.take(table, index, axis=0), large)
  log_prob = count * np.log(rate) - rate - log_factorial
  return np.where(is_count, log_prob, -math.inf)


def as_outcome(name: str, x: Any) -> Any:
  """Returns what has a log density, of a function or a distribution.

  Raises:
    TypeError: it is something else.
  """
  if isinstance(x, (Outcome, distributions.Distribution)):
    return x
  if callable(getattr(x, "log_prob", None)):
    return Outcome(x.log_prob)
  if callable(x):
    return Outcome(x)
  raise TypeError(
    f"{name} is {raw_arguments.shown(x)}: it must be an outcome such as "
    "multistate.normal(0.0, 1.0), a distribution, or a function that computes "
    "log densities"
  )
