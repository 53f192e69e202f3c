"""Derivatives of NumPy's reductions and other functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as onp

from phasic.internal.tape import linear_maps
from phasic.internal.tape import traced
from phasic.internal.tape.trees import Tree

Array = traced.Array
Traced = traced.Traced
_Axis: TypeAlias = int | tuple[int, ...] | None


# Functions that only read the shape and the dtype: they need no derivative
# rule.


@linear_maps.registered(onp.shape)
def _shape(a: Traced) -> tuple[int, ...]:
  return a.shape


@linear_maps.registered(onp.ndim)
def _ndim(a: Traced) -> int:
  return a.ndim


@linear_maps.registered(onp.size)
def _size(a: Traced, axis: int | None = None) -> int:
  return a.size if axis is None else a.shape[axis]


@linear_maps.registered(onp.zeros_like, onp.empty_like)
def _zeros_like(
  a: Traced,
  dtype: onp.typing.DTypeLike | None = None,
  shape: int | Sequence[int] | None = None,
) -> onp.ndarray:
  return onp.zeros(a.shape if shape is None else shape, dtype or a.dtype)


@linear_maps.registered(onp.ones_like)
def _ones_like(
  a: Traced,
  dtype: onp.typing.DTypeLike | None = None,
  shape: int | Sequence[int] | None = None,
) -> onp.ndarray:
  return onp.ones(a.shape if shape is None else shape, dtype or a.dtype)


@linear_maps.registered(onp.full_like)
def _full_like(
  a: Array,
  fill_value: Array | float,
  dtype: onp.typing.DTypeLike | None = None,
  shape: int | Sequence[int] | None = None,
) -> Array:
  full = onp.broadcast_to(fill_value, onp.shape(a) if shape is None else shape)
  dtype = onp.dtype(dtype or traced.dtype_of(a))
  return (
    cast(full, dtype) if isinstance(full, Traced) else onp.array(full, dtype)
  )


@linear_maps.registered(onp.result_type)
def _result_type(*arrays: Array | onp.typing.DTypeLike) -> onp.dtype:
  return onp.result_type(
    *(x.dtype if isinstance(x, Traced) else x for x in arrays)
  )


# Reductions over axes.


@linear_maps.registered(onp.sum)
def _sum(
  a: Traced,
  axis: _Axis = None,
  dtype: None = None,
  out: None = None,
  keepdims: bool = False,
) -> Array:
  _refuse("sum", dtype=dtype, out=out)
  shape = a.shape
  return linear_maps.linear(
    lambda x: onp.sum(x, axis=axis, keepdims=keepdims),
    lambda c: onp.broadcast_to(_kept(c, shape, axis), shape),
    a,
  )


@linear_maps.registered(onp.mean)
def _mean(
  a: Traced,
  axis: _Axis = None,
  dtype: None = None,
  out: None = None,
  keepdims: bool = False,
) -> Array:
  _refuse("mean", dtype=dtype, out=out)
  total = onp.sum(a, axis=axis, keepdims=keepdims)
  count = a.size // total.size if a.size else 0
  return total / count if count else total * onp.nan


def _refuse(name: str, **options: object) -> None:
  """Raises an error if an option is given that has no derivative rule."""
  names = [option for option, value in options.items() if value is not None]
  if names:
    raise traced.no_rule(f"numpy.{name} with {' and '.join(names)}")


def _kept(x: Array, shape: tuple[int, ...], axis: _Axis) -> Array:
  """Reshapes a reduction's result so that reduced axes remain with size one."""
  if axis is None or not shape:
    return onp.reshape(x, (1,) * len(shape))
  axes = axis if isinstance(axis, tuple) else (axis,)
  gone = {i % len(shape) for i in axes}
  return onp.reshape(
    x, tuple(1 if i in gone else n for i, n in enumerate(shape))
  )


def _extreme(function: Callable[..., Array]) -> Callable[..., Array]:
  """Returns the derivative rule of max or min; ties share the derivative."""

  def rule(
    a: Traced, axis: _Axis = None, out: None = None, keepdims: bool = False
  ) -> Array:
    _refuse(function.__name__, out=out)
    shape = a.shape

    def pair(i: int, result: Array, x: Array) -> traced.Pair:
      top = _kept(traced.constant(result), shape, axis)
      hits = traced.constant(x) == top
      share = hits / onp.sum(hits, axis=axis, keepdims=True)
      return (
        lambda tangent: onp.sum(tangent * share, axis=axis, keepdims=keepdims),
        lambda c: _kept(c, shape, axis) * share,
      )

    return traced.apply(
      traced.Pairs(lambda x: function(x, axis=axis, keepdims=keepdims), pair), a
    )

  return rule


for _extreme_of in (onp.max, onp.min):
  traced.FUNCTIONS[_extreme_of] = _extreme(_extreme_of)


@linear_maps.registered(onp.cumsum)
def _cumsum(
  a: Traced, axis: int | None = None, dtype: None = None, out: None = None
) -> Array:
  _refuse("cumsum", dtype=dtype, out=out)
  if axis is None:
    return onp.cumsum(onp.ravel(a), axis=0)
  return linear_maps.linear(
    lambda x: onp.cumsum(x, axis=axis),
    lambda c: onp.flip(onp.cumsum(onp.flip(c, axis), axis=axis), axis),
    a,
  )


@linear_maps.registered(onp.sort)
def _sort(a: Traced, axis: int | None = -1) -> Array:
  if axis is None:
    return onp.sort(onp.ravel(a))
  order = onp.argsort(traced.constant(a), axis)
  return traced.FUNCTIONS[onp.take_along_axis](a, order, axis)


@linear_maps.registered(onp.clip)
def _clip(
  a: Array,
  a_min: Array | float | None = None,
  a_max: Array | float | None = None,
) -> Array:
  low = a if a_min is None else onp.maximum(a, a_min)
  return low if a_max is None else onp.minimum(low, a_max)


@linear_maps.registered(onp.dot)
def _dot(a: Array, b: Array) -> Array:
  if onp.ndim(a) == 0 or onp.ndim(b) == 0:
    return onp.multiply(a, b)
  if onp.ndim(b) > 2:
    raise traced.no_rule("numpy.dot of more than two dimensions")
  return onp.matmul(a, b)


@linear_maps.registered(onp.outer)
def _outer(a: Array, b: Array) -> Array:
  return onp.reshape(a, (-1, 1)) * onp.reshape(b, (1, -1))


@linear_maps.registered(onp.copy)
def _copy(a: Traced) -> Traced:
  return a


# Functions whose derivative is zero.


def _fixed(function: Callable[..., Tree]) -> Callable[..., Array]:
  def rule(*args: object, **options: object) -> Array:
    _refuse(function.__name__, out=options.get("out"))
    count = len(args)

    def call(*values: object) -> Array:
      named = dict(zip(options, values[count:], strict=True))
      return function(*values[:count], **named)

    return traced.fixed(call, *args, *options.values())

  return rule


_function: Callable[..., Tree]
for _function in (
  onp.all,
  onp.allclose,
  onp.any,
  onp.argmax,
  onp.argmin,
  onp.argsort,
  onp.array_equal,
  onp.count_nonzero,
  onp.isclose,
):
  traced.FUNCTIONS[_function] = _fixed(_function)


def cast(x: Traced, dtype: onp.typing.DTypeLike) -> Array:
  """Converts a traced array to a dtype; only floats keep a derivative."""
  dtype = onp.dtype(dtype)
  x_dtype = x.dtype
  if x_dtype == dtype:
    return x
  if dtype.kind == "c":
    raise traced.leaving(f"an array of dtype {dtype.name}")
  if dtype.kind != "f" or x_dtype.kind != "f":
    return traced.fixed(lambda x: onp.asarray(x, dtype), x)
  return linear_maps.linear(
    lambda x: as_dtype(x, dtype), lambda c: as_dtype(c, x_dtype), x
  )


traced.FUNCTIONS[traced.astype] = lambda x, dtype: as_dtype(x, dtype)


def as_dtype(x: Array, dtype: onp.typing.DTypeLike) -> Array:
  """Converts a traced or plain array to another dtype."""
  return cast(x, dtype) if isinstance(x, Traced) else onp.asarray(x, dtype)
