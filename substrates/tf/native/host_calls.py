"""Calls of users' Python functions on NumPy arrays by TensorFlow.

`host_programs` calls functions, and `host_family` has linear ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import structures
from phasic.substrates.tf.internal.arrays import Tree
from phasic.substrates.tf.internal.native import host_family
from phasic.substrates.tf.internal.native import host_functions
from phasic.substrates.tf.internal.native import host_programs
from phasic.substrates.tf.internal.native import host_results
from phasic.substrates.tf.internal.native import static_options

_T = TypeVar("_T")


def arrays(name: str, tree: object) -> Tree:
  """Converts the leaves of arguments to arrays of the backend."""
  tensors = structures.map_leaves(host_programs.tensor, tree)
  structures.map_leaves(lambda x: host_programs.spec(name, x), tensors)
  return tensors


def call(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  args: Sequence[object],
  options: Mapping[str, object],
) -> Tree:
  """Calls a Python function that has no derivatives."""
  tensors = structures.map_leaves(host_programs.tensor, tuple(args))
  like = None
  if abstract is not None or not tf.executing_eagerly():
    like = result_like(function, abstract, tensors, options)
  return host_programs.evaluate(function, tensors, options, like)


def call_multilinear(
  functions: host_functions.Functions,
  abstract: Callable[..., object] | None,
  fixed: Sequence[object],
  args: Sequence[object],
  options: Mapping[str, object],
) -> Tree:
  """Calls a Python function that is linear in each of its arguments."""
  function = functions[0]
  assert isinstance(function, host_functions.HostFunction)
  fixed, args = structures.map_leaves(
    host_programs.tensor, (tuple(fixed), tuple(args))
  )
  like = result_like(function, abstract, (*fixed, *args), options)
  statics = static_options.freeze(options)
  specs = structures.map_leaves(
    lambda x: host_programs.spec(function.name, x), args
  )
  family = host_family.family(functions, statics, specs, like)
  return family.apply(0, fixed, args)


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., object] | None,
  args: Sequence[object],
  options: Mapping[str, object],
) -> Tree:
  """Returns the specs of a function's result.

  Arguments are as in `call`.
  """
  name = function.name
  specs = structures.map_leaves(
    lambda x: host_programs.spec(name, x), tuple(args)
  )
  if abstract is not None:
    result = abstract(*specs, **options)
    return structures.map_leaves(
      lambda x: host_programs.checked_spec(name, x), result
    )
  if any(size is None for s in structures.flatten(specs) for size in s.shape):
    raise TypeError(host_functions.unknown_sizes(name))
  zeros = structures.map_leaves(lambda s: onp.zeros(s.shape, s.dtype), specs)
  result = host_results.result_of_zeros(name, function.f, zeros, options)
  return structures.map_leaves(
    lambda x: host_programs.spec(name, host_results.array_of(name, x)),
    result,
  )


def is_differentiable(x: object) -> bool:
  """Returns whether an array or its spec is floating or complex."""
  return host_family.is_differentiable(x)


def forward_rule(
  f: Callable[..., object],
) -> Callable[..., tuple[None, tuple[object, ...]]]:
  """Returns a forward rule `vjp_fwd` whose residuals are the arguments."""
  del f  # `custom_gradient` has already computed the result of `f`.
  return lambda *args: (None, args)


def conjugated(tree: _T) -> _T:
  """Conjugates cotangents, as rules and TensorFlow differ by conjugation."""
  return host_family.conjugated(tree)


def no_cotangent(x: object) -> object:
  """Returns the backend's cotangent for an argument without derivative."""
  # Zeros, unlike None, make TensorFlow run the argument's own gradient, which
  # raises an error.
  return structures.map_leaves(tf.zeros_like, x)
