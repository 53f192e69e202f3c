"""Linear systems of chains as maps that `multilinear` binds.

`Eliminate` is linear in its slot. Its transpose and its derivative with respect
to the weights are again such maps (native/elimination/api/elimination.h), so
derivatives of every order exist.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import jax
from jax.interpreters import ad
from jax.interpreters import mlir
import jax.numpy as jnp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.arrays import Lowered
from phasic.substrates.jax.internal.arrays import Shaped
from phasic.substrates.jax.internal.arrays import Spec
from phasic.substrates.jax.internal.arrays import Tangent


@dataclasses.dataclass(frozen=True)
class Eliminate(multilinear.Broadcasting):
  """The solution of a chain's linear system, linear in its right-hand sides.

  The primals are indices and weights; the one slot has the right-hand sides.

  The slot has the right-hand sides per phase and, with `takes_edges`, per edge.
  The results are per phase and, with `gives_edges`, per edge.
  """

  fallback: Callable[..., Array | tuple[Array, Array]]
  transposed: bool = False
  takes_edges: bool = False
  gives_edges: bool = False

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    return (2, 2 if self.takes_edges else 1)

  def abstract(self, *operands: Shaped) -> list[Spec]:
    _, weights, per_phase = operands[:3]
    rank = len(weights.shape) - 1
    m = weights.shape[-1]
    columns = per_phase.shape[-1]
    events = [(2, m), (m,), tuple(per_phase.shape[rank:]), (m, columns)]
    for x, event in zip(operands, events, strict=False):
      if tuple(x.shape[rank:]) != event or len(x.shape) != rank + len(event):
        raise ValueError(
          "elimination: the shapes of indices, weights, per_phase and per_edge"
          f" are {[tuple(x.shape) for x in operands]}; they must end in (2, m),"
          " (m,), (p, r) and (m, r), after equal numbers of batch dimensions"
        )
    shapes = [x.shape[:rank] for x in operands]
    batch = multilinear.broadcast_shapes("elimination", shapes)
    results = [((*batch, *events[2]), per_phase.dtype)]
    if self.gives_edges:
      results.append(((*batch, m, columns), per_phase.dtype))
    return results

  def evaluate(self, *operands: Array) -> list[Array]:
    indices, weights, per_phase, *rest = operands
    per_edge = rest[0] if rest else None
    results = self.fallback(
      indices, weights, per_phase, per_edge, self.transposed, self.gives_edges
    )
    return list(results) if isinstance(results, tuple) else [results]

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    return jax.ffi.ffi_lowering(ffi_targets.ELIMINATE)(
      ctx,
      *operands,
      transposed=self.transposed,
      takes_edges=self.takes_edges,
      gives_edges=self.gives_edges,
    )

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[list[Array], list[Array]]:
    full = dataclasses.replace(self, gives_edges=True)
    x, at_edges = multilinear.bind(full, primals, slots)
    change = ad.instantiate_zeros(tangents[1])[..., None] * at_edges
    along = dataclasses.replace(self, takes_edges=True)
    results = multilinear.bind(along, primals, [[jnp.zeros_like(x), -change]])
    return [x, at_edges] if self.gives_edges else [x], results

  def transpose(
    self, at: multilinear.Slot
  ) -> tuple[multilinear.Map, list[list[Array]]]:
    op = dataclasses.replace(
      self,
      transposed=not self.transposed,
      takes_edges=self.gives_edges,
      gives_edges=self.takes_edges,
    )
    return op, [at.cotangents]
