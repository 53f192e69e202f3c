"""Rewards of one chain, and their moments."""

import jax
import jax.numpy as jnp

from phasic.substrates import jax as ph


def main() -> dict[str, float]:
  """Returns means and covariances of times in two stages."""
  subgenerator = jnp.asarray([[-2.0, 1.0], [0.0, -4.0]])
  dist = ph.distributions.MultivariatePhaseType(
    [1.0, 0.0], subgenerator, jnp.eye(2)
  )
  means: jax.Array = dist.mean()
  total = dist.projection([1.0, 1.0])
  function = ph.math.phase_type.reward_means(
    jnp.eye(2), [1.0, 0.0], subgenerator
  )
  assert jnp.allclose(means, function)
  return {
    "first": float(means[0]),
    "second": float(means[1]),
    "covariance": float(dist.covariance()[0, 1]),
    "total": float(total.mean()),
  }


if __name__ == "__main__":
  print(main())
