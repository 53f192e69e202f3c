"""The best of many searches from random Coxians, by SciPy alone.

    python -m tests.numpy.fit_references NUM_PHASES

prints the highest log likelihoods of 50 searches; `fit_reference_test` has them.
They take minutes.
"""

import sys

import numpy as np
from scipy import optimize

from phasic.substrates.numpy import math as pm

_NUM_STARTS = 50
_SEED = 10


def samples() -> dict[str, np.ndarray]:
  random = np.random.default_rng(1)
  return {
    "weibull": 2.0 * random.weibull(1.7, 300),
    "lognormal": random.lognormal(0.0, 0.6, 300),
    "bimodal": np.concatenate(
      [random.gamma(5, 0.2, 150), random.gamma(20, 0.25, 150)]
    ),
  }


def search(
  times: np.ndarray, num_phases: int, random: np.random.Generator
) -> float:
  """Returns the log likelihood that L-BFGS-B reaches, in logarithms of rates."""
  first = np.eye(num_phases)[0]
  size, between = len(times), num_phases - 1

  def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
    rates = np.exp(logs)
    values, (of_matrix, of_exits) = pm.value_and_gradient(
      lambda matrix, exits: pm.phase_type.log_prob(
        times, first, matrix, exit_rates=exits
      ),
      np.diag(rates[:between], 1),
      rates[between:],
    )
    slopes = np.append(np.diag(of_matrix, 1), of_exits)
    if not (np.all(np.isfinite(values)) and np.all(np.isfinite(slopes))):
      return 1e10, np.zeros_like(logs)
    return -np.sum(values) / size, -slopes * rates / size

  start = random.normal(size=2 * num_phases - 1) - np.log(np.mean(times))
  start[:between] += np.log(num_phases)
  found = optimize.minimize(
    loss,
    start,
    jac=True,
    method="L-BFGS-B",
    bounds=[(-25.0, 12.0)] * len(start),
    options={
      "maxiter": 20000,
      "maxfun": 40000,
      "maxcor": 30,
      "ftol": 1e-15,
      "gtol": 1e-9,
    },
  )
  return -size * found.fun


def main(num_phases: int) -> None:
  for name, times in samples().items():
    random = np.random.default_rng(_SEED)
    found = [search(times, num_phases, random) for _ in range(_NUM_STARTS)]
    print(f"{name} {max(found):.7f}")


if __name__ == "__main__":
  main(int(sys.argv[1]))
