"""One JAX primitive for functions with custom Jacobian products.

A `Map` is a function of *primals* that is linear in each of some further
operand groups, its *slots*:

    op(x; v_1, ..., v_m),    linear in every v_i.

The Jacobian products of such a map, transposed or not, are again such maps. So
the few rules here give all of JAX's transformations, and `kernel_ops` (the
native kernel) and `custom_gradient` (a user's rules) only define their maps.
JAX's custom_jvp and custom_vjp are limited to one mode or one order, and lose
their rules inside `lax.scan`; so a primitive is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
import functools
from typing import NamedTuple, TypeVar

import jax
import jax.core
from jax.extend.core import Primitive
from jax.interpreters import ad
from jax.interpreters import batching
from jax.interpreters import mlir
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec

from phasic.substrates.jax.internal.arrays import (
  Array,
  Lowered,
  Shaped,
  Size,
  Spec,
  Tangent,
)
from phasic.substrates.jax.internal.static import Shape

_T = TypeVar("_T")


class Slot(NamedTuple):
  """The arguments of `Map.transpose`, which transposes a map in one slot.

  Attributes:
    number: the number of the slot.
    wanted: the operands whose results are used.
    primals: the primals of the map.
    others: the operands of the other slots.
    cotangents: the cotangents of the map's results.
  """

  number: int
  wanted: tuple[bool, ...]
  primals: list[Array]
  others: list[list[Array]]
  cotangents: list[Array]


class Map:
  """A function of primals and slots that is linear in each slot; see `bind`.

  Instances are hashable and compare by value.

  Attributes:
    groups: the number of operands in each group, the primals' first.
  """

  groups: tuple[int, ...]

  def abstract(self, *operands: Shaped) -> list[Spec]:
    """Returns the shapes and dtypes of the results for given operands."""
    raise NotImplementedError

  def evaluate(self, *operands: Array) -> Sequence[Array]:
    """Computes the results by JAX code that can be traced."""
    raise NotImplementedError

  def eager(self, *operands: Array) -> Sequence[Array] | None:
    """Computes results for concrete arrays; returns None to compile instead."""
    return None

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered | None:
    """Lowers the map for CPUs; returns None to lower `evaluate` instead."""
    return None

  def lower_cuda(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered | None:
    """Lowers the map for CUDA; returns None to lower `evaluate` instead."""
    return None

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> tuple[Sequence[Array] | None, Sequence[Tangent]]:
    """Computes the derivative along given tangents of the primals.

    Tangents may be `ad.Zero`.

    Returns:
      The results, or None if they are not computed; and their tangents.
    """
    raise NotImplementedError

  def transpose(self, at: Slot) -> tuple[Map, list[list[Array]]]:
    """Returns the transpose in one slot: a map, and the operands of its slots.

    Its results are for the operands of the slot; unwanted results are ignored.
    """
    raise NotImplementedError

  def batch(
    self, size: Size, primals: list[Array], axes: list[int | None]
  ) -> tuple[Map, list[Array]]:
    """Returns the map with one more leading batch axis, and its new primals."""
    raise NotImplementedError


class Broadcasting(Map):
  """A map whose operands have batch axes that broadcast."""

  def batch(
    self, size: Size, primals: list[Array], axes: list[int | None]
  ) -> tuple[Map, list[Array]]:
    return self, with_leading(primals, axes)


def bind(
  op: Map, primals: Sequence[Array], slots: Sequence[Sequence[Array]] = ()
) -> list[Array]:
  """Evaluates the map `op`; supports all of JAX's transformations."""
  operands = [*primals, *(x for slot in slots for x in slot)]
  return multilinear_p.bind(*_align(operands), op=op)


def broadcast_leading(x: Array, size: Size, axis: int | None) -> Array:
  """Moves `axis` of x to the front; None repeats x along a new first axis."""
  if axis is None:
    return jnp.broadcast_to(x, (size, *jnp.shape(x)))
  return jnp.moveaxis(x, axis, 0)


def with_leading(
  operands: Sequence[Array], axes: Sequence[int | None]
) -> list[Array]:
  """Moves each given axis to the front; None adds a first axis of size one."""
  return [
    jnp.expand_dims(x, 0) if axis is None else jnp.moveaxis(x, axis, 0)
    for x, axis in zip(operands, axes, strict=True)
  ]


def broadcast_shapes(name: str, shapes: Sequence[Shape]) -> Shape:
  """Broadcasts shapes of equal rank, whose sizes may be symbolic.

  Raises:
    ValueError: the shapes do not broadcast.
  """
  result = []
  for dims in zip(*shapes, strict=True):
    sizes = [d for d in dims if not is_one(d)]
    if any(d != sizes[0] for d in sizes):
      raise ValueError(
        f"{name}: batch shapes do not broadcast: {[*map(tuple, shapes)]}"
      )
    result.append(sizes[0] if sizes else 1)
  return tuple(result)


def is_one(d: object) -> bool:
  """Returns whether a size is the number one, and not symbolic."""
  return isinstance(d, int) and d == 1


multilinear_p = Primitive("phasic_multilinear")
multilinear_p.multiple_results = True


def _varying(aval: jax.core.AbstractValue) -> frozenset[Hashable]:
  """Returns the mesh axes of `jax.shard_map` along which an array varies."""
  kind = getattr(aval, "manual_axis_type", None)
  return frozenset() if kind is None else kind.varying


def _align(operands: Sequence[Array]) -> list[Array]:
  """Converts all operands to one kind of sharding.

  Inside `jax.shard_map` all must vary along the union of the mesh axes:
  otherwise the cotangent of a replicated operand would lack its psum. On meshes
  with explicit axes the operation is not partitioned, and operands are
  gathered.
  """
  avals = [jax.typeof(x) for x in operands]
  union = frozenset().union(*map(_varying, avals))
  aligned = []
  for x, aval in zip(operands, avals, strict=True):
    if missing := union - _varying(aval):
      x = jax.lax.pcast(x, tuple(sorted(missing, key=str)), to="varying")
    if any(axis is not None for axis in aval.sharding.spec):
      # Pass the operand's own mesh, which may differ from the current mesh.
      gathered = PartitionSpec(*[None] * aval.ndim)
      x = jax.sharding.reshard(x, NamedSharding(aval.sharding.mesh, gathered))
    aligned.append(x)
  return aligned


def _split(op: Map, operands: Sequence[_T]) -> Iterator[list[_T]]:
  start = 0
  for size in op.groups:
    yield list(operands[start : start + size])
    start += size


def _is_zero(tangent: Tangent) -> bool:
  return isinstance(tangent, ad.Zero)


@functools.lru_cache(maxsize=1024)
def _compiled(op: Map) -> Callable[..., list[Array]]:
  return jax.jit(lambda *operands: multilinear_p.bind(*operands, op=op))


@multilinear_p.def_impl
def _impl(*operands: Array, op: Map) -> list[Array]:
  if (results := op.eager(*operands)) is not None:
    return list(results)
  with jax.disable_jit(False):  # Native calls must be compiled.
    return _compiled(op)(*operands)


@multilinear_p.def_abstract_eval
def _abstract_eval(
  *avals: jax.core.ShapedArray, op: Map
) -> list[jax.core.ShapedArray]:
  mesh = avals[0].sharding.mesh
  results = []
  for shape, dtype in op.abstract(*avals):
    if mesh.empty:
      results.append(jax.core.ShapedArray(shape, dtype))
      continue
    replicated = NamedSharding(mesh, PartitionSpec(*[None] * len(shape)))
    results.append(
      avals[0].update(
        shape=shape, dtype=dtype, weak_type=False, sharding=replicated
      )
    )
  return results


def _jvp(
  operands: Sequence[Array], tangents: Sequence[Tangent], *, op: Map
) -> tuple[Sequence[Array], Sequence[Tangent]]:
  primals, *slots = _split(op, operands)
  d_primals, *d_slots = _split(op, tangents)
  out = None
  terms: list[Sequence[Tangent]] = []
  if not all(map(_is_zero, d_primals)):
    out, term = op.differentiate(primals, slots, d_primals)
    terms.append(term)
  for i, d_slot in enumerate(d_slots):
    if not all(map(_is_zero, d_slot)):
      along = [ad.instantiate_zeros(t) for t in d_slot]
      terms.append(bind(op, primals, [*slots[:i], along, *slots[i + 1 :]]))
  if out is None:
    out = bind(op, primals, slots)
  if not terms:
    return out, [ad.Zero(jax.typeof(x).to_tangent_aval()) for x in out]
  columns = zip(*terms, strict=True)
  return out, [functools.reduce(ad.add_tangents, column) for column in columns]


def _defined(operands: Sequence[Array | ad.UndefinedPrimal]) -> list[Array]:
  """Returns the operands that are arrays."""
  return [x for x in operands if not isinstance(x, ad.UndefinedPrimal)]


def _transpose(
  cotangents: Sequence[Tangent], *operands: Array | ad.UndefinedPrimal, op: Map
) -> list[Array | None]:
  primals, *slots = _split(op, operands)
  linear = [
    i for i, slot in enumerate(slots) if len(_defined(slot)) < len(slot)
  ]
  if len(linear) != 1 or len(_defined(primals)) < len(primals):
    raise ValueError(
      f"{op} cannot be transposed: it is not linear in these arguments"
    )
  index = linear[0]
  other_slots = [_defined(slot) for slot in slots[:index] + slots[index + 1 :]]
  # JAX may mark only some of the slot's operands as undefined primals. The
  # other operands are zeros, and their cotangents are not used.
  slot = Slot(
    index,
    tuple(map(ad.is_undefined_primal, slots[index])),
    _defined(primals),
    other_slots,
    [ad.instantiate_zeros(ct) for ct in cotangents],
  )
  transposed, new_slots = op.transpose(slot)
  results: list[Array | None] = [None] * len(operands)
  first = sum(op.groups[: index + 1])
  for i, ct in enumerate(bind(transposed, _defined(primals), new_slots)):
    if ad.is_undefined_primal(operands[first + i]):
      results[first + i] = ct
  return results


def _batch(
  operands: Sequence[Array], dims: Sequence[int | None], *, op: Map
) -> tuple[list[Array], list[int]]:
  size = next(
    x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None
  )
  primals, *slots = _split(op, operands)
  axes, *slot_axes = _split(op, dims)
  batched, primals = op.batch(size, primals, axes)
  slots = [
    [broadcast_leading(x, size, d) for x, d in zip(slot, ds, strict=True)]
    for slot, ds in zip(slots, slot_axes, strict=True)
  ]
  results = bind(batched, primals, slots)
  return results, [0] * len(results)


_lower = mlir.lower_fun(
  lambda *operands, op: op.evaluate(*operands), multiple_results=True
)


def _lower_cpu(
  ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value, op: Map
) -> Lowered:
  lowered = op.lower_cpu(ctx, *operands)
  return _lower(ctx, *operands, op=op) if lowered is None else lowered


def _lower_cuda(
  ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value, op: Map
) -> Lowered:
  lowered = op.lower_cuda(ctx, *operands)
  return _lower(ctx, *operands, op=op) if lowered is None else lowered


ad.primitive_jvps[multilinear_p] = _jvp
ad.primitive_transposes[multilinear_p] = _transpose
batching.primitive_batchers[multilinear_p] = _batch
mlir.register_lowering(multilinear_p, _lower)
mlir.register_lowering(multilinear_p, _lower_cpu, platform="cpu")
mlir.register_lowering(multilinear_p, _lower_cuda, platform="cuda")
