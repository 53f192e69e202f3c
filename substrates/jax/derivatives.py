"""The family of all derivatives of a native function f.

    J_k(x; v_1..v_k)          = D^k f(x)[v_1, .., v_k]
    V_k(x; v_1..v_{k-1}; c)   = (D^k f(x)[v_1, .., v_{k-1}, .])^T c

J_0 is f, J_1 its JVP and V_1 its VJP. The family is closed: the derivative of
J_k in x is J_{k+1}, and the transpose of J_k in any slot is V_k. The derivative
of V_k in x is V_{k+1}; the transpose of V_k in a direction is V_k, and in c it
is J_k.

Fixed operands without derivatives may come first: the structure of a sparse
model, and the kinds of the times. Each operand has its number of event
dimensions after common batch dimensions, each of which is 1 (broadcast) or the
common size. The first `mapped_dims` of them come from `jax.vmap`. Directions,
cotangents and adjoint results have these in full size, and all other dimensions
as their operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import functools
from typing import TypeAlias

import jax
from jax.interpreters import ad
from jax.interpreters import mlir
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import kernel_common
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import (
  Array,
  Lowered,
  Shaped,
  Size,
  Spec,
  Tangent,
)
from phasic.substrates.jax.internal.static import Shape

# An attribute of an FFI call.
Attribute: TypeAlias = bool | onp.integer


class NativeDerivatives:
  """A native function f with native derivatives J_k and V_k.

  Instances are hashable and compare by value.

  Attributes:
    name: for messages.
    max_order: the highest native order k.
    fixed_event_ndims: the number of event dimensions of each fixed operand.
    event_ndims: the number of event dimensions of each other operand.
    forward_target: the FFI target that computes J_k.
    adjoint_target: the FFI target that computes V_k.
    statistics_target: the FFI target that computes expected statistics.
  """

  name: str
  max_order: int
  fixed_event_ndims: tuple[int, ...] = ()
  event_ndims: tuple[int, ...]
  forward_target: str
  adjoint_target: str
  statistics_target: str
  num_results: int = 1

  def attributes(self) -> dict[str, Attribute]:
    """Returns a call's FFI attributes besides `order` and `mapped_dims`."""
    raise NotImplementedError

  def event_shapes(self, shapes: Sequence[Shape]) -> list[Shape]:
    """Computes the results' event shapes; raises if operands do not fit."""
    raise NotImplementedError

  def statistics_shapes(self, shapes: Sequence[Shape]) -> list[Shape]:
    """Computes the event shapes of expected statistics."""
    raise NotImplementedError

  def portable(self, *operands: Array) -> list[Array]:
    """Computes the function by JAX code, for platforms without native code."""
    raise NotImplementedError

  def statistics(self, *operands: Array) -> tuple[Array, ...]:
    """Computes expected statistics by JAX code, like `portable`."""
    raise NotImplementedError

  def above_max_order(self, order: int) -> str:
    """Returns the error message about an order above the largest one."""
    return (
      f"{self.name}: a derivative of order {order} was asked"
      f" for; the native kernel has orders up to {self.max_order}."
      " The portable path has all orders: config.use_path('portable')."
    )


@dataclasses.dataclass(frozen=True, repr=False)
class Derivative(multilinear.Map):
  """The base class of the derivative maps J_k and V_k."""

  function: NativeDerivatives
  order: int
  mapped_dims: int = 0

  symbol = "D"

  def __repr__(self) -> str:
    return f"{self.symbol}{self.order}[{self.function.name}]"

  def __post_init__(self) -> None:
    if self.order > self.function.max_order:
      raise NotImplementedError(self.function.above_max_order(self.order))

  @property
  def _fixed(self) -> int:
    return len(self.function.fixed_event_ndims)

  @property
  def _arity(self) -> int:
    return len(self.function.event_ndims)

  def _mapped(self, operands: Sequence[Shaped]) -> Shape:
    """Returns the full sizes of the batch dimensions that `jax.vmap` added."""
    return self._broadcast([x.shape[: self.mapped_dims] for x in operands])

  def _broadcast(self, shapes: Sequence[Shape]) -> Shape:
    return multilinear.broadcast_shapes(self.function.name, shapes)

  def _expand(self, x: Array, mapped: Shape) -> Array:
    return jnp.broadcast_to(x, (*mapped, *x.shape[self.mapped_dims :]))

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[list[Array] | None, Sequence[Tangent]]:
    mapped = self._mapped([*primals, *(x for slot in slots for x in slot)])
    fixed, tangents = tangents[: self._fixed], tangents[self._fixed :]
    if not all(isinstance(t, ad.Zero) for t in fixed):
      raise NotImplementedError(kernel_common.EDGES_ARE_FIXED)
    along = [self._expand(ad.instantiate_zeros(t), mapped) for t in tangents]
    op = dataclasses.replace(self, order=self.order + 1)
    return None, multilinear.bind(op, primals, [along, *slots])

  def batch(
    self, size: Size, primals: list[Array], axes: list[int | None]
  ) -> tuple[multilinear.Map, list[Array]]:
    op = dataclasses.replace(self, mapped_dims=self.mapped_dims + 1)
    return op, multilinear.with_leading(primals, axes)

  def _call(
    self,
    target: str,
    ctx: mlir.LoweringRuleContext,
    operands: Sequence[mlir.ir.Value],
    **attributes: Attribute,
  ) -> Lowered:
    attributes = dict(
      self.function.attributes(),
      order=onp.int32(self.order),
      mapped_dims=onp.int32(self.mapped_dims),
      **attributes,
    )
    return jax.ffi.ffi_lowering(target)(ctx, *operands, **attributes)

  def _directional(
    self, fixed: Sequence[Array], directions: Sequence[Sequence[Array]]
  ) -> Callable[..., list[Array]]:
    """Returns the directional derivative D^m f(x)[directions] in JAX code.

    The result is a function of x.
    """

    def along(
      f: Callable[..., list[Array]], v: Sequence[Array]
    ) -> Callable[..., list[Array]]:
      return lambda *x: jax.jvp(f, x, tuple(v))[1]

    f: Callable[..., list[Array]]
    f = functools.partial(self.function.portable, *fixed)
    for v in directions:
      f = along(f, v)
    return f

  def _full_groups(self, operands: Sequence[Array]) -> list[list[Array]]:
    """Splits operands into fixed ones, x, and groups of directions.

    Fixed operands and x are broadcast to the full vmap dimensions.
    """
    first = self._fixed
    mapped = self._mapped(operands)
    groups = [list(operands[:first]), list(operands[first : self.groups[0]])]
    start = self.groups[0]
    for size in self.groups[1:]:
      groups.append(list(operands[start : start + size]))
      start += size
    for i in (0, 1):
      groups[i] = [self._expand(x, mapped) for x in groups[i]]
    return groups


class Forward(Derivative):
  """The map J_k: the k-th directional derivative at x along v_1, ..., v_k."""

  symbol = "J"

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    first = self._fixed + self._arity
    return (first,) + (self._arity,) * self.order

  def abstract(self, *operands: Shaped) -> list[Spec]:
    n = self._fixed + self._arity
    f = self.function
    x, event_ndims = operands[:n], (*f.fixed_event_ndims, *f.event_ndims)
    for operand, ndim in zip(x, event_ndims, strict=True):
      if len(operand.shape) - ndim != len(x[0].shape) - event_ndims[0]:
        raise ValueError(
          f"{self.function.name}: operands have shapes"
          f" {[tuple(o.shape) for o in x]}: their batch ranks must be equal"
        )
    ends = [len(o.shape) - k for o, k in zip(x, event_ndims, strict=True)]
    events = self.function.event_shapes(
      [o.shape[end:] for o, end in zip(x, ends, strict=True)]
    )
    batch = self._broadcast(
      [o.shape[:end] for o, end in zip(x, ends, strict=True)]
    )
    mapped = self._mapped(operands)
    common = (*mapped, *batch[self.mapped_dims :])
    return [((*common, *event), x[-1].dtype) for event in events]

  def evaluate(self, *operands: Array) -> list[Array]:
    fixed, x, *directions = self._full_groups(operands)
    return self._directional(fixed, directions)(*x)

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    return self._call(self.function.forward_target, ctx, operands)

  def transpose(
    self, at: multilinear.Slot
  ) -> tuple[multilinear.Map, list[list[Array]]]:
    # J_k is symmetric in its directions, so every slot has the same transpose.
    return self._adjoint(at.wanted), [*at.others, at.cotangents]

  def _adjoint(self, wanted: tuple[bool, ...]) -> Adjoint:
    return Adjoint(self.function, self.order, self.mapped_dims, wanted)


@dataclasses.dataclass(frozen=True, repr=False)
class Adjoint(Derivative):
  """The map V_k: the transpose of J_k in v_k, applied to a cotangent c.

  Its operands are x, v_1, ..., v_{k-1} and c. It has one result for each
  operand in x. Unwanted results have event dimensions of size zero.
  """

  wanted: tuple[bool, ...] = ()

  symbol = "V"

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    first = self._fixed + self._arity
    directions = (self._arity,) * (self.order - 1)
    return (first, *directions, self.function.num_results)

  def abstract(self, *operands: Shaped) -> list[Spec]:
    mapped = self._mapped(operands)
    shapes = self._full_shapes(mapped, operands)
    x = operands[self._fixed : self._fixed + self._arity]
    return [
      (self._shrunk(i, shape), x[i].dtype) for i, shape in enumerate(shapes)
    ]

  def _full_shapes(
    self, mapped: Shape, operands: Sequence[Shaped]
  ) -> list[Shape]:
    x = operands[self._fixed : self._fixed + self._arity]
    return [(*mapped, *operand.shape[self.mapped_dims :]) for operand in x]

  def _shrunk(self, index: int, shape: Shape) -> Shape:
    if self.wanted[index]:
      return shape
    ndim = self.function.event_ndims[index]
    return (*shape[: len(shape) - ndim], *[0] * ndim)

  def evaluate(self, *operands: Array) -> list[Array]:
    fixed, x, *directions, c = self._full_groups(operands)
    _, pullback = jax.vjp(self._directional(fixed, directions), *x)
    return [
      cotangent
      if is_wanted
      else jnp.zeros(self._shrunk(i, cotangent.shape), cotangent.dtype)
      for i, (cotangent, is_wanted) in enumerate(
        zip(pullback(c), self.wanted, strict=True)
      )
    ]

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    mask = sum(1 << i for i, is_wanted in enumerate(self.wanted) if is_wanted)
    target = self.function.adjoint_target
    return self._call(target, ctx, operands, wanted=onp.int32(mask))

  def transpose(
    self, at: multilinear.Slot
  ) -> tuple[multilinear.Map, list[list[Array]]]:
    mapped = self._mapped([*at.primals, *at.cotangents])
    shapes = self._full_shapes(mapped, at.primals)
    along = [
      ct if is_wanted else jnp.zeros(shape, ct.dtype)
      for ct, is_wanted, shape in zip(
        at.cotangents, self.wanted, shapes, strict=True
      )
    ]
    if at.number == self.order - 1:  # The slot of the cotangent c
      return self._forward(), [*at.others, along]
    *directions, c = at.others
    return dataclasses.replace(self, wanted=at.wanted), [*directions, along, c]

  def _forward(self) -> Forward:
    return Forward(self.function, self.order, self.mapped_dims)
