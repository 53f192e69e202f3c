"""The uses of a differentiable function f(theta, t) that JAX users have.

Each takes f, the parameters theta (3,) and the times t (4,), and returns a
pytree that must be the same for a native function as for plain array code.
"""

from collections.abc import Callable
import functools
from typing import Any

import jax
import jax.numpy as jnp

USES: dict[int, tuple[str, Callable[..., Any]]] = {}

_BOTH = (0, 1)


def use(number: int) -> Callable[..., Any]:
  """Adds a use to `USES`."""

  def add(run: Callable[..., Any]) -> Callable[..., Any]:
    assert number not in USES, number
    USES[number] = (run.__name__, run)
    return run

  return add


def loss(f):
  """L(theta, t), a nonlinear scalar of f."""
  return lambda theta, t: jnp.sum(jnp.sin(f(theta, t)))


def batches(theta, t):
  """Three parameter vectors and three vectors of times."""
  scale = jnp.array([1.0, 1.2, 0.7])[:, None]
  return theta * scale, t / scale


def fixed(f, t):
  """The loss as a function of theta."""
  return lambda theta: loss(f)(theta, t)


@use(1)
def eager(f, theta, t):
  return f(theta, t)


@use(2)
def jit(f, theta, t):
  return jax.jit(f)(theta, t)


@use(3)
def grad(f, theta, t):
  return jax.grad(loss(f), _BOTH)(theta, t)


@use(4)
def jit_value_and_grad(f, theta, t):
  return jax.jit(jax.value_and_grad(loss(f), _BOTH))(theta, t)


@use(5)
def jvp(f, theta, t):
  return jax.jvp(f, (theta, t), (theta[::-1], jnp.cos(t)))


@use(6)
def jvp_in_one_argument(f, theta, t):
  return jax.jvp(lambda x: f(x, t), (theta,), (theta[::-1],))


@use(7)
def jacfwd(f, theta, t):
  return jax.jacfwd(f, _BOTH)(theta, t)


@use(8)
def jacrev(f, theta, t):
  return jax.jacrev(f, _BOTH)(theta, t)


@use(9)
def hessian_forward_over_reverse(f, theta, t):
  return jax.jacfwd(jax.jacrev(loss(f), _BOTH), _BOTH)(theta, t)


@use(10)
def hessian_reverse_over_reverse(f, theta, t):
  return jax.jit(jax.jacrev(jax.jacrev(loss(f), _BOTH), _BOTH))(theta, t)


@use(11)
def hessian_reverse_over_forward(f, theta, t):
  return jax.jit(jax.jacrev(jax.jacfwd(loss(f), _BOTH), _BOTH))(theta, t)


@use(12)
def hessian_forward_over_forward(f, theta, t):
  return jax.jit(jax.jacfwd(jax.jacfwd(loss(f), _BOTH), _BOTH))(theta, t)


@use(13)
def hvp(f, theta, t):
  return jax.jvp(jax.grad(fixed(f, t)), (theta,), (theta[::-1],))


@use(14)
def third_order(f, theta, t):
  return jax.jit(jax.jacrev(jax.jacfwd(jax.jacrev(fixed(f, t)))))(theta)


@use(15)
def third_order_jit(f, theta, t):
  return jax.jit(jax.jacfwd(jax.jacfwd(jax.jacrev(fixed(f, t)))))(theta)


@use(16)
def vmap_both(f, theta, t):
  return jax.vmap(f)(*batches(theta, t))


@use(17)
def vmap_theta(f, theta, t):
  return jax.vmap(f, (0, None))(batches(theta, t)[0], t)


@use(18)
def vmap_t(f, theta, t):
  return jax.vmap(f, (None, 0))(theta, batches(theta, t)[1])


@use(19)
def vmap_in_axis_1(f, theta, t):
  thetas, ts = batches(theta, t)
  return jax.vmap(f, 1, 1)(thetas.T, ts.T)


@use(20)
def vmap_of_vmap(f, theta, t):
  inner = jax.vmap(f, (0, None))
  return jax.vmap(inner, (None, 0))(*batches(theta, t))


@use(21)
def vmap_grad(f, theta, t):
  return jax.vmap(jax.grad(loss(f), _BOTH))(*batches(theta, t))


@use(22)
def jit_vmap_grad_t_shared(f, theta, t):
  mapped = jax.vmap(jax.grad(loss(f), _BOTH), (0, None))
  return jax.jit(mapped)(batches(theta, t)[0], t)


@use(23)
def grad_of_vmapped_sum_t_shared(f, theta, t):
  def total(thetas, t):
    return jnp.sum(jax.vmap(loss(f), (0, None))(thetas, t))

  return jax.grad(total, _BOTH)(batches(theta, t)[0], t)


@use(24)
def grad_of_vmapped_sum_theta_shared(f, theta, t):
  def total(theta, ts):
    return jnp.sum(jax.vmap(loss(f), (None, 0))(theta, ts))

  return jax.grad(total, _BOTH)(theta, batches(theta, t)[1])


@use(25)
def vmap_hessian(f, theta, t):
  return jax.jit(jax.vmap(jax.hessian(loss(f), _BOTH)))(*batches(theta, t))


@use(26)
def hessian_of_vmapped_sum(f, theta, t):
  def total(thetas, ts):
    return jnp.sum(jax.vmap(loss(f))(thetas, ts))

  return jax.jit(jax.hessian(total, _BOTH))(*batches(theta, t))


@use(27)
def vmap_of_jvp_over_directions(f, theta, t):
  def along(direction):
    return jax.jvp(lambda x: f(x, t), (theta,), (direction,))[1]

  return jax.vmap(along)(jnp.eye(3))


@use(42)
def grad_of_checkpoint(f, theta, t):
  return jax.grad(jax.checkpoint(loss(f)), _BOTH)(theta, t)


@use(43)
def hessian_of_checkpoint(f, theta, t):
  return jax.jit(jax.hessian(jax.checkpoint(loss(f)), _BOTH))(theta, t)


@use(44)
def jit_grad_of_checkpoint_with_policy(f, theta, t):
  policy = jax.checkpoint_policies.dots_saveable
  kept = jax.checkpoint(loss(f), policy=policy)
  return jax.jit(jax.grad(kept, _BOTH))(theta, t)


@use(45)
def linearize(f, theta, t):
  value, linear = jax.linearize(f, theta, t)
  return value, linear(theta[::-1], jnp.cos(t))


@use(46)
def linear_transpose(f, theta, t):
  value, linear = jax.linearize(f, theta, t)
  return jax.linear_transpose(linear, theta, t)(jnp.cos(value))


@use(47)
def vjp_of_vjp(f, theta, t):
  def pulled(theta, ct):
    return jax.vjp(lambda x: f(x, t), theta)[1](ct)[0]

  value, pullback = jax.vjp(pulled, theta, jnp.cos(t))
  return value, pullback(theta[::-1])


@use(48)
def eval_shape_of_grad(f, theta, t):
  shapes = jax.eval_shape(jax.grad(loss(f), _BOTH), theta, t)
  return jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)


@use(49)
def ahead_of_time(f, theta, t):
  gradient = jax.jit(jax.grad(loss(f), _BOTH))
  return gradient.lower(theta, t).compile()(theta, t)


@use(55)
def grad_without_jit(f, theta, t):
  with jax.disable_jit():
    return jax.grad(loss(f), _BOTH)(theta, t)


@use(56)
def check_grads(f, theta, t):
  from jax.test_util import check_grads as check

  run = functools.partial(check, order=2, modes=("fwd", "rev"), rtol=1e-4)
  run(jax.jit(f), (theta, t))
  return ()
