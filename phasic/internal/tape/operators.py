"""Python operators and array methods, as calls of NumPy functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as onp


class Operators(onp.lib.mixins.NDArrayOperatorsMixin):
  """Operators for classes that implement NumPy's array protocols."""

  __slots__ = ()


# Array methods that call the NumPy function of the same name.
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
# Methods whose tuple argument may be given as several arguments.
_OF_SEVERAL = ("reshape", "transpose")


def _method(name: str) -> Callable[..., object]:
  function = getattr(onp, name)

  def call(self: Operators, *args: object, **options: object) -> object:
    return function(self, *args, **options)

  return call


def _method_of_several(name: str) -> Callable[..., object]:
  function = getattr(onp, name)

  def call(self: Operators, *args: object) -> object:
    return function(self, *(args if len(args) < 2 else (args,)))

  return call


for _name in _METHODS:
  setattr(Operators, _name, _method(_name))
for _name in _OF_SEVERAL:
  setattr(Operators, _name, _method_of_several(_name))
