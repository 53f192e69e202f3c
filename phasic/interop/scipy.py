"""Wraps distributions with the methods of SciPy's frozen distributions.

Methods have SciPy's names and meaning, and call the distribution's methods. Only
`expect` and `dist` need SciPy itself.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import operator
from typing import Any, Self, Unpack

import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.inference.data import observations
from phasic.inference.mle import mle
from phasic.inference.mle import options as options_lib
from phasic.internal import dtypes
from phasic.internal import frameworks
from phasic.internal import late_names
from phasic.internal.arrays import ArrayLike, Result
from phasic.interop import scipy_expectations as expectations
from phasic.math.elimination import chain_calls
from phasic.math.model import value_rules


def wrap(distribution: distribution_lib.Distribution) -> Frozen:
  """Wraps a distribution with the methods of SciPy's frozen distributions.

  Args:
    distribution: one whose values are numbers, with any batch shape.

  Returns:
    `FrozenContinuous`, or of counts `FrozenDiscrete`.

  Raises:
    TypeError: it is not a distribution of phasic, or values are vectors.

  Example:

    >>> from phasic.distributions import Erlang
    >>> from phasic.interop import scipy as adapter
    >>> frozen = adapter.wrap(Erlang(3, 2.0))
    >>> print(f"{frozen.ppf(0.5):.6f} {frozen.isf(1e-300):.4f}")
    1.337030 351.5982
    >>> print(f"{frozen.fit([1.0, 2.0, 3.0]).mean():.6f}")
    2.000000
  """
  given = f"distribution is {type(distribution).__name__}"
  if not isinstance(distribution, distribution_lib.Distribution):
    raise TypeError(f"{given}: it must be a distribution of phasic")
  support = distribution.support
  if support.event_ndims:
    raise TypeError(
      f"{given}, whose values are vectors: it must be a distribution of numbers"
    )
  discrete = support.constraint == "nonnegative_integer"
  return (FrozenDiscrete if discrete else FrozenContinuous)(distribution)


def _method(name: str, theirs: str) -> Callable[[Any, ArrayLike], Result]:
  """Returns a method `name` that calls the distribution's method `theirs`."""

  def method(self: Any, x: ArrayLike) -> Result:
    return getattr(self.distribution, theirs)(self._converted(x))

  # Pickle stores a method by its name, which is therefore set here.
  method.__name__ = name
  method.__doc__ = getattr(distribution_lib.Distribution, theirs).__doc__
  return method


class Frozen:
  """The methods of SciPy's frozen distributions, continuous and discrete.

  Arguments broadcast with the batch of `distribution`, the wrapped one; numbers
  of any width are converted to its dtype. Means may be infinite, and values that
  cannot be computed are NaN, as the distribution has them. There is no location and no scale:
  with `args` and `kwds`, which are empty, `dist(*args, **kwds)` is this
  distribution as SciPy's.
  """

  def __init__(self, distribution: distribution_lib.Distribution):
    """Stores the distribution to wrap."""
    self.distribution = distribution
    self.args: tuple[()] = ()
    self.kwds: dict[str, float] = {}
    self._random_state: Any = None

  def __repr__(self) -> str:
    return f"wrap({self.distribution!r})"

  a = property(lambda self: self.support()[0], doc="The support's lower bound.")
  b = property(lambda self: self.support()[1], doc="The upper bound, or inf.")
  cdf, logcdf = _method("cdf", "cdf"), _method("logcdf", "log_cdf")
  sf = _method("sf", "survival_function")
  logsf = _method("logsf", "log_survival_function")
  # SciPy has methods with the same meaning, so that those of the distribution
  # serve as they are.
  mean = property(operator.attrgetter("distribution.mean"))
  var = property(operator.attrgetter("distribution.variance"))
  std = property(operator.attrgetter("distribution.stddev"))
  entropy = property(operator.attrgetter("distribution.entropy"))

  @functools.cached_property
  def dist(self) -> Any:
    """This distribution as an `rv_continuous` or `rv_discrete` of SciPy.

    Functions of SciPy that need a family take it. Its `fit` fits `loc` and
    `scale` (of counts `loc` alone), not parameters such as rates. There must be
    no batch, and in continuous time no atom at zero, which SciPy's
    distributions cannot have.
    """
    self.check_single("dist")
    with frameworks.needed_by("dist"):
      from phasic.interop import scipy_families
    family = scipy_families.family_of(type(self)(self.distribution))
    family.random_state = self._random_state
    return family

  @property
  def random_state(self) -> onp.random.RandomState | onp.random.Generator:
    """The random state of `rvs`; None, the default, is NumPy's global state."""
    return _state_of(self._random_state)

  @random_state.setter
  def random_state(self, state: Any) -> None:
    # None is stored as it is, because the global state is looked up at each
    # use.
    self._random_state = None if state is None else _state_of(state)
    if "dist" in vars(self):
      self.dist.random_state = self._random_state

  def ppf(self, q: ArrayLike) -> Result:
    """Computes the quantile; for counts, that of 0 is one below the least.

    It is NaN, with a warning, for q outside of [0, 1].
    """
    q = self._probabilities("ppf", "q", q)
    return self._or_below(self.distribution.quantile(q), q, 0.0)

  def isf(self, q: ArrayLike) -> Result:
    """Computes the x with P(X > x) = q, also for tiny q.

    It is NaN, with a warning, for q outside of [0, 1].
    """
    q = self._probabilities("isf", "q", q)
    with onp.errstate(divide="ignore"):
      logs = onp.log(q)
    return self._or_below(self.distribution.quantile_log_survival(logs), q, 1.0)

  def median(self) -> Result:
    """Computes the median, the quantile of 1/2."""
    return self.ppf(0.5)

  def interval(self, confidence: ArrayLike) -> tuple[Result, Result]:
    """Computes the central interval, with tails of (1 - confidence) / 2.

    Its ends are NaN, with a warning, for a confidence outside of [0, 1].
    """
    confidence = self._probabilities("interval", "confidence", confidence)
    tail = (1.0 - confidence) / 2.0
    return self.ppf(tail), self.isf(tail)

  def support(self) -> tuple[Result, Result]:
    """Returns the bounds of the support."""
    tiny = float(onp.finfo(self.distribution.dtype).tiny)
    return self.ppf(tiny if hasattr(self, "pmf") else 0.0), self.ppf(1.0)

  def moment(self, order: int) -> Result:
    """Computes the raw moment E[X^order]; it is one for order zero."""
    if isinstance(order, int) and order == 0:
      return onp.ones(self.distribution.batch_shape)[()]  # type: ignore[type-var]
    return self.distribution.moment(chain_calls.checked_order(order, "order"))

  def stats(self, moments: str = "mv") -> Result | tuple[Result, ...]:
    """Computes mean, variance, skewness or excess kurtosis, chosen by letters.

    Returns a tuple in the order m, v, s, k, or one value for a single letter.
    """
    if not moments or not set(moments) <= set("mvsk"):
      raise ValueError(
        f"moments is {moments!r}: it must have letters among m, v, s and k"
      )
    orders = [k for k, letter in enumerate("mvsk", 1) if letter in moments]
    values = tuple(expectations.statistic(self.distribution, k) for k in orders)
    return values[0] if len(values) == 1 else values

  expect = expectations.expect

  def rvs(self, size: Any = None, random_state: Any = None) -> Result:
    """Draws samples of the shape `size`, which ends with the batch shape.

    Counts are int64; if one is infinite, or too large, all are floating numbers.
    """
    batch = self.distribution.batch_shape
    shape = batch if size is None else tuple(onp.atleast_1d(size))
    kept = len(shape) - len(batch)
    if kept < 0 or shape[kept:] != batch:
      raise ValueError(
        f"size is {size!r}: it must end with the batch shape {batch}"
      )
    given = self._random_state if random_state is None else random_state
    seed: Any = _state_of(given)
    if isinstance(seed, onp.random.RandomState):
      seed = int.from_bytes(seed.bytes(16), "little")
    samples = self.distribution.sample(shape[:kept], seed=seed)
    whole = hasattr(self, "pmf") and onp.all(samples < 2.0**63)
    return onp.asarray(samples, "int64")[()] if whole else samples

  def fit(self, data: Any, **options: Unpack[options_lib.FitOptions]) -> Self:
    """Fits the distribution to data by `inference.fit_mle`, and wraps the fit.

    The search starts from this distribution. Data are exact observations, (n,),
    `scipy.stats.CensoredData`, or `inference.Observations`, censored and
    truncated as they are.
    """
    fit = mle.fit_mle(self.distribution, _observed(data), **options)
    return type(self)(fit.distribution)

  def check_single(self, user: str) -> None:
    """Raises ValueError if the distribution has a batch."""
    batch = self.distribution.batch_shape
    if batch:
      raise ValueError(
        f"batch_shape is {batch}: it must be () for {user}; index the "
        "distribution, e.g. dist[0]"
      )

  def _converted(self, x: ArrayLike) -> ArrayLike:
    """Converts real numbers of any width to the distribution's dtype.

    Other values are returned unchanged, for the distribution to refuse.
    """
    if isinstance(x, onp.ma.MaskedArray):
      return x
    try:
      array = onp.asarray(x)
    except ValueError:
      return x
    real = array.dtype.kind in "iuf"
    return onp.asarray(array, self.distribution.dtype) if real else x

  def _probabilities(self, method: str, name: str, x: ArrayLike) -> onp.ndarray:
    """Converts probabilities, and puts NaN for those outside of [0, 1].

    It warns of these, or raises with `validate_args`, by the name and the
    number that the user gave.
    """
    values = self._converted(x)
    dtypes.numeric(values, name)
    values = onp.asarray(values, self.distribution.dtype)
    rule = value_rules.PROBABILITY
    good = rule.holds_on_host(values)
    if self.distribution.validate_args:
      value_rules.check(name, values, good, rule.text)
    value_rules.warn(f"{type(self).__name__}.{method}", name, values, rule)
    return onp.where(good, values, onp.nan)

  def _or_below(self, quantiles: Result, q: onp.ndarray, end: float) -> Result:
    """Puts the number below the least count in the place of quantiles of `end`."""
    at_end = q == end
    if not (hasattr(self, "pmf") and onp.any(at_end)):
      return quantiles
    return onp.where(at_end, self.a - 1.0, quantiles)[()]


class FrozenContinuous(Frozen):
  """A wrapped continuous distribution, which may have an atom at zero.

  There `pdf` is the atom's mass, as `distribution.prob` has it.
  """

  pdf, logpdf = _method("pdf", "prob"), _method("logpdf", "log_prob")


class FrozenDiscrete(Frozen):
  """A wrapped distribution of counts, in discrete time."""

  def pmf(self, k: ArrayLike) -> Result:
    """Computes the probability mass function P(N = k)."""
    return self.distribution.prob(self._converted(k))

  def logpmf(self, k: ArrayLike) -> Result:
    """Computes log P(N = k)."""
    return self.distribution.log_prob(self._converted(k))


def _state_of(state: Any) -> onp.random.RandomState | onp.random.Generator:
  """Returns a random state as SciPy makes it, or of a SeedSequence."""
  if state is None or state is onp.random:
    # It shares the global state.
    return onp.random.RandomState(onp.random.get_bit_generator())  # type: ignore[attr-defined]
  if isinstance(state, (int, onp.integer)):
    return onp.random.RandomState(state)
  if isinstance(state, onp.random.SeedSequence):
    return onp.random.default_rng(state)
  if isinstance(state, (onp.random.RandomState, onp.random.Generator)):
    return state
  raise TypeError(
    f"random_state is {type(state).__name__}: it must be an int, a RandomState, "
    "a Generator or None"
  )


def _observed(data: Any) -> observations.Observations:
  """Converts data to `Observations`."""
  if isinstance(data, observations.Observations):
    return data
  kind = type(data)
  if kind.__name__ != "CensoredData" or kind.__module__[:6] != "scipy.":
    return observations.Observations(data)
  # SciPy has no public access to the parts of `CensoredData`.
  names = ("_uncensored", "_left", "_right", "_interval")
  exact, left, right, interval = (vars(data)[name] for name in names)
  low, high = onp.reshape(interval, (-1, 2)).T
  lower = [exact, onp.full(len(left), -onp.inf), right, low]
  upper = [exact, left, onp.full(len(right), onp.inf), high]
  return observations.Observations(*map(onp.concatenate, (lower, upper)))


__all__ = ["wrap"]
__dir__ = late_names.lister(__name__)
