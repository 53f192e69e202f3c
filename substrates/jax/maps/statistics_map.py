"""Expected path statistics as a map that `multilinear` binds.

It is linear in the weights of the times, and has no derivatives.
"""

from __future__ import annotations

from jax.interpreters import mlir

from phasic.substrates.jax.internal import kernel_common
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.arrays import Lowered
from phasic.substrates.jax.internal.arrays import Shaped
from phasic.substrates.jax.internal.arrays import Spec
from phasic.substrates.jax.internal.arrays import Tangent
from phasic.substrates.jax.internal.maps import derivatives

NO_DERIVATIVES = (
  "a derivative of expected statistics was asked for: they have none. If"
  " they are constants, as in an E-step, pass jax.lax.stop_gradient of their"
  " arguments."
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
    raise NotImplementedError(kernel_common.STATISTICS_NEED_KERNEL)

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
    raise NotImplementedError(NO_DERIVATIVES)

  def transpose(
    self, at: multilinear.Slot
  ) -> tuple[multilinear.Map, list[list[Array]]]:
    raise NotImplementedError(NO_DERIVATIVES)
