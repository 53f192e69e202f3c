"""Calls of users' Python functions on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as onp

from phasic.internal.arrays import Tree
from phasic.internal.native import host_functions
from phasic.internal.native import host_results
from phasic.internal.tape import trees

_T = TypeVar("_T")


def arrays(name: str, tree: _T) -> _T:
  """Converts the leaves of arguments to arrays of the backend.

  Args:
    name: the name of the function in messages.
    tree: a tree of arrays and numbers; numbers get NumPy's dtypes.

  Raises:
    TypeError: an array is not numeric, if the backend has its own arrays.
  """
  return tree


def call(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  args: Sequence[object],
  options: Mapping[str, object],
) -> Tree:
  """Calls a Python function that has no derivatives.

  Args:
    function: the function.
    abstract: `abstract(*args, **options)`, a function of specs that returns the
      specs of the results; None calls the function with zeros instead.
    args: trees of arrays.
    options: keyword arguments, which are not arrays.

  Raises:
    TypeError: results differ from the specs of `abstract`, in eager calls.
  """
  result = function.f(*args, **options)
  _check_unmasked(function, result)
  return result


def call_multilinear(
  functions: host_functions.Functions,
  abstract: Callable[..., object] | None,
  fixed: Sequence[object],
  args: Sequence[object],
  options: Mapping[str, object],
) -> Tree:
  """Calls a Python function that is linear in each of its arguments.

  Args:
    functions: the function f, and for each of `args` its transpose, called as
      `transpose(*fixed, *others, cotangent)`.
    abstract: as in `call`, a function of all arguments.
    fixed: trees of arrays without derivatives.
    args: trees of floating arrays.
    options: keyword arguments, which are not arrays.

  Raises:
    TypeError: results differ from the specs of `abstract`.
  """
  function = functions[0]
  assert isinstance(function, host_functions.HostFunction)
  result = function.f(*fixed, *args, **options)
  _check_unmasked(function, result)
  like = None if abstract is None else abstract(*fixed, *args, **options)
  if like is not None:
    specs = [
      host_results.ArraySpec(getattr(x, "shape", ()), _dtype(x))
      for x in _leaves(like)
    ]
    host_results.checked(function.name, _leaves(result), specs)
  return result


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  args: Sequence[object],
  options: Mapping[str, object],
) -> object:
  """Returns the specs of a function's result; None without `abstract`.

  Arguments are as in `call`.
  """
  return None if abstract is None else abstract(*args, **options)


def is_differentiable(x: object) -> bool:
  """Returns whether an array or its spec is floating or complex."""
  return _dtype(x).kind not in "biu"


def _dtype(x: Tree) -> onp.dtype:
  return x.dtype if hasattr(x, "dtype") else onp.asarray(x).dtype


def forward_rule(
  f: Callable[..., _T],
) -> Callable[..., tuple[_T, tuple[object, ...]]]:
  """Returns a forward rule `vjp_fwd` whose residuals are the arguments."""
  return lambda *args: (f(*args), args)


def _check_unmasked(
  function: host_functions.HostFunction, result: object
) -> None:
  for x in _leaves(result):
    host_results.check_unmasked(function.name, "a result", x)


def _leaves(tree: object) -> list[object]:
  return trees.flatten(tree)[0]


def conjugated(tree: _T) -> _T:
  """Converts cotangents to the backend's convention; unchanged for NumPy."""
  return tree


def no_cotangent(x: object) -> object:
  """Returns the backend's cotangent for an argument without derivative."""
  return None
