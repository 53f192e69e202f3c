"""Batches split among several devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec

_R = TypeVar("_R")


def shard_batches(
  f: Callable[..., _R],
  mesh: Mesh,
  *,
  in_axes: int | Sequence[int | None] | None = 0,
  axis_name: str | None = None,
) -> Callable[..., _R]:
  """Returns `f` with its batch split among the devices of a mesh.

  Each device runs `f` on its part of the first axis: nothing is gathered. A
  plain `jax.jit` of sharded arguments is correct too, but XLA cannot split a
  native call, and gives every device the entire batch.

  Arguments that are not split are on all devices, and their gradients are
  summed over the devices. Derivatives may be taken of the result, or inside
  `f`.

  Args:
    f: a function of arrays, or of pytrees of them, whose results have the batch
      as their first axis.
    mesh: the devices.
    in_axes: for all arguments, or for each: 0 to split the first axis of its
      arrays, None to copy them to every device.
    axis_name: the axis of the mesh; None for the first one.

  Raises:
    ValueError: an entry of `in_axes` is neither 0 nor None, or their number is
      not the number of arguments; the mesh has no axis `axis_name`; the size of
      a split axis is not a multiple of the number of devices; a result is a
      scalar.

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
  if name not in mesh.axis_names:
    raise ValueError(
      f"axis_name is {name!r}: it must be one of the mesh's {mesh.axis_names}"
    )

  def spec(axis: int | None) -> PartitionSpec:
    if axis is not None and axis != 0:
      raise ValueError(f"in_axes has {axis!r}: entries must be 0 or None")
    return PartitionSpec() if axis is None else PartitionSpec(name)

  def part(*args: object) -> _R:
    results = f(*args)
    if not all(map(jnp.ndim, jax.tree.leaves(results))):
      raise ValueError(
        "f returns a scalar: its results must have the batch as their first "
        "axis, e.g. x[None]"
      )
    return results

  def sharded(*args: object) -> _R:
    if in_axes is None or isinstance(in_axes, int):
      axes: Sequence[int | None] = [in_axes] * len(args)
    else:
      axes = in_axes
    if len(axes) != len(args):
      raise ValueError(
        f"in_axes has {len(axes)} entries: there must be one for each of the "
        f"{len(args)} arguments"
      )
    specs = tuple(spec(axis) for axis in axes)
    for i, (x, axis) in enumerate(zip(args, axes, strict=True)):
      if axis is not None:
        _check_splits(i, x, name, mesh.shape[name])
    placed = [
      jax.device_put(x, NamedSharding(mesh, partition))
      for x, partition in zip(args, specs, strict=True)
    ]
    return jax.shard_map(
      part, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(name)
    )(*placed)

  return sharded


def _check_splits(
  i: int, argument: object, name: object, num_devices: int
) -> None:
  """Raises ValueError if the first axis cannot be split among the devices."""
  for x in jax.tree.leaves(argument):
    shape = jnp.shape(x)
    size = shape[0] if shape else None
    # A symbolic size passes: it can be checked only once its value is known.
    if size is None or (isinstance(size, int) and size % num_devices):
      raise ValueError(
        f"argument {i} has an array of shape {shape}: the size of its first "
        f"axis must be a multiple of the {num_devices} devices of mesh axis "
        f"{name!r}"
      )
