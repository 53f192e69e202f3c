"""The base class of frozen distributions for `interop.scipy`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, Unpack

import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.inference.mle import mle
from phasic.internal import dtypes
from phasic.internal import frameworks
from phasic.internal import raw_arguments
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.interop import scipy_arguments as arguments
from phasic.interop import scipy_expectations as expectations
from phasic.interop import scipy_statistics


class Frozen(scipy_statistics.Statistics):
  """The base class of frozen continuous and discrete distributions.

  Arguments broadcast with the batch of `distribution`; numbers of any width are
  converted to its dtype. Means are infinite, and what cannot be computed is NaN,
  as the distribution has it. There is no location and no scale, see `dist`.

  Attributes:
    distribution: the wrapped distribution.
    args: no shape parameters, so that `dist(*args, **kwds)` is this
      distribution as SciPy's.
  """

  args: tuple[()] = ()

  def __init__(self, distribution: distribution_lib.Distribution):
    """Stores the distribution to wrap."""
    self.distribution = distribution
    self._random_state: arguments.RandomState | None = None
    self._dist: Any = None

  def __repr__(self) -> str:
    return f"wrap({self.distribution!r})"

  @property
  def kwds(self) -> dict[str, float]:
    """No location and no scale."""
    return {}

  @property
  def a(self) -> Result:
    """The lower bound of the support."""
    return self.support()[0]

  @property
  def b(self) -> Result:
    """The upper bound of the support, inf if there is none."""
    return self.support()[1]

  @property
  def dist(self) -> Any:
    """The distribution as an instance of a class of SciPy's.

    It is a `scipy.stats.rv_continuous`, or of counts a `scipy.stats.rv_discrete`,
    without shape parameters. Its methods take `loc` and `scale`, or of counts
    `loc`, and compute with those of the wrapped distribution. By it functions
    that need a family of SciPy's work, for example

        goodness_of_fit(frozen.dist, x, known_params={"loc": 0, "scale": 1})

    which tests for this distribution, or without `known_params` for a shift and
    a multiple of it. Parameters such as rates are no parameters of it: `fit` of
    `dist` fits the shift and the multiple alone.

    Raises:
      ModuleNotFoundError: SciPy is not installed.
      ValueError: there is a batch, or a continuous distribution has an atom at
        zero, which SciPy's cannot have.
    """
    if self._dist is None:
      batch = self.distribution.batch_shape
      if batch:
        raise ValueError(
          f"batch_shape is {batch}: it must be () for dist; index the "
          "distribution, e.g. dist[0]"
        )
      with frameworks.needed_by("dist"):
        from phasic.interop import scipy_families
      family = scipy_families.family_of(type(self)(self.distribution))
      family.random_state = self._random_state
      self._dist = family
    return self._dist

  @property
  def random_state(self) -> arguments.RandomState:
    """The state that `rvs` draws from; by default NumPy's global one.

    It may be set to an int, a RandomState or a Generator, or to None for the
    global state, which `numpy.random.seed` sets.
    """
    return arguments.random_state(self._random_state)

  @random_state.setter
  def random_state(self, state: arguments.StateLike) -> None:
    # The global state is looked up at each use.
    given = None if state is None else arguments.random_state(state)
    self._random_state = given
    if self._dist is not None:
      self._dist.random_state = given

  def cdf(self, x: ArrayLike) -> Result:
    """Returns P(X <= x)."""
    return self.evaluated(self.distribution.cdf, x)

  def logcdf(self, x: ArrayLike) -> Result:
    """Returns log P(X <= x)."""
    return self.evaluated(self.distribution.log_cdf, x)

  def sf(self, x: ArrayLike) -> Result:
    """Returns P(X > x)."""
    return self.evaluated(self.distribution.survival_function, x)

  def logsf(self, x: ArrayLike) -> Result:
    """Returns log P(X > x)."""
    return self.evaluated(self.distribution.log_survival_function, x)

  def ppf(self, q: ArrayLike) -> Result:
    """Computes the quantile inf{x: P(X <= x) >= q}; NaN outside of [0, 1]."""
    return self.evaluated(self.distribution.quantile, q)

  def isf(self, q: ArrayLike) -> Result:
    """Computes the x with P(X > x) = q, also for tiny q."""

    def isf(values: ArrayLike) -> Result:
      dtypes.numeric(values, "q")
      with onp.errstate(divide="ignore", invalid="ignore"):
        logs = onp.log(onp.asarray(values, self.distribution.dtype))
      return self.distribution.quantile_log_survival(logs)

    return self.evaluated(isf, q)

  def median(self) -> Result:
    """Computes the median, the quantile of 1/2."""
    return self.ppf(0.5)

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
    random_state: arguments.StateLike = None,
  ) -> Result:
    """Draws samples, with the batch shape as the last dimensions.

    Args:
      size: their shape, an int or a tuple, whose last dimensions are those of
        the batch; None for one sample.
      random_state: an int, RandomState, Generator or SeedSequence, as SciPy
        takes them; None for `self.random_state`.

    Raises:
      TypeError: `random_state` is something else.
      ValueError: the size does not end with the batch shape.
    """
    batch = self.distribution.batch_shape
    whole = batch if size is None else tuple(onp.atleast_1d(size))
    kept = len(whole) - len(batch)
    if kept < 0 or tuple(whole[kept:]) != tuple(batch):
      raise ValueError(
        f"size is {size!r}: it must end with the batch shape {batch}"
      )
    state = self._random_state if random_state is None else random_state
    seed = arguments.seed(arguments.random_state(state))
    return arguments.plain(self.distribution.sample(whole[:kept], seed=seed))

  def expect(
    self,
    func: Callable[[Result], ArrayLike] | None = None,
    lb: float | None = None,
    ub: float | None = None,
    conditional: bool = False,
  ) -> Result:
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
      TypeError: an argument has a wrong type.
      ValueError: there is a batch, or there are more than ten million counts.
    """
    if func is not None:
      raw_arguments.check_callable("func", func, " of a number")
    raw_arguments.check_flags(conditional=conditional)
    for name, bound in (("lb", lb), ("ub", ub)):
      if bound is not None:
        dtypes.numeric(bound, name)
        if onp.ndim(bound):
          raise ValueError(
            f"{name} has shape {onp.shape(bound)}: it must be a number"
          )
    if self.distribution.batch_shape:
      raise ValueError(
        f"batch_shape is {self.distribution.batch_shape}: it must be () for "
        "expect; index the distribution, e.g. dist[0]"
      )
    first, last = (float(x) for x in self.support())
    low = first if lb is None else max(first, float(lb))
    high = last if ub is None else min(last, float(ub))
    if low > high:
      return onp.float64("nan" if conditional else 0.0)
    log_mass = expectations.log_mass(self, low, high)
    if not log_mass > -onp.inf:
      return onp.float64("nan" if conditional else onp.exp(log_mass))
    func = (lambda x: x) if func is None else func
    found = self._expect(func, low, high, log_mass)
    return onp.float64(found if conditional else found * onp.exp(log_mass))

  def fit(
    self,
    data: arguments.DataLike,
    **options: Unpack[mle.FitOptions],
  ) -> Self:
    """Fits the distribution to data by maximum likelihood, and wraps the fit.

    Where SciPy's families search among all their distributions, this one starts
    from its own, and keeps its structure: see `inference.fit_mle`, which has standard
    errors too, and `inference.initial_guess` for a start.

    Args:
      data: exact observations, (n,), `scipy.stats.CensoredData`, or
        `inference.Observations`, censored and truncated as they are.
      **options: options of `inference.fit_mle`: `fixed`, `tied`, `bounds`,
        `num_starts` and so on.

    Raises:
      TypeError: data are not numbers.
      ValueError: as `inference.fit_mle`.

    Example:

      >>> from phasic.distributions import Erlang
      >>> from phasic.interop import scipy as adapter
      >>> fitted = adapter.wrap(Erlang(2, 1.0)).fit([1.0, 2.0, 3.0])
      >>> print(f"{fitted.mean():.6f}")
      2.000000
    """
    found = mle.fit_mle(self.distribution, arguments.observed(data), **options)
    return type(self)(found.distribution)

  def evaluated(
    self, method: Callable[[ArrayLike], Result], x: ArrayLike
  ) -> Result:
    """Calls a method of the distribution, with numbers of its dtype."""
    values = arguments.converted(x, self.distribution.dtype)
    return arguments.plain(method(values))

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
