"""The native kernel's functions as primitives, up to the third order.

J_k is the k-th directional derivative, a function of five operands x, linear in
each of k tangents of x. V_k is the transpose of J_k in the last tangent; it
takes a cotangent c in place of that tangent:

    J_k(x; v_1, ..., v_k),    V_k(x; v_1, ..., v_{k-1}; c).

The derivative of J_k in x is J_{k+1}, and the derivative of V_k is V_{k+1},
with one more tangent. So the two families contain all derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import types
from typing import NamedTuple, TypeVar

import numpy as onp

from phasic.internal.tape import modes
from phasic.internal.tape import traced

Array = traced.Array
_T = TypeVar("_T")

_OPERANDS = 5
_LARGEST_ORDER = 3


class Call(NamedTuple):
  """A phase-type function of the kernel, with its derivatives J_k and V_k.

  Attributes:
    kernel: its Python module.
    kind: the number of the kind.
    options: further arguments of a call, by name.
  """

  kernel: types.ModuleType
  kind: int
  options: Mapping[str, object]

  def forward(self, order: int, arrays: Sequence[Array]) -> Array:
    """Computes the k-th directional derivative J_k, with k = `order`."""
    return self.kernel.forward(self.kind, order, [*arrays], **self.options)

  def adjoint(
    self, order: int, arrays: Sequence[Array], wanted: Sequence[int]
  ) -> tuple[Array, ...]:
    """Computes the `wanted` results of the pullback V_k, with k = `order`."""
    bits = sum(1 << i for i in wanted)
    results = self.kernel.adjoint(
      self.kind, order, [*arrays], wanted=bits, **self.options
    )
    return tuple(results[i] for i in wanted)


def forward(call: Call, order: int, arrays: Sequence[Array]) -> Array:
  """Computes the k-th directional derivative J_k; arrays may be traced."""
  if not modes.any_traced(arrays):
    return call.forward(order, arrays)
  return _Forward(call, order).evaluate(arrays)


def adjoint(
  call: Call, order: int, arrays: Sequence[Array], wanted: Sequence[int]
) -> tuple[Array, ...]:
  """Computes the `wanted` results of the pullback V_k; allows traced arrays."""
  return _Adjoint(call, order, wanted).evaluate(arrays)


class _Forward(traced.Primitive[Array]):
  """The primitive J_k, whose arguments are one list: operands, tangents."""

  def __init__(self, call: Call, order: int):
    self.call = call
    self.order = _checked(order)

  def evaluate(self, arrays: Sequence[Array]) -> Array:
    if modes.any_traced(arrays):
      return traced.apply(self, *arrays)
    return self.call.forward(self.order, arrays)

  def forward(
    self, arrays: Sequence[Array], tangents: Sequence[Array | None]
  ) -> tuple[Array, Array]:
    result = self.evaluate(arrays)
    terms = []
    for i in _moving(tangents):
      along = _filled(_group(arrays, 0), _group(tangents, i))
      if i == 0:
        more = _Forward(self.call, self.order + 1)
        terms.append(more.evaluate([*arrays, *along]))
      else:
        terms.append(self.evaluate(_replaced(arrays, i, along)))
    return result, traced.added(terms)

  def reverse(
    self, arrays: Sequence[Array], wanted: Sequence[int]
  ) -> tuple[Array, traced.Pullback]:
    def pullback(cotangents: list[Array]) -> Sequence[Array]:
      by_place: dict[int, Array] = {}
      for i in range(self.order + 1):
        indices = [n - _OPERANDS * i for n in wanted if n // _OPERANDS == i]
        if not indices:
          continue
        operands = list(arrays)
        if i > 0:
          del operands[_OPERANDS * i : _OPERANDS * (i + 1)]
        order = self.order + (1 if i == 0 else 0)
        results = _Adjoint(self.call, order, indices).evaluate(
          [*operands, *cotangents]
        )
        for n, result in zip(indices, results, strict=True):
          by_place[_OPERANDS * i + n] = result
      return [by_place[n] for n in wanted]

    return self.evaluate(arrays), pullback


class _Adjoint(traced.Primitive[tuple[Array, ...]]):
  """The primitive V_k, a function of operands, tangents and a cotangent."""

  def __init__(self, call: Call, order: int, wanted: Sequence[int]):
    self.call = call
    self.order = _checked(order)
    self.wanted = tuple(wanted)

  def evaluate(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
    if modes.any_traced(arrays):
      return traced.apply(self, *arrays)
    return self.call.adjoint(self.order, arrays, self.wanted)

  def forward(
    self, arrays: Sequence[Array], tangents: Sequence[Array | None]
  ) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    result = self.evaluate(arrays)
    terms = []
    for i in _moving(tangents[:-1]):
      along = _filled(_group(arrays, 0), _group(tangents, i))
      if i == 0:
        more = _Adjoint(self.call, self.order + 1, self.wanted)
        terms.append(more.evaluate([*arrays[:-1], *along, arrays[-1]]))
      else:
        terms.append(self.evaluate(_replaced(arrays, i, along)))
    if tangents[-1] is not None:
      terms.append(self.evaluate([*arrays[:-1], tangents[-1]]))
    return result, traced.added(terms)

  def reverse(
    self, arrays: Sequence[Array], wanted: Sequence[int]
  ) -> tuple[tuple[Array, ...], traced.Pullback]:
    last = len(arrays) - 1

    def pullback(cotangents: list[Array]) -> Sequence[Array]:
      directions: list[Array | None] = [None] * _OPERANDS
      for i, cotangent in zip(self.wanted, cotangents, strict=True):
        directions[i] = cotangent
      along = _filled(_group(arrays, 0), directions)
      by_place: dict[int, Array] = {}
      for i in range(self.order):
        indices = [
          n - _OPERANDS * i for n in wanted if n != last and n // _OPERANDS == i
        ]
        if not indices:
          continue
        if i == 0:
          operands = [*arrays[:-1], *along, arrays[-1]]
        else:
          operands = _replaced(arrays, i, along)
        order = self.order + (1 if i == 0 else 0)
        results = _Adjoint(self.call, order, indices).evaluate(operands)
        for n, result in zip(indices, results, strict=True):
          by_place[_OPERANDS * i + n] = result
      if last in wanted:
        forward = _Forward(self.call, self.order)
        by_place[last] = forward.evaluate([*arrays[:-1], *along])
      return [by_place[n] for n in wanted]

    return self.evaluate(arrays), pullback


def _checked(order: int) -> int:
  if order > _LARGEST_ORDER:
    raise NotImplementedError(
      f"a derivative of order {order} was computed: the kernel has orders up "
      f"to {_LARGEST_ORDER}; JAX and TensorFlow have all orders with "
      "config.use_path('portable')"
    )
  return order


def _group(values: Sequence[_T], i: int) -> list[_T]:
  return list(values[_OPERANDS * i : _OPERANDS * (i + 1)])


def _moving(tangents: Sequence[Array | None]) -> list[int]:
  """Returns the indices of the groups of five that have any tangent."""
  return [
    i
    for i in range(len(tangents) // _OPERANDS)
    if any(t is not None for t in _group(tangents, i))
  ]


def _filled(
  operands: Sequence[Array], tangents: Sequence[Array | None]
) -> list[Array]:
  """Returns the tangents of operands, with zeros in place of None."""
  return [
    onp.zeros_like(x) if t is None else t
    for x, t in zip(operands, tangents, strict=True)
  ]


def _replaced(
  arrays: Sequence[Array], i: int, group: Sequence[Array]
) -> list[Array]:
  return [
    *arrays[: _OPERANDS * i],
    *group,
    *arrays[_OPERANDS * (i + 1) :],
  ]
