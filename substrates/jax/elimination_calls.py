"""Native linear solves and moments of Markov chains, for JAX arrays.

`Eliminate` is linear in its slot. Its transpose and its derivative with respect
to the weights are again such maps (native/elimination/api/elimination.h), so
derivatives of every order exist.

The native call for moments returns gradients along with moments; first
derivatives are sums of products of gradients and tangents. The gradients are
differentiated by the portable function, which uses `Eliminate` if the kernel
runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
from typing import Any

import jax
from jax.interpreters import ad
from jax.interpreters import mlir
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import (
  Array,
  ArrayLike,
  Lowered,
  Shaped,
  Spec,
  Tangent,
)
from phasic.substrates.jax.internal.static import Shape

# Positions of the differentiable operands: weights, exits and initial.
_FREE = (1, 2, 3)


def eliminate(
  fallback: Callable[..., Array | tuple[Array, Array]],
  indices: ArrayLike,
  weights: ArrayLike,
  per_phase: ArrayLike,
  per_edge: ArrayLike | None,
  transposed: bool,
  gives_edges: bool,
) -> Array | tuple[Array, Array]:
  """Solves the linear system of a chain by the native kernel."""
  op = Eliminate(fallback, transposed, per_edge is not None, gives_edges)
  indices, weights = jnp.asarray(indices), jnp.asarray(weights)
  slot = [jnp.asarray(x) for x in (per_phase, per_edge) if x is not None]
  # The transpose returns cotangents with all batch dimensions, so right-hand
  # sides must have all of them too.
  batch = jnp.broadcast_shapes(
    indices.shape[:-2], weights.shape[:-1], *(x.shape[:-2] for x in slot)
  )
  slot = [jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in slot]
  first, *rest = multilinear.bind(op, [indices, weights], [slot])
  return (first, rest[0]) if gives_edges else first


def moments(
  fallback: Callable[..., tuple[Array, ...]],
  operands: Sequence[ArrayLike],
  options: Mapping[str, Any],
) -> tuple[Array, ...]:
  """Computes moments of the absorption time by the native kernel."""
  op = Moments(fallback, **options)
  indices, *arrays = map(jnp.asarray, operands)
  ones = (1,) * (arrays[-1].ndim - 1)
  indices = jnp.reshape(indices.astype("int32"), (*ones, *indices.shape))
  return tuple(multilinear.bind(op, [indices, *arrays]))


def moments_of_edges(
  weights_of: Callable[..., Array],
  initial: object,
  edges: tuple[object, ...],
  atom: object,
  options: Mapping[str, Any],
) -> tuple[Array, ...] | None:
  """Returns None, so that `moments` is called: converting arrays is cheap."""
  return None


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
    return jax.ffi.ffi_lowering("phasic_eliminate")(
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


@dataclasses.dataclass(frozen=True)
class Moments(multilinear.Broadcasting):
  """The moments of the absorption time, as a map without linear slots.

  Results are the mean (...), with `gives_variance` the variance, and with
  `gives_gradients` the gradient of each with respect to weights, exits and
  initial.
  """

  fallback: Callable[..., tuple[Array, ...]]
  discrete: bool
  gives_variance: bool
  gives_root: bool
  epsilon: float
  gives_gradients: bool = False

  groups = (6,)

  def abstract(self, *operands: Shaped) -> list[Spec]:
    free = [operands[i] for i in _FREE]
    batch = _batch_shape(operands)
    count = 2 if self.gives_variance else 1
    shapes = [batch] * count
    if self.gives_gradients:
      shapes += [(*batch, *x.shape[len(batch) :]) for x in free] * count
    return [(shape, free[0].dtype) for shape in shapes]

  def evaluate(self, *operands: Array) -> list[Array]:
    batch = _batch_shape(operands)
    rank = len(batch)
    full = [jnp.broadcast_to(x, (*batch, *x.shape[rank:])) for x in operands]
    indices = operands[0]
    if all(multilinear.is_one(d) for d in indices.shape[:rank]):
      indices = jnp.reshape(indices, indices.shape[rank:])
      return self._results(indices, *full[1:])
    function = self._results
    for _ in batch:
      function = jax.vmap(function)
    return function(*full)

  def _results(self, *operands: Array) -> list[Array]:
    """Computes the results of models that have the same edges."""

    def values(*free: Array) -> tuple[Array, ...]:
      arguments = list(operands)
      for i, x in zip(_FREE, free, strict=True):
        arguments[i] = x
      return self.fallback(
        *arguments,
        discrete=self.discrete,
        gives_variance=self.gives_variance,
        gives_root=self.gives_root,
        epsilon=self.epsilon,
      )

    free = [operands[i] for i in _FREE]
    if not self.gives_gradients:
      return list(values(*free))
    moments, pullback = jax.vjp(values, *free)
    gradients: list[Array] = []
    for i in range(len(moments)):
      unit = [
        jnp.full_like(x, 1.0 if i == j else 0.0) for j, x in enumerate(moments)
      ]
      gradients += pullback(tuple(unit))
    return [*moments, *gradients]

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered:
    return jax.ffi.ffi_lowering("phasic_moments")(
      ctx,
      *operands,
      discrete=self.discrete,
      gives_variance=self.gives_variance,
      gives_root=self.gives_root,
      gives_gradients=self.gives_gradients,
      epsilon=onp.float64(self.epsilon),
    )

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[list[Array], list[Array]]:
    if self.gives_gradients:
      indices, *arrays = primals
      along = [ad.instantiate_zeros(t) for t in tangents[1:]]
      out, moved = jax.jvp(
        lambda *arrays: self.evaluate(indices, *arrays), arrays, along
      )
      return list(out), list(moved)
    full = dataclasses.replace(self, gives_gradients=True)
    results = multilinear.bind(full, primals)
    count = len(results) // (1 + len(_FREE))
    moved = []
    for i in range(count):
      total = jnp.zeros_like(results[i])
      for j, position in enumerate(_FREE):
        tangent = tangents[position]
        if not isinstance(tangent, ad.Zero):
          gradient = results[count + len(_FREE) * i + j]
          events = tuple(range(results[i].ndim, gradient.ndim))
          total = total + jnp.sum(gradient * tangent, axis=events)
      moved.append(total)
    return results[:count], moved


def _batch_shape(operands: Sequence[Shaped]) -> Shape:
  """Returns the common batch shape of the operands."""
  rank = len(operands[_FREE[-1]].shape) - 1
  shapes = [tuple(x.shape[:rank]) for x in operands]
  return multilinear.broadcast_shapes("moments", shapes)
