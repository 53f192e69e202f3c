"""Rows of phasic in JAX: a multi-state model of panel data, compiled."""

import jax
import jax.numpy as jnp
import models
import numpy as np
import subjects

from phasic.substrates import jax as ph


def log_likelihood(with_age):
  panel, given = models.data(ph), models.given(with_age)

  def call():
    terms = models.terms(ph, jnp.exp, with_age, panel)
    return float(jnp.sum(terms(given)))

  return call


def value_and_gradient(with_age):
  terms = models.terms(ph, jnp.exp, with_age, models.data(ph))
  given, scales = models.given(with_age), subjects.scales()
  moved = np.arange(len(given)) < len(models.NAMES)

  @jax.jit
  @jax.value_and_grad
  def compiled(x):
    return jnp.sum(terms(x))

  return lambda: jax.block_until_ready(
    compiled(given + np.log(next(scales)) * moved)
  )


def fit(with_age):
  return models.fit(ph, with_age)
