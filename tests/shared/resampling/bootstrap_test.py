"""Fits to resamples, in this process and by executors; refusals."""

from concurrent import futures
import dataclasses
import math
import multiprocessing
import os
from unittest import mock

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from phasic.inference.resampling import refits
from phasic.inference.resampling import resamples
from tests.helpers import bootstrap_data
from tests.helpers import test_case


class Submits:
  """An executor that has nothing but `submit`."""

  def __init__(self):
    self.sizes = []

  def submit(self, f, *args):
    self.sizes.append(len(args[-1]))
    future = futures.Future()
    future.set_result(f(*args))
    return future


class RunsTest(test_case.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.fit = bootstrap_data.exponential_fit(bootstrap_data.censored())
    cls.result = bootstrap_data.bootstrap(cls.fit, 24, 11)

  def assert_same(self, executor, method="cases"):
    result = bootstrap_data.bootstrap(
      self.fit, 24, 11, method=method, executor=executor
    )
    expected = self.result
    if method != "cases":
      expected = bootstrap_data.bootstrap(self.fit, 24, 11, method=method)
    onp.testing.assert_array_equal(result.entries, expected.entries)

  def test_the_first_resamples_are_the_same(self):
    fewer = bootstrap_data.bootstrap(self.fit, 5, 11)
    onp.testing.assert_array_equal(fewer.entries, self.result.entries[:5])
    other = bootstrap_data.bootstrap(self.fit, 5, 12)
    self.assertTrue(onp.all(other.entries != fewer.entries))

  def test_threads(self):
    with futures.ThreadPoolExecutor(3) as executor:
      self.assert_same(executor, "parametric")

  def test_an_executor_that_only_submits(self):
    executor = Submits()
    self.assert_same(executor)
    self.assertEqual(executor.sizes, [10, 10, 4])

  def test_processes(self):
    context = multiprocessing.get_context("spawn")
    with (
      mock.patch.dict(os.environ, {"JAX_ENABLE_X64": "1"}),
      futures.ProcessPoolExecutor(2, mp_context=context) as executor,
    ):
      self.assert_same(executor)

  def test_a_process_of_other_digits(self):
    plan = refits.Plan(self.fit, "cases", 0, None, "float32")
    with self.assertRaisesRegex(RuntimeError, "float32, and float64 in a proc"):
      refits.refits(plan, range(2))

  def test_progress(self):
    counts = []
    inference.bootstrap(self.fit, 3, progress=counts.append)
    self.assertEqual(counts, [1, 2, 3])
    counts.clear()
    inference.bootstrap(
      self.fit, 12, executor=Submits(), progress=counts.append
    )
    self.assertEqual(counts, [10, 12])

  def test_an_error_cancels_the_tasks(self):
    canceled = []

    class Fails(Submits):
      def submit(self, f, *args):
        del f, args
        future = futures.Future()
        future.cancel = lambda: canceled.append(future)
        if len(self.sizes) == 0:
          future.set_exception(OSError("a broken pipe"))
        self.sizes.append(1)
        return future

    with self.assertRaisesRegex(OSError, "a broken pipe"):
      inference.bootstrap(self.fit, 30, executor=Fails())
    self.assertEqual(len(canceled), 3)


class FitsTest(test_case.TestCase):
  def test_options_of_the_fit(self):
    # Tied rates are those of an Erlang distribution, whose rate is 2 n / sum.
    data = inference.Observations.exact(bootstrap_data.TIMES)
    fit = inference.fit_mle(
      pd.Hypoexponential([0.8, 0.9]), data, tied=[("rates",)], starts=()
    )
    result = bootstrap_data.bootstrap(fit, 5, 14)
    self.assertEqual(result.names, ("rates[0]",))
    for i, row in enumerate(result.entries):
      weights = resamples.resample(
        fit, "cases", bootstrap_data.random(14, i)
      ).data.weights
      rate = 20.0 / onp.sum(self.host(weights) * bootstrap_data.TIMES)
      self.assert_close(row, onp.asarray([rate]), 1e-6)
    self.assert_close(result.fitted(0).rates, onp.repeat(result.entries[0], 2))
    error = result.standard_error_of("rates[1]")
    self.assert_close(error, onp.std(result.entries[:, 0], ddof=1))
    self.assert_close(result.standard_error_of("rates"), onp.repeat(error, 2))

  def test_bounds(self):
    rate = onp.sum(bootstrap_data.EVENTS) / onp.sum(bootstrap_data.TIMES)
    bounds = {"rate": (rate, 10.0)}
    fit = bootstrap_data.exponential_fit(
      bootstrap_data.censored(), bounds=bounds
    )
    rates = bootstrap_data.bootstrap(fit, 20, 15).entries[:, 0]
    self.assertTrue(onp.all(rates >= rate))
    self.assertBetween(onp.sum(rates == rate), 3, 17)

  def test_zeros(self):
    # Half of the resamples have more variance than two equal stages.
    values = onp.random.default_rng(16).gamma(2.0, 1.0, 60)
    data = inference.Observations.exact(values)
    start = pd.Coxian([1.0], [0.1, 2.0])
    fit = inference.fit_mle(start, data)
    self.assertEqual(fit.statuses["exit_rates[0]"], "on the boundary (zero)")
    result = bootstrap_data.bootstrap(fit, 10, 17, method="parametric")
    self.assertEqual(result.names, fit.covariance()[0])
    exits = result.entries[:, result.names.index("exit_rates[0]")]
    self.assertBetween(onp.sum(exits == 0.0), 1, 9)
    for i in range(result.num_resamples):
      drawn = resamples.resample(
        fit, "parametric", bootstrap_data.random(17, i)
      ).data
      best = inference.fit_mle(start, drawn, starts=()).log_likelihood
      value = self.host(drawn.log_likelihood(result.fitted(i)))
      self.assertGreater(value, best - 1e-6 * abs(best))

  def test_failures(self):
    # Two of ten have an event: some resamples have none.
    data = inference.Observations.right_censored(
      bootstrap_data.TIMES, [1, 1] + [0] * 8
    )
    fit = bootstrap_data.exponential_fit(data)
    result, warned = self.caught(lambda: bootstrap_data.bootstrap(fit, 40, 18))
    self.assertLen(warned, 1)
    lost = [
      i
      for i in range(40)
      if not onp.any(
        self.host(
          resamples.resample(
            fit, "cases", bootstrap_data.random(18, i)
          ).data.weights
        )[:2]
      )
    ]
    self.assertNotEmpty(lost)
    self.assertEqual(list(result.messages), lost)
    self.assertEqual(result.num_failed, len(lost))
    self.assertRegex(str(warned[0].message), f"^{len(lost)} of 40 resamples .*")
    self.assertIn("all observations are right-cens", result.messages[lost[0]])
    onp.testing.assert_array_equal(
      onp.isnan(result.entries[:, 0]), onp.isin(onp.arange(40), lost)
    )
    self.assertLen(list(result.all_fitted()), 40 - len(lost))
    kept = onp.delete(result.entries[:, 0], lost)
    for name in ("rate", lambda dist: dist.rate):
      error = result.standard_error_of(name)
      self.assert_close(error, onp.std(kept, ddof=1))
    with self.assertRaisesRegex(ValueError, "that one failed .all"):
      result.fitted(lost[0])

  def test_most_fail(self):
    # A resample of three rows has all three with probability 6 / 27.
    data = inference.Observations.exact([0.2, 0.5, 4.0])
    start = pd.Hyperexponential([0.5, 0.5], [3.0, 0.3])
    fit = inference.fit_mle(start, data, starts=())
    with self.assertRaisesRegex(RuntimeError, "of 10 resamples have no fit"):
      bootstrap_data.bootstrap(fit, 10, 19)

  def test_refusals(self):
    fit = bootstrap_data.exponential_fit(bootstrap_data.censored())
    short = dataclasses.replace(
      fit, record=fit.record._replace(converged=False)
    )
    whole = inference.fit_mle(
      pd.Erlang(1, 1.0), bootstrap_data.censored(), fixed=["rate"]
    )

    def on(lower, upper=None, **options):
      data = inference.Observations(lower, upper, **options)
      return dataclasses.replace(fit, observations=data)

    parametric = {"method": "parametric"}
    labels = onp.arange(10.0)
    for error, message, given, options in (
      (
        TypeError,
        "fit is Erlang: it must be a Fit or Mo",
        fit.distribution,
        {},
      ),
      (ValueError, "fit did not converge", short, {}),
      (ValueError, "fit has no fitted entries", whole, {}),
      (
        ValueError,
        "num_resamples is 1: it must be >= 2",
        fit,
        {"num_resamples": 1},
      ),
      (TypeError, "seed is None", fit, {"seed": None}),
      (
        ValueError,
        "method is 'rows': it must be one of",
        fit,
        {"method": "rows"},
      ),
      (
        ValueError,
        "observations sum to 1: they must be counts",
        on([1.0, 2.0], weights=[0.5, 0.5]),
        {},
      ),
      (
        ValueError,
        "observation 1 is from 1 to 2: .* method='cases'",
        on([1.0, 1.0], [1.0, 2.0]),
        parametric,
      ),
      (
        ValueError,
        "observation 0 is from -1 to 2: .* method='cases'",
        on([-1.0, 1.0], [2.0, 1.0]),
        parametric,
      ),
      (
        ValueError,
        r"cause\[1\] is -1: .* method='cases'",
        on([1.0, 2.0], cause=[0, -1]),
        parametric,
      ),
      (
        ValueError,
        "clusters are given, and method is 'parametric'",
        fit,
        {**parametric, "clusters": labels},
      ),
      (
        ValueError,
        r"clusters has shape \(9,\): it must be \(10,\)",
        fit,
        {"clusters": labels[1:]},
      ),
      (
        ValueError,
        r"clusters\[3\] is NaN",
        fit,
        {"clusters": onp.where(labels == 3.0, math.nan, labels)},
      ),
      (ValueError, "clusters has 1 label", fit, {"clusters": onp.ones(10)}),
      (
        TypeError,
        "clusters has labels of different types",
        fit,
        {"clusters": onp.asarray(["a", 1] * 5, object)},
      ),
      (TypeError, "progress is 'yes'", fit, {"progress": "yes"}),
    ):
      with self.assertRaisesRegex(error, message):
        inference.bootstrap(given, **options)


if __name__ == "__main__":
  absltest.main()
