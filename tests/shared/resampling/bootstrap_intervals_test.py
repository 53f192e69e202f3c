"""Intervals and errors of a bootstrap, against order statistics."""

import dataclasses
import math
from unittest import mock

from absl.testing import absltest
import numpy as onp

from phasic import inference
from tests.helpers import bootstrap_data
from tests.helpers import test_case


class IntervalsTest(test_case.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.fit = bootstrap_data.exponential_fit(bootstrap_data.censored())
    rates = onp.random.default_rng(13).gamma(7.0, 1.0 / 18.9, (199, 1))
    cls.result = inference.Bootstrap(
      cls.fit, "cases", 0, ("rate",), rates, messages={}
    )
    cls.sorted = onp.sort(rates[:, 0])

  def test_percentiles(self):
    # Of 199 values, those at 2.5 % and 97.5 % are number 5 and number 195.
    low, high = self.sorted[4], self.sorted[194]
    for name in ("rate", "mean", lambda dist: dist.mean()):
      result = self.result.confidence_interval(name)
      ends = (low, high) if name == "rate" else (1.0 / high, 1.0 / low)
      self.assert_close(result.low, ends[0], 1e-12)
      self.assert_close(result.high, ends[1], 1e-12)
      self.assertEqual(result[3:], (0.95, "percentile"))
    self.assert_close(result.estimate, self.fit.distribution.mean(), 1e-12)

  def test_basic_and_normal(self):
    rate = float(self.host(self.fit.distribution.rate))
    result = self.result.confidence_interval(
      "rate", confidence_level=0.9, method="basic"
    )
    self.assert_close(result.low, 2.0 * rate - self.sorted[189])
    self.assert_close(result.high, 2.0 * rate - self.sorted[9])
    result = self.result.confidence_interval("rate", method="normal")
    mean = math.fsum(self.sorted) / 199
    error = math.sqrt(math.fsum((self.sorted - mean) ** 2) / 198)
    middle = 2.0 * rate - mean
    self.assert_close(result.low, middle - 1.959963984540054 * error)
    self.assert_close(result.high, middle + 1.959963984540054 * error)
    self.assert_close(self.result.standard_error_of("rate"), error)

  def test_a_method_with_arguments(self):
    result = self.result.confidence_interval(
      "quantile", onp.asarray([0.5, 0.9])
    )
    ends = [-onp.log([0.5, 0.1]) / self.sorted[i] for i in (194, 4)]
    self.assert_close(result.low, ends[0], 1e-12)
    self.assert_close(result.high, ends[1], 1e-12)
    error = self.result.standard_error_of("quantile", 0.5)
    expected = onp.std(math.log(2.0) / self.sorted, ddof=1)
    self.assert_close(error, expected, 1e-12)

  def test_intervals_of_the_fit(self):
    for name, *args in (("rate",), ("quantile", 0.5)):
      expected = self.result.confidence_interval(
        name, *args, confidence_level=0.9
      )
      interval = self.fit.confidence_interval(
        name,
        *args,
        confidence_level=0.9,
        method="bootstrap",
        bootstrap=self.result,
      )
      self.assertEqual(interval, expected)

  def test_the_bootstrap_of_the_fit_is_made_once(self):
    fit = bootstrap_data.exponential_fit(bootstrap_data.censored())
    with mock.patch.object(
      inference, "bootstrap", return_value=self.result
    ) as bootstrap:
      for _ in range(2):
        interval = fit.confidence_interval("rate", method="bootstrap")
        self.assertEqual(interval, self.result.confidence_interval("rate"))
    bootstrap.assert_called_once_with(fit)

  def test_distributions(self):
    rates = [self.host(dist.rate) for dist in self.result.all_fitted()]
    self.assert_close(onp.asarray(rates), self.result.entries[:, 0])
    self.assert_close(self.result.fitted(3).rate, rates[3])

  def test_few_resamples(self):
    few = dataclasses.replace(self.result, entries=self.result.entries[:38])
    result, warned = self.caught(lambda: few.confidence_interval("rate"))
    self.assertLen(warned, 1)
    self.assertRegex(
      str(warned[0].message), "38 resamples .* needs at least 39"
    )
    self.assert_close(result.low, onp.min(few.entries))
    _, warned = self.caught(
      lambda: few.confidence_interval("rate", method="normal")
    )
    self.assertEmpty(warned)

  def test_refusals(self):
    for error, message, f, options in (
      (
        ValueError,
        "level is 95: it must be between",
        "rate",
        {"confidence_level": 95},
      ),
      (TypeError, "level is 'x'", "rate", {"confidence_level": "x"}),
      (
        ValueError,
        r"method is 'wald': it must be one of",
        "rate",
        {"method": "wald"},
      ),
      (
        ValueError,
        "f is 'shape': it must be the name .* entries rate;",
        "shape",
        {},
      ),
      (TypeError, "f is 1.0: it must be a function, or the name", 1.0, {}),
    ):
      with self.assertRaisesRegex(error, message):
        self.result.confidence_interval(f, **options)
    for name in ("rate", "dtype"):
      with self.assertRaisesRegex(ValueError, "args has 1 arguments"):
        self.result.standard_error_of(name, 0.5)
    with self.assertRaisesRegex(ValueError, "i is 199: it must be <= 198"):
      self.result.fitted(199)


if __name__ == "__main__":
  absltest.main()
