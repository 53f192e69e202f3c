"""Conversion to arrays, the dtype rule, and classes as structures of arrays."""

import functools
import inspect
import re
from typing import Any, TypeVar

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import array_functions
from phasic.substrates.tf.internal import dtypes
from phasic.substrates.tf.internal import raw_arguments
from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal.arrays import Result

_T = TypeVar("_T", bound=type)


def register(cls: _T) -> _T:
  """Class decorator: makes a class a structure that the backend sees through.

  The class has to have `_children()`, a class method that names its parts that
  are arrays or structures of arrays; `_parts()`, a method that returns these
  and all else by name; and `_unflatten(parts)`, a class method that builds an
  instance from such a mapping without looking at the values.

  NumPy has no such structures, so nothing happens. JAX makes a pytree of the
  class, TensorFlow finds the variables in it.

  Here a class whose instances have a `name` becomes a `tf.Module`: `variables`
  and `trainable_variables` list what its parts hold, a module that has an
  instance as an attribute finds them, and checkpoints and SavedModels contain
  them. Its name scope is called like the instance. A class without names, which
  holds no variables, stays what it is.
  """
  if hasattr(cls, "name"):
    if not issubclass(cls, tf.Module):
      # As the last base, so that nothing of the class is overridden.
      cls.__bases__ = (*cls.__bases__, tf.Module)
    _make_name_scopes(cls)
  _keep_from_autograph(cls)
  return cls


def _make_name_scopes(cls: Any) -> None:
  """Lets the class's constructor run that of `tf.Module` as well.

  The scope is made where the instance is, inside the scopes that are open.
  """
  construct = cls.__init__

  @functools.wraps(construct)
  def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
    construct(self, *args, **kwargs)
    name = re.sub(r"\W", "_", str(self.name), flags=re.ASCII)
    # Where nothing is left of the name it is made from the class's.
    good = re.match(r"[A-Za-z]", name)
    tf.Module.__init__(self, name if good else None)

  cls.__init__ = initialize


def _keep_from_autograph(cls: type) -> None:
  """Stops AutoGraph at the class: below is no Python control flow to convert.

  The conversion would take seconds at the first trace of a `tf.function`, and
  would spoil the tracebacks.
  """
  for name in dir(cls):
    method = inspect.getattr_static(cls, name)
    if name.startswith("_") or issubclass(tf.Module, _owner(cls, name)):
      continue
    if inspect.isfunction(method):
      setattr(cls, name, tf.autograph.experimental.do_not_convert(method))
    elif isinstance(method, classmethod):
      kept = tf.autograph.experimental.do_not_convert(method.__func__)
      setattr(cls, name, classmethod(kept))


def _owner(cls: type, name: str) -> type:
  """The class of the method resolution order that has the attribute."""
  return next(base for base in cls.__mro__ if name in vars(base))


def is_variable(x: Any) -> bool:
  """Returns whether `x` is a variable, which is read anew at each use."""
  return isinstance(x, tf.Variable)


def as_array(
  x: Any, dtype: str | None = None, name: str = "value", copy: bool = False
) -> Any:
  """Converts `x` to an array of the backend.

  Args:
    x: an array, a number or nested lists of numbers.
    dtype: "float32" or "float64"; None keeps a floating array's own and turns
      all else into the widest.
    name: the argument's name, for the messages.
    copy: whether the result must not change when the caller's array does.

  Raises:
    TypeError: `x` is complex, bool, half precision, masked or not numeric.
    ValueError: `x` is ragged or has too many dimensions.
  """
  # Either checks it as well.
  own = (dtypes.numeric if dtype else dtypes.kept)(x, name)
  dtype = dtype or own
  if copy and isinstance(x, onp.ndarray):
    x = onp.array(x)
  return array_functions.asarray(x, dtype)


def cast(x: Any, dtype: Any = None) -> Any:
  """Returns an array, or numbers of the host, as an array of a dtype, or its own.

  Derivatives go through it.
  """
  return array_functions.asarray(x, dtype)


def as_result(x: Any) -> Result:
  """Returns what a public method returns: what it computed.

  In NumPy that is a scalar where there are no dimensions, as it is of NumPy's
  own functions; arrays of the other backends stay what they are.
  """
  return x


def as_index_array(x: Any, name: str) -> Any:
  """Converts `x` to an array of int32.

  Traced entries are not looked at: what does not fit wraps round.

  Raises:
    TypeError: `x` holds anything but integers.
    ValueError: `x` is ragged, or an integer does not fit into 32 bits.
  """
  raw_arguments.check_nesting(x, name)
  try:
    array = tf.convert_to_tensor(x)
  except ValueError:
    raise raw_arguments.ragged(name) from None
  if not array.dtype.is_integer:
    raise TypeError(f"{name} has dtype {array.dtype.name}: it must be integers")
  known = static.concrete(array)
  if known is not None and not onp.array_equal(known.astype(onp.int32), known):
    raise ValueError(f"{name} has an entry that does not fit into 32 bits")
  return tf.cast(array, tf.int32)
