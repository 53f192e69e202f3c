"""Calls of the native phase-type kernel with NumPy arrays.

Its functions have derivatives up to the third order; see `derivative_family`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import types
from typing import NamedTuple, TypeVar

import numpy as onp

from phasic.internal import derivative_family
from phasic.internal import kernel_common
from phasic.internal.tape import modes
from phasic.internal.tape import traced

_Array = traced.Array
_T = TypeVar("_T")

_OPERANDS = 5
_LARGEST_ORDER = 3

KERNEL = kernel_common.Kernel(lambda: kernel_common.load()[1], 25)


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
  groups: Sequence[Sequence[_Array]],
  fallback: Callable[..., object],
  fixed: Sequence[_Array],
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
  order = len(groups) - 1
  if not modes.any_traced(arrays):
    return call.forward(order, arrays)
  return _Derivative(call, False, order).evaluate(arrays)


def adjoint(
  kind: str,
  operands: Sequence[_Array],
  cotangent: _Array,
  wanted: Sequence[int],
  fallback: Callable[..., object],
  fixed: Sequence[_Array],
  discrete: bool,
) -> Sequence[modes.DuckArray]:
  """Computes the cotangents of the operands whose indices are in `wanted`."""
  arrays = [*operands, cotangent]
  call = _call(kind, arrays, fixed, discrete)
  results = _Derivative(call, True, 1, wanted).evaluate(arrays)
  return results if isinstance(results, tuple) else (results,)


def quantiles(
  form: str,
  operands: Sequence[onp.ndarray],
  fallback: Callable[..., object],
  edges: Sequence[onp.ndarray],
  discrete: bool,
) -> tuple[onp.ndarray, ...]:
  """Computes `kernel_ops.quantiles` by the kernel, without derivatives."""
  results = kernel_common.load()[0].quantiles(
    kernel_common.FORMS.index(form),
    [*operands],
    list(edges) if edges else None,
    discrete,
  )
  return tuple(results)


def statistics(
  kind: str,
  operands: Sequence[object],
  weights: object,
  fallback: Callable[..., object],
  fixed: Sequence[object],
) -> Sequence[onp.ndarray]:
  """Computes expected path statistics by the kernel, without derivatives."""
  inputs = [*operands, weights]
  if modes.any_traced(inputs):
    raise NotImplementedError(
      "a derivative of expected statistics was asked for: the statistics have "
      "none. If they are constants, as in an E-step, apply stop_gradient to "
      "the arguments"
    )
  edges, kinds = kernel_common.edges_and_kinds(fixed)
  return kernel_common.load()[0].statistics(
    kernel_common.KINDS.index(kind), inputs, edges, kinds=kinds
  )


def _call(
  kind: str,
  arrays: Sequence[_Array],
  fixed: Sequence[_Array],
  discrete: bool,
) -> _Call:
  """Returns the kernel's function `kind` with its derivatives."""
  if modes.any_traced([*arrays, *fixed]):
    # Copy these arrays: the caller may change them before the pullback runs.
    advice = kernel_common.EDGES_ARE_FIXED
    fixed = [onp.array(modes.without_derivative(x, advice)) for x in fixed]
  kernel, number = kernel_common.load()[0], kernel_common.KINDS.index(kind)
  edges, kinds = kernel_common.edges_and_kinds(fixed)
  options = {"edges": edges, "kinds": kinds, "discrete": discrete}
  return _Call(kernel, number, options)


class _Call(NamedTuple):
  """A phase-type function of the kernel, with its derivatives J_k and V_k.

  Attributes:
    kernel: its Python module.
    kind: the number of the kind.
    options: further arguments of a call, by name.
  """

  kernel: types.ModuleType
  kind: int
  options: Mapping[str, object]

  def forward(self, order: int, arrays: Sequence[_Array]) -> _Array:
    """Computes the k-th directional derivative J_k, with k = `order`."""
    return self.kernel.forward(self.kind, order, [*arrays], **self.options)

  def adjoint(
    self, order: int, arrays: Sequence[_Array], wanted: Sequence[int]
  ) -> tuple[_Array, ...]:
    """Computes the `wanted` results of the pullback V_k, with k = `order`."""
    bits = sum(1 << i for i in wanted)
    results = self.kernel.adjoint(
      self.kind, order, [*arrays], wanted=bits, **self.options
    )
    return tuple(results[i] for i in wanted)


class _Derivative(traced.Primitive[traced.Results]):
  """J_k or V_k as a primitive.

  Its arrays are the operands, the directions and, for V_k, a cotangent.
  """

  def __init__(
    self, call: _Call, is_adjoint: bool, order: int, wanted: Sequence[int] = ()
  ):
    self.call = call
    self.is_adjoint = is_adjoint
    self.order = _checked(order)
    self.wanted = tuple(wanted)

  def evaluate(self, arrays: Sequence[_Array]) -> traced.Results:
    if modes.any_traced(arrays):
      return traced.apply(self, *arrays)
    if self.is_adjoint:
      return self.call.adjoint(self.order, arrays, self.wanted)
    return self.call.forward(self.order, arrays)

  def forward(
    self, arrays: Sequence[_Array], tangents: Sequence[_Array | None]
  ) -> tuple[traced.Results, traced.Results]:
    operands, member = self._member(arrays)
    terms = []
    for i, group in enumerate(_groups(tangents)):
      if all(t is None for t in group):
        continue
      along = _filled(_groups(arrays)[i], group)
      moved = member.along(along) if i == 0 else member.replaced(i, along)
      terms.append(self._at(operands, moved, self.wanted))
    return self.evaluate(arrays), traced.added(terms)

  def reverse(
    self, arrays: Sequence[_Array], wanted: Sequence[int]
  ) -> tuple[traced.Results, traced.Pullback]:
    operands, member = self._member(arrays)

    def pullback(cotangents: list[_Array]) -> Sequence[_Array]:
      incoming = cotangents
      if self.is_adjoint:
        by_operand = dict(zip(self.wanted, cotangents, strict=True))
        directions = [by_operand.get(i) for i in range(_OPERANDS)]
        incoming = _filled(operands, directions)
      by_place: dict[int, _Array] = {}
      for i in range(len(member.groups) + 1):
        places = [n for n in wanted if n // _OPERANDS == i]
        if places:
          part = member.transposed(i, incoming)
          indices = [n % _OPERANDS for n in places]
          results = self._at(operands, part, indices)
          results = results if isinstance(results, tuple) else (results,)
          by_place.update(zip(places, results, strict=True))
      return [by_place[n] for n in wanted]

    return self.evaluate(arrays), pullback

  def _member(
    self, arrays: Sequence[_Array]
  ) -> tuple[Sequence[_Array], derivative_family.Member[_Array]]:
    """Splits arrays into operands and a member of the derivative family."""
    operands, *groups = _groups(arrays)
    member = derivative_family.Member(self.is_adjoint, self.order, groups)
    return operands, member

  def _at(
    self,
    operands: Sequence[_Array],
    member: derivative_family.Member[_Array],
    wanted: Sequence[int],
  ) -> traced.Results:
    """Evaluates a member of the derivative family at the operands."""
    op = _Derivative(self.call, member.is_adjoint, member.order, wanted)
    return op.evaluate([*operands, *(x for g in member.groups for x in g)])


def _checked(order: int) -> int:
  if order > _LARGEST_ORDER:
    raise NotImplementedError(
      f"a derivative of order {order} was asked for: the kernel has orders up "
      f"to {_LARGEST_ORDER}; JAX and TensorFlow have all orders with "
      "config.use_path('portable')"
    )
  return order


def _groups(values: Sequence[_T]) -> list[Sequence[_T]]:
  """Splits values into groups: one for each operand, or a lone cotangent."""
  return [values[i : i + _OPERANDS] for i in range(0, len(values), _OPERANDS)]


def _filled(
  operands: Sequence[_Array], tangents: Sequence[_Array | None]
) -> list[_Array]:
  """Returns the tangents of operands, with zeros in place of None."""
  return [
    onp.zeros_like(x) if t is None else t
    for x, t in zip(operands, tangents, strict=True)
  ]
