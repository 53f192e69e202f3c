"""Moments by elimination as a map that `multilinear` binds.

The native call gives gradients along with moments, and first derivatives are
sums of products with those. Those of the gradients are the ones of the portable
function, which goes by the maps of `elimination_map` where the kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
from typing import Any

import jax
from jax.interpreters import ad
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import multilinear

# Positions of the operands with derivatives: parameters and initial.
_FREE = (1, 4)
# Of indices, coefficients and constants.
_SHARED = (0, 2, 3)


@dataclasses.dataclass(frozen=True)
class Moments(multilinear.Map):
  """Primals are as in `elimination_ops.moments`; there is no slot.

  Results are the mean (...), with `gives_variance` the variance, and with
  `gives_gradients` for each the gradients in parameters and in initial.
  """

  fallback: Callable[..., Any]
  discrete: bool
  gives_variance: bool
  gives_root: bool
  epsilon: float
  gives_gradients: bool = False

  groups = (7,)

  def abstract(self, *operands: Any) -> list[tuple[tuple[Any, ...], Any]]:
    free = [operands[i] for i in _FREE]
    batch = _batch_shape(operands)
    count = 2 if self.gives_variance else 1
    shapes = [batch] * count
    if self.gives_gradients:
      shapes += [(*batch, x.shape[-1]) for x in free] * count
    return [(shape, free[0].dtype) for shape in shapes]

  def evaluate(self, *operands: Any) -> list[Any]:
    batch = _batch_shape(operands)
    rank = len(batch)
    full = [jnp.broadcast_to(x, (*batch, *x.shape[rank:])) for x in operands]
    if all(_is_one(d) for i in _SHARED for d in operands[i].shape[:rank]):
      for i in _SHARED:
        full[i] = jnp.reshape(operands[i], operands[i].shape[rank:])
      return self._of_edges(*full)
    function = self._of_edges
    for _ in batch:
      function = jax.vmap(function)
    return function(*full)

  def _of_edges(self, *operands: Any) -> list[Any]:
    """Results of models that have the same edges."""

    def values(*free: Any) -> Any:
      arguments = list(operands)
      for i, x in zip(_FREE, free, strict=True):
        arguments[i] = x
      return self.fallback(
        *arguments,
        self.discrete,
        self.gives_variance,
        self.gives_root,
        self.epsilon,
      )

    free = [operands[i] for i in _FREE]
    if not self.gives_gradients:
      return list(values(*free))
    found, pull = jax.vjp(values, *free)
    gradients: list[Any] = []
    for i in range(len(found)):
      unit = [
        jnp.full_like(x, 1.0 if i == j else 0.0) for j, x in enumerate(found)
      ]
      gradients += pull(tuple(unit))
    return [*found, *gradients]

  def lower_cpu(self, ctx: Any, *operands: Any) -> Any:
    return jax.ffi.ffi_lowering(ffi_targets.MOMENTS)(
      ctx,
      *operands,
      discrete=self.discrete,
      gives_variance=self.gives_variance,
      gives_root=self.gives_root,
      gives_gradients=self.gives_gradients,
      epsilon=onp.float64(self.epsilon),
    )

  def differentiate(
    self, primals: list[Any], slots: list[list[Any]], tangents: list[Any]
  ) -> tuple[list[Any], list[Any]]:
    del slots
    if self.gives_gradients:
      indices, *arrays = primals
      along = [ad.instantiate_zeros(t) for t in tangents[1:]]
      out, moved = jax.jvp(
        lambda *arrays: self.evaluate(indices, *arrays), arrays, along
      )
      return list(out), list(moved)
    full = dataclasses.replace(self, gives_gradients=True)
    results = multilinear.bind(full, primals)
    count = len(results) // 3
    moved = []
    for i in range(count):
      total: Any = jnp.zeros_like(results[i])
      for j, position in enumerate(_FREE):
        tangent = tangents[position]
        if not isinstance(tangent, ad.Zero):
          gradient = results[count + 2 * i + j]
          total = total + jnp.sum(gradient * tangent, axis=-1)
      moved.append(total)
    return results[:count], moved

  def batch(
    self, size: Any, primals: list[Any], axes: list[int | None]
  ) -> tuple[multilinear.Map, list[Any]]:
    del size
    primals = [
      jnp.expand_dims(x, 0) if axis is None else jnp.moveaxis(x, axis, 0)
      for x, axis in zip(primals, axes, strict=True)
    ]
    return self, primals


def _batch_shape(operands: Any) -> tuple[Any, ...]:
  """The common batch shape; dimensions may be symbolic."""
  ranks = (2, 1, 2, 1, 1, 1, 1)
  shapes = [
    tuple(x.shape[: len(x.shape) - rank])
    for x, rank in zip(operands, ranks, strict=True)
  ]
  result = []
  for dims in zip(*shapes, strict=True):
    sizes = [d for d in dims if not _is_one(d)]
    if any(d != sizes[0] for d in sizes):
      raise ValueError(f"moments: batch shapes do not broadcast: {shapes}")
    result.append(sizes[0] if sizes else 1)
  return tuple(result)


def _is_one(d: Any) -> bool:
  return isinstance(d, int) and d == 1
