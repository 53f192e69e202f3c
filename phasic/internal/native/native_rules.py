"""Checks of the results of native ops' derivative rules."""

from __future__ import annotations

from collections.abc import Sequence
import types

import numpy as onp

from phasic.internal.arrays import Array
from phasic.internal.native import native_declarations
from phasic.internal.native import native_shapes


def check_rule(
  declaration: native_declarations.Declaration, rule: str, returned: object
) -> list[object]:
  """Checks the result of a jvp or vjp rule; returns its floating entries.

  Raises:
    TypeError: it is not a tuple with an entry for each output, or for each
      input of vjp.
  """
  forward = rule == "jvp"
  operands = declaration.outputs if forward else declaration.inputs
  what = f"the value that the rule {rule} returned"
  entries = check_entries(declaration, what, operands, returned)
  return [value for _, value in native_declarations.inexact(operands, entries)]


def check_dtype(
  declaration: native_declarations.Declaration,
  rule: str,
  operand: native_declarations.Operand,
  dtype: onp.typing.DTypeLike,
  like: onp.typing.DTypeLike,
  is_number: bool,
) -> None:
  """Raises TypeError unless a rule's result has the dtype of its operand.

  Args:
    declaration: the op's.
    rule: the rule's name.
    operand: the operand of the result.
    dtype: the dtype of the result.
    like: the dtype of the operand.
    is_number: whether the result is a Python number, which has no precision.
  """
  dtype, like = onp.dtype(dtype), onp.dtype(like)
  fits = is_number and (dtype.kind != "c" or like.kind == "c")
  if dtype != like and not fits:
    raise TypeError(
      declaration.error(
        f"the rule {rule} returned {dtype.name} for {operand.name}: it must be "
        f"{like.name}"
      )
    )


def is_number(x: object) -> bool:
  """Returns whether `x` is a number without a fixed precision."""
  if hasattr(x, "dtype"):
    return getattr(
      x, "weak_type", False
    )  # A Python number that JAX traces has a weak type.
  return isinstance(x, (bool, int, float, complex))


def check_entries(
  declaration: native_declarations.Declaration,
  what: str,
  operands: Sequence[native_declarations.Operand],
  entries: object,
) -> tuple[object, ...]:
  """Checks that tangents or cotangents have an entry for each operand.

  Raises:
    TypeError: they are not a tuple with one entry for each operand, or a
      differentiable operand has None.
  """
  if not isinstance(entries, (tuple, list)) or len(entries) != len(operands):
    names = ", ".join(operand.name for operand in operands)
    raise TypeError(
      declaration.error(
        f"{what} must be a tuple with an entry for each of {names}"
      )
    )
  for operand, value in zip(operands, entries, strict=True):
    if operand.is_inexact and value is None:
      raise TypeError(
        declaration.error(
          f"{what} must have an array for {operand.name}, not None: pass zeros"
        )
      )
  return tuple(entries)


def check_result(
  declaration: native_declarations.Declaration,
  rule: str,
  operand: native_declarations.Operand,
  shape: Sequence[object] | None,
  full: Sequence[object] | None,
) -> None:
  """Checks the shape of a rule's result, as far as shapes are known.

  Args:
    declaration: the declaration of the op.
    rule: the rule's name.
    operand: the output or input of the result.
    shape: the shape of the result.
    full: the shape of the operand with the full batch.

  Raises:
    ValueError: the batch does not broadcast to the full batch, or the other
      dimensions are wrong.
  """
  if shape is None or full is None:
    return
  if not native_shapes.may_fit(shape, full, len(operand.dims)):
    raise ValueError(
      declaration.error(
        f"the rule {rule} returned shape {tuple(shape)} for {operand.name}: it "
        f"must be {tuple(full)}, where a size of the batch may be 1"
      )
    )


def checked(
  numpy: types.ModuleType,
  declaration: native_declarations.Declaration,
  rule: str,
  operand: native_declarations.Operand,
  value: object,
  like: tuple[Sequence[object] | None, onp.typing.DTypeLike],
) -> Array:
  """Converts a rule's result to an array with the dtype of its operand.

  Args:
    numpy: the array namespace.
    declaration: the declaration of the op.
    rule: the rule's name.
    operand: the output or input.
    value: the result of the rule for the operand.
    like: the full shape, as in `check_result`, and the dtype.

  Raises:
    TypeError: it has another dtype; Python numbers have any.
    ValueError: its shape is wrong.
  """
  full, dtype = like
  array = numpy.asarray(value)
  check_dtype(
    declaration,
    rule,
    operand,
    array.dtype,
    dtype,
    is_number(value),
  )
  check_result(declaration, rule, operand, array.shape, full)
  return numpy.asarray(array, dtype)
