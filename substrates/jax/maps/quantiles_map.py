"""Quantiles as a map that `multilinear` binds; it has no derivatives."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import jax
from jax.interpreters import mlir
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import kernel_common
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.arrays import Lowered
from phasic.substrates.jax.internal.arrays import Shaped
from phasic.substrates.jax.internal.arrays import Spec
from phasic.substrates.jax.internal.arrays import Tangent
from phasic.substrates.jax.internal.maps import derivatives
from phasic.substrates.jax.internal.maps import phase_type_function


@dataclasses.dataclass(frozen=True)
class Quantiles(multilinear.Broadcasting):
  """The results of `kernel_ops.quantiles`, two arrays (..., n).

  It is a map of primals without slots: edges, the four operands of a model, and
  probabilities.
  """

  form: str
  fallback: Callable[..., tuple[Array, Array]]
  has_edges: bool
  discrete: bool

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    return (8 if self.has_edges else 5,)

  def abstract(self, *operands: Shaped) -> list[Spec]:
    function = phase_type_function.PhaseTypeFunction(
      "cdf", None, self.has_edges
    )
    return derivatives.Forward(function, 0).abstract(*operands) * 2

  def evaluate(self, *operands: Array) -> list[Array]:
    function = self._portable
    if not self.has_edges:
      return list(function(*operands))
    rank = operands[0].ndim - 2
    edges = operands[:3]
    if not all(multilinear.is_one(d) for x in edges for d in x.shape[:rank]):
      # The portable function takes models that have the same edges.
      batch = self.abstract(*operands)[0][0][:-1]
      operands = tuple(
        jnp.broadcast_to(x, (*batch, *x.shape[rank:])) for x in operands
      )
      for _ in batch:
        function = jax.vmap(function)
    return list(function(*operands))

  def _portable(self, *operands: Array) -> tuple[Array, Array]:
    edges, model = operands[:-5], operands[-5:]
    return self.fallback(self.form, self.discrete, *model, *edges)

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    return jax.ffi.ffi_lowering(ffi_targets.QUANTILES)(
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
      "a derivative of kernel_ops.quantiles was asked for: only the functions"
      " that call it have one"
    )
