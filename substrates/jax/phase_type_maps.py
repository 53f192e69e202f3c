"""The native phase-type functions, quantiles and statistics as maps.

Quantiles have no derivatives here, and expected path statistics, which are
linear in the weights of the times, have none at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
from typing import Any

import jax
from jax.interpreters import mlir
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import derivatives
from phasic.substrates.jax.internal import kernel_common
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import (
  Array,
  Lowered,
  Shaped,
  Spec,
  Tangent,
)
from phasic.substrates.jax.internal.static import Shape

_NO_DERIVATIVES = (
  "a derivative of expected statistics was asked for: the statistics have"
  " none. If they are constants, as in an E-step, pass jax.lax.stop_gradient of"
  " the arguments."
)


@dataclasses.dataclass(frozen=True)
class PhaseTypeFunction(derivatives.NativeDerivatives):
  """A phase-type function, one of `KINDS`, with its native derivatives."""

  kind: str
  fallback: Callable[..., Any] | None
  has_edges: bool = False
  has_kinds: bool = False
  discrete: bool = False

  max_order = 3
  forward_target = "phasic_phase_type_forward"
  adjoint_target = "phasic_phase_type_adjoint"
  statistics_target = "phasic_phase_type_statistics"

  @property
  def name(self) -> str:  # type: ignore[override]
    return self.kind

  @property
  def fixed_event_ndims(self) -> tuple[int, ...]:  # type: ignore[override]
    edges = (2, 1, 2) if self.has_edges else ()
    return (*edges, 1) if self.has_kinds else edges

  @property
  def event_ndims(self) -> tuple[int, ...]:  # type: ignore[override]
    return (1, 1 if self.has_edges else 2, 1, 1, 1)

  def attributes(self) -> dict[str, derivatives.Attribute]:
    kind = onp.int32(kernel_common.KINDS.index(self.kind))
    return {
      "kind": kind,
      "has_edges": self.has_edges,
      "has_kinds": self.has_kinds,
      "discrete": self.discrete,
    }

  def event_shapes(self, shapes: Sequence[Shape]) -> list[Shape]:
    *fixed, (p,), rates, (exits,), (atom,), (n,) = shapes
    if self.has_kinds and tuple(fixed[-1]) != (n,):
      raise ValueError(
        f"kinds have event shape {fixed[-1]}: it must be {(n,)}, the shape of"
        " the times"
      )
    if self.has_edges:
      (two, m), (constants,), (edges, d) = fixed[:3]
      (parameters,) = rates
      fits = two == 2 and edges == m and constants in (0, m)
      fits = fits and parameters == (d if d != 0 else m)
    else:
      fits = tuple(rates) == (p, p)
    if not fits or exits not in (0, p) or atom not in (0, 1) or p == 0:
      initial, wanted = "(p,)", "(p, p), (p,) or (0,)"
      if self.has_edges:
        initial = "(2, m), (m,) or (0,), (m, d) or (m, 0), (p,)"
        wanted = "(d,) or with d = 0 (m,), (p,) or (0,)"
      raise ValueError(
        f"{self.kind}: operands have event shapes {[tuple(s) for s in shapes]}: "
        f"they must be {initial}, {wanted}, (1,) or (0,), (n,) with p > 0"
      )
    return [(n,)]

  def statistics_shapes(self, shapes: Sequence[Shape]) -> list[Shape]:
    p = shapes[len(self.fixed_event_ndims)][0]
    jumps = (shapes[0][1],) if self.has_edges else (p, p)
    return [(p,), (p,), jumps, (p,), (1,)]

  def portable(self, *operands: Array) -> list[Array]:
    assert self.fallback is not None
    count = len(self.fixed_event_ndims)
    return [self.fallback(self.kind, *operands[count:], *operands[:count])]

  def statistics(self, *operands: Array) -> tuple[Array, ...]:
    """Computes expected path statistics by JAX code, in place of the value."""
    assert self.fallback is not None
    return tuple(self.fallback(self.kind, *operands))


@dataclasses.dataclass(frozen=True)
class Quantiles(multilinear.Broadcasting):
  """The results of `kernel_ops.quantiles`: three arrays of shape (..., n).

  It is a map of primals without slots: edges, the four operands of a model, and
  probabilities.
  """

  form: str
  fallback: Callable[..., tuple[Array, ...]]
  has_edges: bool
  discrete: bool

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    return (8 if self.has_edges else 5,)

  def abstract(self, *operands: Shaped) -> list[Spec]:
    function = PhaseTypeFunction("cdf", None, self.has_edges)
    [spec] = derivatives.Forward(function, 0).abstract(*operands)
    return [spec, spec, (spec[0], jnp.dtype("int32"))]

  def evaluate(self, *operands: Array) -> list[Array]:
    function = self._portable
    if not self.has_edges:
      return list(function(*operands))
    rank = operands[0].ndim - 2
    edges = operands[:3]
    if not all(multilinear.is_one(d) for x in edges for d in x.shape[:rank]):
      # The portable function needs models that have the same edges, so map it
      # over the batch.
      batch = self.abstract(*operands)[0][0][:-1]
      operands = tuple(
        jnp.broadcast_to(x, (*batch, *x.shape[rank:])) for x in operands
      )
      for _ in batch:
        function = jax.vmap(function)
    return list(function(*operands))

  def _portable(self, *operands: Array) -> tuple[Array, ...]:
    edges, model = operands[:-5], operands[-5:]
    return self.fallback(self.form, self.discrete, *model, *edges)

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    return jax.ffi.ffi_lowering("phasic_phase_type_quantiles")(
      ctx,
      *operands,
      kind=onp.int32(kernel_common.FORMS.index(self.form)),
      order=onp.int32(0),
      mapped_dims=onp.int32(0),
      has_edges=self.has_edges,
      has_kinds=False,
      discrete=self.discrete,
    )

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[None, list[Array]]:
    raise NotImplementedError(
      "a derivative of kernel_ops.quantiles was asked for: it has none;"
      " differentiate the functions that call it"
    )


class Statistics(derivatives.Derivative):
  """The map from operands x and weights to expected path statistics."""

  symbol = "E"

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    return (self._fixed + self._arity, 1)

  def abstract(self, *operands: Shaped) -> list[Spec]:
    *model, weights = operands
    value = derivatives.Forward(self.function, 0, self.mapped_dims)
    [(shape, dtype)] = value.abstract(*model)
    mapped = self._mapped(operands)
    batch = (*mapped, *shape[self.mapped_dims : -1])
    if tuple(weights.shape) != (*batch, shape[-1]):
      raise ValueError(
        f"weights have shape {tuple(weights.shape)}: it must be"
        f" {(*batch, shape[-1])}, the full shape of the times"
      )
    ndims = (*self.function.fixed_event_ndims, *self.function.event_ndims)
    events = self.function.statistics_shapes(
      [
        x.shape[len(x.shape) - ndim :]
        for x, ndim in zip(model, ndims, strict=True)
      ]
    )
    return [((*batch, *event), dtype) for event in events]

  def evaluate(self, *operands: Array) -> list[Array]:
    fixed, x, [weights] = self._full_groups(operands)
    return list(self.function.statistics(*x, weights, *fixed))

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    return self._call(self.function.statistics_target, ctx, operands)

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[None, list[Array]]:
    raise NotImplementedError(_NO_DERIVATIVES)

  def transpose(
    self, at: multilinear.Slot
  ) -> tuple[multilinear.Map, list[list[Array]]]:
    raise NotImplementedError(_NO_DERIVATIVES)
