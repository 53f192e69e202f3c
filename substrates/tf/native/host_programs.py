"""Users' Python functions on the host, called eagerly and by graphs.

In a graph a call is a stateless `tf.numpy_function`, so unused results are not
computed. TensorFlow numbers such functions in each process. The first argument
identifies the process, so that a saved graph raises in another process.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Mapping, Sequence
import os
import secrets
import threading
import time
from typing import NoReturn, Protocol, SupportsIndex, TypeAlias

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import structures
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal.arrays import ArrayLike, DTypeLike
from phasic.substrates.tf.internal.native import host_functions
from phasic.substrates.tf.internal.native import host_results
from phasic.substrates.tf.internal.native import host_xla

_PROCESS = secrets.randbits(62)
# Graphs pass arrays without dimensions as NumPy scalars.
HostArray: TypeAlias = onp.ndarray | onp.generic


class Specified(Protocol):
  """An array, or the spec of one."""

  @property
  def shape(self) -> Iterable[SupportsIndex]:
    """Returns the sizes; unknown sizes are None, as in `ArraySpec`."""

  @property
  def dtype(self) -> DTypeLike:
    """Returns the dtype."""


class Running:
  """Counts running graph calls, so that Python can wait for them at exit."""

  def __init__(self) -> None:
    self._lock = threading.Lock()
    self._count = 0
    self._is_exiting = False
    self._process = os.getpid()

  def __enter__(self) -> None:
    with self._lock:
      if self._is_exiting:
        raise RuntimeError(
          "a bound function was called while the interpreter is exiting"
        )
      self._count += 1

  def __exit__(self, *exception: object) -> None:
    with self._lock:
      self._count -= 1

  def stop(self) -> None:
    """Waits for running calls to end; later calls raise.

    A forked process does not wait, as it does not have the calling threads.
    """
    if os.getpid() != self._process:
      return
    with self._lock:
      self._is_exiting = True
    while self._count:
      time.sleep(0.001)


_running = Running()
atexit.register(_running.stop)


def evaluate(
  function: host_functions.HostFunction,
  args: tuple[object, ...],
  options: Mapping[str, object],
  like: object,
) -> object:
  """Calls a function; `like` has the specs of its result, or is None."""
  if tf.executing_eagerly():
    arrays = structures.map_leaves(lambda x: onp.array(x.numpy()), args)
    result = function.f(*arrays, **options)
    if like is None:
      name = function.name
      tree = structures.map_leaves(
        lambda x: host_results.array_of(name, x), result
      )
      structures.map_leaves(lambda x: spec(name, x), tree)
      return structures.map_leaves(tf.convert_to_tensor, tree)
    leaves = _checked(function.name, result, like)
    return structures.pack(like, [tf.convert_to_tensor(x) for x in leaves])

  structure = structures.skeleton(args)

  def on_host(*values: HostArray) -> list[onp.ndarray]:
    arrays = structures.pack(structure, [onp.array(x) for x in values])
    try:
      return _checked(function.name, function.f(*arrays, **options), like)
    except BaseException as error:
      message = host_functions.errors.keep(function.name, error)
      raise RuntimeError(message) from error

  return in_graph(on_host, structures.flatten(args), like, function.name)


def in_graph(
  on_host: Callable[..., Sequence[onp.ndarray]],
  values: Sequence[tf.Tensor],
  like: object,
  name: str = "a bound function",
) -> object:
  """Adds to the graph an op that calls a function of flat arrays."""
  specs = structures.flatten(like)
  if not specs:
    return structures.pack(like, [])
  if xla_calls.is_compiling():
    tensors = host_xla.call(on_host, _PROCESS, values, specs, name)
    return structures.pack(like, tensors)

  def in_this_process(
    process: object, *values: HostArray
  ) -> Sequence[onp.ndarray]:
    if process != _PROCESS:
      raise RuntimeError(
        f"{name}: a Python function cannot be called from another process than "
        "the one that bound it; bind a native kernel to export"
      )
    with _running:
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
  return structures.pack(like, results)


def failing(message: str, values: Sequence[tf.Tensor], like: object) -> object:
  """Raises eagerly; in a graph returns a result that raises when it runs."""
  if tf.executing_eagerly():
    raise NotImplementedError(message)

  def on_host(*values: object) -> NoReturn:
    raise NotImplementedError(message)

  return in_graph(on_host, values, like)


def _checked(name: str, result: object, like: object) -> list[onp.ndarray]:
  """Checks a result against the specs `like`; returns its arrays."""
  if not structures.same(result, like):
    raise TypeError(
      f"{name} returned the structure {_shown(result)}: it must be "
      f"{_shown(like)}, as given by its rule `abstract` or, without such a "
      "rule, by a call with zeros"
    )
  leaves, specs = structures.flatten(result), structures.flatten(like)
  return host_results.checked(name, leaves, specs)


def _shown(tree: object) -> str:
  return repr(structures.skeleton(tree)).replace("0", "*")


def checked_spec(name: str, x: Specified) -> host_results.ArraySpec:
  host_results.spec_of(name, x)
  return spec(name, x)


def spec(name: str, x: Specified) -> host_results.ArraySpec:
  shape = x.shape
  if isinstance(shape, tf.TensorShape):
    if shape.rank is None:
      raise TypeError(
        f"{name} has an array whose number of dimensions is unknown: give its "
        "TensorSpec a shape, [None] for one dimension of any size"
      )
    shape = shape.as_list()
  return host_results.ArraySpec(shape, _numeric(name, x.dtype).as_numpy_dtype)


def _numeric(name: str, dtype: DTypeLike) -> tf.DType:
  """Converts a numeric or bool dtype to TensorFlow's; raises TypeError."""
  try:
    kind = tf.as_dtype(dtype)
  except TypeError:
    kind = tf.string
  if kind.is_floating or kind.is_integer or kind.is_complex or kind.is_bool:
    return kind
  raise TypeError(f"{name} has an array of {dtype}: it must be numeric")


def tensor(x: ArrayLike) -> tf.Tensor:
  """Converts to a tensor, with NumPy's dtypes for Python numbers."""
  if tf.is_tensor(x) or isinstance(x, tf.Variable):
    return tf.convert_to_tensor(x)
  return tf.convert_to_tensor(onp.asarray(x))
