"""Converts arguments to operands of their declared dtypes."""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.native import native_declarations
from phasic.internal.native import native_ops
from phasic.internal.native import native_shapes

# For each dtype kind of an operand, the kinds of Python numbers that it
# accepts. Converting other kinds would lose more than rounding does.
_KINDS = {"b": "b", "i": "iu", "u": "iu", "f": "iuf", "c": "iufc"}


def convert(
  operand: native_declarations.Operand, x: object, common: str
) -> Array:
  """Converts an argument to an array of the operand's declared dtype.

  Args:
    operand: the declared operand.
    x: an array, a number or nested lists of numbers.
    common: the floating dtype of the operands without a type.

  Raises:
    TypeError: `x` is an array of another dtype, or numbers of another kind.
    ValueError: a number does not fit into the dtype, or lists are ragged.
  """
  if operand.type == "T":
    return structures.as_array(x, common, operand.name)
  if isinstance(x, onp.ma.MaskedArray):
    raise TypeError(
      f"{operand.name} is a masked array: masks are not used; pass "
      "x.filled(value)"
    )
  if not hasattr(x, "dtype"):
    x = _numbers(operand, x)
  elif isinstance(x, onp.ndarray) and not x.dtype.isnative:
    x = onp.asarray(x, x.dtype.newbyteorder("="))
  array = structures.cast(x)
  if static.dtype_name(array) != operand.type:
    raise TypeError(
      f"{operand.name} is {static.dtype_name(array)}: it must be {operand.type}"
    )
  return array


def direction(
  declaration: native_declarations.Declaration,
  what: str,
  value: object,
  x: Array,
) -> Array:
  """Converts a tangent or cotangent to the dtype and the shape of `x`.

  Args:
    declaration: the op's.
    what: its name in messages.
    value: the tangent or cotangent.
    x: the array that it belongs to.

  Raises:
    TypeError: it is complex, and `x` is not, or no array at all.
    ValueError: it does not broadcast to the shape of `x`.
  """
  array, dtype = structures.cast(value), static.dtype_name(x)
  native_shapes.check_direction(
    declaration,
    what,
    (native_ops.shape(array), static.dtype_name(array)),
    (native_ops.shape(x), dtype),
  )
  return np.broadcast_to(structures.cast(array, dtype), static.shape(x))


def _numbers(operand: native_declarations.Operand, x: object) -> object:
  """Converts numbers to a host array; returns traced values unchanged."""
  try:
    plain = onp.asarray(x)
  except (TypeError, NotImplementedError):
    return x
  kind = plain.dtype.kind
  allowed = _KINDS.get(onp.dtype(operand.type).kind, "iuf")
  if plain.size > 0 and kind not in allowed:
    raise TypeError(
      f"{operand.name} is {plain.dtype.name}: it must be {operand.type}"
    )
  with onp.errstate(over="ignore"):
    converted = onp.asarray(plain, operand.type)
  if kind in "iu" and not onp.array_equal(converted, plain):
    raise ValueError(
      f"{operand.name} has a number that does not fit into {operand.type}"
    )
  return converted
