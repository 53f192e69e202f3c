"""The methods that phasic is compared with compute the right numbers."""

import shutil
import time
import unittest

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import scipy.linalg

from benchmarks import models
from benchmarks import native_library
from benchmarks import per_time_method
from benchmarks import timing


def _log_prob(model, theta, times):
  subgenerator, exits = model.at(theta)
  return onp.log(
    [
      model.initial_probs @ scipy.linalg.expm(subgenerator * t) @ exits
      for t in times
    ]
  )


class PerTimeMethodTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    built = native_library.path(per_time_method.LIBRARY).exists()
    if not (built or shutil.which("g++")):
      raise unittest.SkipTest("no C++ compiler")

  @parameterized.parameters(
    models.erlang, lambda: models.kingman(6), lambda: models.dense(12)
  )
  def test_value_and_gradient(self, make):
    model = make()
    times = model.times(20)
    method = per_time_method.PerTimeMethod(model, times)
    expected = _log_prob(model, model.theta, times)
    onp.testing.assert_allclose(method.log_prob(), expected, rtol=1e-8)
    value, gradient = method.value_and_gradient()
    self.assertAlmostEqual(value, onp.sum(expected), places=6)
    h = 1e-5
    for j in range(2):
      step = h * onp.eye(2)[j]
      above = onp.sum(_log_prob(model, model.theta + step, times))
      below = onp.sum(_log_prob(model, model.theta - step, times))
      self.assertAlmostEqual(gradient[j], (above - below) / (2 * h), places=3)


class TimingTest(absltest.TestCase):
  def test_all_functions_are_timed(self):
    calls = {"a": 0, "b": 0}

    def called(name):
      calls[name] += 1

    medians = timing.interleaved(
      {name: lambda name=name: called(name) for name in calls},
      repeats=3,
      target=1e-5,
    )
    self.assertSameElements(medians, calls)
    for name, count in calls.items():
      self.assertGreaterEqual(count, 4)
      self.assertGreaterEqual(medians[name], 0.0)

  def test_no_round_is_begun_after_the_budget(self):
    calls = []
    timing.interleaved(
      {"a": lambda: calls.append(time.sleep(0.002))},
      repeats=50,
      target=0.0,
      budget=0.0,
    )
    self.assertLess(len(calls), 5)

  def test_first_results_are_checked(self):
    given = []
    timing.interleaved(
      {"a": lambda: 1, "b": lambda: 2},
      repeats=1,
      target=0.0,
      check=given.append,
    )
    self.assertEqual(given, [{"a": 1, "b": 2}])


if __name__ == "__main__":
  absltest.main()
