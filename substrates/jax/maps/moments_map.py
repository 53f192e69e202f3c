"""Moments of the absorption time, as a map that `multilinear` binds.

The native call returns gradients along with moments; first derivatives are sums
of products of gradients and tangents. The gradients are differentiated by the
portable function, which uses the maps of `elimination_map` if the kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses

import jax
from jax.interpreters import ad
from jax.interpreters import mlir
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import Array
from phasic.substrates.jax.internal.arrays import Lowered
from phasic.substrates.jax.internal.arrays import Shaped
from phasic.substrates.jax.internal.arrays import Spec
from phasic.substrates.jax.internal.arrays import Tangent
from phasic.substrates.jax.internal.static import Shape

# Positions of the differentiable operands: weights, exits and initial.
_FREE = (1, 2, 3)


@dataclasses.dataclass(frozen=True)
class Moments(multilinear.Broadcasting):
  """The moments of the absorption time, a map of primals without slots.

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
