"""Calls of native functions in programs that TensorFlow compiles with XLA.

`tf.function(jit_compile=True)` does not use kernels of ops. A call is an XLA
call module, a small StableHLO program, which calls the same function as an FFI
handler that is registered with TensorFlow's XLA. The program's name contains
the op that it replaces and the attributes. Its gradient is the registered
gradient of that op: tapes and accumulators record that op, and the gradient of
a graph reads the name.

All uses of TensorFlow's private names are in this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import contextlib
import ctypes
import functools
import json
import os
import re
import threading
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import tensorflow as tf

from phasic.substrates.tf.internal import xla_programs

OURS = "phasic"  # Stands for phasic's own handlers.
_OLDEST = "2.21"  # The handlers use headers of this version.
_VERSION = 9  # The version of the XlaCallModule op.
_GET_API = "_ZN3xla3ffi12GetXlaFfiApiEv"
_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPED = re.compile(r"\\([0-9A-F]{2})")
_NAME = re.compile(r'module @"phasic (.*?) end"', re.DOTALL)
# With this attribute of a module, XLA determines sizes at compilation that were
# unknown while tracing.
_REFINED = "{jax.uses_shape_polymorphism = true}"


# Attributes of an op: numbers, booleans and strings.
Attributes: TypeAlias = Mapping[str, float | str]
# The gradient that TensorFlow passes for an op's result; None stands for zeros.
Upstream: TypeAlias = tf.Tensor | tf.IndexedSlices | None


class Operation(Protocol):
  """An op, as an argument of registered gradients.

  It is a `tf.Operation` in a graph, and a stand-in for one in eager mode and
  for calls in programs of XLA.
  """

  @property
  def type(self) -> str:
    """Returns the name of the op's type."""

  @property
  def inputs(self) -> Sequence[tf.Tensor]:
    """Returns the op's inputs."""

  @property
  def outputs(self) -> Sequence[tf.Tensor]:
    """Returns the op's results."""

  def get_attr(self, name: str) -> Any:
    """Returns an attribute; strings may be bytes."""


_Gradient = TypeVar(
  "_Gradient", bound=Callable[..., Sequence[tf.Tensor | None]]
)


class _Op(NamedTuple):
  """A stand-in for an op, as an argument of registered gradients."""

  type: str
  attributes: Attributes
  inputs: Sequence[tf.Tensor]
  outputs: Sequence[tf.Tensor]

  def get_attr(self, name: str) -> float | str:
    return self.attributes[name]


def is_compiling() -> bool:
  """Returns whether the current trace is for `jit_compile=True`."""
  if tf.executing_eagerly():
    return False
  graph = tf.compat.v1.get_default_graph()
  while graph is not None:
    # TensorFlow has no public function that returns this context.
    context = graph._get_control_flow_context()
    while context is not None:
      if context.IsXLAContext():
        return True
      context = context.outer_context
    graph = getattr(graph, "outer_graph", None)
  return False


def register(symbol: ctypes._FuncPointer, name: str) -> None:
  """Registers an FFI handler with TensorFlow's XLA, once.

  Args:
    symbol: a function of the library that registers it with an interface.
    name: the op, for messages.

  Raises:
    NotImplementedError: this TensorFlow has no such interface, or an older one
      than the headers with which the library was compiled.
  """
  with _lock:
    if name in _handlers:
      return
    symbol.argtypes = (ctypes.c_void_p,)
    symbol.restype = ctypes.c_int32
    if symbol(_api()):
      raise NotImplementedError(_refused(name))
    _handlers.add(name)


_handlers: set[str] = set()
_lock = threading.Lock()


def _refused(name: str) -> str:
  """Returns the error message about a TensorFlow too old for a handler."""
  version = tf.__version__
  if name != OURS:
    return (
      f"op {name}: the XLA of TensorFlow {version} refuses its handler: compile "
      "the library with this TensorFlow's headers, or call the op outside of "
      "jit_compile=True"
    )
  return (
    f"TensorFlow is {version}, whose XLA refuses the handlers of phasic: it must "
    f"be {_OLDEST} or later for jit_compile=True; upgrade it, call phasic "
    "outside of jit_compile=True, or take the portable path: "
    "config.use_path('portable')"
  )


@functools.cache
def _api() -> int:
  """Returns the address of the FFI interface of TensorFlow's XLA."""
  folder = os.path.dirname(tf.__file__)
  try:
    library = ctypes.CDLL(os.path.join(folder, "libtensorflow_cc.so.2"))  # noqa: TID251  (TensorFlow's)
    function = getattr(library, _GET_API)
  except (AttributeError, OSError) as error:
    raise NotImplementedError(
      f"TensorFlow is {tf.__version__}, which does not export XLA's FFI "
      f"interface ({error}): it must be {_OLDEST} or later for native ops with "
      "jit_compile=True; upgrade it, or call them outside of jit_compile=True"
    ) from None
  function.restype = ctypes.c_void_p
  return function()


def call(
  op_type: str,
  attributes: Attributes,
  inputs: Sequence[tf.Tensor],
  results: Sequence[xla_programs.Result],
  target: str,
  config: str,
  order: Sequence[int] | None = None,
  leading: Sequence[tf.Tensor] = (),
  has_side_effect: bool = False,
) -> list[tf.Tensor]:
  """Calls an FFI handler in a program that XLA compiles.

  Args:
    op_type: the op that it replaces, whose gradient it has.
    attributes: the attributes of the op: numbers, strings and booleans.
    inputs: inputs of the op that the handler takes too.
    results: the types of its results.
    target: the name of the handler.
    config: its attributes, in MLIR's syntax.
    order: the indices of the handler's arguments in the inputs; None for all.
    leading: first inputs of the op that the handler does not take.
    has_side_effect: whether it must be called even if its results are unused.
  """
  places = range(len(inputs)) if order is None else order
  text = xla_programs.Program(op_type, inputs, results).calling(
    target, config, places, has_side_effect
  )
  return _run(op_type, attributes, text, inputs, results, leading)


def identity(
  op_type: str,
  attributes: Attributes,
  inputs: Sequence[tf.Tensor],
  count: int,
) -> list[tf.Tensor]:
  """Returns the first `count` inputs, with the gradient of an op attached."""
  shapes = [xla_programs.dims_of(x, i) for i, x in enumerate(inputs[:count])]
  results = [
    xla_programs.Result(x.dtype, dims)
    for x, dims in zip(inputs, shapes, strict=False)
  ]
  text = xla_programs.Program(op_type, inputs, results).returning(count)
  return _run(op_type, attributes, text, inputs, results, ())


def _run(
  op_type: str,
  attributes: Attributes,
  text: str,
  inputs: Sequence[tf.Tensor],
  results: Sequence[xla_programs.Result],
  leading: Sequence[tf.Tensor],
) -> list[tf.Tensor]:
  from tensorflow.compiler.tf2xla.python import xla
  from tensorflow.python.eager import execute
  from tensorflow.python.eager import record

  # `_quoted` escapes the JSON text for use in an MLIR string.
  name = json.dumps([op_type, len(leading), attributes])
  header = f'module @"phasic {_quoted(name)} end" attributes {_REFINED}'
  with record.stop_recording():
    outputs = list(
      xla.call_module(
        list(inputs),
        version=_VERSION,
        module=f"{header} {{\n{text}}}\n",
        Tout=[r.dtype for r in results],
        Sout=[xla_programs.known(r.dims) for r in results],
        platforms=["CPU"],
      )
    )
  if execute.must_record_gradient():
    pairs = tuple(x for item in attributes.items() for x in item)
    execute.record_gradient(op_type, [*leading, *inputs], pairs, outputs)
  return outputs


def cotangents(op: Operation, upstream: Sequence[Upstream]) -> list[tf.Tensor]:
  """Returns the cotangents of an op's results, with zeros for None."""
  return [
    tf.zeros_like(x) if ct is None else tf.convert_to_tensor(ct)
    for x, ct in zip(op.outputs, upstream, strict=True)
  ]


def _quoted(text: str) -> str:
  """Escapes a text for a string literal of MLIR."""
  return _SPECIAL.sub(lambda match: f"\\{ord(match[0]):02X}", text)


def _unquoted(text: str) -> str:
  return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def quoted(text: str) -> str:
  """Formats a string as an attribute of MLIR."""
  return f'"{_quoted(text)}"'


def _gradient(op: Operation, *upstream: Upstream) -> Sequence[tf.Tensor | None]:
  """Computes the gradient of one of phasic's XLA call modules."""
  module = op.get_attr("module")
  module = module.decode() if isinstance(module, bytes) else module
  match = _NAME.match(module)
  if match is None:
    raise LookupError("XlaCallModule: there is no registered gradient")
  op_type, leading, attributes = json.loads(_unquoted(match.group(1)))
  inputs = [None] * leading + list(op.inputs)
  operation = _Op(op_type, attributes, inputs, list(op.outputs))
  return _gradients[op_type](operation, *upstream)[leading:]


_gradients: dict[str, Callable[..., Sequence[tf.Tensor | None]]] = {}


def register_gradient(op_type: str) -> Callable[[_Gradient], _Gradient]:
  """Returns a decorator like tf.RegisterGradient, also for XLA calls."""

  def decorate(gradient: _Gradient) -> _Gradient:
    _gradients[op_type] = gradient
    return tf.RegisterGradient(op_type)(gradient)

  return decorate


# A KeyError means that another package has registered a gradient of this op.
# Then `tf.gradients` calls the other gradient, which raises an error for this
# package's calls. Tapes and accumulators do not need the registration.
with contextlib.suppress(KeyError):
  tf.RegisterGradient("XlaCallModule")(_gradient)
