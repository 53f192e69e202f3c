"""SciPy's `rv_continuous` and `rv_discrete` for wrapped distributions."""

from __future__ import annotations

from collections.abc import Callable
import inspect
from typing import Any, Self

import numpy as onp
from scipy import stats

from phasic.internal.arrays import Result


def family_of(frozen: Any) -> Any:
  """Makes a SciPy family with location and scale from a frozen distribution."""
  if hasattr(frozen, "pmf"):
    return DiscreteFamily(frozen)
  if (atom := frozen.cdf(0.0)) > 0.0:
    raise ValueError(
      f"the distribution has an atom of {atom:.6g} at zero: continuous "
      "distributions of SciPy have none; use methods such as frozen.cdf"
    )
  return ContinuousFamily(frozen)


def _asks(name: str, method_name: str = "") -> Callable[..., Result]:
  """Returns a method that calls the frozen distribution's method `name`."""

  def method(self: Any, *args: Any, **options: Any) -> Result:
    return getattr(self._frozen, name)(*args, **options)

  # Pickle stores a method by its name, which is therefore set here.
  method.__name__ = method_name or f"_{name}"
  return method


class Family:
  """Implements SciPy's private methods for location 0 and scale 1."""

  _cdf, _logcdf, _sf, _logsf = map(_asks, ("cdf", "logcdf", "sf", "logsf"))
  _ppf, _isf, _rvs, _entropy = map(_asks, ("ppf", "isf", "rvs", "entropy"))
  _munp = _asks("moment", "_munp")
  # `scipy.stats.fit` calls this for the list of shape parameters, which is
  # empty.
  _shape_info = list

  def __init__(self, frozen: Any):
    """Stores the frozen distribution, which must not have a batch."""
    self._frozen = frozen
    low, high = frozen.support()
    name = type(frozen.distribution).__name__
    super().__init__(a=low, b=high, name=name, longname=name)  # type: ignore[call-arg]

  def _updated_ctor_param(self) -> dict[str, Any]:
    # SciPy freezes a family by a copy, which it makes with these arguments.
    return {"frozen": self._frozen}

  def _stats(self, moments: str = "mv") -> list[Result | None]:
    value = self._frozen.stats
    return [value(name) if name in moments else None for name in "mvsk"]

  def expect(self, *args: Any, **options: Any) -> Result:
    """Computes an expectation, with the arguments of SciPy's method."""
    theirs = inspect.signature(super().expect)  # type: ignore[misc]
    given: dict[str, Any] = theirs.bind(*args, **options).arguments
    names, defaults = ("func", "args", "loc", "scale"), (None, (), 0, 1)
    func, _, loc, scale = map(given.pop, names, defaults)
    if onp.ndim(loc) or onp.ndim(scale):
      raise ValueError(
        f"loc is {loc!r} and scale is {scale!r}: they must be numbers"
      )
    for name in ("lb", "ub"):
      if given.get(name) is not None:
        given[name] = (given[name] - loc) / scale
    f = (lambda x: x) if func is None else func
    # An argument that is not a function is passed on unchanged, and `expect` of
    # the frozen distribution refuses it.
    moved = (lambda x: f(loc + scale * x)) if callable(f) else f
    return self._frozen.expect(moved, **given)


class ContinuousFamily(Family, stats.rv_continuous):
  """A continuous distribution with location and scale, as a SciPy family."""

  _pdf, _logpdf = map(_asks, ("pdf", "logpdf"))


class DiscreteFamily(Family, stats.rv_discrete):
  """A distribution of counts with a location, as a SciPy family."""

  _pmf, _logpmf = map(_asks, ("pmf", "logpmf"))

  def __new__(cls, *args: object, **options: object) -> Self:
    """Makes an instance; SciPy's `__new__` would not take the argument."""
    return super().__new__(cls)
