"""The native phase-type functions as instances of `NativeDerivatives`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses

import numpy as onp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import kernel_common
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.maps import derivatives
from phasic.substrates.jax.internal.static import Shape


@dataclasses.dataclass(frozen=True)
class PhaseTypeFunction(derivatives.NativeDerivatives):
  """A phase-type function, one of `KINDS`, with its native derivatives."""

  kind: str
  fallback: Callable[..., Array] | None
  has_edges: bool = False
  has_kinds: bool = False
  discrete: bool = False

  max_order = 3
  forward_target = ffi_targets.FORWARD
  adjoint_target = ffi_targets.ADJOINT
  statistics_target = ffi_targets.STATISTICS

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
        f"kinds have event shape {fixed[-1]}: it must be that of times, {(n,)}"
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
