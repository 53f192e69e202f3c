"""Calls of the native kernel by arrays of NumPy, for `kernel_ops`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from phasic.internal import kernel_common
from phasic.internal.tape import modes
from phasic.internal.tape import phase_type as primitives

KERNEL = kernel_common.Kernel(lambda: kernel_common.load()[1])


def portable(
  kind: str,
  operands: Sequence[Any],
  fallback: Callable[..., Any],
  fixed: Sequence[Any],
) -> Any:
  """Returns `kernel_ops.phase_type` on the portable path."""
  return fallback(kind, *operands, *fixed)


def phase_type(
  kind: str,
  operands: Sequence[Any],
  fallback: Callable[..., Any],
  fixed: Sequence[Any],
  discrete: bool,
) -> Any:
  """Returns `kernel_ops.phase_type` on the kernel's path.

  Args:
    kind: as there.
    operands: as there.
    fallback: as there.
    fixed: edges and kinds.
    discrete: as there.
  """
  del fallback
  kernel, number = kernel_common.load()[0], kernel_common.KINDS.index(kind)
  if not modes.any_traced(operands):
    edges, kinds = kernel_common.edges_and_kinds(_arrays(fixed))
    return kernel.forward(
      number, 0, _arrays(operands), edges, kinds=kinds, discrete=discrete
    )
  # Copies: what a derivative is of does not change any more.
  edges, kinds = kernel_common.edges_and_kinds(
    [onp.array(modes.without_derivative(x)) for x in fixed]
  )
  options = {"edges": edges, "kinds": kinds, "discrete": discrete}

  def forward(order: int, arrays: Sequence[Any]) -> Any:
    return kernel.forward(number, order, _arrays(arrays), **options)

  def adjoint(
    order: int, arrays: Sequence[Any], wanted: Sequence[bool]
  ) -> Sequence[Any]:
    bits = sum(1 << i for i, own in enumerate(wanted) if own)
    arrays = _arrays(arrays)
    return kernel.adjoint(number, order, arrays, wanted=bits, **options)

  return primitives.forward(primitives.Call(forward, adjoint), 0, operands)


def statistics(
  kind: str, operands: Sequence[Any], weights: Any, fixed: Sequence[Any]
) -> Sequence[Any]:
  """Returns `kernel_ops.statistics`; arguments are as above."""
  inputs = [*operands, weights]
  if modes.any_traced(inputs):
    raise NotImplementedError(
      "a derivative of expected statistics was asked for: they have none. Where "
      "they are constants for a derivative, as an E-step is, apply stop_gradient "
      "to the arguments"
    )
  edges, kinds = kernel_common.edges_and_kinds(_arrays(fixed))
  return kernel_common.load()[0].statistics(
    kernel_common.KINDS.index(kind), _arrays(inputs), edges, kinds=kinds
  )


def _arrays(values: Sequence[Any]) -> list[onp.ndarray]:
  return [onp.ascontiguousarray(v) for v in values]
