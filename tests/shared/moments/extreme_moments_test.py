"""Moments of chains whose rates span all doubles, against rationals."""

import os

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import math as pm
from tests.helpers import test_case
from tests.oracle import extreme_chains

MODE = "numpy"
# XLA flushes numbers below the smallest normal one.
_FLUSHES = True
if MODE == "numpy":
  _FLUSHES = False

_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
_SHARDS = 10
_COUNT = (100_000 if _FULL else 2_000) // _SHARDS
_SIZE = 200 if not _FULL else 500


def _functions(discrete):
  """Returns functions of `math` by names of the oracle."""
  names = ["mean", "second_moment", "variance", "stddev", "expected_visits"]
  functions = pm.discrete_phase_type if discrete else pm.phase_type
  if not discrete:
    names.append("expected_sojourn_times")
  return {name: getattr(functions, name) for name in names}


class ExtremeMomentsTest(test_case.TestCase):
  """Tests mean, variance and visits of small chains."""

  # One phase is never entered, and ratios are 1e322 to 1e350.
  @parameterized.parameters(1e222, 1e224, 1e250)
  def test_ratios(self, rate):
    model = (
      np.asarray([0.0, 1.0], "float64"),
      np.asarray([[0.0, 0.0], [1e-100, 0.0]], "float64"),
      np.asarray([rate, 0.0], "float64"),
    )
    onp.testing.assert_allclose(pm.phase_type.mean(*model), 1e100, 1e-12)
    onp.testing.assert_allclose(pm.phase_type.variance(*model), 1e200, 1e-12)
    onp.testing.assert_allclose(
      pm.phase_type.second_moment(*model), 2e200, 1e-12
    )
    onp.testing.assert_allclose(
      pm.phase_type.expected_visits(*model), [1, 1], 1e-12
    )
    times = pm.phase_type.expected_sojourn_times(*model)
    onp.testing.assert_allclose(times, [1 / rate, 1e100], 1e-12)

  def test_jumps(self):
    edges = pm.EdgeRates(
      [0, 0, 1], [1, 2, 2], np.asarray([1e-300, 1e250, 1e-290], "float64")
    )
    alpha = np.asarray([1.0, 0.0], "float64")
    jumps = pm.phase_type.expected_jumps(alpha, edges)
    onp.testing.assert_allclose(jumps, [0.0, 1.0, 0.0], 1e-12)
    edges = pm.EdgeRates(
      [0, 0, 1], [1, 2, 0], np.asarray([1e300, 1e-200, 1e-300], "float64")
    )
    jumps = pm.phase_type.expected_jumps(alpha, edges)
    onp.testing.assert_allclose(jumps, [onp.inf, 1.0, onp.inf], 1e-12)

  @parameterized.parameters(*range(_SHARDS))
  def test_sweep(self, seed):
    wrong = []
    for chains in extreme_chains.batches(seed, _COUNT, _SIZE):
      if _FLUSHES:
        chains = chains.flushed()
      arguments = [np.asarray(x, "float64") for x in chains.arguments()]
      found = {
        name: onp.asarray(function(*arguments))
        for name, function in _functions(chains.discrete).items()
      }
      for k in range(_SIZE):
        model = chains.weights[k], chains.initial[k]
        truths = extreme_chains.moments(*model, chains.discrete)
        for name, truth in truths.items():
          for x, true in zip(
            onp.atleast_1d(found[name][k]), truth, strict=True
          ):
            is_root = name == "stddev"
            if not extreme_chains.is_right(x, true, is_root, _FLUSHES):
              wrong.append((name, *model, x, str(true)))
    self.assertEmpty(wrong, f"{len(wrong)} are wrong, the first {wrong[:1]}")


if __name__ == "__main__":
  absltest.main()
