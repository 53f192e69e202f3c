"""A repair shop: distributions of waiting times, and what they are asked."""

import numpy as np

from phasic.substrates import numpy as ph


def late_share(dist: ph.distributions.PhaseType, limit: float) -> float:
  """Returns the probability that a repair takes longer."""
  return float(dist.survival_function(limit))


def main() -> dict[str, float]:
  """Returns figures of two stages in a row, each at rate two."""
  dist = ph.distributions.PhaseType([1.0, 0.0], [[-2.0, 2.0], [0.0, -2.0]])
  times = np.linspace(0.5, 3.0, 6)
  densities = dist.prob(times)
  samples = dist.sample((1000,), seed=3)
  assert densities.shape == times.shape
  assert samples.shape == (1000,)
  assert dist.batch_shape == ()
  shape: tuple[int | None, ...] = dist[None].batch_shape
  assert shape == (1,)
  return {
    "mean": float(dist.mean()),
    "late": late_share(dist, 1.0),
    "median": float(dist.quantile(0.5)),
    "moment": float(dist.moment(np.int64(2))),
  }


if __name__ == "__main__":
  print(main())
