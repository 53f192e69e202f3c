"""Wraps distributions with the methods of SciPy's frozen distributions.

Methods have SciPy's names and meaning; what is computed is the distribution's
own. SciPy itself is needed for `expect` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

import numpy as np
import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import inferring
from phasic.inference.data import observations
from phasic.inference.mle import mle
from phasic.internal import late_names
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.internal.arrays import Seed
from phasic.interop import scipy_expectations as expectations


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
  """
  if not isinstance(distribution, distribution_lib.Distribution):
    raise TypeError(
      f"distribution is {type(distribution).__name__}: it must be a distribution "
      "of phasic"
    )
  support = distribution.support
  if support.event_ndims:
    raise TypeError(
      f"distribution is {type(distribution).__name__}, whose values are "
      "vectors: it must be a distribution of numbers"
    )
  discrete = support.constraint == "nonnegative_integer"
  return (FrozenDiscrete if discrete else FrozenContinuous)(distribution)


class Frozen:
  """The base class of frozen continuous and discrete distributions.

  Arguments broadcast with the batch of `distribution`. Means are infinite, and
  what cannot be computed is NaN, as the distribution has it. There is no
  location and no scale.

  Attributes:
    distribution: the wrapped distribution.
  """

  def __init__(self, distribution: distribution_lib.Distribution):
    """Stores the distribution to wrap."""
    self.distribution = distribution

  def cdf(self, x: ArrayLike) -> Result:
    """Returns P(X <= x)."""
    return _plain(self.distribution.cdf(x))

  def logcdf(self, x: ArrayLike) -> Result:
    """Returns log P(X <= x)."""
    return _plain(self.distribution.log_cdf(x))

  def sf(self, x: ArrayLike) -> Result:
    """Returns P(X > x)."""
    return _plain(self.distribution.survival_function(x))

  def logsf(self, x: ArrayLike) -> Result:
    """Returns log P(X > x)."""
    return _plain(self.distribution.log_survival_function(x))

  def ppf(self, q: ArrayLike) -> Result:
    """Computes the quantile inf{x: P(X <= x) >= q}; NaN outside of [0, 1]."""
    return _plain(self.distribution.quantile(q))

  def isf(self, q: ArrayLike) -> Result:
    """Computes the x with P(X > x) = q, also for tiny q."""
    with onp.errstate(divide="ignore", invalid="ignore"):
      logs = onp.log(onp.asarray(q, dtype=self.distribution.dtype))
    return _plain(self.distribution.quantile_log_survival(logs))

  def median(self) -> Result:
    """Computes the median, the quantile of 1/2."""
    return self.ppf(0.5)

  def mean(self) -> Result:
    """Returns the mean."""
    return _plain(self.distribution.mean())

  def var(self) -> Result:
    """Returns the variance."""
    return _plain(self.distribution.variance())

  def std(self) -> Result:
    """Returns the standard deviation."""
    return _plain(self.distribution.stddev())

  def moment(self, order: int) -> Result:
    """Computes the raw moment E[X^order]; it is one for order zero."""
    if isinstance(order, int) and order == 0:
      return _plain(onp.ones(inferring.batch_shape(self.distribution)))
    return _plain(self.distribution.moment(order))

  def entropy(self) -> Result:
    """Computes the entropy in nats."""
    return _plain(self.distribution.entropy())

  def stats(self, moments: str = "mv") -> Result | tuple[Result, ...]:
    """Computes mean, variance, skewness or excess kurtosis, by their letters.

    The last two are made of raw moments or, where these would lose their
    digits, by quadrature, to 1e-9 (float32: 1e-4) or they are NaN.

    Args:
      moments: which ones, some of the letters m, v, s, k.

    Returns:
      A tuple in that order; one alone where one is asked for.

    Raises:
      ValueError: there is another letter.
    """
    if not moments or not set(moments) <= set("mvsk"):
      raise ValueError(
        f"moments is {moments!r}: it must have letters among m, v, s and k"
      )
    functions: dict[str, Callable[[], Result]] = {
      "m": self.mean,
      "v": self.var,
      "s": self._skewness,
      "k": self._kurtosis,
    }
    found = tuple(functions[letter]() for letter in "mvsk" if letter in moments)
    return found[0] if len(found) == 1 else found

  def interval(self, confidence: ArrayLike) -> tuple[Result, Result]:
    """Computes the central interval, with tails of (1 - confidence) / 2."""
    tail = (1.0 - onp.asarray(confidence, self.distribution.dtype)) / 2.0
    return self.ppf(tail), self.isf(tail)

  def support(self) -> tuple[Result, Result]:
    """Returns the bounds of the support."""
    return self.ppf(self._lowest()), self.ppf(1.0)

  def rvs(
    self,
    size: int | Sequence[int] | None = None,
    random_state: Seed | onp.random.RandomState | None = None,
  ) -> Result:
    """Draws samples, with the batch shape as the last dimensions.

    Args:
      size: their shape, an int or a tuple, whose last dimensions are those of
        the batch; None, and 1 without a batch, for one sample.
      random_state: an int, SeedSequence or Generator, which repeat; or a
        RandomState, of which a seed is drawn. None is new at each call.

    Raises:
      ValueError: the size does not end with the batch shape.
    """
    batch = self.distribution.batch_shape
    whole = () if size is None else tuple(onp.atleast_1d(size))
    if size is None:
      whole = batch
    elif whole == (1,) and not batch:
      whole = ()
    kept = len(whole) - len(batch)
    if kept < 0 or tuple(whole[kept:]) != tuple(batch):
      raise ValueError(
        f"size is {size!r}: it must end with the batch shape {batch}"
      )
    seed = random_state
    if seed is None:
      seed = onp.random.default_rng()
    elif isinstance(seed, onp.random.RandomState):
      seed = int(seed.randint(2**31))
    return _plain(self.distribution.sample(whole[:kept], seed=seed))

  def expect(
    self,
    func: Callable[[Result], ArrayLike] | None = None,
    lb: float | None = None,
    ub: float | None = None,
    conditional: bool = False,
  ) -> float:
    """Computes E[func(X)] over lb <= X <= ub; there must be no batch.

    An atom at zero counts. In continuous time it is by `scipy.integrate.quad`
    between quantiles; where that has an error above 1e-8 of what it adds it is
    NaN, with a warning.

    Args:
      func: a function of a number, in discrete time of an array; None is the
        number itself.
      lb: the lower bound; None for the lower end of the support.
      ub: the upper one.
      conditional: whether to divide by P(lb <= X <= ub).

    Raises:
      ModuleNotFoundError: SciPy is not installed.
      ValueError: there is a batch, or there are more than ten million counts.
    """
    if self.distribution.batch_shape:
      raise ValueError(
        f"batch_shape is {self.distribution.batch_shape}: it must be () for "
        "expect; index the distribution, e.g. dist[0]"
      )
    first, last = (float(x) for x in self.support())
    low = first if lb is None else max(first, float(lb))
    high = last if ub is None else min(last, float(ub))
    if low > high:
      return float("nan") if conditional else 0.0
    log_mass = expectations.log_mass(self, low, high)
    if not log_mass > -onp.inf:
      return float("nan") if conditional else float(onp.exp(log_mass))
    found = self._expect(func or (lambda x: x), low, high, log_mass)
    return found if conditional else found * float(onp.exp(log_mass))

  def fit(
    self,
    data: ArrayLike | observations.Observations,
    **options: Unpack[mle.FitOptions],
  ) -> Frozen:
    """Fits the distribution to data by maximum likelihood, and wraps the fit.

    Where SciPy's families search among all their distributions, this one starts
    from its own, and keeps its structure: see `inference.fit_mle`, which has standard
    errors too, and `inference.initial_guess` for a start.

    Args:
      data: exact observations, (n,), or `inference.Observations`, censored and
        truncated as they are.
      **options: options of `inference.fit_mle`: `fixed`, `tied`, `bounds`,
        `num_starts` and so on.

    Raises:
      TypeError: data are not numbers; SciPy's `CensoredData` are not taken.
      ValueError: as `inference.fit_mle`.

    Example:

      >>> from phasic.distributions import Erlang
      >>> from phasic.interop import scipy as adapter
      >>> fitted = adapter.wrap(Erlang(2, 1.0)).fit([1.0, 2.0, 3.0])
      >>> print(f"{fitted.mean():.6f}")
      2.000000
    """
    if not isinstance(data, observations.Observations):
      data = observations.Observations(data)
    return wrap(mle.fit_mle(self.distribution, data, **options).distribution)

  def _lowest(self) -> float:
    """Returns the probability whose quantile is the least value."""
    raise NotImplementedError

  def _expect(
    self,
    func: Callable[[Result], ArrayLike],
    low: float,
    high: float,
    log_mass: float,
  ) -> float:
    """Computes E[func(X)] given low <= X <= high, of log mass `log_mass`."""
    raise NotImplementedError

  def below(self, low: float) -> float:
    """Returns the largest x for which P(X <= x) excludes `low`."""
    raise NotImplementedError

  def _skewness(self) -> Result:
    mean, second, third = (self.moment(k) for k in (1, 2, 3))
    central = third - mean * (3.0 * second - 2.0 * mean**2)
    size = third + mean * (3.0 * second + 2.0 * mean**2)
    return expectations.standardized(self, 3, central, size)

  def _kurtosis(self) -> Result:
    mean, second, third, fourth = (self.moment(k) for k in (1, 2, 3, 4))
    inner = 6.0 * second - 3.0 * mean**2
    central = fourth - mean * (4.0 * third - mean * inner)
    size = fourth + mean * (4.0 * third + mean * (6.0 * second + 3.0 * mean**2))
    return expectations.standardized(self, 4, central, size) - 3.0


class FrozenContinuous(Frozen):
  """A wrapped continuous distribution, which may have an atom at zero.

  There `pdf` is the atom's mass, as `distribution.prob` has it.
  """

  def pdf(self, x: ArrayLike) -> Result:
    """Computes the probability density."""
    return _plain(self.distribution.prob(x))

  def logpdf(self, x: ArrayLike) -> Result:
    """Computes the log of the probability density."""
    return _plain(self.distribution.log_prob(x))

  def _lowest(self) -> float:
    return 0.0

  def _expect(
    self,
    func: Callable[[Result], ArrayLike],
    low: float,
    high: float,
    log_mass: float,
  ) -> float:
    return expectations.continuous(self, func, low, high, log_mass)

  def below(self, low: float) -> float:
    return low if low > 0.0 else -1.0


class FrozenDiscrete(Frozen):
  """A wrapped distribution of counts, in discrete time."""

  def pmf(self, k: ArrayLike) -> Result:
    """Computes the probability mass function P(N = k)."""
    return _plain(self.distribution.prob(k))

  def logpmf(self, k: ArrayLike) -> Result:
    """Computes log P(N = k)."""
    return _plain(self.distribution.log_prob(k))

  def _lowest(self) -> float:
    return float(onp.finfo(self.distribution.dtype).tiny)

  def _expect(
    self,
    func: Callable[[Result], ArrayLike],
    low: float,
    high: float,
    log_mass: float,
  ) -> float:
    return expectations.discrete(self, func, low, high, log_mass)

  def below(self, low: float) -> float:
    return float(onp.ceil(low)) - 1.0


def _plain(x: ArrayLike) -> Result:
  """Returns an array, or a scalar if it has no dimensions."""
  return np.asarray(x)[()]


__all__ = ["wrap"]
__dir__ = late_names.lister(__name__)
