"""Conversion to arrays, the dtype rule, pytree classes, and trees of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import functools
import inspect
import re
from typing import TypeGuard, TypeVar

import numpy as onp
import tensorflow as tf
from tensorflow.python.eager import record
from tensorflow.python.framework import ops

from phasic.substrates.tf.internal import array_functions
from phasic.substrates.tf.internal import dtypes
from phasic.substrates.tf.internal import raw_arguments
from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal.arrays import Array, DTypeLike, Result, Tree

_T = TypeVar("_T", bound=type)
# What TensorFlow raises for lists whose rows differ in length: in a graph, and
# eagerly where there are tensors in the list.
_RAGGED = (ValueError, tf.errors.InvalidArgumentError)


def register(cls: _T) -> _T:
  """Registers the decorated class as a structure of arrays (pytree).

  The class must have `_children()`, a class method that lists the names of
  parts that are arrays or structures of arrays; `_parts()`, a method that
  returns all parts by name; and `_unflatten(parts)`, a class method that builds
  an instance from such a mapping without checking values.

  NumPy has no such structures, so the class is unchanged. JAX registers a
  pytree, and TensorFlow finds the variables in it.

  In TensorFlow a class whose instances have a `name` becomes a `tf.Module`:
  `variables` and `trainable_variables` list the variables of its parts, a
  module with an instance as an attribute finds them, and checkpoints and
  SavedModels contain them. Its name scope has the instance's name. A class
  without names, which has no variables, is unchanged.
  """
  if hasattr(cls, "name"):
    if not issubclass(cls, tf.Module):
      # tf.Module comes last, so that it overrides no attribute of the class.
      cls.__bases__ = (*cls.__bases__, tf.Module)
    _make_name_scopes(cls)
  _keep_from_autograph(cls)
  return cls


def _make_name_scopes(cls: type[tf.Module]) -> None:
  """Wraps the class's constructor to call the constructor of `tf.Module`.

  The name scope is created with the instance, inside the open scopes.
  """
  construct = cls.__init__

  @functools.wraps(construct)
  def initialize(self: tf.Module, *args: object, **kwargs: object) -> None:
    construct(self, *args, **kwargs)
    name = re.sub(r"\W", "_", str(self.name), flags=re.ASCII)
    # If no valid character is left, use the name of the class.
    good = re.match(r"[A-Za-z]", name)
    tf.Module.__init__(self, name if good else None)

  cls.__init__ = initialize


def _keep_from_autograph(cls: type) -> None:
  """Excludes the class from AutoGraph: it has no control flow to convert.

  The conversion would take seconds at the first trace of a `tf.function`, and
  would obscure tracebacks.
  """
  for name in dir(cls):
    if name.startswith("_"):
      continue
    owner = next(base for base in cls.__mro__ if name in vars(base))
    if issubclass(tf.Module, owner):
      continue
    method = inspect.getattr_static(cls, name)
    if inspect.isfunction(method):
      setattr(cls, name, tf.autograph.experimental.do_not_convert(method))
    elif isinstance(method, classmethod):
      kept = tf.autograph.experimental.do_not_convert(method.__func__)
      setattr(cls, name, classmethod(kept))


def is_variable(x: object) -> bool:
  """Returns whether `x` is a variable, whose value may change between uses."""
  return static.is_variable(x)


def freezes_variables(x: object) -> bool:
  """Returns whether arrays computed from `x` now freeze values of variables."""
  if not tf.executing_eagerly() or record.could_possibly_record():
    return False
  return is_variable(x) or bool(getattr(x, "variables", ()))


def is_like(x: object, array: object) -> TypeGuard[Array]:
  """Returns whether `x` is a backend array with the dtype of `array`."""
  return (
    isinstance(x, tf.Tensor)
    and x.dtype == getattr(array, "dtype", None)
    and (x.shape.rank or 0) <= raw_arguments.MAX_DIMENSIONS
  )


def as_array(
  x: object, dtype: str | None = None, name: str = "value", copy: bool = False
) -> Array:
  """Converts `x` to an array of the backend."""
  # `numeric` and `kept` also check that `x` is numeric.
  x_dtype = (dtypes.numeric if dtype else dtypes.kept)(x, name)
  dtype = dtype or x_dtype
  if copy and isinstance(x, onp.ndarray):
    x = onp.array(x)
  try:
    return array_functions.asarray(x, dtype)
  except _RAGGED:
    if static.holds_arrays(x):
      raise raw_arguments.ragged(name) from None
    raise


def are_lasting(arrays: Iterable[object]) -> bool:
  """Returns whether the values of arrays are known and never change.

  Tensors do not count while a gradient tape or a forward accumulator is open,
  which may watch them, nor in a `tf.function`.
  """
  has_tensors = False
  for x in arrays:
    if isinstance(x, ops.EagerTensor):
      has_tensors = True
    elif x is not None and not raw_arguments.is_read_only(x):
      return False
  return not has_tensors or (
    tf.executing_eagerly() and not record.could_possibly_record()
  )


def make_lasting(arrays: Iterable[object]) -> bool:
  """Returns whether computed arrays can be kept, as they never change."""
  return are_lasting(arrays)


def sparse_entries(
  x: object, name: str
) -> (
  tuple[onp.ndarray, onp.ndarray, onp.ndarray | Array, tuple[int, ...]] | None
):
  """Returns row and column indices, values and shape of a sparse matrix."""
  if not isinstance(x, tf.SparseTensor):
    return raw_arguments.entries_of_scipy(x)
  places, shape = static.concrete(x.indices), static.concrete(x.dense_shape)
  if places is None or shape is None:
    raise raw_arguments.traced_places(name)
  rows, columns = places.T
  return rows, columns, x.values, tuple(int(d) for d in shape)


def cast(x: object, dtype: DTypeLike | None = None) -> Array:
  """Converts `x` to an array; a dtype of None keeps the dtype of `x`.

  It is differentiable.
  """
  return array_functions.asarray(x, dtype)


def constant(x: object, dtype: str) -> Array:
  """Converts host numbers to an array whose values are known while tracing."""
  return tf.constant(x, dtype)


def empty(shape: tuple[int, ...], like: Array) -> Array:
  """Returns an array without entries, which stands for an absent operand."""
  is_known = all(type(d) is int for d in shape)
  if is_known and tf.executing_eagerly():
    return _empty(shape, like.dtype)
  return tf.zeros(shape, like.dtype)


@functools.lru_cache(maxsize=256)
def _empty(shape: tuple[int, ...], dtype: tf.DType) -> Array:
  return tf.zeros(shape, dtype)


def as_result(x: Array) -> Result:
  """Converts a public method's result; in NumPy 0-d arrays become scalars."""
  return x


def as_index_array(x: object, name: str) -> Array:
  """Converts `x` to an int32 array.

  Traced entries are not checked: integers that do not fit wrap around.

  Raises:
    TypeError: `x` holds anything but integers.
    ValueError: `x` is ragged, or an integer does not fit into 32 bits.
  """
  raw_arguments.check_nesting(x, name)
  try:
    array = tf.convert_to_tensor(x)
  except _RAGGED:
    raise raw_arguments.ragged(name) from None
  if not array.dtype.is_integer:
    raise TypeError(f"{name} has dtype {array.dtype.name}: it must be integers")
  known = static.concrete(array)
  if known is not None and not onp.array_equal(known.astype(onp.int32), known):
    raise ValueError(f"{name} has an entry that does not fit into 32 bits")
  return tf.cast(array, tf.int32)


def flatten(tree: object) -> list[Tree]:
  """Returns the leaves of a tree in order."""
  return [x for x in tf.nest.flatten(tree) if x is not None]


def map_leaves(f: Callable[..., object], tree: Tree, *others: object) -> Tree:
  """Applies `f` to the corresponding leaves of trees."""
  if not others:
    # This is far faster than `tf.nest` for the usual trees: tensors, lists and
    # tuples.
    if tree is None or isinstance(tree, (tf.Tensor, int)):
      return None if tree is None else f(tree)
    if type(tree) in (list, tuple):
      return type(tree)(map_leaves(f, x) for x in tree)
  return tf.nest.map_structure(
    lambda *xs: None if xs[0] is None else f(*xs), tree, *others
  )


def pack(tree: object, leaves: Sequence[object]) -> Tree:
  """Builds a tree with the structure of `tree` from given leaves."""
  left = iter(leaves)
  return map_leaves(lambda _: next(left), tree)


def skeleton(tree: object) -> object:
  """Returns the structure of a tree without its values, for comparisons."""
  return map_leaves(lambda _: 0, tree)


def same(tree: object, other: object) -> bool:
  """Returns whether two structures are equal; the order of keys is ignored."""
  try:
    tf.nest.assert_same_structure(tree, other)
  except (TypeError, ValueError):
    return False
  pairs = zip(tf.nest.flatten(tree), tf.nest.flatten(other), strict=True)
  return all((a is None) == (b is None) for a, b in pairs)


def flatten_up_to(tree: Tree, value: Tree) -> list[Tree]:
  """Returns the subtree of `value` at each leaf of `tree`.

  If `value` is None, all subtrees are None.

  Raises:
    TypeError: the value has another structure.
  """
  if value is None:
    return [None] * len(flatten(tree))
  if tree is None:
    return []
  if not tf.nest.is_nested(tree):
    return [value]
  try:
    if isinstance(tree, dict):
      pairs = [(tree[key], value[key]) for key in sorted(tree)]
      matches = len(value) == len(tree)
    else:
      pairs = list(zip(tree, value, strict=True))
      matches = True
  except (TypeError, ValueError, KeyError):
    matches, pairs = False, []
  if not matches:
    raise TypeError(f"a structure is {value}: it must match {tree}")
  return [x for sub, part in pairs for x in flatten_up_to(sub, part)]
