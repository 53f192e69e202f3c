"""Rows of the table on what NumPy's substrate costs before any work is done."""

from collections.abc import Iterator
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as onp

from benchmarks import comparison
from benchmarks import timing
from benchmarks.results import Row
from phasic.substrates.numpy.distributions import PhaseType

_STAGES, _RATE, _TIME = 3, 2.0, 1.5
_IMPORT = """
import sys, time
start = time.process_time()
__import__(sys.argv[1])
print(time.process_time() - start)
"""


def one_call(repeats: int) -> Iterator[Row]:
  """Construction and `log_prob` of a small model, against TFP's gamma."""
  # Not above: where TensorFlow is installed, this imports it.
  from tensorflow_probability.substrates import numpy as tfp

  gamma = tfp.distributions.Gamma
  start = onp.eye(_STAGES)[0]
  rates = _RATE * (onp.eye(_STAGES, k=1) - onp.eye(_STAGES))
  concentration, rate = onp.float64(_STAGES), onp.float64(_RATE)
  seconds = timing.interleaved(
    {
      "phasic": lambda: PhaseType(start, rates).log_prob(_TIME),
      "gamma": lambda: gamma(concentration, rate).log_prob(_TIME),
    },
    max(repeats, 15),
    target=0.02,
    check=comparison.check,
  )
  yield Row(
    "3 phases in NumPy: constructed, and one log density",
    seconds["phasic"],
    seconds["gamma"],
    "Gamma of TFP for NumPy",
  )


def _import_seconds(module: str, environment: dict[str, str]) -> float:
  """CPU seconds of an import in a process of its own."""
  result = subprocess.run(
    [sys.executable, "-c", _IMPORT, module],
    env=environment,
    check=True,
    capture_output=True,
    text=True,
  )
  return float(result.stdout.splitlines()[-1])


def imports(repeats: int) -> Iterator[Row]:
  """Importing NumPy's substrate, NumPy included; compiled once before."""
  found: dict[str, list[float]] = {"phasic.substrates.numpy": [], "numpy": []}
  with tempfile.TemporaryDirectory() as cache:
    environment = {
      **os.environ,
      "PYTHONPATH": os.pathsep.join(x for x in sys.path if x),
      "PYTHONPYCACHEPREFIX": cache,
      "PYTHONDONTWRITEBYTECODE": "",
    }
    for module in found:
      _import_seconds(module, environment)
    for _ in range(max(repeats, 7)):
      for module, seconds in found.items():
        seconds.append(_import_seconds(module, environment))
  ours, numpy = map(statistics.median, found.values())
  yield Row(
    "import phasic.substrates.numpy, with NumPy",
    ours,
    numpy,
    "import numpy",
    "phasic imports NumPy and then its own modules and native library.",
  )
