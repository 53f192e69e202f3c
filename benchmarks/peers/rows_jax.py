"""Rows of JAX's own functions, and of JAXbind, in double precision."""

import jax
import jax.numpy as jnp
import jaxbind
import numpy as np


def log_prob(times):
  times = jnp.array(times)
  shape, scale = jnp.array(3.0), jnp.array(0.5)
  logpdf = jax.scipy.stats.gamma.logpdf
  return lambda: logpdf(times, shape, scale=scale).block_until_ready()


def _sine():
  def value(out, args, kwargs_dump):
    del kwargs_dump
    out[0][()] = np.sin(args[0])

  def tangent(out, args, kwargs_dump):
    del kwargs_dump
    out[0][()] = np.cos(args[0]) * args[1]

  # Of the function, and of its forward product, which has tangents, too.
  def abstract(x, *tangents, **kwargs):
    del tangents, kwargs
    return ((x.shape, x.dtype),)

  def abstract_reverse(x, cotangent, **kwargs):
    del cotangent, kwargs
    return ((x.shape, x.dtype),)

  # The derivative is diagonal, so that both products are the same.
  return jaxbind.get_nonlinear_call(
    value, (tangent, tangent), abstract, abstract_reverse
  )


def bound_loop(calls, size):
  sine = _sine()

  @jax.jit
  def loop(start):
    return jax.lax.fori_loop(0, calls, lambda _, x: sine(x)[0] + 1.0, start)

  start = jnp.ones(size)
  return lambda: loop(start).block_until_ready()


def bound_gradient_loop(calls, size):
  sine = _sine()
  slope = jax.grad(lambda x: jnp.sum(sine(x)[0]))

  @jax.jit
  def loop(start):
    return jax.lax.fori_loop(0, calls, lambda _, x: slope(x) + 1.0, start)

  start = jnp.ones(size)
  return lambda: loop(start).block_until_ready()
