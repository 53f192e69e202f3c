"""First derivatives of `kernel_ops.phase_type` with respect to its operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from phasic.internal import autodiff
from phasic.internal import kernel_ops
from phasic.internal.arrays import Array


def jvp(
  kind: str,
  operands: Sequence[Array],
  tangents: Sequence[Array | None],
  fallback: Callable[..., Array],
  fixed: Sequence[Array] = (),
  discrete: bool = False,
) -> Array:
  """Computes the derivative of `phase_type` along five tangents.

  Args:
    kind: one of `kernel_ops.KINDS`.
    operands: the five operands.
    tangents: the tangents of the operands, None for zeros.
    fallback: as in `phase_type`.
    fixed: edges and kinds, as in `kernel_ops.fixed`.
    discrete: as in `phase_type`.
  """
  if kernel_ops.path_of_call() == "portable":
    chosen = [i for i, x in enumerate(tangents) if x is not None]
    value, points = _portable(kind, operands, chosen, fallback, fixed)
    _, (derivative,) = autodiff.forward(
      value, points, [t for t in tangents if t is not None]
    )
    return derivative
  along = [
    np.zeros_like(x) if t is None else t
    for x, t in zip(operands, tangents, strict=True)
  ]
  return kernel_ops.forward(kind, [operands, along], fallback, fixed, discrete)


def vjp(
  kind: str,
  operands: Sequence[Array],
  cotangent: Array | None,
  fallback: Callable[..., Array],
  fixed: Sequence[Array] = (),
  wanted: Sequence[int] = range(5),
  discrete: bool = False,
) -> tuple[Array, Sequence[Array]]:
  """Computes `phase_type` and the cotangents of some of its operands.

  Args:
    kind: one of `kernel_ops.KINDS`.
    operands: the five operands.
    cotangent: (batch..., n), of the value; None for ones.
    fallback: as in `phase_type`.
    fixed: edges and kinds, as in `kernel_ops.fixed`.
    wanted: the indices of the operands whose cotangents are computed.
    discrete: as in `phase_type`.
  """
  if kernel_ops.path_of_call() == "portable":
    function, points = _portable(kind, operands, wanted, fallback, fixed)
    (value,), vjp_fn = autodiff.reverse(function, points)
    return value, vjp_fn(
      [np.ones_like(value) if cotangent is None else cotangent]
    )
  value = kernel_ops.forward(kind, [operands], fallback, fixed, discrete)
  if cotangent is None:
    cotangent = np.ones_like(value)
  return value, cotangents(
    kind, operands, cotangent, fallback, fixed, wanted, discrete
  )


def cotangents(
  kind: str,
  operands: Sequence[Array],
  cotangent: Array,
  fallback: Callable[..., Array],
  fixed: Sequence[Array] = (),
  wanted: Sequence[int] = range(5),
  discrete: bool = False,
) -> Sequence[Array]:
  """Computes the cotangents of some operands; arguments are as in `vjp`."""
  if kernel_ops.path_of_call() == "portable":
    function, points = _portable(kind, operands, wanted, fallback, fixed)
    return autodiff.reverse(function, points)[1]([cotangent])
  return kernel_ops.adjoint(
    kind, operands, cotangent, wanted, fallback, fixed, discrete
  )


def _portable(
  kind: str,
  operands: Sequence[Array],
  chosen: Sequence[int],
  fallback: Callable[..., Array],
  fixed: Sequence[Array],
) -> tuple[Callable[..., tuple[Array, ...]], list[Array]]:
  """Returns array code as a function of chosen operands, and their values."""

  def value(*arrays: Array) -> tuple[Array, ...]:
    full = list(operands)
    for i, x in zip(chosen, arrays, strict=True):
      full[i] = x
    return (kernel_ops.portable(kind, full, fallback, fixed),)

  return value, [operands[i] for i in chosen]
