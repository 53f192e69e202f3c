"""Calls of Python functions of NumPy arrays, as TensorFlow makes them.

Eager calls are plain calls. In a `tf.function` they are `tf.numpy_function`,
whose message of an exception has its type, text and traceback. The rules of
multilinear functions are registered as all others are, see `custom_gradient`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import custom_gradient
from phasic.substrates.tf.internal import host_functions


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
  args = tuple(args)
  leaves = [tf.convert_to_tensor(x) for x in tf.nest.flatten(args)]
  args = tf.nest.pack_sequence_as(args, leaves)
  if tf.executing_eagerly():
    result = function.f(
      *tf.nest.map_structure(lambda x: onp.array(x.numpy()), args), **options
    )
    like = None if abstract is None else abstract(*args, **options)
    return _as_tensors(function.name, result, like)
  like = result_like(function, abstract, args, options)
  specs = [_spec(x) for x in tf.nest.flatten(like)]

  def on_host(*arrays: Any) -> list[Any]:
    copies = [onp.array(x) for x in arrays]
    own = tf.nest.pack_sequence_as(args, copies)
    try:
      return _leaves(function.name, function.f(*own, **options), like)
    except Exception as error:
      message = host_functions.errors.keep(function.name, error)
      raise RuntimeError(message) from error

  results = tf.numpy_function(
    on_host, leaves, [s.dtype for s in specs], name="phasic_bound"
  )
  results = [results] if isinstance(results, tf.Tensor) else results
  for result, spec in zip(results, specs, strict=True):
    result.set_shape(spec.shape)
  return tf.nest.pack_sequence_as(like, results)


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
  fixed = tf.nest.map_structure(tf.convert_to_tensor, tuple(fixed))
  args = tf.nest.map_structure(tf.convert_to_tensor, tuple(args))
  return _Family(tuple(functions), abstract, dict(options)).call(fixed, args)


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what has the shapes and dtypes of a function's result.

  Arguments are those of `call`.
  """
  specs = tf.nest.map_structure(_spec, tuple(args))
  if abstract is not None:
    return abstract(*specs, **options)
  known = all(s.shape.is_fully_defined() for s in tf.nest.flatten(specs))
  if not known:
    raise TypeError(
      f"{function.name} is called with sizes that are not known: it needs the "
      "rule `abstract`"
    )
  zeros = tf.nest.map_structure(
    lambda s: onp.zeros(s.shape.as_list(), s.dtype.as_numpy_dtype), specs
  )
  result = function.f(*zeros, **options)
  return tf.nest.map_structure(onp.asarray, result)


def cotangent_like(args: tuple[Any, ...]) -> tuple[Any, ...]:
  """Returns arguments with None in the place of what has no cotangent."""
  return tf.nest.map_structure(
    lambda x: x if x.dtype.is_floating or x.dtype.is_complex else None, args
  )


def last_error() -> BaseException | None:
  """Returns the last exception of a function that compiled code called."""
  return host_functions.errors.last()


class _Family:
  """A multilinear function and its transposes, each other's gradients."""

  def __init__(
    self,
    functions: tuple[host_functions.HostFunction | None, ...],
    abstract: Callable[..., Any] | None,
    options: dict[str, Any],
  ):
    self._functions = functions
    self._abstract = abstract
    self._options = options

  @property
  def _name(self) -> str:
    function = self._functions[0]
    assert function is not None
    return function.name

  def call(self, fixed: Any, args: tuple[Any, ...]) -> Any:
    """The function itself."""

    def evaluate(fixed: Any, *args: Any) -> Any:
      function = self._functions[0]
      assert function is not None
      return call(function, self._abstract, (*fixed, *args), self._options)

    def backward(residuals: Any, cotangent: Any) -> Any:
      fixed, *args = residuals
      found = [
        self.transposed(i, fixed, _without(args, i), cotangent, args[i])
        for i in range(len(args))
      ]
      return (None, *found)

    evaluate.__name__ = self._name
    rule = custom_gradient.custom_gradient(
      vjp_fwd=lambda *x: (evaluate(*x), x), vjp_bwd=backward
    )
    return rule(evaluate)(fixed, *args)
