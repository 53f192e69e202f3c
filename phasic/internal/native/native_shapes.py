"""Shapes of the operands of native ops, from their declarations."""

from __future__ import annotations

from collections.abc import Sequence
import math
import types
from typing import Protocol

import numpy as onp

from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.native import native_declarations
from phasic.internal.native.host_results import Size


class ArrayOrSpec(Protocol):
  """An array, or its spec."""

  @property
  def shape(self) -> static.Shape:
    """The sizes of the dimensions."""
    ...

  @property
  def dtype(self) -> onp.dtype:
    """The dtype."""
    ...


def input_dims(
  declaration: native_declarations.Declaration,
  shapes: Sequence[Sequence[object] | None],
) -> dict[str, Size]:
  """Returns the sizes of the inputs' named dimensions, None if unknown.

  Args:
    declaration: the declaration of the op.
    shapes: the shapes of the inputs; None, or entries of None, if unknown.

  Raises:
    ValueError: an input has too few dimensions, or sizes differ.
  """
  sizes: dict[str, Size] = {}
  for operand, shape in zip(declaration.inputs, shapes, strict=True):
    if shape is None:
      sizes.update((d, None) for d in operand.dims if d not in sizes)
      continue
    rank = len(operand.dims)
    if len(shape) < rank:
      raise ValueError(
        declaration.error(
          f"{operand.name} has shape {tuple(shape)}: it must have {rank} "
          "dimensions after the batch dimensions"
        )
      )
    for dim, size in zip(operand.dims, shape[len(shape) - rank :], strict=True):
      known = sizes.get(dim)
      if known is not None and size is not None and known != size:
        raise ValueError(
          declaration.error(
            f"{operand.name} has shape {tuple(shape)}: dimension {dim} must be "
            f"{known}"
          )
        )
      if known is None:
        sizes[dim] = size
  return sizes


def batch_shape(
  declaration: native_declarations.Declaration,
  shapes: Sequence[Sequence[Size]],
) -> static.Shape:
  """Returns the common batch shape of the inputs, None for unknown sizes.

  Raises:
    ValueError: the inputs' batch shapes do not broadcast, or have too many
      dimensions.
  """
  batches = [
    tuple(shape[: len(shape) - len(operand.dims)])
    for operand, shape in zip(declaration.inputs, shapes, strict=True)
  ]
  rank = max(len(batch) for batch in batches)
  if rank > native_declarations.MAX_BATCH_RANK:
    raise ValueError(
      declaration.error(
        f"the batch has {rank} dimensions: there must be at most "
        f"{native_declarations.MAX_BATCH_RANK}"
      )
    )
  result: list[Size] = [1] * rank
  for batch in batches:
    for i, size in enumerate(batch, start=rank - len(batch)):
      if _is_one(size) or (size is None and not _is_one(result[i])):
        continue
      known = not _is_one(result[i]) and result[i] is not None
      if known and result[i] != size:
        names = ", ".join(operand.name for operand in declaration.inputs)
        raise ValueError(
          declaration.error(
            f"batch shapes of {names} do not broadcast: {batches}"
          )
        )
      result[i] = size
  return tuple(result)


def output_types(
  function: native_declarations.NativeFunction,
  inputs: Sequence[ArrayOrSpec],
  declaration: native_declarations.Declaration | None = None,
) -> list[tuple[static.Shape, onp.dtype | str]]:
  """Computes shapes and dtypes of the outputs, given the input arrays.

  Args:
    function: the op.
    inputs: its inputs.
    declaration: the native derivative that is called; None for the op itself.

  Raises:
    ValueError: an output has too many bytes.
  """
  called = declaration or function.declaration
  shapes = [x.shape for x in inputs]
  dims = input_dims(called, shapes)
  if called.own_dims:
    dims = function.output_dims(dims)
  batch = batch_shape(called, shapes)
  common = [
    x.dtype
    for x, operand in zip(inputs, called.inputs, strict=True)
    if operand.type == "T"
  ]
  specs = []
  for operand in called.outputs:
    shape = (*batch, *[dims[d] for d in operand.dims])
    dtype = common[0] if operand.type == "T" else operand.type
    check_bytes(called, operand, shape, dtype)
    specs.append((shape, dtype))
  return specs


def check_bytes(
  declaration: native_declarations.Declaration,
  operand: native_declarations.Operand,
  shape: Sequence[object],
  dtype: onp.typing.DTypeLike,
) -> None:
  """Raises ValueError if an output exceeds the address space."""
  sizes = [size for size in shape if isinstance(size, int)]
  if len(sizes) < len(shape):
    return  # An unknown size is checked when the program runs.
  if math.prod(sizes) * onp.dtype(dtype).itemsize >= 2**63:
    raise ValueError(
      declaration.error(
        f"{operand.name} cannot have shape {tuple(shape)}, which follows from "
        "the inputs and `sizes`"
      )
    )


def cotangent_shapes(
  declaration: native_declarations.Declaration,
  shapes: Sequence[Sequence[object] | None],
) -> list[static.Shape | None]:
  """Returns the shapes that a reverse rule's cotangents must have.

  These are the full batch shapes, before sums over broadcast dimensions.

  Args:
    declaration: the declaration of the op.
    shapes: the shapes of its inputs, with equal numbers of batch dimensions;
      None, or entries of None, if unknown.

  Returns:
    A shape for each floating input; None if unknown.
  """
  free = [operand for operand in declaration.inputs if operand.is_inexact]
  known = [shape for shape in shapes if shape is not None]
  if len(known) < len(shapes):
    return [None] * len(free)
  batch = batch_shape(declaration, known)
  dims = input_dims(declaration, known)
  return [(*batch, *(dims[d] for d in operand.dims)) for operand in free]


def check_direction(
  declaration: native_declarations.Declaration,
  what: str,
  direction: tuple[Sequence[object] | None, onp.typing.DTypeLike],
  like: tuple[Sequence[object] | None, onp.typing.DTypeLike],
) -> None:
  """Checks the shape and dtype of a tangent or cotangent from a caller.

  Args:
    declaration: the declaration of the op.
    what: the name of the tangent or cotangent, for messages.
    direction: its shape, as far as known, and dtype.
    like: the shape and dtype of the operand.

  Raises:
    TypeError: it is complex, but the operand is not.
    ValueError: it does not broadcast to the shape of the operand.
  """
  dtype, wanted = onp.dtype(direction[1]), onp.dtype(like[1])
  if dtype.kind == "c" and wanted.kind != "c":
    raise TypeError(
      declaration.error(f"{what} is {dtype.name}: it must be {wanted.name}")
    )
  if not may_broadcast(direction[0], like[0]):
    raise ValueError(
      declaration.error(
        f"{what} has shape {direction[0]}: it must broadcast to {like[0]}"
      )
    )


def summed(
  numpy: types.ModuleType, x: Array | int, shape: Sequence[int]
) -> Array:
  """Sums x over broadcast dimensions, the transpose of broadcasting.

  Args:
    numpy: the array namespace.
    x: an array or a number.
    shape: a shape that broadcasts to the shape of x, or to which x broadcasts.
  """
  extra = len(numpy.shape(x)) - len(shape)
  if extra > 0:
    x = numpy.sum(x, axis=tuple(range(extra)))
  x_shape = numpy.shape(x)
  missing = len(shape) - len(x_shape)
  x_shape = (1,) * missing + tuple(x_shape)
  axes = tuple(
    i
    for i, (a, b) in enumerate(zip(x_shape, shape, strict=True))
    if _is_one(b) and not _is_one(a)
  )
  if axes:
    x = numpy.sum(numpy.reshape(x, x_shape), axis=axes, keepdims=True)
  return numpy.broadcast_to(x, tuple(shape))


def may_fit(shape: Sequence[object], full: Sequence[object], rank: int) -> bool:
  """Returns whether a result's shape can be broadcast to a full shape.

  Args:
    shape: the shape.
    full: the other shape.
    rank: the number of dimensions after the batch dimensions.
  """
  batch_rank, split = len(shape) - rank, len(full) - rank
  return (
    batch_rank >= 0
    and all(map(may_be_equal, shape[batch_rank:], full[split:]))
    and may_broadcast(shape[:batch_rank], full[:split])
  )


def may_broadcast(
  shape: Sequence[object] | None, other: Sequence[object] | None
) -> bool:
  """Returns False only if `shape` cannot broadcast to `other`."""
  if shape is None or other is None:
    return True
  split = len(other) - len(shape)
  return split >= 0 and all(
    _is_one(a) or may_be_equal(a, b)
    for a, b in zip(shape, other[split:], strict=True)
  )


def may_be_equal(a: object, b: object) -> bool:
  """Returns False only if two sizes are known and differ."""
  return a == b or not (isinstance(a, int) and isinstance(b, int))


def _is_one(size: object) -> bool:
  return isinstance(size, int) and size == 1
