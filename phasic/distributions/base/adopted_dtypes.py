"""Distributions of Python numbers adopt float32 of values, in TensorFlow.

Such a distribution is weak: no argument of its constructor states a floating
dtype, so that it has the widest, float64. Where a public method meets float32 in
an argument, it is called for the same distribution with float32 arrays, and so
returns float32. NumPy and JAX promote the values instead, see `dtypes.is_narrower`.

Slices, copies and distributions that methods and closures make of weak ones are
weak as well, if no argument states a dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import functools
import types
from typing import Any, TypeVar

import numpy as onp

from phasic.distributions.base import conversions
from phasic.distributions.base import structure
from phasic.internal import dtypes
from phasic.internal import halves
from phasic.internal import raw_arguments
from phasic.internal import structures

MODE = "numpy"
_T = TypeVar("_T")
_SINGLE = "float32"
_WITHIN = "distribution"
# Special methods whose results adopt dtypes as those of public methods do.
_OPERATORS = ("__getitem__", "__mul__", "__rmul__")
_NUMBERS = frozenset((bool, complex, float, int, str))


def adapt(cls: type) -> None:
  """In TensorFlow, lets the constructor and methods of a class adopt float32.

  Methods of users' classes are left alone, since AutoGraph converts them.
  """
  if MODE == "tf":
    is_own = cls.__module__.startswith("phasic.")
    for name, x in list(vars(cls).items()):
      if name == "__init__":
        setattr(cls, name, _constructing(x))
      elif not is_own or (name.startswith("_") and name not in _OPERATORS):
        continue
      elif isinstance(x, classmethod):
        setattr(cls, name, classmethod(_making(x.__func__)))
      elif isinstance(x, types.FunctionType):
        setattr(cls, name, _adopting(x))


def adopted(distribution: Any, *values: object) -> Any:
  """Returns a weak distribution in float32 if values are; others unchanged."""
  if is_weak(distribution) and _has(values, _is_single):
    return _single(distribution)
  return distribution


def is_weak(distribution: Any) -> bool:
  """Returns whether a distribution, of any type, adopts the dtype of values."""
  return getattr(distribution, "_is_weak", False)


def mark(made: _T, given: Iterable[object]) -> _T:
  """Marks a distribution as weak if nothing it was made of states a dtype."""
  if MODE == "tf":
    if hasattr(type(made), "_is_weak"):
      object.__setattr__(made, "_is_weak", not _has(given, _states_dtype))
    return made
  else:
    return made


def _constructing(construct: Callable[..., None]) -> Callable[..., None]:
  @functools.wraps(construct)
  def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
    construct(self, *args, **kwargs)
    mark(self, (*args, *kwargs.values()))

  return __init__


def _making(make: Callable[..., Any]) -> Callable[..., Any]:
  """Returns a class method that marks the distribution that it makes."""

  @functools.wraps(make)
  def method(cls: type, *args: Any, **kwargs: Any) -> Any:
    return mark(make(cls, *args, **kwargs), (*args, *kwargs.values()))

  return method


def _adopting(function: Callable[..., Any]) -> Callable[..., Any]:
  """Returns a public method that adopts the dtype of its arguments."""

  @functools.wraps(function)
  def method(self: Any, *args: Any, **kwargs: Any) -> Any:
    if not self._is_weak:
      return function(self, *args, **kwargs)
    given = (*args, *kwargs.values())
    result = function(adopted(self, *given), *args, **kwargs)
    return mark(result, given)

  return method


def _has(
  values: Iterable[object], holds: Callable[[object], bool], depth: int = 0
) -> bool:
  """Returns whether something holds of a value, also in lists and mappings.

  Lists in more lists than an array has dimensions are refused later.
  """
  if depth > raw_arguments.MAX_DIMENSIONS:
    return False
  for x in values:
    if isinstance(x, Mapping):
      x = list(x.values())
    if isinstance(x, (list, tuple)):
      if not _NUMBERS.issuperset(map(type, x)) and _has(x, holds, depth + 1):
        return True
    elif type(x) not in _NUMBERS and holds(x):
      return True
  return False


def _states_dtype(x: object) -> bool:
  if hasattr(type(x), "_is_weak"):
    return not is_weak(x)
  return _dtype_name(x) in (*dtypes.FLOATS, *halves.EPS)


def _is_single(x: object) -> bool:
  is_array = isinstance(x, (onp.ndarray, onp.generic))
  is_array = is_array or structures.is_like(x, x) or structures.is_variable(x)
  return is_array and _dtype_name(x) == _SINGLE


def _dtype_name(x: object) -> str:
  dtype = getattr(x, "dtype", None)
  return str(getattr(dtype, "name", dtype))


def _single(distribution: Any) -> Any:
  """Returns the distribution with float32 arrays; it is kept where they last."""
  parameters = distribution._parameters
  own = {name: parameters[name] for name in distribution._properties()}
  if "edge_values" in own and all(x is None for x in own.values()):
    # Only the graph has numbers: weights of its edges state the dtype instead.
    own["edge_values"] = distribution._chain()[1].parameters
  if _WITHIN in parameters:
    own[_WITHIN] = _single(parameters[_WITHIN])
  origin = tuple(structure.leaves(own).values())
  kept = distribution._in_single
  is_same = kept is not None and structure.are_same(kept.origin, origin)
  if is_same and structures.are_lasting(kept.arrays):
    return kept.made
  converted = {name: _converted(x) for name, x in own.items()}
  made = type(distribution)._unflatten({**parameters, **converted})
  for name in ("_has_plain_arrays", "_is_warned_of"):
    object.__setattr__(made, name, getattr(distribution, name))
  arrays = tuple(x for x in origin if not hasattr(type(x), "_is_weak"))
  if structures.are_lasting(arrays):
    # The distribution is hidden in a namespace, since TensorFlow would list it
    # among the submodules.
    found = types.SimpleNamespace(origin=origin, arrays=arrays, made=made)
    object.__setattr__(distribution, "_in_single", found)
  return made


def _converted(value: Any) -> Any:
  """Converts the arrays of a parameter to float32."""
  if hasattr(type(value), "_is_weak"):
    return value
  return conversions.mapped(_as_single, value)


def _as_single(x: object) -> object:
  is_wide = _dtype_name(x) == "float64"
  return structures.cast(x, _SINGLE) if is_wide else x
