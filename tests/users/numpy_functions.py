"""Functions of arrays, their gradients, and a sparse model."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from phasic.substrates import numpy as ph

Floats = npt.NDArray[np.float64]


def log_likelihood(rate: Floats, times: Sequence[float]) -> Floats:
  """Returns log densities of exponential times."""
  subgenerator = -np.reshape(rate, (1, 1))
  return ph.math.phase_type.log_prob(times, [1.0], subgenerator)


def main() -> dict[str, float]:
  """Returns the value and the slope of a log likelihood, and a sparse mean."""

  def objective(rate: Floats) -> Floats:
    return log_likelihood(rate, [0.5, 1.0, 2.5])

  values, slope = ph.math.value_and_gradient(objective, np.asarray(2.0))
  edges = ph.math.EdgeRates([0, 1], [1, 2], [2.0, 4.0])
  mean = ph.math.phase_type.mean([1.0, 0.0], edges)
  count = ph.math.discrete_phase_type.prob(3, [1.0], [[0.75]])
  with ph.config.use_path("portable"):
    portable = ph.math.phase_type.cdf(1.0, [1.0], [[-1.0]])
  return {
    "value": float(np.sum(values)),
    "slope": float(slope),
    "mean": float(mean),
    "count": float(count),
    "portable": float(portable),
  }


if __name__ == "__main__":
  print(main())
