"""The shape of a regression: many small models, one time each.

A model is a Coxian with four phases: phase i leads to phase i + 1 at rate
moves[i] and out at rate exits[i], as covariates would have it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as onp

PHASES = 4


class Regression(NamedTuple):
  """Models with their times.

  Attributes:
    rates: [B, 7], the moves and then the exits.
    times: [B].
  """

  rates: onp.ndarray
  times: onp.ndarray


def regression(size: int = 10_000) -> Regression:
  """Rates that differ by a factor of up to e^2; each time from its model."""
  rng = onp.random.default_rng(2)
  base = onp.log([2.0, 1.5, 1.0, 0.5, 0.5, 0.75, 1.0])
  rates = onp.exp(base + rng.uniform(-1.0, 1.0, (size, 7)))
  moves, exits = rates[:, :3], rates[:, 3:]
  times = onp.zeros(size)
  present = onp.ones(size, bool)
  for i in range(PHASES):
    move = moves[:, i] if i < PHASES - 1 else onp.zeros(size)
    total = exits[:, i] + move
    times += onp.where(present, rng.exponential(size=size) / total, 0.0)
    present &= rng.uniform(size=size) * total < move
  return Regression(rates, times)


def jax_scan(data: Regression):
  """[B, 7], [B] to log f [B]: a scan for one model, vmapped.

  The step is written for a Coxian: a product with the phase before, and the
  density is added up on the way. All models have one number of steps.
  """
  totals = data.rates[:, 3:].copy()
  totals[:, :3] += data.rates[:, :3]
  means = 1.05 * onp.max(totals, axis=1) * data.times
  mean = float(onp.max(means))
  steps = int(mean + 9.0 * onp.sqrt(mean) + 30.0)

  def log_prob(rates, time):
    total = rates[3:] + jnp.append(rates[:3], 0.0)
    # The value does not depend on it.
    rate = jax.lax.stop_gradient(1.05 * jnp.max(total))
    move, stay, mean = rates[:3] / rate, 1.0 - total / rate, rate * time

    def body(carry, k):
      v, weight, density = carry
      density += weight * (v @ rates[3:])
      v = v * stay + jnp.concatenate([jnp.zeros(1), v[:3] * move])
      return (v, weight * mean / (k + 1.0), density), None

    start = (jnp.eye(PHASES)[0], jnp.exp(-mean), jnp.zeros(()))
    counts = jnp.arange(steps, dtype=jnp.float64)
    (_, _, density), _ = jax.lax.scan(body, start, counts)
    return jnp.log(density)

  return jax.vmap(log_prob)
