"""Checks of the arguments of `bind` and of bound functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec

import numpy as onp

from phasic.internal import autodiff
from phasic.internal import raw_arguments
from phasic.internal.arrays import Tree
from phasic.internal.native import host_functions
from phasic.internal.native import host_results
from phasic.internal.native import native_ops
from phasic.internal.native import native_shapes
from phasic.internal.native import static_options

# A bound function makes and caches a differentiable function for each set of
# keyword arguments of its calls: at most this many.
MAX_MADE = 1024
_P = ParamSpec("_P")
_BATCHINGS = {"sequential": None, "expand": host_functions.expand}


def host_function(
  what: str, f: Callable[..., object], name: str | None, batching: str
) -> host_functions.HostFunction:
  """Checks a function to be bound, and returns it as a `HostFunction`.

  Args:
    what: the argument's name, for messages.
    f: the function.
    name: its name in messages; None takes its own name.
    batching: "sequential" or "expand".

  Raises:
    TypeError: `f` cannot be called, or `name` is not a string.
    ValueError: there is no such batching.
  """
  raw_arguments.check_callable(what, f)
  if not isinstance(batching, str) or batching not in _BATCHINGS:
    names = " or ".join(repr(x) for x in _BATCHINGS)
    raise ValueError(f"batching is {batching!r}: it must be {names}")
  if name is None:
    name = getattr(f, "__qualname__", type(f).__name__)
  if not isinstance(name, str):
    raise TypeError(f"name is {type(name).__name__}: it must be a string")
  return host_functions.HostFunction(name, f, _BATCHINGS[batching])


def key(name: str, options: Mapping[str, object]) -> static_options.Options:
  """Converts keyword arguments to a hashable key.

  Raises:
    TypeError: one of them is not hashable.
  """
  for option, value in options.items():
    try:
      hash(value)
    except TypeError:
      raise TypeError(
        f"{name}: keyword argument {option} is {type(value).__name__}: "
        "keyword arguments must be hashable; pass arrays by position"
      ) from None
  return static_options.freeze(options)


def count(name: str, value: int) -> int:
  """Checks that an argument is an integer >= 0, and returns it as an int.

  Raises:
    TypeError: it is not an integer.
    ValueError: it is negative.
  """
  if not isinstance(value, (int, onp.integer)) or isinstance(value, bool):
    raise TypeError(f"{name} is {value!r}: it must be an integer")
  if value < 0:
    raise ValueError(f"{name} is {value}: it must be >= 0")
  if value >= 2**31:
    raise ValueError(
      f"{name} is {raw_arguments.shown(value)}: it must be below 2**31"
    )
  return int(value)


def positions(name: str, values: Sequence[int]) -> tuple[int, ...]:
  """Checks positions of arguments, and returns them as a tuple.

  Raises:
    TypeError: it is not a sequence of integers.
    ValueError: one is negative.
  """
  check_sequence(name, values, "of positions of arguments")
  return tuple(count(f"{name}[{i}]", value) for i, value in enumerate(values))


def check_sequence(name: str, values: object, what: str) -> None:
  """Raises TypeError unless an argument is a tuple or a list."""
  if not isinstance(values, (tuple, list)):
    raise TypeError(f"{name} is {values!r}: it must be a tuple or list {what}")


def check_positions(
  function: str, name: str, values: Sequence[int], num_args: int
) -> None:
  """Raises ValueError unless positions are below the number of arguments."""
  for i, value in enumerate(values):
    if value >= num_args:
      raise ValueError(
        f"{name}[{i}] is {value}: it must be below {num_args}, the number of "
        f"arguments of this call of {function}"
      )


def check_unmasked(
  function: str, args: Sequence[object], what: str = "argument"
) -> None:
  """Raises TypeError for masked arrays, whose masks would be ignored."""
  for i, arg in enumerate(args):
    for x in autodiff.flatten(arg)[0]:
      host_results.check_unmasked(function, f"{what} {i}", x)


def check_derivative(
  rule: str, derivative: Tree, like: Tree, what: str
) -> None:
  """Raises TypeError unless a derivative matches `like`.

  The structure, the dtypes and the shapes must match; shapes may broadcast.

  Args:
    rule: the rule's name in messages.
    derivative: the derivative, arrays or nested structures of them.
    like: the array with the shape and dtype of the derivative, or None.
    what: the name of the argument or result in messages.
  """
  if derivative is None or like is None:
    return
  if isinstance(like, (tuple, list, dict)):
    keys = list(like) if isinstance(like, dict) else range(len(like))
    entries = derivative if isinstance(derivative, type(like)) else ()
    entry_keys = (
      list(entries) if isinstance(entries, dict) else range(len(entries))
    )
    if sorted(map(str, keys)) != sorted(map(str, entry_keys)):
      raise TypeError(
        f"{rule} returned a {type(derivative).__name__} for {what}: it must "
        f"have the primal structure, a {type(like).__name__} of length "
        f"{len(like)}"
      )
    for k in keys:
      check_derivative(rule, entries[k], like[k], f"{what}[{k!r}]")
  elif hasattr(like, "dtype") and hasattr(derivative, "dtype"):
    shape = native_ops.shape(like)
    derivative_shape = native_ops.shape(derivative)
    is_like = native_shapes.may_fit(derivative_shape, shape, len(shape))
    if not is_like or derivative.dtype != like.dtype:
      raise TypeError(
        f"{rule} returned shape {derivative_shape} and dtype "
        f"{derivative.dtype} for {what}: they must be {shape} and {like.dtype}"
      )


def as_tuple(f: Callable[_P, object]) -> Callable[_P, tuple[object, ...]]:
  """Wraps a function so that a result that is not a tuple becomes one."""

  def wrapped(*args: _P.args, **options: _P.kwargs) -> tuple[object, ...]:
    result = f(*args, **options)
    return result if isinstance(result, tuple) else (result,)

  return wrapped
