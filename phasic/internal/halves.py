"""Half precision in JAX: arrays of float16 and bfloat16 count as float32.

Public methods and functions convert such arguments to float32. Where all
floating arrays among the arguments have one half dtype, results are converted
to it. NumPy and TensorFlow refuse half precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import functools
import inspect
from typing import Any

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array

MODE = "numpy"
# For each half dtype, the gap between 1.0 and the next larger number.
EPS = {"bfloat16": 2.0**-7, "float16": 2.0**-10}
_SINGLE = "float32"
_NUMBERS = frozenset((bool, complex, float, int, str))
# The results of this public module are fits, which stay in float32.
_FITS = "inference"


@functools.cache
def _name(dtype: object) -> str:
  """Returns a dtype's name; cached, since NumPy formats it at each use."""
  return dtype.name if isinstance(dtype, onp.dtype) else str(dtype)


def dtype_name(x: object) -> str | None:
  """Returns the dtype's name of an array or distribution, else None."""
  dtype = getattr(x, "dtype", None)
  return None if dtype is None else _name(dtype)


def are_among(values: Iterable[object], depth: int = 0) -> bool:
  """Returns whether any array, also in nested lists, has half precision.

  Args:
    values: arrays, distributions and others.
    depth: the number of lists around them; arrays have at most
      `raw_arguments.MAX_DIMENSIONS`.
  """
  if depth > raw_arguments.MAX_DIMENSIONS:
    return False
  for x in values:
    kind = type(x)
    if x is None or kind is float:
      continue
    dtype = getattr(x, "dtype", None)
    if dtype is not None:
      if _name(dtype) in EPS:
        return True
    elif kind in _NUMBERS:
      continue
    elif isinstance(x, (list, tuple)):
      if not _NUMBERS.issuperset(map(type, x)) and are_among(x, depth + 1):
        return True
    elif isinstance(x, Mapping) and are_among(x.values(), depth + 1):
      return True
  return False


def common(values: object, half: str | None = None) -> str | None:
  """Returns the half dtype that all floating arrays share, else None.

  Args:
    values: arrays, distributions and others, also in lists.
    half: the dtype of another array, or None.
  """
  names = {half} - {None}

  def add(x: object) -> object:
    name = dtype_name(x)
    is_weak = _is_array(x) and static.is_weak(x)
    if name in EPS or (name in dtypes.FLOATS and not is_weak):
      names.add(name)
    return x

  mapped(add, values)
  return names.pop() if len(names) == 1 and names <= EPS.keys() else None


def _is_array(x: object) -> bool:
  return isinstance(x, (onp.ndarray, onp.generic)) or structures.is_like(x, x)


def mapped(convert: Callable[[Any], object], x: Any) -> Any:
  """Applies a function to the items of nested lists, tuples and mappings."""
  if isinstance(x, Mapping):
    return {k: mapped(convert, item) for k, item in x.items()}
  if not isinstance(x, (list, tuple)):
    return convert(x)
  items = [mapped(convert, item) for item in x]
  return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)


def as_single(x: Any) -> Any:
  """Converts an array or a distribution of half precision to float32."""
  if hasattr(type(x), "_as_single"):
    return x._as_single()
  if _is_array(x) and dtype_name(x) in EPS:
    return structures.cast(x, _SINGLE)
  return x


def as_half(x: Any, half: str) -> Any:
  """Converts a float32 array to a half dtype; returns other objects as is."""
  if _is_array(x) and dtype_name(x) == _SINGLE:
    return structures.cast(x, half)
  return x


def adopted(x: Any, half: str, name: str) -> Any:
  """Converts a parameter to the half dtype of the other parameters.

  Raises:
    ValueError: a known whole number would become another number, a finite one
      infinite, or a small one zero.
  """
  is_number = type(x) in (float, int)
  if not is_number and not _is_array(x):
    return x
  dtype = dtype_name(x)
  if dtype == half:
    # Copy a host array: JAX may share its memory, and the caller may change it.
    copied: onp.ndarray | Array = onp.array(x) if _is_host(x) else x
    return structures.cast(copied, half)
  if dtype == "bool" or (dtype or "").startswith("complex"):
    return x
  converted = structures.cast(structures.as_array(x, _SINGLE, name), half)
  known, rounded = static.concrete(x), static.concrete(converted)
  if known is not None and rounded is not None:
    _check_held(known, rounded.astype(onp.float64), half, name)
  return converted


def _is_host(x: object) -> bool:
  return isinstance(x, (onp.ndarray, onp.generic))


def _check_held(
  numbers: onp.ndarray, rounded: onp.ndarray, half: str, name: str
) -> None:
  """Raises ValueError if a half dtype changes an integer or zeroes a number.

  Other numbers may be rounded.
  """
  numbers = numbers.astype(onp.float64)
  is_integer = onp.isfinite(numbers) & (numbers == onp.floor(numbers))
  bad: onp.ndarray = (is_integer & (rounded != numbers)) | (
    (numbers != 0.0) & (rounded == 0.0)
  )
  if bad.any():
    raise ValueError(
      f"{name} is {numbers[bad][0]:g} beside arrays of {half}, which would "
      f"make it {rounded[bad][0]:g}: it must be a number that {half} holds; "
      "pass it as an array of float32, and results are float32"
    )


def divide_masses(
  parameters: dict[str, Any], name: str, beside: str, half: str | None
) -> None:
  """Divides masses by their sum if the sum is one up to rounding.

  Probabilities of a half dtype sum to one only within its rounding. Their sum
  counts as constant: derivatives are not projected.

  Args:
    parameters: converted to float32, by name; they are changed.
    name: of the masses, (..., p).
    beside: the name of a further mass (...), which may be None.
    half: the dtype of the masses as they were given; of another dtype they are
      not changed.
  """
  if half not in EPS or static.rank(parameters[name]) < 1:
    return
  probs, atom = parameters[name], parameters.get(beside)
  total = np.sum(autodiff.stop_gradient(probs), axis=-1)
  if atom is not None:
    atom = structures.as_array(atom, _SINGLE, beside)
    total = total + autodiff.stop_gradient(atom)
  is_near = np.abs(total - 1.0) <= 2.0 * EPS[half]
  total = np.where(is_near, total, np.ones_like(total))
  parameters[name] = probs / total[..., None]
  if atom is not None:
    parameters[beside] = atom / total


def result(x: Any, half: str | None) -> Any:
  """Converts the arrays of a result to a half dtype; None changes nothing."""
  return x if half is None else mapped(lambda y: as_half(y, half), x)


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
  """Calls a function with arrays of half precision converted to float32.

  The result is converted to the half dtype that all floating arrays share.
  """
  half = common((args, kwargs))
  args, kwargs = mapped(as_single, (args, kwargs))
  return result(function(*args, **kwargs), half)


def _lifted(function: Any, package: str, name: str) -> Any:
  """Wraps a function of a public module to accept half precision."""
  converts_result = package.rpartition(".")[2] != _FITS
  signature = inspect.signature(function)

  @functools.wraps(function)
  def converted(*args: Any, **kwargs: Any) -> Any:
    if not are_among(args) and not (kwargs and are_among(kwargs.values())):
      return function(*args, **kwargs)
    half = common((args, kwargs)) if converts_result else None
    try:
      arguments = signature.bind(*args, **kwargs).arguments
    except TypeError:  # The function raises it at the user's line.
      return function(*args, **kwargs)
    single = mapped(as_single, arguments)
    given = dtype_name(arguments.get("initial_probs"))
    divide_masses(single, "initial_probs", "prob_zero", given)
    bound = inspect.BoundArguments(signature, single)
    return result(function(*bound.args, **bound.kwargs), half)

  # Pickle finds the function there, by its public name.
  converted.__module__, converted.__qualname__ = package, name
  return converted


def public(value: Any, package: str, name: str) -> Any:
  """Returns a public object; in JAX, functions are wrapped for half precision.

  Args:
    value: the object.
    package: the name of the module.
    name: the object's name there.
  """
  if MODE == "jax":
    # `register_kl` takes classes, not arrays, so it is not wrapped.
    is_lifted = inspect.isfunction(value) and name != "register_kl"
    return _lifted(value, package, name) if is_lifted else value
  else:
    return value
