"""Rows of `jax.scipy.linalg.expm`, mapped over all intervals and compiled."""

import jax
import jax.numpy as jnp
import numpy as np
import subjects


def value_and_gradient(with_age):
  table = subjects.table()
  same = np.diff(table["subject"]) == 0
  times = jnp.asarray(np.diff(table["time"])[same])
  ages = jnp.asarray(table["age"][:-1][same])
  before = jnp.asarray(table["state"][:-1][same].astype(int) - 1)
  after = jnp.asarray(table["state"][1:][same].astype(int) - 1)
  sources, targets = np.transpose(subjects.TRANSITIONS) - 1
  size, scales = len(sources), subjects.scales()
  given = np.log(np.array(subjects.RATES))
  given = np.append(given, subjects.EFFECTS) if with_age else given
  moved = np.arange(len(given)) < size

  def one(x, time, age, i, j):
    rates = jnp.exp(x[:size] + x[size:] * age if with_age else x[:size])
    jumps = jnp.zeros((4, 4)).at[sources, targets].set(rates)
    probs = jax.scipy.linalg.expm(
      (jumps - jnp.diag(jnp.sum(jumps, axis=1))) * time
    )
    seen = jnp.where(j == 3, probs @ jumps[:, 3], probs[:, j])
    return jnp.log(seen[i])

  @jax.jit
  @jax.value_and_grad
  def compiled(x):
    mapped = jax.vmap(one, in_axes=(None, 0, 0, 0, 0))
    return jnp.sum(mapped(x, times, ages, before, after))

  return lambda: jax.block_until_ready(
    compiled(given + np.log(next(scales)) * moved)
  )
