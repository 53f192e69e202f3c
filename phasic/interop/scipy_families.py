"""SciPy's `rv_continuous` and `rv_discrete` for wrapped distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as onp
from scipy import stats

from phasic.internal import raw_arguments
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result


def family_of(frozen: Any) -> Any:
  """Returns the shifts and multiples of a distribution, as a family of SciPy's.

  Args:
    frozen: a frozen distribution without a batch.

  Raises:
    ValueError: it is continuous and has an atom at zero.
  """
  if hasattr(frozen, "pmf"):
    return DiscreteFamily(frozen)
  atom = frozen.cdf(0.0)
  if atom > 0.0:
    raise ValueError(
      f"the distribution has an atom of {atom:.6g} at zero: continuous "
      "distributions of SciPy have none; use methods such as frozen.cdf"
    )
  return ContinuousFamily(frozen)


class Family:
  """Computes what SciPy's public methods ask for, without location and scale.

  SciPy gives one-dimensional arrays of numbers inside of the support.
  """

  _frozen: Any

  def __init__(self, frozen: Any, **options: Any):
    """Stores the frozen distribution.

    Args:
      frozen: the distribution.
      **options: constructor arguments of SciPy's class.
    """
    self._frozen = frozen
    low, high = frozen.support()
    name = type(frozen.distribution).__name__
    own = {"a": low, "b": high, "name": name, "longname": name}
    super().__init__(**{**own, **options})

  def _updated_ctor_param(self) -> dict[str, Any]:
    # SciPy makes a copy by it when the distribution is frozen.
    return {**super()._updated_ctor_param(), "frozen": self._frozen}  # type: ignore[misc]

  def _shape_info(self) -> list[Any]:
    # `scipy.stats.fit` needs the list, which is empty.
    return []

  def _cdf(self, x: Result) -> Result:
    return self._frozen.cdf(x)

  def _logcdf(self, x: Result) -> Result:
    return self._frozen.logcdf(x)

  def _sf(self, x: Result) -> Result:
    return self._frozen.sf(x)

  def _logsf(self, x: Result) -> Result:
    return self._frozen.logsf(x)

  def _ppf(self, q: Result) -> Result:
    return self._frozen.ppf(q)

  def _isf(self, q: Result) -> Result:
    return self._frozen.isf(q)

  def _stats(self, moments: str = "mv") -> tuple[Result | None, ...]:
    return tuple(
      self._frozen.stats(letter) if letter in moments else None
      for letter in "mvsk"
    )

  def _munp(self, n: int) -> Result:
    return self._frozen.moment(int(n))

  def _entropy(self) -> Result:
    return self._frozen.entropy()

  def _rvs(self, size: Any = None, random_state: Any = None) -> Result:
    return self._frozen.rvs(size, random_state)

  def _expected(
    self,
    func: Callable[[Result], ArrayLike] | None,
    loc: float,
    scale: float,
    lb: float | None,
    ub: float | None,
    conditional: bool,
  ) -> Result:
    """Computes an expectation for one location and scale."""
    if onp.ndim(loc) or onp.ndim(scale):
      raise ValueError(
        f"loc is {loc!r} and scale is {scale!r}: they must be numbers"
      )
    if func is not None:
      raw_arguments.check_callable("func", func, " of a number")
    given = (lambda x: x) if func is None else func
    return self._frozen.expect(
      lambda x: given(loc + scale * x),
      None if lb is None else (lb - loc) / scale,
      None if ub is None else (ub - loc) / scale,
      conditional,
    )


class ContinuousFamily(Family, stats.rv_continuous):
  """The shifts and multiples of one continuous distribution.

  Methods are those of `scipy.stats.rv_continuous`, without shape parameters.
  """

  def _pdf(self, x: Result) -> Result:
    return self._frozen.pdf(x)

  def _logpdf(self, x: Result) -> Result:
    return self._frozen.logpdf(x)

  def expect(
    self,
    func: Callable[[Result], ArrayLike] | None = None,
    args: tuple[()] = (),
    loc: float = 0,
    scale: float = 1,
    lb: float | None = None,
    ub: float | None = None,
    conditional: bool = False,
  ) -> Result:
    """Computes an expectation, as `expect` of the frozen distribution does."""
    return self._expected(func, loc, scale, lb, ub, conditional)


class DiscreteFamily(Family, stats.rv_discrete):
  """The shifts of one distribution of counts.

  Methods are those of `scipy.stats.rv_discrete`, without shape parameters.
  """

  def __new__(cls, *args: object, **options: object) -> Self:
    """Makes an instance; SciPy's method does not know the argument."""
    return super().__new__(cls)

  def _pmf(self, k: Result) -> Result:
    return self._frozen.pmf(k)

  def _logpmf(self, k: Result) -> Result:
    return self._frozen.logpmf(k)

  def expect(
    self,
    func: Callable[[Result], ArrayLike] | None = None,
    args: tuple[()] = (),
    loc: int = 0,
    lb: float | None = None,
    ub: float | None = None,
    conditional: bool = False,
  ) -> Result:
    """Computes an expectation, as `expect` of the frozen distribution does."""
    return self._expected(func, loc, 1, lb, ub, conditional)
