"""Calls of Python functions of NumPy arrays, as the backend makes them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from phasic.internal import host_functions


def call(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what a function returns; there are no derivatives.

  Args:
    function: the function.
    abstract: `abstract(*args, **options)` of arguments with shapes and dtypes
      returns what has the result's; None calls the function with zeros.
    args: trees of arrays.
    options: keyword arguments, which are no arrays.

  Raises:
    TypeError: results are not as `abstract` says, in eager calls.
  """
  del abstract
  return function.f(*args, **options)


def call_multilinear(
  functions: Sequence[host_functions.HostFunction | None],
  abstract: Callable[..., Any] | None,
  fixed: Sequence[Any],
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what a function returns that is linear in each of its arguments.

  Args:
    functions: the function f, and for each of `args` its transpose, None where
      there is none: `transpose(*fixed, *others, cotangent)`.
    abstract: as for `call`, of all arguments.
    fixed: trees of arrays, in which there are no derivatives.
    args: trees of floating arrays.
    options: keyword arguments, which are no arrays.
  """
  del abstract
  function = functions[0]
  assert function is not None
  return function.f(*fixed, *args, **options)


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what has the shapes and dtypes of a function's result.

  Arguments are those of `call`.
  """
  if abstract is not None:
    return abstract(*args, **options)
  return function.f(*args, **options)


def cotangent_like(args: tuple[Any, ...]) -> tuple[Any, ...]:
  """Returns arguments with None in the place of what has no cotangent."""
  return args


def last_error() -> BaseException | None:
  """Returns the last exception of a function that compiled code called."""
  return host_functions.errors.last()
