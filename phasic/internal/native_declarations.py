"""What native ops say of themselves, read; the same in every substrate.

The grammar is that of the header phasic/op/declaration.h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import re
from typing import Any, NamedTuple

# Numbered as in the header phasic/op/buffer.h.
TYPES = (
  "none",
  "bool",
  "int8",
  "int16",
  "int32",
  "int64",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "float16",
  "bfloat16",
  "float32",
  "float64",
  "complex64",
  "complex128",
)
_INEXACT = frozenset(TYPES[TYPES.index("float16") :])
_OPERAND = re.compile(r"\s*(\w+)\s*(?::\s*(\w+)\s*)?\(([\w\s,]*)\)\s*")


class Operand(NamedTuple):
  """An input or an output.

  Attributes:
    name: for messages.
    type: one of `TYPES`, or "T", the floating type of the call.
    dims: the names of an example's dimensions.
  """

  name: str
  type: str
  dims: tuple[str, ...]

  @property
  def is_inexact(self) -> bool:
    """Whether it may have derivatives."""
    return self.type == "T" or self.type in _INEXACT

  def dtype(self, common: str) -> str:
    """The dtype's name in a call whose floating type is `common`."""
    return common if self.type == "T" else self.type


class Declaration(NamedTuple):
  """A native function's name, what was declared, and its parts."""

  name: str
  text: str
  inputs: tuple[Operand, ...]
  outputs: tuple[Operand, ...]

  @property
  def dim_names(self) -> tuple[str, ...]:
    """All names of dimensions, in the order in which they appear."""
    operands = (*self.inputs, *self.outputs)
    return tuple(dict.fromkeys(d for operand in operands for d in operand.dims))

  @property
  def own_dims(self) -> tuple[str, ...]:
    """Names of the dimensions that outputs have and inputs do not."""
    of_inputs = {d for operand in self.inputs for d in operand.dims}
    return tuple(d for d in self.dim_names if d not in of_inputs)

  @property
  def is_elementwise(self) -> bool:
    """Whether an example is a number in each operand."""
    return not self.dim_names

  def error(self, what: str) -> str:
    """A message that names the function and the rule."""
    return f"op {self.name}: {what}; the op is declared as '{self.text}'"


class NativeFunction(NamedTuple):
  """A native op, and what else `bind_native` was told.

  Attributes:
    declaration: names, types and dimensions.
    library: the path of the library for JAX and NumPy.
    tf_library: that for TensorFlow.
    handler: the symbol of a handler that is made without our headers; "" where
      the library has the symbols that they make.
    sizes: the sizes of `Declaration.own_dims`, functions of the others.
    jvp: the forward rule in array code, or None.
    vjp: the reverse rule in array code, or None.
    forward: J_1, J_2, ... as declarations of native ops.
    adjoint: V_1, V_2, ... as declarations of native ops.
    portable: the function in array code, or None.
  """

  declaration: Declaration
  library: str
  tf_library: str
  handler: str
  sizes: Mapping[str, Callable[..., Any]]
  jvp: Callable[..., Any] | None
  vjp: Callable[..., Any] | None
  forward: tuple[Declaration, ...]
  adjoint: tuple[Declaration, ...]
  portable: Callable[..., Any] | None

  @property
  def has_rule(self) -> bool:
    """Whether derivatives are those of rules in array code."""
    return self.jvp is not None or self.vjp is not None

  def output_dims(self, known: Mapping[str, Any]) -> dict[str, Any]:
    """Sizes of all dimensions, from those of the inputs."""
    dims = dict(known)
    for name in self.declaration.own_dims:
      dims[name] = self.sizes[name](**known)
    return dims


def parse(name: str, text: str) -> Declaration:
  """Returns a declaration, read.

  Raises:
    ValueError: it cannot be read.
  """
  sides = text.split("->")
  if len(sides) != 2:
    raise ValueError(f"op {name}: '{text}' must have one `->`")
  inputs, outputs = (_operands(name, text, side) for side in sides)
  return Declaration(name, text, inputs, outputs)


def _operands(name: str, text: str, side: str) -> tuple[Operand, ...]:
  operands = []
  at = 0
  while True:
    match = _OPERAND.match(side, at)
    if match is None:
      raise ValueError(
        f"op {name}: '{text}' cannot be read at '{side[at:].strip()}': an "
        "operand is `name(dim, ...)` or `name: type(dim, ...)`"
      )
    word, own_type, inside = match.groups()
    if own_type not in (None, "T", *TYPES[1:]):
      raise ValueError(f"op {name}: '{text}': there is no type {own_type}")
    dims = tuple(d.strip() for d in inside.split(",")) if inside.strip() else ()
    if not all(re.fullmatch(r"\w+", d) for d in dims):
      raise ValueError(f"op {name}: '{text}': a dimension's name is missing")
    operands.append(Operand(word, own_type or "T", dims))
    at = match.end()
    if at == len(side):
      return tuple(operands)
    if side[at] != ",":
      raise ValueError(f"op {name}: '{text}': a comma is missing")
    at += 1


def input_dims(
  declaration: Declaration, shapes: Sequence[Sequence[Any] | None]
) -> dict[str, Any]:
  """Returns the sizes of the inputs' dimensions; None where not known.

  Args:
    declaration: the op's.
    shapes: the inputs' shapes; None, or entries of None, where not known.

  Raises:
    ValueError: an input has too few dimensions, or sizes differ.
  """
  found: dict[str, Any] = {}
  for operand, shape in zip(declaration.inputs, shapes, strict=True):
    if shape is None:
      found.update((d, None) for d in operand.dims if d not in found)
      continue
    rank = len(operand.dims)
    if len(shape) < rank:
      raise ValueError(
        declaration.error(
          f"{operand.name} has shape {tuple(shape)}: it must have {rank} "
          "dimensions, behind those of a batch"
        )
      )
    for dim, size in zip(operand.dims, shape[len(shape) - rank :], strict=True):
      known = found.get(dim)
      if known is not None and size is not None and known != size:
        raise ValueError(
          declaration.error(
            f"{operand.name} has shape {tuple(shape)}: dimension {dim} must be "
            f"{known}"
          )
        )
      if known is None:
        found[dim] = size
  return found


def batch_shape(
  declaration: Declaration, shapes: Sequence[Sequence[Any]]
) -> tuple[Any, ...]:
  """Returns the common batch shape; None where a size is not known.

  Raises:
    ValueError: the inputs' batch shapes do not broadcast.
  """
  batches = [
    tuple(shape[: len(shape) - len(operand.dims)])
    for operand, shape in zip(declaration.inputs, shapes, strict=True)
  ]
  rank = max(len(batch) for batch in batches)
  result: list[Any] = [1] * rank
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
  function: NativeFunction,
  inputs: Sequence[Any],
  declaration: Declaration | None = None,
) -> list[tuple[tuple[int, ...], Any]]:
  """Returns shapes and dtypes of the outputs, from NumPy arrays.

  Args:
    function: the op.
    inputs: its inputs.
    declaration: the native derivative that is called; the op itself if None.
  """
  own = declaration or function.declaration
  shapes = [x.shape for x in inputs]
  dims = input_dims(own, shapes)
  if own.own_dims:
    dims = function.output_dims(dims)
  batch = batch_shape(own, shapes)
  common = [
    x.dtype
    for x, operand in zip(inputs, own.inputs, strict=True)
    if operand.type == "T"
  ]
  return [
    (
      (*batch, *[dims[d] for d in operand.dims]),
      common[0] if operand.type == "T" else operand.type,
    )
    for operand in own.outputs
  ]


def options_text(declaration: Declaration, options: Mapping[str, Any]) -> str:
  """Returns options as the headers read them.

  Raises:
    TypeError: an option is neither number nor string.
    ValueError: a string has characters that options must not have.
  """
  items = []
  for name, value in sorted(options.items()):
    if isinstance(value, bool):
      value = int(value)
    if not isinstance(value, (int, float, str)):
      raise TypeError(
        declaration.error(
          f"option {name} is {type(value).__name__}: options are numbers and "
          "strings, arrays go by position"
        )
      )
    text = value if isinstance(value, str) else repr(value)
    if any(c in text for c in ";=\0"):
      raise ValueError(declaration.error(f"option {name} has `;` or `=`"))
    items.append(f"{name}={text}")
  return ";".join(items)


def _is_one(size: Any) -> bool:
  return isinstance(size, int) and size == 1


def check_derivatives(function: NativeFunction) -> None:
  """Raises ValueError unless native derivatives are declared as such.

  The k-th has k directions behind the inputs, or k - 1 and cotangents. They are
  known by their types and dimensions; names are as one likes.
  """
  declaration = function.declaration
  inputs, outputs = declaration.inputs, declaration.outputs
  free = tuple(operand for operand in inputs if operand.is_inexact)
  bars = tuple(operand for operand in outputs if operand.is_inexact)
  for k, own in enumerate(function.forward, start=1):
    _check_derivative(declaration, own, f"J_{k}", inputs + free * k, bars)
  for k, own in enumerate(function.adjoint, start=1):
    expected = inputs + free * (k - 1) + bars
    _check_derivative(declaration, own, f"V_{k}", expected, free)


def _check_derivative(
  declaration: Declaration,
  own: Declaration,
  what: str,
  inputs: Sequence[Operand],
  outputs: Sequence[Operand],
) -> None:
  for side, expected, found in (
    ("inputs", inputs, own.inputs),
    ("outputs", outputs, own.outputs),
  ):
    if [x[1:] for x in expected] != [x[1:] for x in found]:
      texts = ", ".join(
        f"{type}({', '.join(dims)})" for _, type, dims in expected
      )
      raise ValueError(
        declaration.error(
          f"{what} is op {own.name}, declared as '{own.text}': its {side} must "
          f"be {texts}"
        )
      )


def check_tangents(declaration: Declaration, found: Any) -> list[Any]:
  """Returns what a forward rule returned, without entries of integers.

  Raises:
    TypeError: it is not a tuple with an entry for each output.
  """
  return _check_rule(declaration, "jvp", "output", declaration.outputs, found)


def check_cotangents(declaration: Declaration, found: Any) -> list[Any]:
  """Returns what a reverse rule returned, without entries of integers.

  Raises:
    TypeError: it is not a tuple with an entry for each input.
  """
  return _check_rule(declaration, "vjp", "input", declaration.inputs, found)


def _check_rule(
  declaration: Declaration,
  rule: str,
  what: str,
  operands: Sequence[Operand],
  found: Any,
) -> list[Any]:
  if not isinstance(found, (tuple, list)) or len(found) != len(operands):
    raise TypeError(
      declaration.error(
        f"the rule {rule} must return a tuple with an entry for each {what}, "
        f"{len(operands)} in all"
      )
    )
  pairs = list(zip(operands, found, strict=True))
  for operand, value in pairs:
    if operand.is_inexact and value is None:
      raise TypeError(
        declaration.error(f"the rule {rule} returned None for {operand.name}")
      )
  return [value for operand, value in pairs if operand.is_inexact]


def summed(numpy: Any, x: Any, shape: Sequence[int]) -> Any:
  """Returns the sum of x over what is broadcast to it from `shape`.

  Args:
    numpy: the array namespace.
    x: an array.
    shape: a shape that broadcasts to that of x, or that x's broadcasts to.
  """
  extra = len(numpy.shape(x)) - len(shape)
  if extra > 0:
    x = numpy.sum(x, axis=tuple(range(extra)))
  own = numpy.shape(x)
  missing = len(shape) - len(own)
  own = (1,) * missing + tuple(own)
  axes = tuple(
    i
    for i, (a, b) in enumerate(zip(own, shape, strict=True))
    if _is_one(b) and not _is_one(a)
  )
  if axes:
    x = numpy.sum(numpy.reshape(x, own), axis=axes, keepdims=True)
  return numpy.broadcast_to(x, tuple(shape))
