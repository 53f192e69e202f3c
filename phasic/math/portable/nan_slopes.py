"""Derivatives of results of the portable path that are not finite: NaN.

Such a result comes from a constant, in whose place it was put, so that its
derivative would be zero. As in the kernel it is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic.internal import custom_gradient
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model.model_types import KernelArrays

# Steps of weights in (0.5, 1.5), among which there are no simple relations:
# tangents that cancel in a sum do not cancel in the weighted sum.
_STEP = (math.sqrt(5.0) - 1.0) / 2.0


def with_nan_slopes(result: Array, operands: KernelArrays) -> Array:
  """Returns the result (batch..., n), with derivatives in all operands.

  They are NaN where it is not finite.

  Args:
    result: of a function of the operands.
    operands: as of `portable.phase_type`.
  """
  dtype, shape = static.dtype_name(result), static.shape(result)
  model = np.zeros_like(operands[4][..., :1])
  for k, x in enumerate(operands[:4]):
    event = static.shape(x)[-2 if k == 1 else -1 :]
    if 0 in event:
      continue
    weights = 0.5 + onp.modf(_STEP * (1 + k + onp.arange(math.prod(event))))[0]
    weighted = x * structures.cast(onp.reshape(weights, event), dtype)
    flat = np.reshape(
      weighted, (*static.shape(x)[: -len(event)], math.prod(event))
    )
    model = model + np.sum(flat, axis=-1)[..., None]
  whole = np.broadcast_to(model + operands[4], shape)
  return _with_slope(result, whole, np.broadcast_to(model, shape))


def _forward(
  result: Array, whole: Array, model: Array
) -> tuple[Array, tuple[Array, Array]]:
  return result, (result, model)


def _backward(
  residuals: tuple[Array, Array], cotangent: Array
) -> tuple[Array, Array, Array]:
  slope = _slope(*residuals, cotangent)
  return cotangent, slope, np.zeros_like(cotangent)


def _along(
  primals: Sequence[Array], tangents: Sequence[Array]
) -> tuple[Array, Array]:
  result, _, model = primals
  return result, tangents[0] + _slope(result, model, tangents[1])


def _slope(result: Array, model: Array, along: Array) -> Array:
  """Returns the derivative along `along`: NaN, of any order, or zero."""
  lost = np.logical_not(np.abs(result) < math.inf) & (along != 0)
  # It depends on the model, for derivatives of higher order.
  zero = np.zeros_like(along)
  finite = np.where(np.abs(model) < math.inf, model, zero)
  return np.where(lost, zero + math.nan, zero) * (along + finite)


@custom_gradient.custom_gradient(
  vjp_fwd=_forward, vjp_bwd=_backward, jvp_fn=_along
)
def _with_slope(result: Array, whole: Array, model: Array) -> Array:
  """Returns the result; its slope in `whole` is NaN or zero."""
  return result
