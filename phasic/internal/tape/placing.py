"""Derivative rules of functions that rearrange or select entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as onp

from phasic.internal.tape import linear_maps
from phasic.internal.tape import traced
from phasic.internal.tape import ufuncs

Array = traced.Array
Traced = traced.Traced


@linear_maps.registered(onp.reshape)
def _reshape(
  a: Traced, /, shape: int | Sequence[int], order: str = "C"
) -> Array:
  if order != "C":
    raise traced.no_rule(f"numpy.reshape with order={order!r}")
  old = a.shape
  return linear_maps.linear(
    lambda x: onp.reshape(x, shape), lambda c: onp.reshape(c, old), a
  )


@linear_maps.registered(onp.ravel)
def _ravel(a: Traced) -> Array:
  return onp.reshape(a, (-1,))


@linear_maps.registered(onp.expand_dims)
def _expand_dims(a: Traced, axis: int | tuple[int, ...]) -> Array:
  like = onp.expand_dims(onp.empty(a.shape, bool), axis)
  return onp.reshape(a, like.shape)


@linear_maps.registered(onp.squeeze)
def _squeeze(a: Traced, axis: int | tuple[int, ...] | None = None) -> Array:
  like = onp.squeeze(onp.empty(a.shape, bool), axis)
  return onp.reshape(a, like.shape)


@linear_maps.registered(onp.transpose)
def _transpose(a: Traced, axes: Sequence[int] | None = None) -> Array:
  order = tuple(range(a.ndim))[::-1] if axes is None else tuple(axes)
  if len(order) != a.ndim:
    raise ValueError(
      f"transpose of shape {a.shape}: axes is {order}, it must have each axis "
      "once"
    )
  back = tuple(int(i) for i in onp.argsort([i % a.ndim for i in order]))
  return linear_maps.linear(
    lambda x: onp.transpose(x, order), lambda c: onp.transpose(c, back), a
  )


@linear_maps.registered(onp.moveaxis)
def _moveaxis(
  a: Traced,
  source: int | Sequence[int],
  destination: int | Sequence[int],
) -> Array:
  return linear_maps.linear(
    lambda x: onp.moveaxis(x, source, destination),  # type: ignore[type-var]
    lambda c: onp.moveaxis(c, destination, source),  # type: ignore[type-var]
    a,
  )


@linear_maps.registered(onp.swapaxes)
def _swapaxes(a: Traced, axis1: int, axis2: int) -> Array:
  def call(x: Array) -> Array:
    return onp.swapaxes(x, axis1, axis2)

  return linear_maps.linear(call, call, a)


@linear_maps.registered(onp.flip)
def _flip(m: Traced, axis: int | tuple[int, ...] | None = None) -> Array:
  def call(x: Array) -> Array:
    return onp.flip(x, axis)

  return linear_maps.linear(call, call, m)


@linear_maps.registered(onp.broadcast_to)
def _broadcast_to(array: Traced, shape: int | Sequence[int]) -> Array:
  old = array.shape
  return linear_maps.linear(
    lambda x: onp.broadcast_to(x, shape),
    lambda c: ufuncs.unbroadcast(c, old),
    array,
  )


@linear_maps.registered(onp.broadcast_arrays)
def _broadcast_arrays(*args: Array) -> tuple[Array, ...]:
  shape = onp.broadcast_shapes(*(onp.shape(x) for x in args))
  return tuple(onp.broadcast_to(x, shape) for x in args)


@linear_maps.registered(onp.take)
def _take(a: Traced, indices: Array, axis: int | None = None) -> Array:
  if axis is None:
    return onp.ravel(a)[indices]
  places = onp.asarray(traced.constant(indices))
  return a[(slice(None),) * (axis % a.ndim) + (places,)]


@linear_maps.registered(onp.take_along_axis)
def _take_along_axis(
  arr: Array, indices: Array, axis: int | None = -1
) -> Array:
  if axis is None:
    return onp.take_along_axis(onp.ravel(arr), onp.ravel(indices), 0)
  places = onp.asarray(traced.constant(indices))
  if places.ndim != onp.ndim(arr):
    raise ValueError(
      f"take_along_axis of shape {onp.shape(arr)}: indices has shape "
      f"{places.shape}, it must have as many dimensions"
    )
  sizes = list(onp.shape(arr))
  sizes[axis] = places.shape[axis]
  where = list(onp.indices(sizes, sparse=True))
  where[axis] = onp.broadcast_to(places, sizes)
  return arr[tuple(where)]


@linear_maps.registered(onp.concatenate)
def _concatenate(arrays: Sequence[Array], axis: int | None = 0) -> Array:
  if axis is None:
    return onp.concatenate([onp.ravel(x) for x in arrays])
  if any(onp.ndim(x) == 0 for x in arrays):
    raise ValueError(
      f"concatenate of shapes {_shapes(arrays)}: each must have a dimension; "
      "use stack for numbers"
    )
  rank = onp.ndim(arrays[0])
  sizes = [onp.shape(x)[axis] for x in arrays]
  ends = onp.cumsum(sizes)
  lead = (slice(None),) * (axis % rank)

  def pair(i: int, result: Array, *values: Array) -> traced.Pair:
    index = (*lead, slice(int(ends[i] - sizes[i]), int(ends[i])))
    shape, dtype = onp.shape(result), traced.dtype_of(result)
    return (
      lambda tangent: linear_maps.scatter(tangent, index, shape, dtype),
      lambda cotangent: cotangent[index],
    )

  return traced.apply(
    traced.Pairs(lambda *values: onp.concatenate(values, axis), pair), *arrays
  )


@linear_maps.registered(onp.stack)
def _stack(arrays: Sequence[Array], axis: int = 0) -> Array:
  if len(set(map(onp.shape, arrays))) > 1:
    raise ValueError(
      f"stack of shapes {_shapes(arrays)}: all shapes must be equal"
    )
  return onp.concatenate([onp.expand_dims(x, axis) for x in arrays], axis)


def _shapes(arrays: Sequence[Array]) -> str:
  """Lists the shapes of arrays, for messages."""
  return ", ".join(str(onp.shape(x)) for x in arrays)


@linear_maps.registered(onp.where)
def _where(condition: Array, x: Array, y: Array) -> Array:
  chosen = onp.array(traced.constant(condition))
  if not isinstance(x, Traced) and not isinstance(y, Traced):
    return traced.fixed(lambda c: onp.where(c, x, y), condition)

  def select(x: Array, y: Array) -> Array:
    return onp.where(chosen, x, y)

  def pair(i: int, result: Array, *values: Array) -> traced.Pair:
    shape = onp.shape(values[i])
    if i == 0:
      return (
        lambda tangent: onp.where(chosen, tangent, 0.0),
        lambda c: ufuncs.unbroadcast(onp.where(chosen, c, 0.0), shape),
      )
    return (
      lambda tangent: onp.where(chosen, 0.0, tangent),
      lambda c: ufuncs.unbroadcast(onp.where(chosen, 0.0, c), shape),
    )

  return traced.apply(traced.Pairs(select, pair), x, y)


def _masked(function: Callable[..., Array]) -> Callable[..., Array]:
  """Returns the derivative rule of tril or triu, each its own transpose."""

  def rule(m: Traced, k: int = 0) -> Array:
    if onp.ndim(m) < 2:
      raise traced.no_rule(f"numpy.{function.__name__} of a vector")

    def call(x: Array) -> Array:
      return function(x, k)

    return linear_maps.linear(call, call, m)

  return rule


for _function in (onp.tril, onp.triu):
  traced.FUNCTIONS[_function] = _masked(_function)
