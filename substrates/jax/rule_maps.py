"""Functions with Python derivative rules, as maps that `multilinear` binds.

`Call` is the function. Its derivative is a `Linear`, which uses the user's rule
for forward mode and, transposed, the rule for reverse mode. Derivatives of a
`Linear` differentiate the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import functools
from typing import TypeVar

import jax
import jax.core
from jax.interpreters import ad
import jax.numpy as jnp

from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import rules as rules_lib
from phasic.substrates.jax.internal.arrays import (
  Array,
  Shaped,
  Spec,
  Tangent,
  Tree,
  TreeDef,
)

_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True)
class Call(rules_lib.Mapped):
  """A function with custom derivative rules, as a `Map`."""

  rules: rules_lib.Rules
  fixed: tuple[object, ...]
  in_tree: TreeDef
  levels: tuple[rules_lib.Level, ...] = ()

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    return (self.in_tree.num_leaves,)

  def out_tree(self, leaves: Sequence[Array]) -> TreeDef:
    """Returns the pytree structure of the result."""
    return jax.tree.structure(_result(self, leaves))

  def apply(self, f: Callable[..., _T], leaves: Sequence[Array]) -> _T:
    """Evaluates `f` on all arguments, mapped over the levels of `jax.vmap`."""

    def one(*leaves: Array) -> _T:
      free = jax.tree.unflatten(self.in_tree, leaves)
      return f(*self.rules.merge(self.fixed, free))

    return self._over_levels(one)(*leaves)

  def abstract(self, *operands: Shaped) -> list[Spec]:
    return [
      (x.shape, x.dtype) for x in jax.tree.leaves(_result(self, operands))
    ]

  def eager(self, *operands: Array) -> list[Array] | None:
    return self.evaluate(*operands) if self.rules.eager else None

  def evaluate(self, *operands: Array) -> list[Array]:
    results = jax.tree.leaves(self.apply(self.rules.f, operands))
    return [jnp.asarray(x) for x in results]

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[list[Array] | None, list[Tangent]]:
    result = _result(self, primals)
    out: list[Array] | None = None
    residuals: object = ()
    out_tree: TreeDef = jax.tree.structure(result)
    if self.rules.vjp_fwd is not None:
      returned, residuals = self.apply(self.rules.vjp_fwd, primals)
      if jax.tree.structure(returned) != out_tree:
        raise TypeError(
          f"vjp_fwd of {self.rules.name} returned the structure"
          f" {jax.tree.structure(returned)} for out: it must be {out_tree}, the"
          " structure of the function's result"
        )
      out = [jnp.asarray(x) for x in jax.tree.leaves(returned)]
    kept, residual_tree = jax.tree.flatten(residuals)
    levels = tuple(
      rules_lib.Level(level.size, (*level.axes, *[0] * len(kept)))
      for level in self.levels
    )
    inexact_in = tuple(map(_is_inexact, primals))
    inexact_out = tuple(map(_is_inexact, jax.tree.leaves(result)))
    op = Linear(
      dataclasses.replace(self, levels=()),
      out_tree,
      residual_tree,
      inexact_in,
      inexact_out,
      levels,
    )
    along = [
      self._expand(ad.instantiate_zeros(t), i)
      for i, t in enumerate(tangents)
      if inexact_in[i]
    ]
    kept = [jnp.asarray(x) for x in kept]
    tangents_out = iter(multilinear.bind(op, [*primals, *kept], [along]))
    return out, [
      next(tangents_out) if inexact else _zero_tangent(x)
      for x, inexact in zip(jax.tree.leaves(result), inexact_out, strict=True)
    ]


@dataclasses.dataclass(frozen=True)
class Linear(rules_lib.Mapped):
  """The derivative of a `Call`, linear in tangents or cotangents.

  The primals are the call's arguments and residuals.

  The single slot has tangents, or cotangents if it is transposed, of the
  floating leaves. Transposed twice (reverse over reverse mode) it needs no
  forward rule: it differentiates the reverse rule.
  """

  call: Call
  out_tree: TreeDef
  residual_tree: TreeDef
  inexact_in: tuple[bool, ...]
  inexact_out: tuple[bool, ...]
  levels: tuple[rules_lib.Level, ...] = ()
  transposed: bool = False
  from_reverse: bool = False

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    primals = len(self.inexact_in) + self.residual_tree.num_leaves
    slot = self.inexact_out if self.transposed else self.inexact_in
    return (primals, sum(slot))

  def abstract(self, *operands: Shaped) -> list[Spec]:
    n = len(self.inexact_in)
    if self.transposed:
      return [
        (self._full_shape(x, i), x.dtype)
        for i, x in enumerate(operands[:n])
        if self.inexact_in[i]
      ]
    levels = tuple(rules_lib.Level(lv.size, lv.axes[:n]) for lv in self.levels)
    call = dataclasses.replace(self.call, levels=levels)
    results = zip(call.abstract(*operands[:n]), self.inexact_out, strict=True)
    return [result for result, inexact in results if inexact]

  def eager(self, *operands: Array) -> list[Array] | None:
    return self.evaluate(*operands) if self.call.rules.eager else None

  def evaluate(self, *operands: Array) -> list[Array]:
    one = self._vjp if self.transposed else self._jvp
    return self._over_levels(one, self.groups[1])(*operands)

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[None, list[Array]]:
    active = [
      i
      for i, (x, t) in enumerate(zip(primals, tangents, strict=True))
      if _is_inexact(x) and not isinstance(t, ad.Zero)
    ]

    def f(*values: Array) -> list[Array]:
      chosen = dict(zip(active, values, strict=True))
      full = [chosen.get(i, x) for i, x in enumerate(primals)]
      return self.evaluate(*full, *slots[0])

    at = tuple(primals[i] for i in active)
    return None, jax.jvp(f, at, tuple(tangents[i] for i in active))[1]

  def transpose(
    self, at: multilinear.Slot
  ) -> tuple[multilinear.Map, list[list[Array]]]:
    op = dataclasses.replace(
      self, transposed=not self.transposed, from_reverse=self.transposed
    )
    return op, [at.cotangents]

  def _jvp(self, *operands: Array) -> list[Array]:
    rules, n = self.call.rules, len(self.inexact_in)
    leaves = operands[:n]
    if rules.jvp_fn is None:
      if self.from_reverse:
        return self._jvp_from_reverse(*operands)
      raise rules.missing("jvp_fn", "forward-mode")
    tangents = rules_lib.weave(
      operands[self.groups[0] :], self.inexact_in, leaves
    )
    primals, tangents = (
      jax.tree.unflatten(self.call.in_tree, x) for x in (leaves, tangents)
    )
    _, out = rules.jvp_fn(*self.call.fixed, primals, tangents)
    shapes = jax.tree.leaves(_result(self.call, leaves))
    outs = self.out_tree.flatten_up_to(out)
    return [
      rules_lib.checked(rules, "jvp_fn", value, like)
      for value, like, inexact in zip(
        outs, shapes, self.inexact_out, strict=True
      )
      if inexact
    ]

  def _jvp_from_reverse(self, *operands: Array) -> list[Array]:
    split = self.groups[0]
    primals, tangents = operands[:split], list(operands[split:])
    shapes = jax.tree.leaves(
      _result(self.call, primals[: len(self.inexact_in)])
    )
    zeros = [
      jnp.zeros(like.shape, like.dtype)
      for like, inexact in zip(shapes, self.inexact_out, strict=True)
      if inexact
    ]
    reverse = dataclasses.replace(self, transposed=True)
    _, pullback = jax.vjp(lambda *cts: reverse._vjp(*primals, *cts), *zeros)
    return list(pullback(tangents))

  def _vjp(self, *operands: Array) -> list[Array]:
    rules, n = self.call.rules, len(self.inexact_in)
    if rules.vjp_bwd is None:
      raise rules.missing("vjp_fwd and vjp_bwd", "reverse-mode")
    leaves, residuals = operands[:n], operands[n : self.groups[0]]
    shapes = jax.tree.leaves(_result(self.call, leaves))
    cotangents = rules_lib.weave(
      operands[self.groups[0] :], self.inexact_out, shapes
    )
    grads = rules.vjp_bwd(
      *self.call.fixed,
      jax.tree.unflatten(self.residual_tree, residuals),
      jax.tree.unflatten(self.out_tree, cotangents),
    )
    trees = self.call.in_tree.children()
    if not isinstance(grads, (tuple, list)) or len(grads) != len(trees):
      raise TypeError(
        f"vjp_bwd of {rules.name} must return a tuple with an entry for each"
        f" of the {len(trees)} differentiable arguments"
      )
    results: list[jax.typing.ArrayLike | None] = []
    for grad, tree in zip(grads, trees, strict=True):
      none = [None] * tree.num_leaves
      results += none if grad is None else tree.flatten_up_to(grad)
    return [
      jnp.zeros_like(leaf)
      if value is None
      else rules_lib.checked(rules, "vjp_bwd", value, leaf)
      for value, leaf, inexact in zip(
        results, leaves, self.inexact_in, strict=True
      )
      if inexact
    ]


def _result(call: Call, leaves: Sequence[Shaped]) -> Tree:
  """Returns the shapes and dtypes of the function's result."""
  avals = tuple(
    x if isinstance(x, jax.core.ShapedArray) else jax.typeof(x) for x in leaves
  )
  wide = jax.dtypes.canonicalize_dtype("float64")
  return _cached_result(call, avals, wide.name)


@functools.lru_cache(maxsize=1024)
def _cached_result(
  call: Call, avals: tuple[jax.core.AbstractValue, ...], wide: str
) -> Tree:
  del wide  # Only a part of the cache key: it depends on jax_enable_x64.
  return jax.eval_shape(lambda *x: call.apply(call.rules.f, x), *avals)


def _is_inexact(x: Shaped) -> bool:
  return jnp.issubdtype(x.dtype, jnp.inexact)


def _zero_tangent(like: Shaped) -> ad.Zero:
  aval = jax.core.ShapedArray(like.shape, like.dtype)
  return ad.Zero(aval.to_tangent_aval())
