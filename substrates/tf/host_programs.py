"""Python functions on the host, called eagerly and by TensorFlow's graphs.

In a graph a call is a `tf.numpy_function`, stateless, so that what nothing uses
is not called. TensorFlow numbers such functions in each process anew: a graph
that was saved and runs in another process is told so by its first argument.
"""

from collections.abc import Callable, Mapping, Sequence
import secrets
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import host_functions
from phasic.substrates.tf.internal import host_xla
from phasic.substrates.tf.internal import trees
from phasic.substrates.tf.internal import xla_calls

_PROCESS = secrets.randbits(62)


def evaluate(
  function: host_functions.HostFunction,
  args: tuple[Any, ...],
  options: Mapping[str, Any],
  like: Any,
) -> Any:
  """Calls a function; `like` is what its result has to be, None for anything."""
  if tf.executing_eagerly():
    arrays = trees.map_leaves(lambda x: onp.array(x.numpy()), args)
    result = function.f(*arrays, **options)
    if like is None:
      return trees.map_leaves(lambda x: tensor(onp.asarray(x)), result)
    leaves = _checked(function.name, result, like)
    return trees.pack(like, [tf.convert_to_tensor(x) for x in leaves])

  structure = trees.skeleton(args)

  def on_host(*values: Any) -> list[onp.ndarray]:
    arrays = trees.pack(structure, [onp.array(x) for x in values])
    try:
      return _checked(function.name, function.f(*arrays, **options), like)
    except Exception as error:
      message = host_functions.errors.keep(function.name, error)
      raise RuntimeError(message) from error

  return in_graph(on_host, trees.flatten(args), like)


def in_graph(
  on_host: Callable[..., Any], values: Sequence[tf.Tensor], like: Any
) -> Any:
  """Calls a function of flat arrays when the graph runs."""
  specs = trees.flatten(like)
  if xla_calls.is_compiling():
    found = host_xla.call(on_host, _PROCESS, values, specs)
    return trees.pack(like, found)

  def in_this_process(process: Any, *values: Any) -> Any:
    if process != _PROCESS:
      raise RuntimeError(
        "a Python function cannot be called from another process than the one "
        "that bound it; bind a native kernel to export"
      )
    return on_host(*values)

  results = tf.numpy_function(
    in_this_process,
    [tf.constant(_PROCESS, tf.int64), *values],
    [tf.as_dtype(s.dtype) for s in specs],
    stateful=False,
    name="phasic_bound",
  )
  results = list(results) if isinstance(results, (list, tuple)) else [results]
  for result, spec in zip(results, specs, strict=True):
    result.set_shape(spec.shape)
  return trees.pack(like, results)


def failing(message: str, values: Sequence[tf.Tensor], like: Any) -> Any:
  """Raises; in a graph, when it runs, which it does if its result is used."""
  if tf.executing_eagerly():
    raise NotImplementedError(message)

  def on_host(*values: Any) -> Any:
    del values
    raise NotImplementedError(message)

  return in_graph(on_host, values, like)


def _checked(name: str, result: Any, like: Any) -> list[onp.ndarray]:
  """Returns the arrays of a result, which has to be as `like`."""
  own = trees.skeleton(result)
  if repr(own) != repr(trees.skeleton(like)):
    raise TypeError(
      f"{name} returned a structure {_shown(result)}: it must be "
      f"{_shown(like)}, as its rule `abstract` or its arguments say"
    )
  leaves, specs = trees.flatten(result), trees.flatten(like)
  return host_functions.checked(name, leaves, specs)


def _shown(tree: Any) -> str:
  return repr(trees.skeleton(tree)).replace("0", "*")


def checked_spec(name: str, x: Any) -> host_functions.ArraySpec:
  host_functions.spec_of(name, x)
  return spec(x)


def spec(x: Any) -> host_functions.ArraySpec:
  shape = x.shape
  if isinstance(shape, tf.TensorShape):
    if shape.rank is None:
      raise TypeError("a bound function needs arrays whose ranks are known")
    shape = shape.as_list()
  return host_functions.ArraySpec(shape, tf.as_dtype(x.dtype).as_numpy_dtype)


def tensor(x: Any) -> tf.Tensor:
  """As a tensor; Python numbers are as in NumPy."""
  if tf.is_tensor(x) or isinstance(x, tf.Variable):
    return tf.convert_to_tensor(x)
  return tf.convert_to_tensor(onp.asarray(x))
