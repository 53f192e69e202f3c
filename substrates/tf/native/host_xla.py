"""Users' Python functions on the host, called by programs of XLA.

`tf.function(jit_compile=True)` does not support `tf.numpy_function`. Programs
call a handler in phasic's library, which calls Python functions by number.
Called functions are never deleted, as programs may outlive their names.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
import ctypes
import os
import threading
import time

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import op_library
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal import xla_programs
from phasic.substrates.tf.internal.native import host_functions
from phasic.substrates.tf.internal.native import host_results
from phasic.substrates.tf.internal.native import native_declarations
from phasic.substrates.tf.internal.native import native_libraries

_TARGET = "phasic_call_python"
_called: list[Callable[..., Sequence[onp.ndarray]]] = []
_started: list[int] = []
_lock = threading.Lock()

_Callback = ctypes.CFUNCTYPE(
  ctypes.c_int32,
  ctypes.c_int64,
  ctypes.POINTER(native_libraries.Buffer),
  ctypes.c_int32,
  ctypes.POINTER(native_libraries.Buffer),
  ctypes.c_int32,
  ctypes.c_void_p,
  ctypes.c_int64,
)


def call(
  on_host: Callable[..., Sequence[onp.ndarray]],
  process: int,
  values: Sequence[tf.Tensor],
  specs: Sequence[host_results.ArraySpec],
  name: str,
) -> list[tf.Tensor]:
  """Adds to an XLA program a call of a function that takes flat arrays.

  Args:
    on_host: the function; its results are checked.
    process: the number of this process.
    values: its arguments.
    specs: the specs of its results.
    name: its name in messages.

  Raises:
    TypeError: a size is unknown.
    NotImplementedError: there is no handler for this TensorFlow.
  """
  if any(not isinstance(size, int) for s in specs for size in s.shape):
    raise TypeError(
      f"{name} is a Python function: with jit_compile=True all sizes of its "
      "results must be known"
    )
  op_library.in_xla()  # This registers the FFI handlers.
  _start(process)
  with _lock:
    number = len(_called)
    _called.append(on_host)
  config = (
    f"process = {process} : i64, number = {number} : i64, "
    f"name = {xla_calls.quoted(name)}"
  )
  return xla_calls.call(
    "PhasicHostCall",
    {},
    values,
    [xla_programs.Result(tf.as_dtype(s.dtype), tuple(s.shape)) for s in specs],
    _TARGET,
    config,
    # XLA removes calls whose results are all empty, so that these results are
    # never checked. Declaring a side effect prevents the removal.
    has_side_effect=any(0 in s.shape for s in specs),
  )


@xla_calls.register_gradient("PhasicHostCall")
def _gradient(op: xla_calls.Operation, *upstream: object) -> list[None]:
  """Returns no gradients, as `custom_gradient` applies the rules."""
  return [None] * len(op.inputs)


def _start(process: int) -> None:
  """Sets the Python callback of the native library, once."""
  with _lock:
    if _started:
      return
    start = op_library.library().PhasicStartHostCalls
    start.argtypes = (_Callback, ctypes.c_int64)
    start.restype = None
    start(_callback, process)
    # Programs may still run when the interpreter exits: stop their callbacks.
    atexit.register(_stop)
    _started.append(os.getpid())


def _stop() -> None:
  """Waits for running calls to end; later calls raise.

  A forked process does not wait, as it does not have the calling threads.
  """
  stop = op_library.library().PhasicStopHostCalls
  stop.restype = ctypes.c_int64
  pause = 0.0
  while stop() and os.getpid() in _started:
    pause = 0.1
    time.sleep(0.001)
  # Threads whose programs have just ended need the GIL to return to Python.
  # Sleeping releases it.
  time.sleep(pause)


@_Callback
def _callback(
  number: int,
  inputs: ctypes._Pointer[native_libraries.Buffer],
  num_inputs: int,
  outputs: ctypes._Pointer[native_libraries.Buffer],
  num_outputs: int,
  message: int,
  message_size: int,
) -> int:
  """Calls a registered function; returns 1, or 0 after an exception.

  The exception's message is written to `message`.
  """
  try:
    results = _called[number](*(_copy(inputs[i]) for i in range(num_inputs)))
    for i, result in zip(range(num_outputs), results, strict=True):
      _fill(outputs[i], i, result)
  except BaseException as error:
    _write(host_functions.text_of(error), message, message_size)
    return 0
  return 1


def _dtype(buffer: native_libraries.Buffer) -> onp.dtype:
  name = native_declarations.TYPES[buffer.type]
  if name == "none":
    raise TypeError(
      f"an array of XLA has element type {buffer.type}: it must be a type that "
      "NumPy has"
    )
  return onp.dtype(tf.as_dtype(name).as_numpy_dtype)


def _shape(buffer: native_libraries.Buffer) -> tuple[int, ...]:
  return tuple(buffer.dims[i] for i in range(buffer.rank))


def _copy(buffer: native_libraries.Buffer) -> onp.ndarray:
  """Copies an argument from a buffer, as XLA reuses the memory."""
  array = onp.empty(_shape(buffer), _dtype(buffer))
  if array.nbytes:
    ctypes.memmove(array.ctypes.data, buffer.data, array.nbytes)
  return array


def _fill(
  buffer: native_libraries.Buffer, position: int, result: onp.ndarray
) -> None:
  spec = host_results.ArraySpec(_shape(buffer), _dtype(buffer))
  if result.dtype != spec.dtype or result.shape != spec.shape:
    actual = host_results.ArraySpec(result.shape, result.dtype)
    raise TypeError(
      f"result {position} is {actual}: it must be {spec}, as in the program"
    )
  array = onp.ascontiguousarray(result)
  if array.nbytes:
    ctypes.memmove(buffer.data, array.ctypes.data, array.nbytes)


def _write(text: str, message: int, message_size: int) -> None:
  """Writes a message as whole UTF-8 characters without null characters."""
  data = text.replace("\0", " ").encode(errors="replace")[: message_size - 1]
  data = data.decode(errors="ignore").encode() + b"\0"
  ctypes.memmove(message, data, len(data))
