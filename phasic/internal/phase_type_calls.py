"""Calls of the native kernel by arrays of NumPy, for `kernel_ops`."""

from __future__ import annotations

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


def forward(
  kind: str,
  groups: Sequence[Sequence[Any]],
  fallback: Callable[..., Any],
  fixed: Sequence[Any],
  discrete: bool,
) -> Any:
  """Returns D^k F(x)[v_1, .., v_k] of `kernel_ops.phase_type` by the kernel.

  Args:
    kind: as there.
    groups: the operands x, then k groups of tangents of them.
    fallback: as there.
    fixed: edges and kinds.
    discrete: as there.
  """
  del fallback
  arrays = [x for group in groups for x in group]
  call = _call(kind, arrays, fixed, discrete)
  return primitives.forward(call, len(groups) - 1, arrays)


def adjoint(
  kind: str,
  operands: Sequence[Any],
  cotangent: Any,
  wanted: Sequence[int],
  fallback: Callable[..., Any],
  fixed: Sequence[Any],
  discrete: bool,
) -> Sequence[Any]:
  """Returns the cotangents of the operands of the `wanted` indices."""
  del fallback
  arrays = [*operands, cotangent]
  call = _call(kind, arrays, fixed, discrete)
  return primitives.adjoint(call, 1, arrays, wanted)


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
  edges, kinds = kernel_common.edges_and_kinds(fixed)
  return kernel_common.load()[0].statistics(
    kernel_common.KINDS.index(kind), inputs, edges, kinds=kinds
  )


def _call(
  kind: str, arrays: Sequence[Any], fixed: Sequence[Any], discrete: bool
) -> primitives.Call:
  """Returns the kernel's functions of one kind."""
  if modes.any_traced([*arrays, *fixed]):
    # Copies: what a derivative is of does not change any more.
    advice = kernel_common.EDGES_ARE_FIXED
    fixed = [onp.array(modes.without_derivative(x, advice)) for x in fixed]
  kernel, number = kernel_common.load()[0], kernel_common.KINDS.index(kind)
  edges, kinds = kernel_common.edges_and_kinds(fixed)
  options = {"edges": edges, "kinds": kinds, "discrete": discrete}
  return primitives.Call(kernel, number, options)
