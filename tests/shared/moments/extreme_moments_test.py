"""Moments of chains whose rates span all doubles, against rationals."""

import fractions
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

  def test_transforms(self):
    # Phase 0 leads to phase 1, which leads back or is left for absorption.
    chains = [
      (1e-50, 2.9e119, 7.6e-37),
      (1e-50, 1.0, 1e-200),
      (1e120, 2e120, 1e-80),
      (1e-120, 1e-100, 1e-140),
      (1e60, 1e100, 1e-180),
      (1e-150, 1e-20, 1e-30),
      (1e100, 1e-100, 1e-120),
      (1e-3, 1e200, 1e-20),
      (3.0, 1e100, 1e-100),
      (1e-80, 1e80, 1e-80),
    ]
    rewards = (1.0, 3.0)
    truths = []
    for chain in chains:
      a, b, e = (fractions.Fraction(x) for x in chain)
      start = fractions.Fraction(1, 2)
      # Times in the phases; the first is entered once more than it is left for.
      second = 1 / e
      first = (start + b * second) / a
      u = fractions.Fraction(float(1 / (first + second)))
      row = [float(u)]
      for rate in (u, -u / 2):
        x = e * (a + rate) / ((b + e + rate) * (a + rate) - a * b)
        row.append(float(start * x + start * a * x / (a + rate)))
      row += [float(first), float(second)]
      truths.append(row)
    u, below, above, first, second = onp.transpose(truths)
    a, b, e = onp.transpose(chains)
    none = onp.zeros(len(chains))
    matrix = onp.stack([onp.stack([none, b]), onp.stack([a, none])])
    model = (
      np.asarray([0.5, 0.5], "float64"),
      np.asarray(matrix.T, "float64"),
      np.asarray(onp.stack([none, e], axis=-1), "float64"),
    )
    u = np.asarray(u, "float64")
    ones = np.asarray(onp.ones((2, 1)), "float64")
    functions = pm.phase_type
    for found, truth in (
      (functions.laplace_transform(u, *model), below),
      (
        functions.joint_laplace_transform(u[:, None], ones, *model),
        below,
      ),
      (functions.moment_generating_function(-u, *model), below),
      (functions.moment_generating_function(0.5 * u, *model), above),
      (
        functions.reward_means(
          np.asarray(onp.diag(rewards), "float64"), *model
        ),
        onp.stack([rewards[0] * first, rewards[1] * second], axis=-1),
      ),
    ):
      onp.testing.assert_allclose(onp.asarray(found), truth, 1e-12)

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
