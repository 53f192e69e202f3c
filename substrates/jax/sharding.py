"""Batches over several devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import Mesh
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec


def shard_batches(
  f: Callable[..., Any],
  mesh: Mesh,
  *,
  in_axes: int | Sequence[int | None] | None = 0,
  axis_name: str | None = None,
) -> Callable[..., Any]:
  """Returns `f` with its batch split among the devices of a mesh.

  Each device runs `f` on its part of the first axis: nothing is gathered. A
  plain `jax.jit` of sharded arguments is right, too, but XLA does not know how
  to split a native call, and gives every device the whole batch.

  Arguments that are not split are on all devices; their gradients are the sums
  over the devices, as they should be. Derivatives may be taken of the result,
  or inside `f`.

  Args:
    f: a function of arrays, or of pytrees of them, whose results have the batch
      as their first axis.
    mesh: the devices.
    in_axes: for all arguments, or for each: 0 where its arrays' first axis is
      split, None where every device has all of it.
    axis_name: the axis of the mesh; the first one if None.

  Raises:
    ValueError: an entry of `in_axes` is neither 0 nor None.

  Example:
    >>> import jax, jax.numpy as jnp
    >>> from phasic.substrates import jax as ph
    >>> mesh = jax.make_mesh((len(jax.devices()),), ("batch",))
    >>> def log_prob(rate, times):
    ...   return ph.distributions.Erlang(2, rate).log_prob(times)
    >>> sharded = ph.shard_batches(log_prob, mesh, in_axes=(None, 0))
    >>> loss = lambda rate: sharded(rate, jnp.array([1.0, 2.0] * 4)).sum()
    >>> print(f"{float(jax.jit(jax.grad(loss))(1.0)):.3f}")
    4.000
  """
  name = mesh.axis_names[0] if axis_name is None else axis_name

  def spec(axis: int | None) -> PartitionSpec:
    if axis is not None and axis != 0:
      raise ValueError(f"in_axes has {axis!r}: entries must be 0 or None")
    return PartitionSpec() if axis is None else PartitionSpec(name)

  def sharded(*args: Any) -> Any:
    if in_axes is None or isinstance(in_axes, int):
      axes: Sequence[int | None] = [in_axes] * len(args)
    else:
      axes = in_axes
    specs = tuple(spec(axis) for axis in axes)
    placed = [
      jax.device_put(x, NamedSharding(mesh, own))
      for x, own in zip(args, specs, strict=True)
    ]
    return jax.shard_map(
      f, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(name)
    )(*placed)

  return sharded
