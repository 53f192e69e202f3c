"""Fits to resamples: standard errors and intervals of any quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import dataclasses
from typing import Any

import numpy as onp

from phasic.inference.parameters.host_values import host_values
from phasic.inference.parameters.host_values import whole_number
from phasic.inference.resampling import refits
from phasic.inference.results import confidence
from phasic.inference.results import estimates
from phasic.inference.results import quantities
from phasic.internal import raw_arguments
from phasic.internal import user_warnings
from phasic.internal.arrays import ArrayLike, Tree
from phasic.internal.tables import TableLike

_METHODS = ("percentile", "basic", "normal")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Bootstrap:
  """Fits to resamples of the data of a fit, as rows of entries.

  Its array is read-only. The attribute `entries` has NaN where a resample has no
  fit; standard errors and intervals leave such rows out.

  Attributes:
    fit: the fit whose observations were resampled.
    method: how they were resampled, "cases" or "parametric".
    seed: the seed.
    names: the names of the k fitted entries, as in `fit.covariance()`.
    entries: the entries that were fitted to each resample, (num_resamples, k).
    messages: why there is no fit, by number of the resample.

  Example: the bootstrap of an exponential rate, whose standard error is
    rate / sqrt(n) for n exact times.

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([0.2, 0.5, 0.9, 1.0, 1.4, 2.0])
    >>> fit = inference.fit_mle(Erlang(1, 1.0), data)
    >>> result = inference.bootstrap(fit, 20)
    >>> result.entries.shape, result.names, result.num_failed
    ((20, 1), ('rate',), 0)
    >>> interval = result.confidence_interval("mean", confidence_level=0.9)
    >>> bool(interval.low < interval.estimate < interval.high)
    True
  """

  fit: estimates.Estimates
  method: str
  seed: int
  names: tuple[str, ...]
  entries: onp.ndarray
  messages: Mapping[int, str]

  def __repr__(self) -> str:
    return (
      f"<Bootstrap of {self.num_resamples} resamples, {self.method!r}, "
      f"{self.num_failed} failed,\n  {self.fit!r}>"
    )

  @property
  def num_resamples(self) -> int:
    """The number of resamples, including those without a fit."""
    return len(self.entries)

  @property
  def num_failed(self) -> int:
    """The number of resamples without a fit; `messages` has the reasons."""
    return len(self.messages)

  def fitted(self, i: int) -> Tree:
    """Returns the distribution that was fitted to a resample.

    Of a model it returns the parameters, by name.

    Args:
      i: the number of the resample, 0 to num_resamples - 1.

    Raises:
      TypeError: `i` is not an integer.
      ValueError: there is no such resample, or it has no fit.
    """
    i = whole_number("i", i, 0, self.num_resamples - 1)
    if i in self.messages:
      raise ValueError(
        f"i is {i}: it must be a resample with a fit, and that one failed "
        f"({self.messages[i]}); all_fitted() leaves such resamples out"
      )
    return refits.value_at(self.fit, self.entries[i])

  def all_fitted(self) -> Iterator[Tree]:
    """Yields what was fitted to each resample that has a fit."""
    for i in range(self.num_resamples):
      if i not in self.messages:
        yield self.fitted(i)

  def standard_error_of(
    self,
    f: Callable[..., ArrayLike] | str,
    *args: object,
    covariates: TableLike | None = None,
  ) -> onp.ndarray:
    """Computes the standard deviation of a quantity over the resamples.

    Args:
      f: takes the distribution and returns an array; or the name of a method,
        of a parameter, such as "rates", or of an entry, such as "rates[0]".
      *args: arguments of the function or method, after the distribution.
      covariates: see `Fit.standard_error_of`.

    Raises:
      TypeError: `f` is neither a function nor a name.
      ValueError: there is nothing of that name.

    Reference: B. Efron, Bootstrap methods: another look at the jackknife, Ann.
      Statist. 7, 1979.
    """
    _, values = self._values(f, args, covariates)
    return onp.std(values, axis=0, ddof=1)

  def confidence_interval(
    self,
    f: Callable[..., ArrayLike] | str,
    *args: object,
    covariates: TableLike | None = None,
    confidence_level: float = 0.95,
    method: str = "percentile",
  ) -> confidence.ConfidenceInterval:
    """Computes a bootstrap confidence interval of a quantity.

    For the estimate e, the mean m and the standard deviation s of the values in
    the resamples, their quantiles q(p), and a = 1 - confidence_level:

        percentile:  q(a / 2)            to  q(1 - a / 2)
        basic:       2 e - q(1 - a / 2)  to  2 e - q(a / 2)
        normal:      2 e - m - z s       to  2 e - m + z s

    with the quantile z of the normal distribution at 1 - a / 2. Only percentile
    intervals are sure to stay in the range of the quantity; they change with it
    if it is transformed. The quantile q(p) is number (R + 1) p of R values, the
    nearest two interpolated.

    Args:
      f: see `standard_error_of`.
      *args: arguments of the function or method, after the distribution.
      covariates: see `Fit.standard_error_of`.
      confidence_level: how probable it is, about, that the interval covers the
        true value, between zero and one.
      method: "percentile", "basic" or "normal".

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: the confidence level is not between zero and one, the method is
        unknown, or there is nothing of that name.

    Warns:
      RuntimeWarning: the resamples are too few for such quantiles.

    Reference: A. C. Davison, D. V. Hinkley, Bootstrap methods and their
      application, 1997, ch. 5.2, 5.3.
    """
    level = confidence.checked_level(confidence_level)
    raw_arguments.check_string("method", method)
    confidence.check_method(method, _METHODS)
    estimate, values = self._values(f, args, covariates)
    tail = (1.0 - level) / 2.0
    if method == "normal":
      middle = 2.0 * estimate - onp.mean(values, axis=0)
      z = confidence.normal_quantile(level)
      wide = z * onp.std(values, axis=0, ddof=1)
      low, high = middle - wide, middle + wide
    else:
      needed = round(1.0 / tail) - 1
      if len(values) < needed:
        user_warnings.warn(
          f"confidence_level is {level:g}, and {len(values)} resamples have a "
          f"fit: a {method} interval needs at least {needed}; it ends at the "
          "least or greatest value; raise num_resamples"
        )
      ends = onp.quantile(values, [tail, 1.0 - tail], axis=0, method="weibull")
      low, high = ends
      if method == "basic":
        low, high = 2.0 * estimate - high, 2.0 * estimate - low
    return confidence.ConfidenceInterval(estimate, low, high, level, method)

  def _values(
    self,
    f: Callable[..., ArrayLike] | str,
    args: tuple[object, ...],
    covariates: TableLike | None = None,
  ) -> tuple[onp.ndarray, onp.ndarray]:
    """Computes a quantity of the fit, and of the m fits to resamples, (m, ...)."""
    entries = estimates.entries_of(self.fit)
    form = estimates.form_of(self.fit)
    if isinstance(f, str):
      kept = [i not in self.messages for i in range(self.num_resamples)]
      columns = onp.transpose(onp.vstack([entries, self.entries[kept]]))
      named = quantities.named(form, f, columns)
      if named is not None:
        _check_no_arguments(f, args)
        return named[..., 0], onp.moveaxis(named[..., 1:], -1, 0)
    compute = estimates.function_of(self.fit, f, covariates)
    estimate, *values = (
      host_values("the value of f", _computed(compute, value, args, self.names))
      for value in (refits.value_at(self.fit, entries), *self.all_fitted())
    )
    return estimate[()], onp.stack(values)


def _computed(
  f: Callable[..., ArrayLike] | str,
  value: Any,
  args: tuple[object, ...],
  entries: tuple[str, ...],
) -> ArrayLike:
  """Computes a function of a value, or calls the method of that name.

  Raises:
    TypeError: `f` is neither a function nor a name.
    ValueError: there is no method of that name.
  """
  if isinstance(f, str):
    attribute: Any = getattr(value, f, None)
    if attribute is None:
      raise ValueError(
        f"f is {f!r}: it must be the name of a method or parameter of "
        f"{type(value).__name__}, or of one of the fitted entries "
        f"{', '.join(entries[:20])}; or a function of the distribution"
      )
    if callable(attribute):
      return attribute(*args)
    _check_no_arguments(f, args)
    return attribute
  what = ", or the name of a method, parameter or entry"
  raw_arguments.check_callable("f", f, what)
  return f(value, *args)


def _check_no_arguments(name: str, args: tuple[object, ...]) -> None:
  """Raises ValueError if a parameter or entry has arguments."""
  if args:
    raise ValueError(
      f"args has {len(args)} arguments: it must be empty, as {name!r} is a "
      "parameter and no method"
    )
