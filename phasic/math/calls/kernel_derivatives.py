"""First derivatives of `kernel_ops.phase_type`, in its operands."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from phasic.internal import autodiff
from phasic.internal import kernel_ops


def jvp(
  kind: str,
  operands: Sequence[Any],
  tangents: Sequence[Any],
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
  **options: Any,
) -> Any:
  """Returns the derivative of `phase_type` along five tangents.

  Args:
    kind: one of `kernel_ops.KINDS`.
    operands: the five operands.
    tangents: theirs, None for zeros.
    fallback: as in `phase_type`.
    edges: the three arrays of a sparse model.
    **options: of `phase_type`.
  """
  chosen = [i for i, x in enumerate(tangents) if x is not None]
  value = _of_some(kind, operands, chosen, fallback, edges, options)
  _, (moved,) = autodiff.forward(
    value, [operands[i] for i in chosen], [tangents[i] for i in chosen]
  )
  return moved


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
    cotangent: (batch..., n), of the value; None for ones.
    fallback: as in `phase_type`.
    edges: the three arrays of a sparse model.
    wanted: for each operand whether its cotangent is computed.
    **options: of `phase_type`.

  Returns:
    The value and five cotangents, None where they are not wanted.
  """
  chosen = [i for i, own in enumerate(wanted) if own]
  value = _of_some(kind, operands, chosen, fallback, edges, options)
  (found,), pull = autodiff.reverse(value, [operands[i] for i in chosen])
  cotangent = np.ones_like(found) if cotangent is None else cotangent
  bars = dict(zip(chosen, pull([cotangent]), strict=True))
  return found, tuple(bars.get(i) for i in range(len(operands)))


def _of_some(
  kind: str,
  operands: Sequence[Any],
  chosen: Sequence[int],
  fallback: Callable[..., Any],
  edges: Sequence[Any],
  options: Any,
) -> Callable[..., tuple[Any, ...]]:
  """Returns `phase_type` as a function of the operands of some indices."""

  def value(*arrays: Any) -> tuple[Any, ...]:
    full = list(operands)
    for i, x in zip(chosen, arrays, strict=True):
      full[i] = x
    return (kernel_ops.phase_type(kind, full, fallback, edges, **options),)

  return value
