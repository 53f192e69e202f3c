"""Gradients of a log likelihood in compiled code."""

import jax
import jax.numpy as jnp

from phasic.substrates import jax as ph


def loss(log_rate: jax.Array, times: jax.Array) -> jax.Array:
  """Returns the negative log likelihood of Erlang times."""
  dist = ph.distributions.Erlang(2, jnp.exp(log_rate))
  return -jnp.sum(dist.log_prob(times))


def main() -> dict[str, float]:
  """Returns the value and the slope, which is r sum(t) - 2 n."""
  times = jnp.asarray([0.5, 1.0, 1.5])
  value, slope = jax.jit(jax.value_and_grad(loss))(jnp.asarray(0.0), times)
  dist = ph.distributions.Erlang(2, jnp.asarray([1.0, 2.0]))
  samples: jax.Array = dist.sample((5,), seed=jax.random.key(0))
  assert samples.shape == (5, 2)
  return {"value": float(value), "slope": float(slope)}


if __name__ == "__main__":
  print(main())
