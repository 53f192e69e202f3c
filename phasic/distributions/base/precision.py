"""Values that are float64 beside parameters that are float32.

As in NumPy and JAX results are float64 then, so that parameters are converted.
In TensorFlow dtypes that differ are an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
from typing import Concatenate, ParamSpec, Protocol, Self, TypeVar

import numpy as onp

from phasic.internal import dtypes
from phasic.internal import given_dtypes

_WIDE = onp.dtype("float64")


class Narrowable(Protocol):
  """A distribution that can be converted to float64."""

  def _dtype(self) -> str:
    """Returns the name of the dtype."""
    ...

  def _is_narrow(self) -> bool:
    """Returns whether it is float32, and can be converted."""
    ...

  def _widened(self) -> Self:
    """Returns the distribution in float64."""
    ...


_S = TypeVar("_S", bound=Narrowable)
_P = ParamSpec("_P")
_R = TypeVar("_R")


def promoting(
  method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], _R]:
  """Makes a method compute in float64 where its first argument is float64."""

  @functools.wraps(method)
  def call(self: _S, *args: _P.args, **kwargs: _P.kwargs) -> _R:
    value = args[0] if args else next(iter(kwargs.values()), None)
    if (
      self._is_narrow()
      and not given_dtypes.is_weak(value)
      and given_dtypes.of(value, "value") == _WIDE
    ):
      self = self._widened()
    return method(self, *args, **kwargs)

  return call


def common(distributions: Mapping[str, _S]) -> dict[str, _S]:
  """Returns distributions, all in the widest one of their dtypes.

  Args:
    distributions: by the names of the arguments.

  Raises:
    TypeError: dtypes differ, in TensorFlow.
  """
  (first, one), *others = distributions.items()
  dtype = one._dtype()
  for name, other in others:
    dtype = dtypes.promoted(first, dtype, name, other._dtype())
  return {name: in_dtype(x, dtype) for name, x in distributions.items()}


def in_dtype(distribution: _S, dtype: str) -> _S:
  """Returns a distribution in its own dtype or a wider one."""
  is_wider = dtype == "float64" and distribution._is_narrow()
  return distribution._widened() if is_wider else distribution
