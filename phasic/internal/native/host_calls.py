"""Calls of Python functions of NumPy arrays, as the backend makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from phasic.internal.native import host_functions
from phasic.internal.native import host_results
from phasic.internal.tape import trees


def arrays(name: str, tree: Any) -> Any:
  """Returns arguments as the backend takes them.

  Args:
    name: the function, for messages.
    tree: of arrays and of numbers, whose dtypes are NumPy's.

  Raises:
    TypeError: there is an array of something else than numbers, where arrays
      are the backend's own.
  """
  del name
  return tree


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
  found = function.f(*args, **options)
  _check_unmasked(function, found)
  return found


def call_multilinear(
  functions: host_functions.Functions,
  abstract: Callable[..., Any] | None,
  fixed: Sequence[Any],
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what a function returns that is linear in each of its arguments.

  Args:
    functions: the function f, and for each of `args` its transpose, called as
      `transpose(*fixed, *others, cotangent)`.
    abstract: as for `call`, of all arguments.
    fixed: trees of arrays, in which there are no derivatives.
    args: trees of floating arrays.
    options: keyword arguments, which are no arrays.

  Raises:
    TypeError: results are not as `abstract` says, where it knows.
  """
  function = functions[0]
  assert isinstance(function, host_functions.HostFunction)
  found = function.f(*fixed, *args, **options)
  _check_unmasked(function, found)
  like = None if abstract is None else abstract(*fixed, *args, **options)
  if like is not None:
    specs = [
      host_results.ArraySpec(getattr(x, "shape", ()), _dtype(x))
      for x in _leaves(like)
    ]
    host_results.checked(function.name, _leaves(found), specs)
  return found


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what has the shapes and dtypes of a function's result.

  Arguments are those of `call`. None where only a call could tell.
  """
  del function
  return None if abstract is None else abstract(*args, **options)


def is_differentiable(x: Any) -> bool:
  """Returns whether an array, or its spec, is floating or complex."""
  return _dtype(x).kind not in "biu"


def _dtype(x: Any) -> onp.dtype:
  return x.dtype if hasattr(x, "dtype") else onp.asarray(x).dtype


def forward_rule(f: Callable[..., Any]) -> Callable[..., Any]:
  """Returns the rule `vjp_fwd` of a function whose residuals are arguments."""
  return lambda *args: (f(*args), args)


def _check_unmasked(function: host_functions.HostFunction, found: Any) -> None:
  for x in _leaves(found):
    host_results.check_unmasked(function.name, "a result", x)


def _leaves(tree: Any) -> list[Any]:
  return trees.flatten(tree)[0]


def conjugated(tree: Any) -> Any:
  """Returns what the cotangents of rules are to the backend's: the same."""
  return tree


def no_cotangent(x: Any) -> Any:
  """Returns what a rule returns for an argument that has no derivative."""
  del x
  return None
