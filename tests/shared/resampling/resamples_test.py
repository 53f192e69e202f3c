"""Resamples of observations, against the laws of their draws."""

import dataclasses
import math

from absl.testing import absltest
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic.inference.resampling import resamples
from tests.helpers import bootstrap_data
from tests.helpers import test_case


class CasesTest(test_case.TestCase):
  def resampled(self, data, seed, num, **options):
    """Returns the weights of resamples, and checks the rates fitted to them."""
    fit = bootstrap_data.exponential_fit(data)
    result = bootstrap_data.bootstrap(fit, num, seed, **options)
    self.assertEqual((result.num_resamples, result.num_failed), (num, 0))
    self.assertEqual(result.names, fit.covariance()[0])
    codes = resamples.check(fit, "cases", options.get("clusters"))
    weights = onp.stack(
      [
        self.host(
          resamples.resample(
            fit, "cases", bootstrap_data.random(seed, i), codes
          ).data.weights
        )
        for i in range(num)
      ]
    )
    rates = onp.sum(weights * bootstrap_data.EVENTS, axis=1) / onp.sum(
      weights * bootstrap_data.TIMES, axis=1
    )
    self.assert_close(result.entries[:, 0], rates, 1e-6)
    return weights

  def test_rows(self):
    weights = self.resampled(bootstrap_data.censored(), 1, 20)
    self.assert_close(onp.sum(weights, axis=1), onp.full(20, 10.0))

  def test_weights_that_are_counts(self):
    counts = onp.asarray([2, 1, 3, 1, 0, 1, 4, 1, 1, 2.0])
    weights = self.resampled(bootstrap_data.censored(weights=counts), 2, 10)
    self.assert_close(onp.sum(weights, axis=1), onp.full(10, 16.0))
    onp.testing.assert_array_equal(weights[:, 4], 0.0)

  def test_weights_that_are_no_counts(self):
    given = onp.asarray([0.5, 1, 1.5, 1, 0, 1, 1, 1, 1, 2])
    weights = self.resampled(bootstrap_data.censored(weights=given), 3, 10)
    onp.testing.assert_array_equal(weights[:, 4], 0.0)
    kept = given > 0
    drawn = weights[:, kept] / given[kept]
    onp.testing.assert_array_equal(drawn, onp.round(drawn))
    self.assert_close(onp.sum(drawn, axis=1), onp.full(10, 9.0))

  def test_clusters(self):
    labels = onp.asarray(["a", "a", "b", "c", "b", "d", "d", "d", "c", "a"])
    weights = self.resampled(bootstrap_data.censored(), 4, 10, clusters=labels)
    total = 0.0
    for name in "abcd":
      of_cluster = weights[:, labels == name]
      self.assert_close(onp.ptp(of_cluster, axis=1), onp.zeros(10))
      total = total + of_cluster[:, 0]
    self.assert_close(total, onp.full(10, 4.0))

  def test_counts_are_like_repeated_rows(self):
    # The counts of rows are multinomial.
    counts = onp.asarray([2, 1, 3, 1, 0, 1, 4, 1, 1, 2.0])
    rows = onp.repeat(onp.arange(10), onp.asarray(counts, int))
    repeated = inference.Observations.right_censored(
      bootstrap_data.TIMES[rows], bootstrap_data.EVENTS[rows]
    )
    num, total = 2000, 16.0
    random = onp.random.default_rng(5)
    drawn = []
    for data in (bootstrap_data.censored(weights=counts), repeated):
      fit = dataclasses.replace(
        bootstrap_data.exponential_fit(bootstrap_data.censored()),
        observations=data,
      )
      weights = [
        self.host(resamples.resample(fit, "cases", random).data.weights)
        for _ in range(num)
      ]
      drawn.append(onp.stack(weights))
    together = onp.stack(
      [onp.sum(drawn[1][:, rows == i], axis=1) for i in range(10)], axis=1
    )
    for result in (drawn[0], together):
      variance = counts * (1.0 - counts / total)
      error = 5.0 * onp.sqrt(variance / num)
      mean = onp.mean(result, axis=0)
      self.assertTrue(onp.all(onp.abs(mean - counts) <= error))
      # The standard error of a variance is below 2 v / sqrt(n) here.
      apart = onp.abs(onp.var(result, axis=0) - variance)
      self.assertTrue(onp.all(apart <= 10.0 * variance / math.sqrt(num)))


class ParametricTest(test_case.TestCase):
  def test_law_of_an_exponential_rate(self):
    # The sum of n times is a gamma variable.
    data = inference.Observations.exact(bootstrap_data.TIMES)
    fit = bootstrap_data.exponential_fit(data)
    result = bootstrap_data.bootstrap(fit, 60, 6, method="parametric")
    rate = 10.0 / onp.sum(bootstrap_data.TIMES)
    sums = 10.0 / result.entries[:, 0]
    law = stats.gamma(10.0, scale=1.0 / rate)
    self.assertGreater(stats.kstest(sums, law.cdf).pvalue, 1e-3)

  def new(self, dist, data, seed):
    """Returns lower and upper ends of a resample from a distribution."""
    fit = dataclasses.replace(
      bootstrap_data.exponential_fit(bootstrap_data.censored()),
      distribution=dist,
      observations=data,
    )
    resamples.check(fit, "parametric")
    random = onp.random.default_rng(seed)
    result = resamples.resample(fit, "parametric", random).data
    return self.host(result.lower), self.host(result.upper), result

  def test_censoring(self):
    # Times are weights' counts of those above: 4000 of each.
    num, rate = 4000, 0.4
    data = bootstrap_data.censored(weights=onp.full(10, float(num)))
    lower, upper, _ = self.new(pd.Erlang(1, rate), data, 7)
    self.assertEqual(onp.shape(lower), (10 * num,))
    seen = onp.isfinite(upper)
    self.assertEqual(set(onp.unique(lower[~seen])), {1.0, 2.0, 3.3})
    # At 1, 2 and 3.3, as events come first, 7, 4 and 2 are at risk.
    alive = onp.cumprod([6 / 7, 3 / 4, 1 / 2])
    masses = onp.append(-onp.diff(onp.append(1.0, alive)), alive[-1])
    ends = onp.asarray([1.0, 2.0, 3.3, math.inf])
    num_events, exposure, variance = 0.0, 0.0, 0.0
    for time, event in zip(
      bootstrap_data.TIMES, bootstrap_data.EVENTS, strict=True
    ):
      shares = onp.where(ends >= time, masses, 0.0) if event else ends == time
      shares = shares / onp.sum(shares)
      prob = onp.sum(shares * -onp.expm1(-rate * ends))
      num_events += num * prob
      exposure += num * prob / rate
      variance += num * prob * (1.0 - prob)
    self.assertLess(abs(onp.sum(seen) - num_events), 5.0 * math.sqrt(variance))
    # Events less rate times exposure is a martingale, so the mean of the
    # exposure is the number of events over the rate; its variance is at most
    # that of as many exponential times.
    bound = 5.0 * math.sqrt(10 * num) / rate
    self.assertLess(abs(onp.sum(lower) - exposure), bound)

  def test_weights_that_are_no_counts(self):
    weights = onp.asarray([0.5, 1, 1.5, 1, 0, 1, 1, 1, 1, 2])
    data = bootstrap_data.censored(weights=weights)
    _, _, result = self.new(pd.Erlang(1, 0.4), data, 8)
    self.assert_close(result.weights, weights[weights > 0])

  def test_entries(self):
    entry = onp.tile([-1.0, 0.0, 0.5, 3.0], 500)
    data = inference.Observations.exact(entry + 2.0, entry=entry)
    lower, upper, result = self.new(pd.Erlang(1, 0.4), data, 9)
    onp.testing.assert_array_equal(lower, upper)
    onp.testing.assert_array_equal(self.host(result.entry), entry)
    rest = lower - onp.maximum(entry, 0.0)
    law = stats.expon(scale=2.5)
    self.assertGreater(stats.kstest(rest, law.cdf).pvalue, 1e-3)

  def test_steps_of_a_discrete_distribution(self):
    # A geometric number of steps above an entry is so again.
    entry = onp.tile([-1.0, 2.0], 2000)
    data = inference.Observations.right_censored(
      onp.full(4000, 5.0), onp.tile([1, 1, 0, 0], 1000), entry=entry
    )
    dist = pd.DiscretePhaseType([1.0], [[0.6]])
    lower, upper, _ = self.new(dist, data, 10)
    seen = onp.isfinite(upper)
    onp.testing.assert_array_equal(lower, onp.floor(lower))
    self.assertTrue(onp.all(lower[~seen] == 5.0))
    self.assertTrue(onp.all(lower[seen] > entry[seen]))
    steps = (lower - onp.maximum(entry, 0.0))[onp.tile([0, 0, 1, 1], 1000) == 1]
    seen = seen[onp.tile([0, 0, 1, 1], 1000) == 1]
    left = onp.tile([5, 3], 1000)  # The most steps that are seen.
    expected = onp.sum(1.0 - 0.6**left)
    self.assertLess(abs(onp.sum(seen) - expected), 5.0 * math.sqrt(2000) / 2)
    ones = onp.sum(seen & (steps == 1.0))
    self.assertLess(abs(ones - 800.0), 5.0 * math.sqrt(2000 * 0.24))

  def test_causes(self):
    # Of exponential times the cause is independent of the time.
    edges = [
      (0, graphs.ABSORBED("a"), {"a": 1.0}),
      (0, graphs.ABSORBED("b"), {"b": 1.0}),
    ]
    graph = graphs.Graph.from_edges(edges, 0, params=("a", "b"))
    dist = pd.PhaseType.from_graph(graph, [0.5, 1.5])
    times, events = onp.full(4000, 1.0), onp.tile([1, 0], 2000)
    data = inference.Observations.right_censored(
      times, events, cause=onp.where(events, 1, -1)
    )
    lower, upper, result = self.new(dist, data, 11)
    cause = self.host(result.cause)
    seen = lower == upper
    self.assertTrue(onp.all((cause >= 0) == seen))
    num = onp.sum(seen)
    self.assertGreater(num, 3000)
    error = 5.0 * math.sqrt(num * 0.25 * 0.75)
    self.assertLess(abs(onp.sum(cause == 0) - num / 4), error)
    early = lower[seen & (cause == 0)]
    law = stats.truncexpon(b=2.0, scale=0.5)  # Up to 1, where some end.
    early = early[early < 1.0]
    self.assertGreater(stats.kstest(early, law.cdf).pvalue, 1e-3)


if __name__ == "__main__":
  absltest.main()
