"""The text of StableHLO programs that call an FFI handler."""

from collections.abc import Sequence
import functools
from typing import NamedTuple

import tensorflow as tf

# The size of a result's dimension: a number, or the (input, axis) pairs whose
# sizes broadcast to it.
Dim = int | tuple[tuple[int, int], ...]


_TYPES = {
  tf.bool: "i1",
  tf.int8: "i8",
  tf.int16: "i16",
  tf.int32: "i32",
  tf.int64: "i64",
  tf.uint8: "ui8",
  tf.uint16: "ui16",
  tf.uint32: "ui32",
  tf.uint64: "ui64",
  tf.float16: "f16",
  tf.bfloat16: "bf16",
  tf.float32: "f32",
  tf.float64: "f64",
  tf.complex64: "complex<f32>",
  tf.complex128: "complex<f64>",
}


class Result(NamedTuple):
  """The type of one result of a program.

  Attributes:
    dtype: its dtype.
    dims: its dimensions.
    unwanted: for an unwanted result the dimensions of the handler's empty
      array; the result is then zero.
  """

  dtype: tf.DType
  dims: tuple[Dim, ...]
  unwanted: tuple[Dim, ...] | None = None

  def type(self) -> str:
    """Returns the type of the result in MLIR's syntax."""
    return _type(self.dtype, known(self.dims))


class Program:
  """The text of a program with one function."""

  def __init__(
    self, name: str, inputs: Sequence[tf.Tensor], results: Sequence[Result]
  ):
    for x in inputs:
      if x.shape.rank is None:
        raise ValueError(
          f"{name} with jit_compile=True: an argument's number of dimensions "
          "is unknown: give its TensorSpec a shape"
        )
    self._inputs = [_type(x.dtype, x.shape.as_list()) for x in inputs]
    self._results = results
    self._lines: list[str] = []

  def calling(
    self,
    target: str,
    config: str,
    places: Sequence[int],
    has_side_effect: bool = False,
  ) -> str:
    """Returns the text of a program that calls an FFI handler."""
    names = [f"%a{i}" for i in places]
    types = [self._inputs[i] for i in places]
    known_results = [
      r if r.unwanted is None else r._replace(dims=r.unwanted)
      for r in self._results
    ]
    shapes = ""
    if any(None in known(r.dims) for r in known_results):
      first = len(names)
      for _, dims, _ in known_results:
        names.append(self._shape(dims))
        types.append(f"tensor<{len(dims)}xi32>")
      listed = ", ".join(str(i) for i in range(first, len(names)))
      shapes = (
        f", indices_of_shape_operands = dense<[{listed}]> : "
        f"tensor<{len(known_results)}xi64>"
      )
    if has_side_effect:
      shapes += ", has_side_effect = true"
    count = len(known_results)
    self._lines.append(
      f"%r:{count} = stablehlo.custom_call @{target}({', '.join(names)}) "
      f"{{api_version = 4 : i32, backend_config = {{{config}}}{shapes}}} : "
      f"({', '.join(types)}) -> ({', '.join(r.type() for r in known_results)})"
    )
    return self._function(
      [
        f"%r#{i}" if r.unwanted is None else self._zeros(r)
        for i, r in enumerate(self._results)
      ]
    )

  def returning(self, count: int) -> str:
    """Returns the text of a program that returns its first arguments."""
    return self._function([f"%a{i}" for i in range(count)])

  def _function(self, returned: Sequence[str]) -> str:
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(self._inputs))
    types = ", ".join(r.type() for r in self._results)
    body = "".join(f"    {line}\n" for line in self._lines)
    return (
      f"  func.func public @main({arguments}) -> ({types}) {{\n{body}"
      f"    return {', '.join(returned)} : {types}\n  }}\n"
    )

  def _add(self, expression: str) -> str:
    name = f"%v{len(self._lines)}"
    self._lines.append(f"{name} = {expression}")
    return name

  def _zeros(self, result: Result) -> str:
    zero = _type(result.dtype, [])
    name = self._add(f"stablehlo.constant dense<0.0> : {zero}")
    shape = self._shape(result.dims)
    return self._add(
      f"stablehlo.dynamic_broadcast_in_dim {name}, {shape}, dims = [] : "
      f"({zero}, tensor<{len(result.dims)}xi32>) -> {result.type()}"
    )

  def _shape(self, dims: Sequence[Dim]) -> str:
    """Adds code that computes a result's sizes; returns the vector's name."""
    if not dims:
      return self._add("stablehlo.constant dense<> : tensor<0xi32>")
    parts = [self._size(d) for d in dims]
    kinds = ", ".join(["tensor<1xi32>"] * len(parts))
    return self._add(
      f"stablehlo.concatenate {', '.join(parts)}, dim = 0 : ({kinds}) -> "
      f"tensor<{len(parts)}xi32>"
    )

  def _size(self, dim: Dim) -> str:
    if isinstance(dim, int):
      return self._add(f"stablehlo.constant dense<{dim}> : tensor<1xi32>")
    sizes = [
      self._add(
        f"stablehlo.get_dimension_size %a{i}, dim = {axis} : "
        f"({self._inputs[i]}) -> tensor<i32>"
      )
      for i, axis in dim
    ]
    total = functools.reduce(self._broadcast, sizes)
    return self._add(
      f"stablehlo.reshape {total} : (tensor<i32>) -> tensor<1xi32>"
    )

  def _broadcast(self, a: str, b: str) -> str:
    """Adds code for the broadcast size of a and b: zero if either is zero."""
    one = self._add("stablehlo.constant dense<1> : tensor<i32>")
    larger = self._add(f"stablehlo.maximum {a}, {b} : tensor<i32>")
    smaller = self._add(f"stablehlo.minimum {a}, {b} : tensor<i32>")
    factor = self._add(f"stablehlo.minimum {smaller}, {one} : tensor<i32>")
    return self._add(f"stablehlo.multiply {larger}, {factor} : tensor<i32>")


def dims_of(x: tf.Tensor, position: int) -> tuple[Dim, ...]:
  """Returns an input's dimensions: sizes or, if unknown, (position, axis)."""
  if x.shape.rank is None:
    return ()
  return tuple(
    ((position, axis),) if size is None else size
    for axis, size in enumerate(x.shape.as_list())
  )


def known(dims: Sequence[Dim]) -> list[int | None]:
  """Returns the sizes of dimensions, with None for unknown sizes."""
  return [d if isinstance(d, int) else None for d in dims]


def _type(dtype: tf.DType, sizes: Sequence[int | None]) -> str:
  dims = "".join("?x" if size is None else f"{size}x" for size in sizes)
  return f"tensor<{dims}{_TYPES[dtype]}>"
