"""More `uses`: on several devices, and exported programs."""

import jax
from jax import export
import jax.numpy as jnp
from jax.sharding import AxisType
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from tests.jax.uses import uses

_BOTH = (0, 1)


def mesh(axis_type=AxisType.Auto):
  """Two devices in a row."""
  return jax.make_mesh((2,), ("d",), (axis_type,), devices=jax.devices()[:2])


def pairs(theta, t):
  """Two parameter vectors and two vectors of times."""
  thetas, ts = uses.batches(theta, t)
  return thetas[:2], ts[:2]


def sharded_f(f):
  """F mapped over the rows of its arguments, which two devices share."""
  return jax.shard_map(
    jax.vmap(f), mesh=mesh(), in_specs=P("d"), out_specs=P("d")
  )


@uses.use(28)
def pmap(f, theta, t):
  return jax.pmap(f, devices=jax.devices()[:2])(*pairs(theta, t))


@uses.use(29)
def pmap_of_vmap_grad(f, theta, t):
  thetas, ts = (x[:, None] for x in pairs(theta, t))
  mapped = jax.vmap(jax.grad(uses.loss(f), _BOTH))
  return jax.pmap(mapped, devices=jax.devices()[:2])(thetas, ts)


@uses.use(30)
def shard_map(f, theta, t):
  return sharded_f(f)(*pairs(theta, t))


@uses.use(31)
def jit_shard_map_on_sharded_inputs(f, theta, t):
  sharding = NamedSharding(mesh(), P("d"))
  arguments = jax.device_put(pairs(theta, t), sharding)
  return jax.jit(sharded_f(f))(*arguments)


@uses.use(32)
def grad_of_shard_map(f, theta, t):
  def total(thetas, ts):
    return jnp.sum(jnp.sin(sharded_f(f)(thetas, ts)))

  return jax.jit(jax.grad(total, _BOTH))(*pairs(theta, t))


@uses.use(33)
def hessian_inside_shard_map(f, theta, t):
  mapped = jax.vmap(jax.hessian(uses.loss(f), _BOTH))
  sharded = jax.shard_map(
    mapped, mesh=mesh(), in_specs=P("d"), out_specs=P("d")
  )
  return jax.jit(sharded)(*pairs(theta, t))


@uses.use(34)
def grad_through_shard_map_with_replicated_theta(f, theta, t):
  def total(theta, t):
    sharded = jax.shard_map(
      f, mesh=mesh(), in_specs=(P(), P("d")), out_specs=P("d")
    )
    return jnp.sum(jnp.sin(sharded(theta, t)))

  inside = jax.shard_map(
    jax.grad(uses.loss(f)), mesh=mesh(), in_specs=(P(), P("d")), out_specs=P()
  )
  return jax.jit(jax.grad(total, _BOTH))(theta, t), jax.jit(inside)(theta, t)


@uses.use(35)
def jit_with_sharded_inputs(f, theta, t):
  sharding = NamedSharding(mesh(), P("d"))
  arguments = jax.device_put(pairs(theta, t), sharding)
  mapped = jax.vmap(jax.value_and_grad(uses.loss(f), _BOTH))
  return jax.jit(mapped)(*arguments)


def exported(f, *arguments, vjp_order=0):
  """F after a round trip through its exported bytes."""
  from phasic.substrates.jax.internal import exporting

  program = export.export(
    jax.jit(f), disabled_checks=exporting.export_disabled_checks()
  )(*arguments)
  return export.deserialize(program.serialize(vjp_order=vjp_order)).call


@uses.use(50)
def export_forward(f, theta, t):
  return exported(f, theta, t)(theta, t)


@uses.use(51)
def export_grad(f, theta, t):
  gradient = jax.grad(uses.loss(f), _BOTH)
  return exported(gradient, theta, t)(theta, t)


@uses.use(52)
def export_with_vjp_order_1(f, theta, t):
  call = exported(uses.loss(f), theta, t, vjp_order=1)
  return jax.grad(call, _BOTH)(theta, t)


@uses.use(53)
def export_with_vjp_order_2(f, theta, t):
  call = exported(uses.loss(f), theta, t, vjp_order=2)
  gradient = jax.grad(call)
  return jax.jit(jax.grad(lambda x: jnp.sum(jnp.sin(gradient(x, t)))))(theta)


@uses.use(54)
def export_vmap_grad_with_symbolic_batch(f, theta, t):
  (size,) = export.symbolic_shape("b")
  thetas, ts = uses.batches(theta, t)
  shapes = [
    jax.ShapeDtypeStruct((size, *x.shape[1:]), x.dtype) for x in (thetas, ts)
  ]
  mapped = jax.vmap(jax.grad(uses.loss(f), _BOTH))
  return exported(mapped, *shapes)(thetas, ts)
