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
from phasic.inference.parameters import numbers
from tests.helpers import test_case

models = graphs.models
_REAL = (-math.inf, math.inf)
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
    plateau = {"time": 100.0, "size": math.e}
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

  def test_a_normal_sample(self):
    # From far away the first searches are slow: the units are 10^4 times larger.
    x = 3e4 + 2.0 * onp.asarray([-1.0, 0.5, 2.5, 0.0, 1.5, -0.25])
    mean, deviation = float(onp.mean(x)), float(onp.std(x))

    def log_likelihood(of):
      z = (x - of["mean"]) / of["sd"]
      return -0.5 * np.sum(z * z) - 6.0 * np.log(of["sd"])

    found = inference.maximize(
      log_likelihood,
      {"mean": 0.0, "sd": 1.0},
      bounds={"mean": _REAL},
      starts=[{"mean": 2.9e4, "sd": 10.0}, {"mean": -2.0, "sd": 0.5}],
    )
    self.assertTrue(found.converged, found.message)
    self.assertLen(found.reached, 3)
    self.assert_close(found.parameters["mean"], mean, 1e-9)
    self.assert_close(found.parameters["sd"], deviation, 1e-6)
    errors = found.standard_errors
    self.assert_close(errors["mean"], deviation / math.sqrt(6.0), 1e-6)
    self.assert_close(errors["sd"], deviation / math.sqrt(12.0), 1e-6)

  def test_probabilities(self):
    # Three of ten, none of ten, and all of ten.
    def log_likelihood(p):
      none, every = 10.0 * np.log(1.0 - p[1]), 10.0 * np.log(p[2])
      return 3.0 * np.log(p[0]) + 7.0 * np.log(1.0 - p[0]) + none + every

    found = inference.maximize(
      log_likelihood, onp.full(3, 0.5), bounds=(0.0, [1.0, 1.0, 1.0])
    )
    self.assertTrue(found.converged, found.message)
    self.assert_close(found.parameters, [0.3, 0.0, 1.0], 1e-7)
    self.assertEqual(list(self.host(found.parameters)[1:]), [0.0, 1.0])
    self.assertEqual(
      list(found.statuses.values()),
      ["identified", "on the boundary (zero)", "at a bound"],
    )
    self.assertAlmostEqual(found.standard_errors[0], math.sqrt(0.021), 7)
    self.assertTrue(onp.all(onp.isnan(found.standard_errors[1:])))
    self.assertRegex(found.message, r"falls away .* of start\[1\], start\[2\]")

  def test_a_correlation(self):
    # Of standard normal pairs with sums of squares n and of products n r, the
    # estimate is r, and the information n (1 + r^2) / (1 - r^2)^2.
    n = 50.0
    for r in (0.95, -0.3):

      def log_likelihood(of, r=r):
        left = 1.0 - of * of
        return -n / 2 * np.log(left) - n * (1.0 - of * r) / left

      found = inference.maximize(log_likelihood, 0.1, bounds=(-1.0, 1.0))
      self.assertTrue(found.converged, found.message)
      self.assert_close(found.parameters, r, 1e-7)
      error = (1.0 - r**2) / math.sqrt(n * (1.0 + r**2))
      self.assert_close(found.standard_errors, error, 1e-6)

  def test_rates_at_zero(self):
    # All times are censored, and no path is as fast as the third rate needs.
    times = onp.asarray([1.0, 2.0, 3.0])

    def log_likelihood(rates):
      censored = pd.Erlang(1, rates[0]).log_survival_function(times)
      return np.sum(censored) + 3.0 * np.log(rates[1]) - 6.0 * rates[1]

    found = inference.maximize(log_likelihood, onp.asarray([1.0, 2.0]))
    self.assertTrue(found.converged, found.message)
    self.assertEqual(float(self.host(found.parameters)[0]), 0.0)
    self.assert_close(self.host(found.parameters)[1], 0.5, 1e-7)
    self.assertEqual(found.statuses["start[0]"], "on the boundary (zero)")
    self.assertTrue(math.isnan(found.standard_errors[0]))
    self.assert_close(found.standard_errors[1], 0.5 / math.sqrt(3.0), 1e-7)

  def test_half_lines(self):
    # Peaks at -3, 3 and -3, below -1 and above it.
    peaks = onp.asarray([-3.0, 3.0, -3.0])
    found = inference.maximize(
      lambda x: -np.sum((x - peaks) ** 2),
      onp.asarray([-5.0, -5.0, 2.0]),
      bounds=([-math.inf, -math.inf, -1.0], [-1.0, -1.0, math.inf]),
    )
    self.assertTrue(found.converged, found.message)
    self.assert_close(found.parameters, [-3.0, -1.0, -1.0], 1e-7)
    self.assertEqual(
      list(found.statuses.values()), ["identified", "at a bound", "at a bound"]
    )
    self.assert_close(found.standard_errors[0], math.sqrt(0.5), 1e-7)

  @parameterized.named_parameters(
    ("no value at zero", lambda x: 0.0 * np.log(x) - x, (0.0, math.inf)),
    ("to infinity", lambda x: -np.log(1.0 + np.exp(-x)), _REAL),
    ("unbounded", lambda x: -np.log(x), (0.0, 1.0)),
  )
  def test_no_end(self, log_likelihood, bounds):
    with warnings.catch_warnings():
      warnings.simplefilter("ignore", RuntimeWarning)
      found = inference.maximize(log_likelihood, 0.5, bounds=bounds)
    self.assertFalse(found.converged)
    self.assertEqual(found.statuses["start"], "not identified (no maximum)")
    self.assertTrue(math.isnan(found.standard_errors))

  def test_entries_of_numbers(self):
    form = numbers.Numbers(
      "start",
      {"a": 2.0, "b": [-3.0, 0.25]},
      {"b": ([-math.inf, 0.0], [math.inf, 1.0])},
    )
    self.assertEqual(list(form.entries), [2.0, -3.0, 0.25, 0.75])
    for unit in (1.0, 4.0):
      where = form.in_units(onp.full(4, unit))
      free = where.to_unconstrained(form.entries)
      # The larger of two distances from bounds is the reference.
      known = [math.log(2.0), -3.0 / unit, -math.log(3.0)]
      self.assert_close(free, known, 1e-14)
      self.assert_close(where.to_constrained(free), form.entries, 1e-14)
      self.assert_close(where.forward(free), form.entries, 1e-14)
    again = form.value_at(form.array(form.entries))
    self.assertEqual(list(again), ["a", "b"])
    self.assert_close(again["b"], [-3.0, 0.25], 1e-14)

  def test_real_numbers_that_compensate(self):
    # Only the sum is known, but for the second pair.
    def log_likelihood(x):
      return -((x[0] + x[1] - 1.0) ** 2) - (x[2] - 1e6) ** 2 * 1e-8

    with warnings.catch_warnings():
      warnings.simplefilter("ignore", RuntimeWarning)
      found = inference.maximize(log_likelihood, onp.zeros(3), bounds=_REAL)
    self.assertFalse(found.converged)
    flat = "not identified (flat likelihood)"
    self.assertEqual(list(found.statuses.values()), [flat, flat, "identified"])
    self.assert_close(found.standard_errors[2], math.sqrt(0.5e8), 1e-6)

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
    self.assertRegex(
      found.message, "a slope of 10 in a free coordinate is left"
    )

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

    refused(ValueError, "start of start is 0: it must be > 0 and fin", 0.0)
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
    refused(
      ValueError,
      "start is 2: it must be > 0 and < 1 and fin",
      2.0,
      bounds=(0, 1),
    )
    refused(ValueError, "start is inf", math.inf, bounds=_REAL)
    refused(ValueError, r"bounds of start are \(1, 1\)", 1.0, bounds=(1.0, 1.0))
    refused(
      ValueError,
      r"bounds of a\[1\] are \(nan",
      {"a": [1.0, 1.0]},
      bounds={"a": ([0.0, math.nan], 2.0)},
    )
    refused(ValueError, "bounds has 'b'", {"a": 1.0}, bounds={"b": _REAL})
    refused(TypeError, "bounds is .*: it must map", {"a": 1.0}, bounds=_REAL)
    refused(TypeError, "bounds of 'start' are 1: they", 1.0, bounds=1)
    refused(
      TypeError,
      "bounds of 'a' are",
      {"a": 1.0},
      bounds={"a": ([0.0, 1.0], 2.0)},
    )
    refused(TypeError, "max_steps is 1.5", 1.0, max_steps=1.5)


if __name__ == "__main__":
  absltest.main()
