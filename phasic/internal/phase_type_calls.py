"""Calls of the native phase-type kernel with NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as onp

from phasic.internal import kernel_common
from phasic.internal.tape import modes
from phasic.internal.tape import phase_type as primitives

_T = TypeVar("_T")

KERNEL = kernel_common.Kernel(lambda: kernel_common.load()[1])


def portable(
  kind: str,
  operands: Sequence[object],
  fallback: Callable[..., _T],
  fixed: Sequence[object],
) -> _T:
  """Computes a phase-type function by the portable code `fallback`."""
  return fallback(kind, *operands, *fixed)


def forward(
  kind: str,
  groups: Sequence[Sequence[modes.Array]],
  fallback: Callable[..., object],
  fixed: Sequence[modes.Array],
  discrete: bool,
) -> modes.DuckArray:
  """Computes the k-th directional derivative of a phase-type function.

  It is D^k F(x)[v_1, ..., v_k] with F = `kernel_ops.phase_type`, computed by
  the kernel; k may be zero.

  Args:
    kind: as in `phase_type`.
    groups: the operands x, then k groups of tangents of them.
    fallback: as in `phase_type`.
    fixed: edges and kinds.
    discrete: as in `phase_type`.
  """
  arrays = [x for group in groups for x in group]
  call = _call(kind, arrays, fixed, discrete)
  return primitives.forward(call, len(groups) - 1, arrays)


def adjoint(
  kind: str,
  operands: Sequence[modes.Array],
  cotangent: modes.Array,
  wanted: Sequence[int],
  fallback: Callable[..., object],
  fixed: Sequence[modes.Array],
  discrete: bool,
) -> Sequence[modes.DuckArray]:
  """Computes cotangents of the operands with the `wanted` indices."""
  arrays = [*operands, cotangent]
  call = _call(kind, arrays, fixed, discrete)
  return primitives.adjoint(call, 1, arrays, wanted)


def quantiles(
  form: str,
  operands: Sequence[onp.ndarray],
  fallback: Callable[..., object],
  edges: Sequence[onp.ndarray],
  discrete: bool,
) -> tuple[onp.ndarray, onp.ndarray]:
  """Computes quantiles and places by the kernel, without derivatives."""
  returned = kernel_common.load()[0].quantiles(
    kernel_common.FORMS.index(form),
    [*operands],
    list(edges) if edges else None,
    discrete,
  )
  return returned[0], returned[1]


def statistics(
  kind: str,
  operands: Sequence[object],
  weights: object,
  fixed: Sequence[object],
) -> Sequence[onp.ndarray]:
  """Computes expected path statistics by the kernel, without derivatives."""
  inputs = [*operands, weights]
  if modes.any_traced(inputs):
    raise NotImplementedError(
      "a derivative of expected statistics was asked for: they have none. If "
      "they are constants, as in an E-step, apply stop_gradient to their "
      "arguments"
    )
  edges, kinds = kernel_common.edges_and_kinds(fixed)
  return kernel_common.load()[0].statistics(
    kernel_common.KINDS.index(kind), inputs, edges, kinds=kinds
  )


def _call(
  kind: str,
  arrays: Sequence[modes.Array],
  fixed: Sequence[modes.Array],
  discrete: bool,
) -> primitives.Call:
  """Returns the kernel's function `kind` with its derivatives."""
  if modes.any_traced([*arrays, *fixed]):
    # Copy these arrays: the caller may change them before the pullback runs.
    advice = kernel_common.EDGES_ARE_FIXED
    fixed = [onp.array(modes.without_derivative(x, advice)) for x in fixed]
  kernel, number = kernel_common.load()[0], kernel_common.KINDS.index(kind)
  edges, kinds = kernel_common.edges_and_kinds(fixed)
  options = {"edges": edges, "kinds": kinds, "discrete": discrete}
  return primitives.Call(kernel, number, options)
