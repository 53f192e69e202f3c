"""Parses declarations of native ops: names, types and dimensions.

The header phasic/op/declaration.h has the grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import functools
import operator
import re
from typing import NamedTuple, SupportsIndex, TypeVar

import numpy as onp

from phasic.internal.native.host_results import Size

_T = TypeVar("_T")

_INT64 = onp.iinfo(onp.int64)

# The types of operands. Their order must be the order of the enum in the header
# phasic/op/buffer.h.
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
# These limits must equal the limits in phasic/op/buffer.h and declaration.h.
_MAX_OPERANDS = 24
_MAX_DIMS = 24
MAX_BATCH_RANK = 8
_INEXACT = frozenset(TYPES[TYPES.index("float16") :])
_OPERAND = re.compile(r"\s*(\w+)\s*(?::\s*(\w+)\s*)?\(([\w\s,]*)\)\s*")


class Operand(NamedTuple):
  """An input or output in a native op's declaration.

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
    """Returns whether the operand is differentiable: floating or complex."""
    return self.type == "T" or self.type in _INEXACT

  def dtype(self, common: str) -> str:
    """Returns the operand's dtype, where "T" stands for `common`."""
    return common if self.type == "T" else self.type


class Declaration(NamedTuple):
  """The parsed declaration of a native function."""

  name: str
  text: str
  inputs: tuple[Operand, ...]
  outputs: tuple[Operand, ...]
  options: tuple[str, ...]

  @property
  def dim_names(self) -> tuple[str, ...]:
    """Returns all names of dimensions, in order of appearance."""
    return _dim_names((*self.inputs, *self.outputs))

  @property
  def own_dims(self) -> tuple[str, ...]:
    """Returns the names of dimensions that outputs have and inputs lack."""
    input_dims = _dim_names(self.inputs)
    return tuple(d for d in self.dim_names if d not in input_dims)

  @property
  def is_elementwise(self) -> bool:
    """Returns whether all operands have batch dimensions only."""
    return not self.dim_names

  def error(self, what: str) -> str:
    """Formats an error message that quotes the declaration."""
    return f"op {self.name}: {what}; the op is declared as '{self.text}'"


@functools.cache
def _dim_names(operands: tuple[Operand, ...]) -> tuple[str, ...]:
  """Returns the distinct names of dimensions, in order of appearance."""
  return tuple(dict.fromkeys(d for operand in operands for d in operand.dims))


class NativeFunction(NamedTuple):
  """A native op with the arguments of its `bind_native` call.

  Attributes:
    declaration: names, types and dimensions.
    library: the path of the library for JAX and NumPy.
    tf_library: the path of the library for TensorFlow.
    handler: the symbol of a handler that is made without phasic's headers; ""
      for a library with the symbols of the headers.
    sizes: the sizes of `Declaration.own_dims`, functions of other sizes.
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
  sizes: Mapping[str, Callable[..., SupportsIndex]]
  jvp: Callable[..., object] | None
  vjp: Callable[..., object] | None
  forward: tuple[Declaration, ...]
  adjoint: tuple[Declaration, ...]
  portable: Callable[..., object] | None

  @property
  def has_rule(self) -> bool:
    """Returns whether the op has derivative rules in array code."""
    return self.jvp is not None or self.vjp is not None

  def output_dims(self, known: Mapping[str, object]) -> dict[str, Size]:
    """Computes the sizes of all dimensions from the sizes of the inputs.

    Raises:
      TypeError: a size is a number, but not an integer.
      ValueError: it is out of range, or its function raised an exception.
    """
    dims = dict(known)
    for name in self.declaration.own_dims:
      dims[name] = self._own_dim(name, known)
    return dims

  def _own_dim(self, name: str, known: Mapping[str, object]) -> object:
    error = self.declaration.error
    try:
      size = self.sizes[name](**known)
    except Exception as raised:
      what = f"`sizes` of {name} raised {type(raised).__name__}: {raised}"
      raise ValueError(error(what)) from raised
    symbols = {type(x) for x in known.values() if not isinstance(x, int)}
    if type(size) in symbols:
      return size  # A symbolic size is known only when the program runs.
    rule = f"`sizes` of {name} returned {size} for {dict(known)}: it must be"
    try:
      length = operator.index(size)
    except TypeError:
      raise TypeError(error(f"{rule} an integer")) from None
    if not 0 <= length < 2**63:
      raise ValueError(error(f"{rule} at least 0 and below 2^63"))
    return length


def parse(name: str, text: str) -> Declaration:
  """Parses the text of a declaration.

  Raises:
    ValueError: it cannot be parsed.
  """
  operands, semicolon, rest = text.partition(";")
  sides = operands.split("->")
  if len(sides) != 2:
    raise ValueError(f"op {name}: '{text}': there must be one `->`")
  inputs, outputs = (_operands(name, text, side) for side in sides)
  options = tuple(x.strip() for x in rest.split(",")) if semicolon else ()
  declaration = Declaration(name, text, inputs, outputs, options)
  for problem in _problems(declaration):
    raise ValueError(f"op {name}: '{text}': {problem}")
  return declaration


def _problems(declaration: Declaration) -> Iterator[str]:
  """Yields error messages about a parsed declaration."""
  for operands in (declaration.inputs, declaration.outputs):
    if len(operands) > _MAX_OPERANDS:
      yield f"there are more than {_MAX_OPERANDS} inputs, or outputs"
    yield from _doubles("operands", [x.name for x in operands])
  yield from _doubles("options", declaration.options)
  for option in declaration.options:
    if not re.fullmatch(r"\w+", option):
      yield f"'{option}' is not a valid name of an option"
  if len(declaration.dim_names) > _MAX_DIMS:
    yield f"there are more than {_MAX_DIMS} names of dimensions"
  common = [
    any(x.type == "T" for x in side)
    for side in (declaration.inputs, declaration.outputs)
  ]
  if common == [False, True]:
    yield "an output has no type, but all inputs have one: give it a type"


def _doubles(what: str, names: Sequence[str]) -> Iterator[str]:
  for name in names:
    if names.count(name) > 1:
      yield f"there are two {what} {name}"


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
    word, operand_type, inside = match.groups()
    if operand_type not in (None, "T", *TYPES[1:]):
      raise ValueError(f"op {name}: '{text}': there is no type {operand_type}")
    dims = tuple(d.strip() for d in inside.split(",")) if inside.strip() else ()
    if not all(re.fullmatch(r"\w+", d) for d in dims):
      raise ValueError(f"op {name}: '{text}': a dimension's name is missing")
    operands.append(Operand(word, operand_type or "T", dims))
    at = match.end()
    if at == len(side):
      return tuple(operands)
    if side[at] != ",":
      raise ValueError(f"op {name}: '{text}': a comma is missing")
    at += 1


def inexact(
  operands: Sequence[Operand], values: Sequence[_T]
) -> list[tuple[Operand, _T]]:
  """Returns (operand, value) pairs for the differentiable operands."""
  pairs = zip(operands, values, strict=True)
  return [(operand, x) for operand, x in pairs if operand.is_inexact]


def spread(
  operands: Sequence[Operand], values: Sequence[_T]
) -> tuple[_T | None, ...]:
  """Inserts None for operands that are not differentiable.

  `values` has an entry for each differentiable operand.
  """
  rest = iter(values)
  return tuple(
    next(rest) if operand.is_inexact else None for operand in operands
  )


def check_options(
  declaration: Declaration, options: Mapping[str, object]
) -> None:
  """Raises TypeError for an option that the op does not declare."""
  for name in options:
    if name not in declaration.options:
      known = ", ".join(declaration.options)
      raise TypeError(
        declaration.error(
          f"there is no option {name!r}: "
          + (f"its options are {known}" if known else "it has none")
        )
      )


def options_text(
  declaration: Declaration, options: Mapping[str, object]
) -> str:
  """Formats options as text in the syntax that the C++ headers parse.

  Raises:
    TypeError: an option is not declared, or is neither a number nor a string.
    ValueError: an integer has more than 64 bits, or a string has invalid
      characters.
  """
  check_options(declaration, options)
  items = []
  for name, value in sorted(options.items()):
    if isinstance(value, str):
      text = str.__str__(value)
    elif isinstance(value, (int, onp.integer, onp.bool_)):
      text = repr(int(value))
      if not _INT64.min <= int(value) <= _INT64.max:
        raise ValueError(
          declaration.error(
            f"option {name} is {text}: it must fit into 64 bits"
          )
        )
    elif isinstance(value, (float, onp.floating)):
      text = repr(float(value))
    else:
      raise TypeError(
        declaration.error(
          f"option {name} is {type(value).__name__}: options are numbers and "
          "strings, arrays go by position"
        )
      )
    if any(c in text for c in ";=\0"):
      raise ValueError(
        declaration.error(
          f"option {name} has `;`, `=` or a null character in it: it must not"
        )
      )
    items.append(f"{name}={text}")
  return ";".join(items)


def check_derivatives(function: NativeFunction) -> None:
  """Raises ValueError unless the native derivatives are declared correctly.

  The k-th forward derivative takes k directions after the inputs, the k-th
  adjoint k - 1 directions and cotangents. Types and dimensions must match;
  names are arbitrary.
  """
  declaration = function.declaration
  inputs, outputs = declaration.inputs, declaration.outputs
  free = tuple(operand for operand in inputs if operand.is_inexact)
  cotangents = tuple(operand for operand in outputs if operand.is_inexact)
  for k, derivative in enumerate(function.forward, start=1):
    _check_derivative(
      declaration, derivative, f"J_{k}", inputs + free * k, cotangents
    )
  for k, derivative in enumerate(function.adjoint, start=1):
    expected = inputs + free * (k - 1) + cotangents
    _check_derivative(declaration, derivative, f"V_{k}", expected, free)


def _check_derivative(
  declaration: Declaration,
  derivative: Declaration,
  what: str,
  inputs: Sequence[Operand],
  outputs: Sequence[Operand],
) -> None:
  for option in derivative.options:
    if option not in declaration.options:
      raise ValueError(
        declaration.error(
          f"{what} is op {derivative.name}, declared as '{derivative.text}': "
          "its options must be options of the op"
        )
      )
  for side, expected, declared in (
    ("inputs", inputs, derivative.inputs),
    ("outputs", outputs, derivative.outputs),
  ):
    if [x[1:] for x in expected] != [x[1:] for x in declared]:
      texts = ", ".join(
        f"{type}({', '.join(dims)})" for _, type, dims in expected
      )
      raise ValueError(
        declaration.error(
          f"{what} is op {derivative.name}, declared as '{derivative.text}': "
          f"its {side} must be {texts}"
        )
      )
