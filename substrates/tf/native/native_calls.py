"""Calls of users' native ops, without derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import threading
import types
from typing import TypeAlias

import tensorflow as tf

from phasic.substrates.tf.internal import native_files
from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal import xla_programs
from phasic.substrates.tf.internal.native import native_declarations
from phasic.substrates.tf.internal.native import native_libraries
from phasic.substrates.tf.internal.native import native_shapes

# A shape as far as it is known while tracing, with None for unknown sizes.
StaticShape: TypeAlias = tuple[int | None, ...]


def op_type(declaration: native_declarations.Declaration) -> str:
  """Returns the name of the op in graphs; phasic/op/tensorflow.h defines it."""
  return _op_type(declaration.name)


def _op_type(name: str) -> str:
  words = name.split("_")
  return "PhasicOp" + "".join(word[:1].upper() + word[1:] for word in words)


def op_function(
  library: str, declaration: native_declarations.Declaration
) -> Callable[..., list[tf.Tensor]]:
  """Returns the Python function that calls an op of a library.

  Raises:
    FileNotFoundError: there is no such library.
    OSError: it cannot be loaded.
    ValueError: it has no such op, or another library has an op of its name.
  """
  op = getattr(load(library, declaration.name), op_type(declaration), None)
  if op is None:
    raise ValueError(
      declaration.error(
        f"tf_library is {library}, which registers no op "
        f"{op_type(declaration)}: compile it with -DPHASIC_WITH_TENSORFLOW, "
        "from the same source"
      )
    )
  return op


def call(
  function: native_declarations.NativeFunction,
  key: str,
  declaration: native_declarations.Declaration,
  operands: Sequence[tf.Tensor],
  options: str,
) -> list[tf.Tensor]:
  """Calls one of a library's native functions.

  Args:
    function: the op to which it belongs.
    key: the attribute `bound`, by which the gradient finds the op.
    declaration: the declaration of the function.
    operands: tensors.
    options: the text that the headers read.
  """
  if xla_calls.is_compiling():
    return _call_in_xla(function, key, declaration, operands, options)
  pairs = list(zip(declaration.inputs, operands, strict=True))
  common = next((x.dtype for operand, x in pairs if operand.type == "T"), None)
  op = op_function(function.tf_library, declaration)
  if not tf.executing_eagerly():
    # The function has no source to convert, so AutoGraph would warn.
    op = tf.autograph.experimental.do_not_convert(op)
  results = op(
    sizes=_sizes(function, declaration, operands),
    inputs=operands,
    Tout=[
      common if operand.type == "T" else tf.as_dtype(operand.type)
      for operand in declaration.outputs
    ],
    options=options,
    bound=key,
  )
  for result, shape in zip(
    results, result_shapes(function, declaration, operands), strict=True
  ):
    result.set_shape(shape)
  return list(results)


def _call_in_xla(
  function: native_declarations.NativeFunction,
  key: str,
  declaration: native_declarations.Declaration,
  operands: Sequence[tf.Tensor],
  options: str,
) -> list[tf.Tensor]:
  """Calls a native function in a program compiled with XLA."""
  target = f"phasic_op_{declaration.name}"
  symbol = native_libraries.symbol(function.tf_library, f"{target}_register")
  xla_calls.register(symbol, declaration.name)
  return xla_calls.call(
    op_type(declaration),
    {"bound": key, "options": options},
    operands,
    _result_types(function, declaration, operands),
    target,
    f"options = {xla_calls.quoted(options)}",
    leading=[tf.zeros([0], tf.int64)],
  )


def _result_types(
  function: native_declarations.NativeFunction,
  declaration: native_declarations.Declaration,
  operands: Sequence[tf.Tensor],
) -> list[xla_programs.Result]:
  shapes = result_shapes(function, declaration, operands)
  pairs = list(zip(declaration.inputs, operands, strict=True))
  common = next((x.dtype for operand, x in pairs if operand.type == "T"), None)
  core = len(declaration.inputs[0].dims)
  rank = operands[0].shape.rank - core
  batch = [
    tuple((i, axis) for i in range(len(operands))) for axis in range(rank)
  ]
  places = {
    dim: ((i, rank + k),)
    for i, operand in enumerate(declaration.inputs)
    for k, dim in enumerate(operand.dims)
  }
  results = []
  for operand, shape in zip(declaration.outputs, shapes, strict=True):
    assert shape is not None  # `native_ops.shape` has checked the ranks.
    axes = [*batch, *[places.get(dim) for dim in operand.dims]]
    dims = tuple(
      axis if size is None else size
      for axis, size in zip(axes, shape, strict=True)
    )
    known = tuple(dim for dim in dims if dim is not None)
    if len(known) < len(dims):
      raise ValueError(
        declaration.error(
          f"a size of {operand.name} is unknown: it must be known with "
          "jit_compile=True"
        )
      )
    dtype: tf.DType = (
      common if operand.type == "T" else tf.as_dtype(operand.type)
    )
    native_shapes.check_bytes(declaration, operand, known, dtype.as_numpy_dtype)
    results.append(xla_programs.Result(dtype, known))
  return results


def result_shapes(
  function: native_declarations.NativeFunction,
  declaration: native_declarations.Declaration,
  operands: Sequence[tf.Tensor],
) -> list[StaticShape | None]:
  """Returns the static shapes of results, given the operands."""
  shapes = [known_shape(x) for x in operands]
  known = [shape for shape in shapes if shape is not None]
  if len(known) < len(shapes):
    return [None] * len(declaration.outputs)
  batch = native_shapes.batch_shape(declaration, known)
  dims = native_shapes.input_dims(declaration, shapes)
  if declaration.own_dims and None not in dims.values():
    dims = function.output_dims(dims)
  return [
    (*batch, *[dims.get(d) for d in operand.dims])
    for operand in declaration.outputs
  ]


def known_shape(x: tf.Tensor) -> StaticShape | None:
  """Returns a tensor's static shape; None if even the rank is unknown."""
  return None if x.shape.rank is None else tuple(x.shape.as_list())


# Loaded modules by library path, and library paths by op.
_modules: dict[str, types.ModuleType] = {}
_owners: dict[str, str] = {}
_lock = threading.Lock()


@functools.cache
def load(library: str, op: str) -> types.ModuleType:
  """Loads a library of ops, given its resolved path and an op's name.

  Raises:
    FileNotFoundError: there is no such file.
    OSError: it cannot be loaded.
    ValueError: it was not compiled for TensorFlow, or has an op of the name of
      another library's.
  """
  with _lock:
    if library not in _modules:
      _modules[library] = _load_first(library, op)
    return _modules[library]


def _load_first(library: str, op: str) -> types.ModuleType:
  # Read the names from the file first: loading a second kernel for the same op
  # would break the first kernel too.
  names = native_files.ops(op, "tf_library", library, for_tensorflow=True)
  for name in names:
    if (other := _owners.get(_op_type(name))) is not None:
      raise ValueError(
        f"op {name} is in {library} and in {other}, which is already loaded: "
        "names of ops must be unique in TensorFlow; give PHASIC_OP another name"
      )
  # TensorFlow must load the library before any other loader: otherwise it does
  # not see the library's ops.
  try:
    module = tf.load_op_library(library)
  except tf.errors.OpError as error:
    raise native_files.cannot_load(op, "tf_library", library, error) from None
  _owners.update((_op_type(name), library) for name in names)
  return module


def _sizes(
  function: native_declarations.NativeFunction,
  declaration: native_declarations.Declaration,
  operands: Sequence[tf.Tensor],
) -> tf.Tensor:
  """Computes the sizes of all dimensions if outputs have extra dimensions."""
  names = declaration.dim_names
  if not declaration.own_dims:
    return tf.zeros([len(names)], tf.int64)
  known: dict[str, static.Size] = {}
  for operand, x in zip(declaration.inputs, operands, strict=True):
    for i, dim in enumerate(operand.dims):
      axis = i - len(operand.dims)
      size = None if x.shape.rank is None else x.shape[axis]
      if not isinstance(known.get(dim), int):
        full = tf.shape(x, tf.int64)
        known[dim] = full[axis] if size is None else int(size)
  dims = function.output_dims(known)
  for name in declaration.own_dims:
    if tf.is_tensor(dims[name]) and not dims[name].dtype.is_integer:
      raise TypeError(
        declaration.error(
          f"`sizes` of {name} returned {dims[name].dtype.name}: it must be an "
          "integer"
        )
      )
  return tf.stack([tf.cast(dims[name], tf.int64) for name in names])
