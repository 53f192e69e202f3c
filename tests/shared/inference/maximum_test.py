"""Maxima of log likelihoods that users write."""

import math
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from tests.helpers import test_case

models = graphs.models
_COUNTS = [997.0, 441.0, 228.0, 156.0, 117.0, 114.0, 83.0, 105.0, 109.0]


def _of_spectrum(numbers):
  """Computes the log likelihood of a size before a time, and one after it."""
  size = np.reshape(numbers["size"], (1,))
  history = pd.Epochs(
    models.kingman(10),
    [np.ones_like(size), 1.0 / size],
    np.reshape(numbers["time"], (1,)),
  )
  lengths = models.kingman_spectrum(history.expected_sojourn_times())
  return models.spectrum_log_likelihood(onp.asarray(_COUNTS), lengths)


class MaximumTest(test_case.TestCase):
  """Tests maxima, standard errors, and ends that are no maxima."""

  def test_a_spectrum(self):
    # Two populations explain the counts as well as any: the optimum is the only
    # one. The reference values are those of an independent program.
    start = {"time": 1.0, "size": 1.0}
    plateau = {"time": math.e, "size": math.e}
    found = inference.maximize(_of_spectrum, start, starts=[plateau])
    self.assertTrue(found.converged, found.message)
    self.assertAlmostEqual(
      float(found.parameters["time"]), 0.145461, delta=6e-7
    )
    self.assertAlmostEqual(
      float(found.parameters["size"]), 0.481351, delta=6e-7
    )
    self.assertGreater(found.reached[0], found.reached[1] + 30.0)
    self.assertEqual(set(found.statuses.values()), {"identified"})
    with warnings.catch_warnings(record=True) as told:
      warnings.simplefilter("always")
      end = inference.maximize(_of_spectrum, plateau)
    self.assertFalse(end.converged)
    self.assertRegex(end.message, "flat, or rises without end, in time")
    self.assertIn(end.message, [str(x.message) for x in told])
    self.assertTrue(onp.isnan(end.standard_errors["time"]))
    self.assertEqual(end.statuses["time"], "not identified (flat likelihood)")

  def test_numbers_of_gradients(self):
    found = inference.maximize(_of_spectrum, {"time": 1.0, "size": 1.0})
    self.assertLessEqual(found.num_evaluations, 40)

  def test_rates(self):
    # Two exponential samples: rates are one over means, errors rate / sqrt(n).
    x = onp.asarray([[0.5, 1.0, 3.0, 0.25], [2.0, 4.0, 1.0, 7.0]])

    def log_likelihood(rates):
      return np.sum(pd.Erlang(1, rates[:, None]).log_prob(x))

    found = inference.maximize(log_likelihood, onp.asarray([1.0, 1.0]))
    rates = 1.0 / onp.mean(x, axis=-1)
    self.assert_close(found.parameters, rates, 1e-8)
    self.assert_close(found.standard_errors, rates / 2.0, 1e-7)
    self.assertEqual(list(found.statuses), ["start[0]", "start[1]"])

  @parameterized.named_parameters(
    ("ridge", lambda x: -((x["a"] * x["b"] - 2.0) ** 2), "flat"),
    ("edge", lambda x: -1.0 / (1.0 + x["a"]) - (x["b"] - 1.0) ** 2, "a:"),
    ("saddle", lambda x: (x["a"] - 1.0) ** 2 - (x["b"] - 2.0) ** 2, "a:"),
  )
  def test_no_maximum(self, log_likelihood, said):
    with warnings.catch_warnings():
      warnings.simplefilter("ignore", RuntimeWarning)
      found = inference.maximize(log_likelihood, {"a": 1.0, "b": 1.0})
    self.assertFalse(found.converged)
    self.assertRegex(found.message, said)
    self.assertStartsWith(found.statuses["a"], "not ")

  def test_steps_into_what_cannot_be_computed(self):
    # Beyond 3 there is no value; the maximum is near this edge.
    def log_likelihood(x):
      return np.log(x) + 0.1 * np.log(3.0 - x)

    found = inference.maximize(log_likelihood, 0.01)
    self.assert_close(found.parameters, 3.0 / 1.1, 1e-7)

  def test_an_end_with_a_slope(self):
    # The best of all points counts, where a line search fails at an edge.
    def log_likelihood(x):
      return np.where(x <= 5.0, 10.0 * np.log(x), math.nan)

    with warnings.catch_warnings():
      warnings.simplefilter("ignore", RuntimeWarning)
      found = inference.maximize(log_likelihood, 1.0)
    self.assertFalse(found.converged)
    self.assertGreater(found.log_likelihood, 16.0)
    self.assertRegex(found.message, "a slope of 10 in a logarithm is left")

  def test_a_start_that_cannot_be_computed(self):
    def log_likelihood(x):
      return np.log(5.0 - x) + np.log(x)

    for start, other in ((1.0, 6.0), (6.0, 1.0)):
      found = inference.maximize(log_likelihood, start, starts=[other])
      self.assertTrue(found.converged)
      self.assert_close(found.parameters, 2.5, 1e-7)
      self.assertEqual(sum(map(math.isnan, found.reached)), 1)

  def test_single_precision(self):
    found = inference.maximize(
      lambda x: np.sum(10.0 * np.log(x) - 5.0 * x), onp.ones(2, onp.float32)
    )
    self.assertTrue(found.converged, found.message)
    self.assert_close(found.parameters, [2.0, 2.0], 1e-3)

  def test_all_steps(self):
    with warnings.catch_warnings():
      warnings.simplefilter("ignore", RuntimeWarning)
      found = inference.maximize(
        _of_spectrum, {"time": 1.0, "size": 1.0}, max_steps=2
      )
    self.assertFalse(found.converged)
    self.assertRegex(found.message, "raise max_steps")
    self.assertEqual(found.statuses["time"], "unknown (the search did not end)")

  def test_mistakes(self):
    def refused(error, message, start, f=lambda x: -x * x, **options):
      with self.assertRaisesRegex(error, message):
        inference.maximize(f, start, **options)

    refused(ValueError, "start of start is 0: it must be > 0", 0.0)
    refused(ValueError, r"a\[1\] of start is -1", {"a": [1.0, -1.0]})
    refused(ValueError, "start has no numbers", {})
    refused(TypeError, "must hold numbers", "numbers")
    refused(TypeError, r"array of shape \(2,\)", onp.ones(2))
    refused(
      ValueError, "log likelihood at start is nan", 1.0, lambda x: x * math.nan
    )
    refused(TypeError, r"starts\[0\] is float", {"a": 1.0}, starts=[1.0])
    refused(
      ValueError,
      r"starts\[0\] has the names b",
      {"a": 1.0},
      starts=[{"b": 1.0}],
    )
    refused(
      ValueError,
      r"a of starts\[0\] has shape \(1,\)",
      {"a": 1.0},
      starts=[{"a": [1.0]}],
    )
    refused(
      TypeError, "starts is {.a.: 1.0}: it", {"a": 1.0}, starts={"a": 1.0}
    )
    refused(ValueError, "tolerance is 0", 1.0, tolerance=0.0)
    refused(TypeError, "max_steps is 1.5", 1.0, max_steps=1.5)


if __name__ == "__main__":
  absltest.main()
