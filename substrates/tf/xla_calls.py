"""Calls of native functions in what TensorFlow compiles with XLA.

`tf.function(jit_compile=True)` has no use for kernels of ops. There a call is an
XLA call module, a small StableHLO program, that calls the same function as an
FFI handler, which is registered with TensorFlow's own XLA. The program's name
tells which op it stands for and with which attributes, and its gradient is the
one that is registered for that op: tapes and accumulators are told that op, and
where a graph is differentiated the name is read.

Some of what this takes TensorFlow has no public names for: all of that is here.
"""

from collections.abc import Callable, Mapping, Sequence
import contextlib
import ctypes
import functools
import json
import os
import re
import threading
from typing import Any, NamedTuple

import tensorflow as tf

from phasic.substrates.tf.internal import xla_programs

OURS = "phasic"  # what `register` calls our own handlers
_OLDEST = "2.21"  # TensorFlow whose headers our handlers are compiled with
_VERSION = 9  # of XLA call modules
_GET_API = "_ZN3xla3ffi12GetXlaFfiApiEv"
_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPED = re.compile(r"\\([0-9A-F]{2})")
_NAME = re.compile(r'module @"phasic (.*?) end"', re.DOTALL)
# Sizes that are not known are those of the arguments once it is compiled.
_REFINED = "{jax.uses_shape_polymorphism = true}"


class _Op(NamedTuple):
  """What a registered gradient looks at."""

  type: str
  attributes: Mapping[str, Any]
  inputs: Sequence[tf.Tensor]
  outputs: Sequence[tf.Tensor]

  def get_attr(self, name: str) -> Any:
    return self.attributes[name]


def is_compiling() -> bool:
  """Whether what is traced now is for `jit_compile=True`."""
  if tf.executing_eagerly():
    return False
  graph = tf.compat.v1.get_default_graph()
  while graph is not None:
    # The only place where TensorFlow says so.
    context = graph._get_control_flow_context()
    while context is not None:
      if context.IsXLAContext():
        return True
      context = context.outer_context
    graph = getattr(graph, "outer_graph", None)
  return False


def register(symbol: Any, name: str) -> None:
  """Registers a handler with TensorFlow's XLA, once.

  Args:
    symbol: a library's function that does it, given the interface.
    name: the op, for messages.

  Raises:
    NotImplementedError: this TensorFlow has no such interface, or an older one
      than that of the headers with which the library was compiled.
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
  """Says what to do where XLA is older than the headers of a library."""
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
  """The interface for FFI handlers of the XLA in TensorFlow's library."""
  folder = os.path.dirname(tf.__file__)
  try:
    library = ctypes.CDLL(os.path.join(folder, "libtensorflow_cc.so.2"))
    function = getattr(library, _GET_API)
  except (AttributeError, OSError) as error:
    raise NotImplementedError(
      f"TensorFlow is {tf.__version__}, which does not give the interface of its "
      f"XLA ({error}): it must be {_OLDEST} or later for native ops with "
      "jit_compile=True; upgrade it, or call them outside of jit_compile=True"
    ) from None
  function.restype = ctypes.c_void_p
  return function()


def call(
  op_type: str,
  attributes: Mapping[str, Any],
  inputs: Sequence[tf.Tensor],
  results: Sequence[xla_programs.Result],
  target: str,
  config: str,
  order: Sequence[int] | None = None,
  leading: Sequence[tf.Tensor] = (),
  has_side_effect: bool = False,
) -> list[tf.Tensor]:
  """Returns the results of a handler.

  Args:
    op_type: the op for which it stands, whose gradient it has.
    attributes: those of the op: numbers, strings and booleans.
    inputs: those of the op that the handler has, too.
    results: the types of what it returns.
    target: its name.
    config: its attributes, as MLIR writes them.
    order: which inputs are the handler's arguments; all in their order if None.
    leading: inputs in front that the op has and the handler has not.
    has_side_effect: whether it is called though nothing uses its results.
  """
  places = range(len(inputs)) if order is None else order
  text = xla_programs.Program(op_type, inputs, results).calling(
    target, config, places, has_side_effect
  )
  return _run(op_type, attributes, text, inputs, results, leading)


def identity(
  op_type: str,
  attributes: Mapping[str, Any],
  inputs: Sequence[tf.Tensor],
  count: int,
) -> list[tf.Tensor]:
  """Returns the first inputs, for an op that does nothing but have a gradient."""
  shapes = [xla_programs.dims_of(x, i) for i, x in enumerate(inputs[:count])]
  results = [
    xla_programs.Result(x.dtype, dims)
    for x, dims in zip(inputs, shapes, strict=False)
  ]
  text = xla_programs.Program(op_type, inputs, results).returning(count)
  return _run(op_type, attributes, text, inputs, results, ())


def _run(
  op_type: str,
  attributes: Mapping[str, Any],
  text: str,
  inputs: Sequence[tf.Tensor],
  results: Sequence[xla_programs.Result],
  leading: Sequence[tf.Tensor],
) -> list[tf.Tensor]:
  from tensorflow.compiler.tf2xla.python import xla
  from tensorflow.python.eager import execute
  from tensorflow.python.eager import record

  # Escaped once more: the name is a string in the program.
  name = json.dumps([op_type, len(leading), attributes])
  header = f'module @"phasic {_quoted(name)} end" attributes {_REFINED}'
  with record.stop_recording():
    found = list(
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
    execute.record_gradient(op_type, [*leading, *inputs], pairs, found)
  return found


def _quoted(text: str) -> str:
  """A text as it stands in a string of MLIR's, which is one line."""
  return _SPECIAL.sub(lambda match: f"\\{ord(match[0]):02X}", text)


def _unquoted(text: str) -> str:
  return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def quoted(text: str) -> str:
  """A string as an attribute of MLIR's."""
  return f'"{_quoted(text)}"'


def _gradient(op: Any, *upstream: Any) -> Any:
  """The gradient of a call module, where it is one of ours."""
  module = op.get_attr("module")
  module = module.decode() if isinstance(module, bytes) else module
  match = _NAME.match(module)
  if match is None:
    raise LookupError("XlaCallModule: there is no registered gradient")
  op_type, leading, attributes = json.loads(_unquoted(match.group(1)))
  inputs = [None] * leading + list(op.inputs)
  own = _Op(op_type, attributes, inputs, list(op.outputs))
  return _gradients[op_type](own, *upstream)[leading:]


_gradients: dict[str, Callable[..., Any]] = {}


def register_gradient(op_type: str) -> Callable[..., Any]:
  """Returns a decorator: as tf.RegisterGradient, and for calls, too."""

  def decorate(gradient: Callable[..., Any]) -> Callable[..., Any]:
    _gradients[op_type] = gradient
    return tf.RegisterGradient(op_type)(gradient)

  return decorate


# Somebody else's may be there: graphs that are differentiated later have that,
# which refuses; tapes and accumulators do not ask.
with contextlib.suppress(KeyError):
  tf.RegisterGradient("XlaCallModule")(_gradient)
