"""Laws in closed form, for the suites of `make test-versions`.

Plain NumPy, so that the suites run where nothing but the wheel, an array
library and SciPy is installed.
"""

import math
import os

import numpy as np

# The wheel for any system runs on the portable path.
PATH = os.environ.get("PHASIC_EXPECTED_PATH", "kernel")
TIMES = np.array([0.1, 0.7, 2.0, 30.0])
RATE = 1.5
# An Erlang law with two phases as a general one.
INITIAL = np.array([1.0, 0.0])
UNIT_SUBGENERATOR = np.array([[-1.0, 1.0], [0.0, -1.0]])


def log_density(rate: float, times: np.ndarray) -> np.ndarray:
  """Returns the log density of an Erlang law with two phases."""
  return 2.0 * math.log(rate) + np.log(times) - rate * times


def slope(rate: float, times: np.ndarray) -> float:
  """Returns the derivative in the rate of the sum of log densities."""
  return float(np.sum(2.0 / rate - times))


def curvature(rate: float, times: np.ndarray) -> float:
  """Returns its second derivative."""
  return -2.0 * len(times) / rate**2


def machine(absorbed):
  """Returns the transitions of two machines with one repairer.

  Args:
    absorbed: `graphs.ABSORBED`.
  """

  def transitions(broken):
    yield (broken + 1 if broken == 0 else absorbed), {"fail": 2 - broken}
    if broken:
      yield 0, {"repair": 1}

  return transitions


def machine_mean(fail: float, repair: float) -> float:
  """Returns the mean time until both machines are down."""
  return (3.0 * fail + repair) / (2.0 * fail**2)


def machine_slope(fail: float, repair: float) -> float:
  """Returns the derivative of that mean in the rate of failures."""
  return -(3.0 * fail + 2.0 * repair) / (2.0 * fail**3)
