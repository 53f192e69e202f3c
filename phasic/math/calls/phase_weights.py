"""Derivatives of log densities in weights of phases, and their derivatives.

With f = alpha exp(S t) e, where e are weights of the phases in which the time
ends, the derivatives of log f in e are v / f with v = alpha exp(S t). The
cotangents g of log f and c of v / f give the model's cotangents as

    d(v . w) / f,  w = c + e (g - c . v / f),

where only v depends on the model. So they are the cotangents of two log
densities, with the positive and the negative part of w as weights: no second
derivative of the kernel is needed. Higher derivatives come from this rule.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phasic.internal import autodiff
from phasic.internal import custom_gradient
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.calls import kernel_derivatives
from phasic.math.numeric import array_utils
from phasic.math.portable import portable_edges

_LOG = "log_density"
# The same number is added to all entries of the positive and of the negative
# part of w, so that neither part is zero. This factor makes the number far
# smaller than w, and far larger than rounding errors.
_SHARE = 2.0**-30


def _value(discrete: bool, *arrays: Array) -> tuple[Array, Array]:
  value, (slopes,) = kernel_derivatives.vjp(
    _LOG,
    arrays[:5],
    None,
    portable_edges.fallback(discrete),
    arrays[5:],
    (2,),
    discrete,
  )
  return value, slopes


def _forward(
  discrete: bool, *arrays: Array
) -> tuple[tuple[Array, Array], tuple[Array, ...]]:
  value, slopes = _value(discrete, *arrays)
  return (value, slopes), (*arrays, slopes)


def _backward(
  discrete: bool, residuals: tuple[Array, ...], cotangents: tuple[Array, Array]
) -> tuple[Array | None, ...]:
  *arrays, slopes = residuals
  value_cotangent, slopes_cotangent = cotangents
  weights = arrays[2]
  mean = np.sum(slopes_cotangent * slopes, axis=-1)[..., None]
  signed = slopes_cotangent + weights * (value_cotangent - mean)
  # Where w may be only the rounding error of a difference, its value is set to
  # zero. Its derivatives are kept.
  terms = np.abs(slopes_cotangent) + weights * (
    np.abs(value_cotangent) + np.abs(mean)
  )
  noise = 8.0 * static.finfo_eps(signed) * autodiff.stop_gradient(terms)
  fixed = autodiff.stop_gradient(signed)
  signed = signed - np.where(np.abs(fixed) <= noise, fixed, 0.0)
  none = [np.zeros_like(x) if i else None for i, x in enumerate(arrays[5:])]
  zero = np.zeros_like
  initial_cotangent, rates_cotangent, times_cotangent = _cotangents(
    discrete, arrays, slopes, signed
  )
  return (
    initial_cotangent,
    rates_cotangent,
    zero(weights),
    zero(arrays[3]),
    times_cotangent,
    *none,
  )


def _cotangents(
  discrete: bool, arrays: Sequence[Array], slopes: Array, signed: Array
) -> list[Array]:
  """Computes d(v . w) / f for the initial masses, the rates and the times."""

  def part_cotangents(part: Array) -> Sequence[Array]:
    scale = np.sum(part * slopes, axis=-1)[..., None]
    operands = (arrays[0], arrays[1], part, *arrays[3:5])
    return kernel_derivatives.cotangents(
      _LOG,
      operands,
      scale,
      portable_edges.fallback(discrete),
      arrays[5:],
      (0, 1, 4),
      discrete,
    )

  sizes = autodiff.stop_gradient(np.abs(signed))
  total = np.sum(sizes * autodiff.stop_gradient(slopes), axis=-1)[..., None]
  some = total > 0.0
  if array_utils.are_true(some & (signed >= 0.0)):
    return list(part_cotangents(signed))
  if array_utils.are_true(some & (signed <= 0.0)):
    return [-x for x in part_cotangents(-signed)]
  largest = np.max(sizes, axis=-1)[..., None]
  rest = np.where(largest > 0.0, _SHARE * _SHARE * largest, 1.0)
  shift = np.where(some, _SHARE * total, rest) * np.ones_like(signed)
  positive = np.where(signed >= 0.0, signed, 0.0) + shift
  negative = np.where(signed >= 0.0, 0.0, -signed) + shift
  parts = zip(part_cotangents(positive), part_cotangents(negative), strict=True)
  return [x - y for x, y in parts]


def _along(
  discrete: bool,
  primals: Sequence[Array],
  tangents: Sequence[Array | None],
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
  places = (0, 1, 4)

  def varied(*inputs: Array) -> tuple[Array, Array]:
    arrays = list(primals)
    for i, x in zip(places, inputs, strict=True):
      arrays[i] = x
    return _value(discrete, *arrays)

  points = [primals[i] for i in places]
  directions = []
  for i, x in zip(places, points, strict=True):
    tangent = tangents[i]
    directions.append(np.zeros_like(x) if tangent is None else tangent)
  (value, slopes), (value_tangent, slopes_tangent) = autodiff.forward(
    varied, points, directions
  )
  return (value, slopes), (value_tangent, slopes_tangent)


@custom_gradient.custom_gradient(
  vjp_fwd=_forward, vjp_bwd=_backward, jvp_fn=_along, nondiff_argnums=(0,)
)
def log_value_and_slopes(discrete: bool, *arrays: Array) -> tuple[Array, Array]:
  """Computes the log of a weighted density, and its slopes in the weights.

  The weights, the mass at zero and coefficients are constants to derivatives.

  Args:
    discrete: whether time is counted in steps.
    *arrays: the kernel's five operands of a model with weights in place of exits,
      (batch..., p) with the full batch, and one time for each; and its arrays
      of edges.

  Returns:
    Arrays (batch..., 1) and (batch..., p).
  """
  return _value(discrete, *arrays)
