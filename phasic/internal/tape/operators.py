"""Python's operators as NumPy's functions."""

from typing import Any

import numpy as onp

_numpy: Any = onp  # Its types do not know who takes part in its protocols.


class Operators:
  """Of a class whose instances NumPy's functions take."""

  __slots__ = ()
  __hash__ = None  # type: ignore[assignment]

  def __add__(self, other: Any) -> Any:
    return _numpy.add(self, other)

  def __radd__(self, other: Any) -> Any:
    return _numpy.add(other, self)

  def __sub__(self, other: Any) -> Any:
    return _numpy.subtract(self, other)

  def __rsub__(self, other: Any) -> Any:
    return _numpy.subtract(other, self)

  def __mul__(self, other: Any) -> Any:
    return _numpy.multiply(self, other)

  def __rmul__(self, other: Any) -> Any:
    return _numpy.multiply(other, self)

  def __truediv__(self, other: Any) -> Any:
    return _numpy.true_divide(self, other)

  def __rtruediv__(self, other: Any) -> Any:
    return _numpy.true_divide(other, self)

  def __pow__(self, other: Any) -> Any:
    return _numpy.power(self, other)

  def __rpow__(self, other: Any) -> Any:
    return _numpy.power(other, self)

  def __matmul__(self, other: Any) -> Any:
    return _numpy.matmul(self, other)

  def __rmatmul__(self, other: Any) -> Any:
    return _numpy.matmul(other, self)

  def __neg__(self) -> Any:
    return _numpy.negative(self)

  def __pos__(self) -> Any:
    return self

  def __abs__(self) -> Any:
    return _numpy.abs(self)

  def __invert__(self) -> Any:
    return _numpy.invert(self)

  def __and__(self, other: Any) -> Any:
    return _numpy.bitwise_and(self, other)

  def __rand__(self, other: Any) -> Any:
    return _numpy.bitwise_and(other, self)

  def __or__(self, other: Any) -> Any:
    return _numpy.bitwise_or(self, other)

  def __ror__(self, other: Any) -> Any:
    return _numpy.bitwise_or(other, self)

  def __lt__(self, other: Any) -> Any:
    return _numpy.less(self, other)

  def __le__(self, other: Any) -> Any:
    return _numpy.less_equal(self, other)

  def __gt__(self, other: Any) -> Any:
    return _numpy.greater(self, other)

  def __ge__(self, other: Any) -> Any:
    return _numpy.greater_equal(self, other)

  def __eq__(self, other: Any) -> Any:
    return _numpy.equal(self, other)

  def __ne__(self, other: Any) -> Any:
    return _numpy.not_equal(self, other)

  def __mod__(self, other: Any) -> Any:
    return _numpy.remainder(self, other)

  def __rmod__(self, other: Any) -> Any:
    return _numpy.remainder(other, self)

  def __floordiv__(self, other: Any) -> Any:
    return _numpy.floor_divide(self, other)

  def __rfloordiv__(self, other: Any) -> Any:
    return _numpy.floor_divide(other, self)

  # Stores are refused: others may hold the same array.

  def __iadd__(self, other: Any) -> Any:
    return self._stored("+=", other)

  def __isub__(self, other: Any) -> Any:
    return self._stored("-=", other)

  def __imul__(self, other: Any) -> Any:
    return self._stored("*=", other)

  def __itruediv__(self, other: Any) -> Any:
    return self._stored("/=", other)

  def __ipow__(self, other: Any) -> Any:
    return self._stored("**=", other)

  def __imatmul__(self, other: Any) -> Any:
    return self._stored("@=", other)

  def _stored(self, sign: str, other: Any) -> Any:
    raise NotImplementedError


# Methods of arrays that are functions of NumPy by the same name.
_METHODS = (
  "clip",
  "copy",
  "cumsum",
  "dot",
  "max",
  "mean",
  "min",
  "ravel",
  "squeeze",
  "sum",
  "swapaxes",
  "take",
)
# Those whose argument may be given as several.
_OF_SEVERAL = ("reshape", "transpose")


def _method(name: str) -> Any:
  function = getattr(_numpy, name)

  def call(self: Any, *args: Any, **options: Any) -> Any:
    return function(self, *args, **options)

  return call


def _method_of_several(name: str) -> Any:
  function = getattr(_numpy, name)

  def call(self: Any, *args: Any) -> Any:
    return function(self, *(args if len(args) < 2 else (args,)))

  return call


for _name in _METHODS:
  setattr(Operators, _name, _method(_name))
for _name in _OF_SEVERAL:
  setattr(Operators, _name, _method_of_several(_name))
