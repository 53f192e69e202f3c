"""Derivative rules of NumPy's elementwise functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as onp

from phasic.internal.tape import traced

Array = traced.Array
Traced = traced.Traced


def unbroadcast(x: Array, shape: tuple[int, ...]) -> Array:
  """Sums an array over broadcast dimensions, to a given shape."""
  x_shape = onp.shape(x)
  if x_shape == shape:
    return x
  more = len(x_shape) - len(shape)
  axes = tuple(range(more)) + tuple(
    more + i
    for i, size in enumerate(shape)
    if size == 1 and x_shape[more + i] != 1
  )
  return onp.reshape(onp.sum(x, axis=axes), shape) if axes else x


def _elementwise(
  ufunc: onp.ufunc, *slopes: Callable[..., Array | float]
) -> None:
  """Registers a ufunc's rule, given its partial derivatives."""

  def pair(i: int, result: Array, *arrays: Array) -> traced.Pair:
    with onp.errstate(all="ignore"):  # The slope may be infinite or NaN.
      slope = slopes[i](result, *arrays)
    shape = onp.shape(arrays[i])
    return (
      lambda tangent: tangent * slope,
      lambda cotangent: unbroadcast(cotangent * slope, shape),
    )

  primitive = traced.Pairs(ufunc, pair)
  traced.UFUNCS[ufunc] = lambda *arrays: traced.apply(primitive, *arrays)


def _linear(ufunc: onp.ufunc, *signs: float) -> None:
  """Registers the rule of a ufunc that adds or subtracts its arguments."""

  def pair(i: int, result: Array, *arrays: Array) -> traced.Pair:
    shape = onp.shape(arrays[i])
    if signs[i] > 0:
      return lambda t: t, lambda c: unbroadcast(c, shape)
    return lambda t: -t, lambda c: unbroadcast(-c, shape)

  primitive = traced.Pairs(ufunc, pair)
  traced.UFUNCS[ufunc] = lambda *arrays: traced.apply(primitive, *arrays)


def _fixed(ufunc: onp.ufunc) -> None:
  traced.UFUNCS[ufunc] = lambda *arrays: traced.fixed(ufunc, *arrays)


def _larger(result: Array, x: Array, y: Array) -> Array:
  """Computes the derivative of max(x, y) with respect to x; 1/2 for ties."""
  x, y = traced.constant(x), traced.constant(y)
  return onp.where(x == y, 0.5, onp.where(x > y, 1.0, 0.0))


def _smaller(result: Array, x: Array, y: Array) -> Array:
  return _larger(result, -traced.constant(x), -traced.constant(y))


def _power_slope(result: Array, x: Array, y: Array) -> Array:
  if not isinstance(y, Traced):
    # The derivative y x^(y - 1) is infinite at x = 0 for y < 1, but for y = 0
    # it is zero.
    with onp.errstate(divide="ignore"):
      return onp.where(y == 0, 0.0, y * x ** onp.where(y == 0, 1.0, y - 1.0))
  return y * x ** (y - 1.0)


def _exponent_slope(result: Array, x: Array, y: Array) -> Array:
  zero = traced.constant(x) == 0.0
  return result * onp.where(zero, 0.0, onp.log(onp.where(zero, 1.0, x)))


_linear(onp.add, 1.0, 1.0)
_linear(onp.subtract, 1.0, -1.0)
_linear(onp.negative, -1.0)
_linear(onp.positive, 1.0)
_elementwise(onp.multiply, lambda z, x, y: y, lambda z, x, y: x)
_elementwise(onp.true_divide, lambda z, x, y: 1.0 / y, lambda z, x, y: -z / y)
_elementwise(onp.power, _power_slope, _exponent_slope)
_elementwise(onp.float_power, _power_slope, _exponent_slope)
_elementwise(onp.square, lambda z, x: 2.0 * x)
_elementwise(onp.sqrt, lambda z, x: 0.5 / z)
_elementwise(onp.cbrt, lambda z, x: 1.0 / (3.0 * z * z))
_elementwise(onp.reciprocal, lambda z, x: -z * z)
_elementwise(onp.exp, lambda z, x: z)
_elementwise(onp.exp2, lambda z, x: onp.log(2.0) * z)
_elementwise(onp.expm1, lambda z, x: onp.exp(x))
_elementwise(onp.log, lambda z, x: 1.0 / x)
_elementwise(onp.log2, lambda z, x: 1.0 / (onp.log(2.0) * x))
_elementwise(onp.log10, lambda z, x: 1.0 / (onp.log(10.0) * x))
_elementwise(onp.log1p, lambda z, x: 1.0 / (1.0 + x))
_elementwise(
  onp.logaddexp,
  lambda z, x, y: onp.exp(x - z),
  lambda z, x, y: onp.exp(y - z),
)
_elementwise(onp.abs, lambda z, x: onp.sign(traced.constant(x)))
_elementwise(onp.maximum, _larger, lambda z, x, y: 1.0 - _larger(z, x, y))
_elementwise(onp.minimum, _smaller, lambda z, x, y: 1.0 - _smaller(z, x, y))
_elementwise(
  onp.remainder,
  lambda z, x, y: 1.0,
  lambda z, x, y: -onp.floor(traced.constant(x) / traced.constant(y)),
)
_elementwise(onp.sin, lambda z, x: onp.cos(x))
_elementwise(onp.cos, lambda z, x: -onp.sin(x))
_elementwise(onp.tan, lambda z, x: 1.0 + z * z)
_elementwise(onp.arcsin, lambda z, x: 1.0 / onp.sqrt(1.0 - x * x))
_elementwise(onp.arccos, lambda z, x: -1.0 / onp.sqrt(1.0 - x * x))
_elementwise(onp.arctan, lambda z, x: 1.0 / (1.0 + x * x))
_elementwise(onp.sinh, lambda z, x: onp.cosh(x))
_elementwise(onp.cosh, lambda z, x: onp.sinh(x))
_elementwise(onp.tanh, lambda z, x: 1.0 / onp.square(onp.cosh(x)))

# Elementwise functions whose derivative is zero.
for _ufunc in (
  onp.bitwise_and,
  onp.bitwise_or,
  onp.bitwise_xor,
  onp.ceil,
  onp.equal,
  onp.floor,
  onp.floor_divide,
  onp.greater,
  onp.greater_equal,
  onp.invert,
  onp.isfinite,
  onp.isinf,
  onp.isnan,
  onp.less,
  onp.less_equal,
  onp.logical_and,
  onp.logical_not,
  onp.logical_or,
  onp.logical_xor,
  onp.not_equal,
  onp.rint,
  onp.sign,
  onp.signbit,
  onp.trunc,
):
  _fixed(_ufunc)


def _matmul(x: Array, y: Array) -> Array:
  """Computes a matrix product; vectors are matrices of one row or column."""
  if onp.ndim(x) == 0 or onp.ndim(y) == 0:
    raise ValueError(
      f"matmul of shapes {onp.shape(x)} and {onp.shape(y)}: both must be vectors "
      "or matrices; for numbers use x * y"
    )
  if onp.shape(x)[-1] != onp.shape(y)[-2 if onp.ndim(y) > 1 else -1]:
    raise ValueError(
      f"matmul of shapes {onp.shape(x)} and {onp.shape(y)}: the inner sizes "
      "must be equal"
    )
  if onp.ndim(x) == 1:
    return (
      _matmul(onp.reshape(x, (1, -1)), y)[..., 0, :]
      if (onp.ndim(y) > 1)
      else onp.sum(x * y)
    )
  if onp.ndim(y) == 1:
    return _matmul(x, onp.reshape(y, (-1, 1)))[..., 0]
  return traced.apply(_PRODUCT, x, y)


def _product_pair(i: int, result: Array, x: Array, y: Array) -> traced.Pair:
  if i == 0:
    shape = onp.shape(x)
    return (
      lambda tangent: onp.matmul(tangent, y),
      lambda c: unbroadcast(onp.matmul(c, _transposed(y)), shape),
    )
  shape = onp.shape(y)
  return (
    lambda tangent: onp.matmul(x, tangent),
    lambda c: unbroadcast(onp.matmul(_transposed(x), c), shape),
  )


def _transposed(x: Array) -> Array:
  return onp.swapaxes(x, -1, -2)


_PRODUCT = traced.Pairs(onp.matmul, _product_pair)
traced.UFUNCS[onp.matmul] = _matmul
