"""Users' native ops as maps that `multilinear` binds.

Integer inputs are the fixed operands of `derivatives`, which come first; native
functions take all inputs in the declared order.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import TypeVar

import jax
import jax.core
from jax.interpreters import ad
from jax.interpreters import mlir
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import derivatives
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import (
  Array,
  Lowered,
  Shaped,
  Spec,
  Tangent,
)
from phasic.substrates.jax.internal.native import native_declarations
from phasic.substrates.jax.internal.native import native_libraries
from phasic.substrates.jax.internal.native import native_rules
from phasic.substrates.jax.internal.native import native_shapes
from phasic.substrates.jax.internal.native import static_options
from phasic.substrates.jax.internal.static import Shape

_T = TypeVar("_T")


def target(name: str) -> str:
  """Returns the name of an op's FFI target."""
  return f"phasic_op_{name}"


@dataclasses.dataclass(frozen=True, eq=False)
class ByIdentity:
  """A wrapper of a bound function that compares by identity, for cache keys."""

  own: native_declarations.NativeFunction


@dataclasses.dataclass(frozen=True)
class Function(derivatives.NativeDerivatives):
  """A bound function with the options of one call.

  Attributes:
    bound: the function.
    options: the text that the headers read, or attributes of other handlers, as
      in `static_options`.
  """

  bound: ByIdentity
  options: str | static_options.Options

  @property
  def function(self) -> native_declarations.NativeFunction:
    return self.bound.own

  @property
  def declaration(self) -> native_declarations.Declaration:
    return self.bound.own.declaration

  @property
  def name(self) -> str:  # type: ignore[override]
    return self.declaration.name

  @property
  def max_order(self) -> int:  # type: ignore[override]
    return max(len(self.function.forward), len(self.function.adjoint))

  @property
  def fixed_event_ndims(self) -> tuple[int, ...]:  # type: ignore[override]
    inputs = self.declaration.inputs
    return tuple(len(x.dims) for x in inputs if not x.is_inexact)

  @property
  def event_ndims(self) -> tuple[int, ...]:  # type: ignore[override]
    inputs = self.declaration.inputs
    return tuple(len(x.dims) for x in inputs if x.is_inexact)

  @property
  def num_results(self) -> int:  # type: ignore[override]
    return sum(x.is_inexact for x in self.declaration.outputs)

  def above_max_order(self, order: int) -> str:
    what = f"a derivative of order {order} was asked for"
    if self.max_order == 0:
      return self.declaration.error(
        f"{what}, but it was bound without rules: give bind_native jvp or vjp, "
        "or forward and adjoint"
      )
    return self.declaration.error(
      f"{what}: it was bound with native ones up to order {self.max_order}"
    )

  def sort(self, inputs: Sequence[_T]) -> list[_T]:
    """Returns the op's inputs in the order of operands: integers first."""
    return [inputs[i] for i in self._positions()]

  def unsort(self, operands: Sequence[_T]) -> list[_T]:
    """Restores the declared order of the inputs; other operands follow them."""
    positions = self._positions()
    count = len(positions)
    inputs = dict(zip(positions, operands[:count], strict=True))
    return [*(inputs[i] for i in range(count)), *operands[count:]]

  def _positions(self) -> list[int]:
    free = [x.is_inexact for x in self.declaration.inputs]
    return sorted(range(len(free)), key=lambda i: (free[i], i))

  def event_shapes(self, shapes: Sequence[Shape]) -> list[Shape]:
    declaration = self.declaration
    known = native_shapes.input_dims(declaration, self.unsort(shapes))
    dims = self.function.output_dims(known) if declaration.own_dims else known
    return [tuple(dims[d] for d in x.dims) for x in declaration.outputs]

  def portable(self, *operands: Array) -> list[Array]:
    function = self.function
    if function.portable is None:
      raise NotImplementedError(
        self.declaration.error(
          "there is no native function for this platform: give bind_native the "
          "argument portable, the function in array code"
        )
      )
    returned = function.portable(*self.unsort(operands))
    if len(self.declaration.outputs) == 1 and not isinstance(returned, tuple):
      returned = (returned,)
    declaration = self.declaration
    returned = native_rules.check_entries(
      declaration, "what portable returned", declaration.outputs, returned
    )
    likes = Value(self, 0).abstract(*operands)
    return [
      jnp.broadcast_to(
        native_rules.checked(jnp, declaration, "portable", operand, x, like),
        like[0],
      )
      for operand, x, like in zip(
        declaration.outputs, returned, likes, strict=True
      )
    ]

  def has_cuda(self, declaration: native_declarations.Declaration) -> bool:
    """Returns whether the library also has a CUDA version of a function."""
    symbol = f"{target(declaration.name)}_cuda"
    library = self.function.library
    return native_libraries.symbol(library, symbol) is not None

  def lower(
    self,
    ctx: mlir.LoweringRuleContext,
    declaration: native_declarations.Declaration,
    operands: Sequence[mlir.ir.Value],
  ) -> Lowered:
    """Lowers a call of one of the library's functions."""
    ctx = ctx.replace(avals_in=self.unsort(ctx.avals_in))
    if isinstance(self.options, str):
      options: dict[str, object] = {"options": self.options}
    else:
      options = {x.name: _attribute(x.value) for x in self.options}
    lowering = jax.ffi.ffi_lowering(target(declaration.name))
    return lowering(ctx, *self.unsort(operands), **options)


class _Lowered:
  """A mixin for maps that a native function computes."""

  function: Function

  def _native(self) -> native_declarations.Declaration:
    raise NotImplementedError

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    return self.function.lower(ctx, self._native(), operands)

  def lower_cuda(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered | None:
    if not self.function.has_cuda(self._native()):
      return None
    return self.function.lower(ctx, self._native(), operands)


class Value(_Lowered, derivatives.Forward):
  """The op itself, or its native derivative J_k.

  J_k has results for the floating outputs only.
  """

  function: Function

  def abstract(self, *operands: Shaped) -> list[Spec]:
    outputs = self.function.declaration.outputs
    inputs = self.function.unsort(operands)
    common = next(
      (
        x.dtype.name
        for x, operand in zip(
          inputs, self.function.declaration.inputs, strict=False
        )
        if operand.type == "T"
      ),
      "",
    )
    specs = []
    shapes = zip(super().abstract(*operands), outputs, strict=True)
    for (shape, _), operand in shapes:
      if self.order > 0 and not operand.is_inexact:
        continue
      dtype = jnp.dtype(operand.dtype(common))
      native_shapes.check_bytes(
        self.function.declaration, operand, shape, dtype
      )
      specs.append((shape, dtype))
    return specs

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[list[Array] | None, Sequence[Tangent]]:
    function = self.function
    if self.order > 0:
      return super().differentiate(primals, slots, tangents)
    if not function.function.has_rule:
      _, moved = super().differentiate(primals, slots, tangents)
      return None, self._with_integers(moved, primals)
    out = multilinear.bind(self, primals)
    inputs = function.unsort(primals)
    pairs = zip(
      function.unsort(tangents), function.declaration.inputs, strict=True
    )
    along: list[Array | None] = [
      ad.instantiate_zeros(t) if operand.is_inexact else None
      for t, operand in pairs
    ]
    if function.function.jvp is not None:
      returned = function.function.jvp(tuple(inputs), tuple(out), tuple(along))
      entries: Sequence[object] = native_rules.check_rule(
        function.declaration, "jvp", returned
      )
    else:
      entries = self._transposed(inputs, out, along)
    floats = native_declarations.inexact(function.declaration.outputs, out)
    moved = [
      jnp.broadcast_to(self._checked("jvp", operand, t, x.shape, x), x.shape)
      for (operand, x), t in zip(floats, entries, strict=True)
    ]
    return out, self._with_integers(moved, primals)

  def _transposed(
    self,
    inputs: Sequence[Array],
    out: Sequence[Array],
    along: Sequence[Array | None],
  ) -> list[Array]:
    """Computes tangents by transposing the user's reverse rule."""
    function = self.function
    declaration = function.declaration
    reverse = function.function.vjp
    assert reverse is not None

    def reverse_rule(*float_cotangents: Array) -> list[Array]:
      cotangents = native_declarations.spread(
        declaration.outputs, float_cotangents
      )
      returned = reverse(tuple(inputs), tuple(out), cotangents)
      entries = native_rules.check_rule(declaration, "vjp", returned)
      shapes = native_shapes.cotangent_shapes(
        declaration, [*map(jnp.shape, inputs)]
      )
      likes = native_declarations.inexact(declaration.inputs, inputs)
      return [
        native_shapes.summed(
          jnp, self._checked("vjp", operand, ct, full, x), jnp.shape(x)
        )
        for (operand, x), ct, full in zip(likes, entries, shapes, strict=True)
      ]

    floats = [
      jax.ShapeDtypeStruct.like(x)
      for _, x in native_declarations.inexact(declaration.outputs, out)
    ]
    forward_rule = jax.linear_transpose(reverse_rule, *floats)
    return list(forward_rule([t for t in along if t is not None]))

  def _checked(
    self,
    rule: str,
    operand: native_declarations.Operand,
    value: object,
    full: Shape | None,
    like: Shaped,
  ) -> Array:
    """Checks a rule's result and broadcasts it to the full shape."""
    declaration = self.function.declaration
    return native_rules.checked(
      jnp, declaration, rule, operand, value, (full, like.dtype)
    )

  def _with_integers(
    self, moved: Sequence[Tangent], primals: Sequence[Shaped]
  ) -> list[Tangent]:
    """Inserts zero tangents for the integer outputs."""
    rest = iter(moved)
    outputs = self.function.declaration.outputs
    value = dataclasses.replace(self, order=0)
    avals = zip(value.abstract(*primals), outputs, strict=True)
    return [
      next(rest)
      if operand.is_inexact
      else ad.Zero(jax.core.ShapedArray(shape, dtype).to_tangent_aval())
      for (shape, dtype), operand in avals
    ]

  def _native(self) -> native_declarations.Declaration:
    if self.order == 0:
      return self.function.declaration
    return _declaration_of_order(
      self.function, "forward", self.function.function.forward, self.order
    )

  def _adjoint(self, wanted: tuple[bool, ...]) -> Pullback:
    return Pullback(self.function, self.order, self.mapped_dims, wanted)


class Pullback(_Lowered, derivatives.Adjoint):
  """The op's native derivative V_k: cotangents of all floating inputs."""

  function: Function

  def _shrunk(self, index: int, shape: Shape) -> Shape:
    return shape

  def _native(self) -> native_declarations.Declaration:
    return _declaration_of_order(
      self.function, "reverse", self.function.function.adjoint, self.order
    )

  def _forward(self) -> Value:
    return Value(self.function, self.order, self.mapped_dims)


def _declaration_of_order(
  function: Function,
  mode: str,
  bound: Sequence[native_declarations.Declaration],
  order: int,
) -> native_declarations.Declaration:
  """Returns the native derivative of an order; raises if none is bound."""
  if order > len(bound):
    raise NotImplementedError(
      function.declaration.error(
        f"a {mode} derivative of order {order} was asked for: the op was bound "
        f"with {len(bound)} {mode} derivatives"
      )
    )
  return bound[order - 1]


def _attribute(value: object) -> object:
  """Converts a Python number to an attribute of the FFI."""
  if isinstance(value, bool) or not isinstance(value, (int, float)):
    return value
  return onp.int64(value) if isinstance(value, int) else onp.float64(value)
