"""Derivative rules of a Python function, and the vmap levels around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal.arrays import Array, Shaped, Size
from phasic.substrates.jax.internal.static import Shape

_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True, eq=False)
class Rules:
  """A function and its derivative rules; None for a rule that is missing."""

  f: Callable[..., object]
  vjp_fwd: Callable[..., tuple[object, object]] | None
  vjp_bwd: Callable[..., object] | None
  jvp_fn: Callable[..., tuple[object, object]] | None
  nondiff_argnums: tuple[int, ...]
  eager: bool = False

  @property
  def name(self) -> str:
    return getattr(self.f, "__name__", repr(self.f))

  def split(
    self, args: Sequence[object]
  ) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """Splits arguments into fixed and differentiable arguments."""
    fixed = tuple(args[i] for i in self.nondiff_argnums)
    free = [a for i, a in enumerate(args) if i not in self.nondiff_argnums]
    return fixed, tuple(free)

  def merge(
    self, fixed: Sequence[object], free: Sequence[object]
  ) -> list[object]:
    """Merges fixed and differentiable arguments, the inverse of `split`."""
    args = list(free)
    by_position = dict(zip(self.nondiff_argnums, fixed, strict=True))
    for position in sorted(by_position):
      args.insert(position, by_position[position])
    return args

  def missing(self, rule: str, mode: str) -> NotImplementedError:
    return NotImplementedError(
      f"{self.name} has no {rule} (the rule {rule[:3]} where it was bound):"
      f" {mode} derivatives need it"
    )


@dataclasses.dataclass(frozen=True)
class Level:
  """One level of `jax.vmap`: its size, and the batch axes of the primals.

  An axis is 0, or None for a primal without batch dimension.
  """

  size: Size
  axes: tuple[int | None, ...]


class Mapped(multilinear.Map):
  """A map for one example, and its levels of `jax.vmap`, innermost first."""

  levels: tuple[Level, ...]

  def batch(
    self, size: Size, primals: list[Array], axes: list[int | None]
  ) -> tuple[multilinear.Map, list[Array]]:
    primals = [
      x if axis is None else jnp.moveaxis(x, axis, 0)
      for x, axis in zip(primals, axes, strict=True)
    ]
    level = Level(size, tuple(None if a is None else 0 for a in axes))
    levels = (*self.levels, level)
    return dataclasses.replace(self, levels=levels), primals  # type: ignore

  def _over_levels(
    self, f: Callable[..., _T], slots: int = 0
  ) -> Callable[..., _T]:
    for level in self.levels:
      axes = (*level.axes, *[0] * slots)
      f = jax.vmap(f, in_axes=axes, axis_size=level.size)
    return f

  def _full_shape(self, x: Shaped, index: int) -> Shape:
    """Returns the shape of primal number `index` with all batch dimensions."""
    batch_rank = sum(level.axes[index] is not None for level in self.levels)
    sizes = [level.size for level in reversed(self.levels)]
    return (*sizes, *x.shape[batch_rank:])

  def _expand(self, x: Array, index: int) -> Array:
    """Broadcasts a primal or its tangent to all levels of `jax.vmap`."""
    missing = [
      position
      for position, level in enumerate(reversed(self.levels))
      if level.axes[index] is None
    ]
    full = self._full_shape(x, index)
    return jnp.broadcast_to(jnp.expand_dims(x, missing), full)


def weave(
  values: Sequence[Array], inexact: Sequence[bool], likes: Sequence[Shaped]
) -> list[Array | onp.ndarray]:
  """Completes derivatives of floating leaves by float0 zeros for integers."""
  remaining = iter(values)
  return [
    next(remaining) if is_inexact else onp.zeros(like.shape, jax.dtypes.float0)
    for is_inexact, like in zip(inexact, likes, strict=True)
  ]


def checked(
  rules: Rules, rule: str, value: jax.typing.ArrayLike, like: Shaped
) -> Array:
  if jnp.shape(value) != tuple(like.shape):
    raise ValueError(
      f"{rule} of {rules.name} returned a derivative of shape"
      f" {jnp.shape(value)}: it must have shape {tuple(like.shape)}"
    )
  return jnp.asarray(value, like.dtype)
