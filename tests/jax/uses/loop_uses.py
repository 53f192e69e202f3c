"""More `uses`: loops and branches."""

import jax
import jax.numpy as jnp

from tests.jax.uses import uses

_BOTH = (0, 1)


def accumulate(f, t):
  """theta -> a scan whose carry depends on f at each step."""

  def run(theta):
    def step(carry, shift):
      value = f(theta * (1.0 + 0.1 * jnp.tanh(carry)), t + shift)
      return jnp.sum(value), value

    return jax.lax.scan(step, 0.1, jnp.array([0.0, 0.3, 0.5]))

  return run


def accumulated(f, t):
  """A scalar of that scan."""
  return lambda theta: jnp.sum(jnp.sin(accumulate(f, t)(theta)[1]))


@uses.use(36)
def scan(f, theta, t):
  return accumulate(f, t)(theta)


@uses.use(37)
def grad_of_scan(f, theta, t):
  return jax.grad(accumulated(f, t))(theta)


@uses.use(38)
def jvp_of_scan(f, theta, t):
  return jax.jvp(accumulate(f, t), (theta,), (theta[::-1],))


@uses.use(39)
def hessian_of_scan(f, theta, t):
  return jax.jit(jax.hessian(accumulated(f, t)))(theta)


@uses.use(40)
def jvp_of_fori_loop(f, theta, t):
  def run(theta):
    def step(i, x):
      return 0.1 * f(theta * (1.0 + 0.1 * jnp.tanh(x[0])), t + i) + x

    return jax.lax.fori_loop(0, 3, step, t)

  return jax.jvp(run, (theta,), (theta[::-1],))


@uses.use(41)
def grad_of_cond(f, theta, t):
  def branch(theta, t):
    return jax.lax.cond(
      theta[0] > 0.5,
      uses.loss(f),
      lambda x, t: jnp.sum(x) + jnp.sum(t),
      theta,
      t,
    )

  return jax.grad(branch, _BOTH)(theta, t)
