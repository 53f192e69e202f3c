"""First derivatives of `kernel_ops.phase_type`, in its operands."""

from collections.abc import Callable, Sequence
from typing import Any

from phasic.internal import autodiff
from phasic.internal import kernel_ops


def jvp(
  kind: str,
  operands: Sequence[Any],
  tangents: Sequence[Any],
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
  **options: Any,
) -> tuple[Any, Any]:
  """Returns `phase_type` and its derivative along five tangents.

  Args:
    kind: one of `kernel_ops.KINDS`.
    operands: the five operands.
    tangents: theirs.
    fallback: as in `phase_type`.
    edges: the three arrays of a sparse model.
    **options: of `phase_type`.
  """

  def value(*arrays: Any) -> tuple[Any, ...]:
    return (kernel_ops.phase_type(kind, arrays, fallback, edges, **options),)

  (found,), (moved,) = autodiff.forward(value, operands, tangents)
  return found, moved


def vjp(
  kind: str,
  operands: Sequence[Any],
  cotangent: Any,
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
  wanted: Sequence[bool] = (True,) * 5,
  **options: Any,
) -> tuple[Any, tuple[Any, ...]]:
  """Returns `phase_type` and the cotangents of its operands.

  Args:
    kind: one of `kernel_ops.KINDS`.
    operands: the five operands.
    cotangent: (batch..., n), of the value.
    fallback: as in `phase_type`.
    edges: the three arrays of a sparse model.
    wanted: for each operand whether its cotangent is computed.
    **options: of `phase_type`.

  Returns:
    The value and five cotangents, None where they are not wanted.
  """
  chosen = [i for i, own in enumerate(wanted) if own]

  def value(*arrays: Any) -> tuple[Any, ...]:
    full = list(operands)
    for i, x in zip(chosen, arrays, strict=True):
      full[i] = x
    return (kernel_ops.phase_type(kind, full, fallback, edges, **options),)

  (found,), pull = autodiff.reverse(value, [operands[i] for i in chosen])
  bars = dict(zip(chosen, pull([cotangent]), strict=True))
  return found, tuple(bars.get(i) for i in range(len(operands)))
