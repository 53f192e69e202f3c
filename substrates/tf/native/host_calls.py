"""Calls of Python functions of NumPy arrays, as TensorFlow makes them.

See `host_programs` for how a function is called, and `host_family` for those
that are linear.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import static_options
from phasic.substrates.tf.internal import trees
from phasic.substrates.tf.internal.native import host_family
from phasic.substrates.tf.internal.native import host_functions
from phasic.substrates.tf.internal.native import host_programs
from phasic.substrates.tf.internal.native import host_results


def arrays(name: str, tree: Any) -> Any:
  """Returns arguments as the backend takes them.

  Args:
    name: the function, for messages.
    tree: of arrays and of numbers, whose dtypes are NumPy's.

  Raises:
    TypeError: there is an array of something else than numbers, where arrays
      are the backend's own.
  """
  found = trees.map_leaves(host_programs.tensor, tree)
  trees.map_leaves(lambda x: host_programs.spec(name, x), found)
  return found


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
  tensors = trees.map_leaves(host_programs.tensor, tuple(args))
  like = None
  if abstract is not None or not tf.executing_eagerly():
    like = result_like(function, abstract, tensors, options)
  return host_programs.evaluate(function, tensors, options, like)


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
  """
  function = functions[0]
  assert isinstance(function, host_functions.HostFunction)
  fixed, args = trees.map_leaves(
    host_programs.tensor, (tuple(fixed), tuple(args))
  )
  like = result_like(function, abstract, (*fixed, *args), options)
  statics = static_options.freeze(options)
  specs = trees.map_leaves(lambda x: host_programs.spec(function.name, x), args)
  family = host_family.family(functions, statics, specs, like)
  return family.apply(0, fixed, args)


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what has the shapes and dtypes of a function's result.

  Arguments are those of `call`.
  """
  name = function.name
  specs = trees.map_leaves(lambda x: host_programs.spec(name, x), tuple(args))
  if abstract is not None:
    result = abstract(*specs, **options)
    return trees.map_leaves(
      lambda x: host_programs.checked_spec(name, x), result
    )
  if any(size is None for s in trees.flatten(specs) for size in s.shape):
    raise TypeError(host_functions.unknown_sizes(name))
  zeros = trees.map_leaves(lambda s: onp.zeros(s.shape, s.dtype), specs)
  result = host_results.result_of_zeros(name, function.f, zeros, options)
  return trees.map_leaves(
    lambda x: host_programs.spec(name, host_results.array_of(name, x)),
    result,
  )


def is_differentiable(x: Any) -> bool:
  """Returns whether an array, or its spec, is floating or complex."""
  return host_family.is_differentiable(x)


def forward_rule(f: Callable[..., Any]) -> Callable[..., Any]:
  """Returns the rule `vjp_fwd` of a function whose residuals are arguments."""
  del f  # Its result is known to `custom_gradient`: it is not called again.
  return lambda *args: (None, args)


def conjugated(tree: Any) -> Any:
  """Returns what the cotangents of rules are to the backend's: conjugates."""
  return host_family.conjugated(tree)


def no_cotangent(x: Any) -> Any:
  """Returns what a rule returns for an argument that has no derivative."""
  # Not None, so that the argument's own gradient is asked for, and raises.
  return trees.map_leaves(tf.zeros_like, x)
