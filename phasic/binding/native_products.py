"""Jacobian-vector and vector-Jacobian products of native ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from phasic.binding import operands
from phasic.internal import autodiff
from phasic.internal.arrays import Array
from phasic.internal.native import native_declarations


def jvp(
  declaration: native_declarations.Declaration,
  call: Callable[..., tuple[Array, ...]],
  primals: Sequence[Array],
  tangents: Sequence[object],
) -> tuple[Array | None, ...]:
  """Computes the tangents of the outputs; None for integer outputs.

  Args:
    declaration: the op's.
    call: the op as a function of its operands.
    primals: the operands.
    tangents: their tangents; tangents of integers are ignored.

  Raises:
    NotImplementedError: there is no rule.
    TypeError: a tangent is complex, and its operand is not.
    ValueError: a tangent does not broadcast to its operand.
  """
  inputs = declaration.inputs
  float_function, places = _float_function(declaration, call, primals)
  along = [
    operands.direction(
      declaration,
      f"the tangent of {inputs[i].name}",
      tangents[i],
      primals[i],
    )
    for i in places
  ]
  _, moved = autodiff.forward(
    float_function, [primals[i] for i in places], along
  )
  return native_declarations.spread(declaration.outputs, moved)


def vjp(
  declaration: native_declarations.Declaration,
  call: Callable[..., tuple[Array, ...]],
  primals: Sequence[Array],
  cotangents: Sequence[object],
) -> tuple[Array | None, ...]:
  """Computes the cotangents of the operands; None for integer operands.

  Arguments and errors are as for `jvp`, with cotangents of the outputs.
  """
  float_function, places = _float_function(declaration, call, primals)
  results, pullback = autodiff.reverse(
    float_function, [primals[i] for i in places]
  )
  floats = native_declarations.inexact(declaration.outputs, cotangents)
  converted = [
    operands.direction(
      declaration, f"the cotangent of {operand.name}", cotangent, x
    )
    for (operand, cotangent), x in zip(floats, results, strict=True)
  ]
  return native_declarations.spread(declaration.inputs, pullback(converted))


def _float_function(
  declaration: native_declarations.Declaration,
  call: Callable[..., tuple[Array, ...]],
  primals: Sequence[Array],
) -> tuple[Callable[..., tuple[Array, ...]], list[int]]:
  """Returns an op as a function of floating inputs, and the inputs' positions.

  The function returns the op's floating outputs only.
  """
  places = [
    i for i, operand in enumerate(declaration.inputs) if operand.is_inexact
  ]

  def float_function(*arrays: Array) -> tuple[Array, ...]:
    full = list(primals)
    for i, x in zip(places, arrays, strict=True):
      full[i] = x
    results = native_declarations.inexact(declaration.outputs, call(*full))
    return tuple(x for _, x in results)

  return float_function, places
