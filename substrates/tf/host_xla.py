"""Python functions on the host, called by what TensorFlow compiles with XLA.

`tf.function(jit_compile=True)` has no use for `tf.numpy_function`. There a call
is one of a handler in our library, which calls Python functions by number. What
is called is never deleted, as programs may outlive the functions' names.
"""

from collections.abc import Callable, Sequence
import ctypes
import functools
import threading
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import host_functions
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal import xla_programs

_TARGET = "phasic_call_python"
# By the numbers of phasic/op/buffer.h.
_DTYPES = (
  *(None, "bool", "int8", "int16", "int32", "int64"),
  *("uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"),
  *("float32", "float64", "complex64", "complex128"),
)
_called: list[Callable[..., Sequence[onp.ndarray]]] = []
_lock = threading.Lock()


class _Buffer(ctypes.Structure):
  """As in phasic/op/buffer.h."""

  _fields_ = (
    ("data", ctypes.c_void_p),
    ("dims", ctypes.POINTER(ctypes.c_int64)),
    ("rank", ctypes.c_int32),
    ("type", ctypes.c_int32),
  )

  def dtype(self) -> onp.dtype:
    name = _DTYPES[self.type]
    if name is None:
      raise TypeError("NumPy lacks the dtype")
    return onp.dtype(tf.as_dtype(name).as_numpy_dtype)

  def shape(self) -> tuple[int, ...]:
    return tuple(self.dims[i] for i in range(self.rank))

  def copy(self) -> onp.ndarray:
    """A copy, as XLA reuses the memory."""
    array = onp.empty(self.shape(), self.dtype())
    if array.nbytes:
      ctypes.memmove(array.ctypes.data, self.data, array.nbytes)
    return array

  def fill(self, array: onp.ndarray) -> None:
    if array.nbytes:
      ctypes.memmove(self.data, array.ctypes.data, array.nbytes)


_Callback = ctypes.CFUNCTYPE(
  ctypes.c_int32,
  ctypes.c_int64,
  ctypes.POINTER(_Buffer),
  ctypes.c_int32,
  ctypes.POINTER(_Buffer),
  ctypes.c_int32,
  ctypes.c_void_p,
  ctypes.c_int64,
)


def call(
  on_host: Callable[..., Sequence[onp.ndarray]],
  process: int,
  values: Sequence[tf.Tensor],
  specs: Sequence[host_functions.ArraySpec],
) -> list[tf.Tensor]:
  """Returns the results of a function of flat arrays.

  Args:
    on_host: the function; its results are checked.
    process: a number of this process.
    values: its arguments.
    specs: of its results.

  Raises:
    TypeError: a size is not known.
    NotImplementedError: there is no handler for this TensorFlow.
  """
  if any(not isinstance(size, int) for s in specs for size in s.shape):
    raise TypeError(
      "a bound Python function with jit_compile=True needs sizes that are known"
    )
  phase_type_op.in_xla()  # Registers the handlers.
  _start(process)
  with _lock:
    number = len(_called)
    _called.append(on_host)
  config = (
    f"process = {process} : i64, number = {number} : i64, "
    f"name = {xla_calls.quoted('a bound function')}"
  )
  return xla_calls.call(
    "PhasicHostCall",
    {},
    values,
    [xla_programs.Result(tf.as_dtype(s.dtype), tuple(s.shape)) for s in specs],
    _TARGET,
    config,
  )


@xla_calls.register_gradient("PhasicHostCall")
def _gradient(op: Any, *upstream: Any) -> list[None]:
  """None: rules are what is differentiated, see `custom_gradient`."""
  del upstream
  return [None] * len(op.inputs)


@functools.cache
def _start(process: int) -> None:
  function = phase_type_op.library().PhasicSetHostCallback
  function.argtypes = (_Callback, ctypes.c_int64)
  function.restype = None
  function(_callback, process)


@_Callback
def _callback(
  number: int,
  inputs: Any,
  num_inputs: int,
  outputs: Any,
  num_outputs: int,
  message: int,
  message_size: int,
) -> int:
  try:
    results = _called[number](*(inputs[i].copy() for i in range(num_inputs)))
    for i in range(num_outputs):
      outputs[i].fill(results[i])
  except BaseException as error:
    text = str(error).encode()[: message_size - 1] + b"\0"
    ctypes.memmove(message, text, len(text))
    return 1
  return 0
