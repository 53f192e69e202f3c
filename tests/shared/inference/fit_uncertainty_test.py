"""Uncertainty of fitted parameters, against closed forms."""

import dataclasses
import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic.inference.data import likelihood_derivatives
from phasic.inference.parameters import coordinates
from phasic.inference.results import directions
from tests.helpers import test_case

_INF = math.inf
# Exact, right-, left- and interval-censored, with entries and without.
_LOWER = onp.asarray([0.5, 2.0, -1.0, 1.0, 0.0, 3.0, 4.0])
_UPPER = onp.asarray([0.5, _INF, 1.5, 2.0, 0.25, 3.0, _INF])
_ENTRY = onp.asarray([-1.0, 1.0, -1.0, 0.5, -1.0, 2.0, -1.0])
_WEIGHTS = onp.asarray([1.0, 2.0, 0.5, 3.0, 1.0, 0.0, 1.5])


def _mixture_terms(x, y, entries):
  """Computes density and survival function of a mixture with equal masses."""
  a, b = entries
  density = (a * mpmath.exp(-a * x) + b * mpmath.exp(-b * x)) / 2
  alive = [(mpmath.exp(-a * t) + mpmath.exp(-b * t)) / 2 for t in (x, y)]
  return density, *alive


def _log_likelihood(a, b):
  """Computes the log likelihood of rates of a mixture, with many digits."""
  total = mpmath.mpf(0)
  for low, high, entry, weight in zip(_LOWER, _UPPER, _ENTRY, _WEIGHTS):
    x, y = mpmath.mpf(max(low, entry)), mpmath.mpf(high)
    density, alive, later = _mixture_terms(max(x, 0), y, (a, b))
    prob = alive - later if high < _INF else alive
    prob = density if low == high else prob
    if entry >= 0:
      prob = prob / _mixture_terms(mpmath.mpf(entry), y, (a, b))[1]
    total += mpmath.mpf(weight) * mpmath.log(prob)
  return total


def _second_derivatives(f, at):
  """Computes second derivatives of a function of two numbers."""
  with mpmath.workdps(40):
    return [
      [float(mpmath.diff(f, at, (2, 0))), float(mpmath.diff(f, at, (1, 1)))],
      [float(mpmath.diff(f, at, (1, 1))), float(mpmath.diff(f, at, (0, 2)))],
    ]


class HessianTest(test_case.TestCase):
  """Tests second derivatives in the constrained parameters."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def _hessian(self, dist, data, fixed=()):
    where = coordinates.Coordinates(dist, fixed)
    return likelihood_derivatives.hessian(where, where.entries, data)

  def test_all_kinds_of_observations(self):
    data = inference.Observations(_LOWER, _UPPER, _WEIGHTS, _ENTRY)
    dist = pd.Hyperexponential([0.5, 0.5], [0.75, 3.0])
    found = self._hessian(dist, data, ["mixture_probs"])
    expected = _second_derivatives(_log_likelihood, (0.75, 3.0))
    self.assert_close(found, expected, 1e-9)

  def test_counts(self):
    # Derivatives in s of the probabilities s^d and 1 - s.
    lower = onp.asarray([3.0, 2.0, 1.0, -1.0])
    upper = onp.asarray([3.0, _INF, 4.0, 2.0])
    dist = pd.DiscretePhaseType([1.0], [[0.75]], [0.25])
    found = self._hessian(dist, inference.Observations(lower, upper))

    def value(stay, leave):
      """Computes the log likelihood with P(N = n) = stay^(n-1) leave."""
      terms = [
        stay**2 * leave,
        stay**2 * leave / (1 - stay),
        leave * (stay + stay**2 + stay**3),
        leave * (1 + stay),
      ]
      # P(N > 2) is stay^2, independent of leaving.
      terms[1] = stay**2
      return mpmath.log(mpmath.fprod(terms))

    expected = _second_derivatives(value, (0.75, 0.25))
    self.assert_close(found, expected, 1e-9, 1e-9)

  def test_causes(self):
    dist = _competing()
    data = inference.Observations(
      [0.5, 1.0, 2.0, 0.25],
      [0.5, 1.0, _INF, 1.0],
      entry=[-1.0, 0.5, -1.0, -1.0],
      cause=[0, 1, -1, 1],
    )

    def value(a, b):
      """Computes the log likelihood with constant rates of two causes."""
      rate = a + b
      early = mpmath.exp(-rate / 4) - mpmath.exp(-rate)
      terms = a * mpmath.exp(-rate / 2) * b * mpmath.exp(-rate)
      terms *= mpmath.exp(-2 * rate) * b / rate * early
      return mpmath.log(terms / mpmath.exp(-rate / 2))

    expected = _second_derivatives(value, (0.5, 1.25))
    self.assert_close(self._hessian(dist, data), expected, 1e-9)


def _competing():
  """Builds two causes with separate rates."""
  graph = graphs.Graph.from_transitions(
    lambda n: [
      (graphs.ABSORBED("one"), {"one": 1.0}),
      (graphs.ABSORBED("other"), {"other": 1.0}),
    ],
    initial=1,
    params=("one", "other"),
  )
  return pd.PhaseType.from_graph(graph, {"one": 0.5, "other": 1.25})


class DirectionsTest(test_case.TestCase):
  """Tests flat directions of the likelihood."""

  def _errors(self, information, scores):
    outer = onp.matmul(onp.transpose(scores), scores)
    known = directions.find(information, outer, 1e-12)
    return known.standard_errors(onp.eye(len(information)))

  def test_bends_everywhere(self):
    scores = onp.random.default_rng(0).normal(size=(50, 3))
    matrix = onp.asarray([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    errors = onp.sqrt(onp.diag(onp.linalg.inv(matrix)))
    self.assert_close(self._errors(matrix, scores), errors)

  def test_flat_likelihood(self):
    scores = onp.random.default_rng(0).normal(size=(50, 3))
    along = onp.asarray([1.0, -1.0, 0.0]) / math.sqrt(2)
    matrix = onp.diag([5.0, 5.0, 2.0]) - 5.0 * onp.outer(along, along)
    errors = self._errors(matrix, scores)
    self.assert_close(errors, [math.nan, math.nan, math.sqrt(0.5)])
    self.assertTrue(onp.isnan(self._errors(onp.diag([3, -1, 2.0]), scores)[1]))

  def test_flat_scores(self):
    scores = onp.random.default_rng(0).normal(size=(50, 3))
    scores = onp.stack([scores[:, 0], -scores[:, 0], scores[:, 2]], axis=-1)
    errors = self._errors(onp.diag([3.0, 3.0, 2.0]), scores)
    self.assertEqual(list(onp.isnan(errors)), [True, True, False])

  @parameterized.parameters(1e-5, 1.0, 1e5)
  def test_scales_do_not_matter(self, scale):
    units = onp.asarray([scale, 1.0, 1.0])
    scores = onp.random.default_rng(0).normal(size=(50, 3))
    scores[:, 2] = 2.0 * scores[:, 0]
    whole = onp.matmul(onp.transpose(scores), scores)
    matrix = whole * units * units[:, None]
    errors = self._errors(matrix, scores * units)
    # The first compensates the last; the second is determined.
    self.assertEqual(list(onp.isnan(errors)), [True, False, True])
    rest = matrix[:2, :2]
    errors = self._errors(rest, scores[:, :2] * units[:2])
    self.assert_close(errors, onp.sqrt(onp.diag(onp.linalg.inv(rest))), 1e-9)

  def test_numbers_that_run_take_no_others_along(self):
    # A tiny score also enters products with other scores.
    information = onp.asarray(
      [[2.0, -6e-12, -1e-2], [-6e-12, 8e-12, -3e-12], [-1e-2, -3e-12, 28.0]]
    )
    outer = onp.asarray(
      [[2.0, -1e-11, -1e-2], [-1e-11, 7e-23, -3e-12], [-1e-2, -3e-12, 14.0]]
    )
    runs = onp.asarray([False, True, False])
    known = directions.find(information, outer, 1e-12, runs)
    errors = known.standard_errors(onp.eye(3))
    self.assertEqual(list(onp.isnan(errors)), [False, True, False])

  def test_no_numbers(self):
    known = directions.find(onp.zeros((0, 0)), onp.zeros((0, 0)), 1e-12)
    self.assertEqual(known.num_flat, 0)


class FitTest(test_case.TestCase):
  """Tests standard errors and statuses of fits."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def test_observed_information(self):
    data = inference.Observations([1.0, 2.0, 4.0, 5.0, 3.0], [1, 2, 4, 5, _INF])
    fit = inference.fit_mle(pd.Erlang(2, 1.0), data)
    rate = float(self.host(fit.distribution.rate))
    # log f = 2 log r - r t, log S = log(1 + r t) - r t.
    information = 8 / rate**2 + 9 / (1 + 3 * rate) ** 2
    error = 1 / math.sqrt(information)
    self.assert_close(fit.standard_errors["rate"], error, 1e-9)

  def test_equal_observations(self):
    fit = inference.fit_mle(
      pd.Erlang(2, 1.0), inference.Observations([0.5, 0.5, 0.5])
    )
    self.assertEqual(fit.statuses, {"rate": "identified"})
    self.assert_close(fit.standard_errors["rate"], 4 / math.sqrt(6), 1e-6)

  def test_rates_that_run_to_zero_are_not_known(self):
    # More are alive at the end than an Erlang branch lets be; the slope in the
    # rate of the others is never zero, but rate times slope becomes so.
    times = onp.asarray([0.4, 0.5, 0.6, 0.7, 0.9, 1.0, 1.2, 3.0, 3.0, 3.0])
    seen = onp.arange(10) < 7
    data = inference.Observations.right_censored(times, seen)
    start = pd.HyperErlang([0.5, 0.5], (1, 4), [0.2, 5.0])
    fit = inference.fit_mle(start, data)
    self.assertLess(float(self.host(fit.distribution.rates)[0]), 1e-5)
    self.assertEqual(fit.statuses["rates[0]"], "not identified (no maximum)")
    self.assertEqual(fit.statuses["rates[1]"], "identified")
    self.assertEqual(fit.statuses["mixture_probs[0]"], "identified")

  def test_what_is_far_from_the_top_is_not_flat(self):
    # The step is long, but the gradient is small.
    dist = pd.Erlang(2, 0.1)
    data = inference.Observations([0.5, 1.0, 4.0])
    fit = inference.fit_mle(dist, data)
    found = dataclasses.replace(fit, distribution=dist)
    self.assertEqual(found.statuses, {"rate": "identified"})

  def test_an_optimum_with_equal_rates(self):
    data = inference.Observations([0.5, 0.8, 1.0, 1.1, 1.3])
    fit = inference.fit_mle(pd.Hypoexponential([1.0, 1.5]), data)
    rates = self.host(fit.distribution.rates)
    self.assert_close(rates[0], rates[1], 1e-4)
    self.assertTrue(onp.all(fit.uncertainty.eigenvalues > 0))
    self.assertEqual(
      set(fit.statuses.values()), {"not identified (only in a sum: see sums)"}
    )
    # An Erlang time of n stages has the rate n / mean, whose error is that over
    # the root of the number of stages seen.
    ((names, (value, error)),) = fit.sums.items()
    self.assertEqual(names, ("rates[0]", "rates[1]"))
    rate = 2.0 / 0.94
    self.assert_close(value, 2.0 * rate, 1e-6)
    self.assert_close(error, 2.0 * rate / math.sqrt(10.0), 1e-3)
    self.assertTrue(onp.all(onp.isnan(fit.standard_errors["rates"])))
    self.assertGreater(fit.standard_error_of("mean"), 0.0)
    self.assertRegex(repr(fit), r"^<Fit log_likelihood=-3.008.*converged,\n")
    self.assertLess(len(repr(fit)), 400)

  def test_certain_counts(self):
    # All values are one trial, so the probability converges to one.
    data = inference.Observations([1.0, 1.0, 1.0])
    fit = inference.fit_mle(pd.NegativeBinomialTrials(1, 0.3), data)
    self.assert_close(fit.distribution.success_prob, 1.0, rtol=1e-6)
    self.assertEqual(
      fit.statuses["success_prob"], "not identified (no maximum)"
    )

  def test_rare_events_are_known(self):
    weights = onp.asarray([2e6, 2e6, 3.0])
    data = inference.Observations(
      [0.5, 1.5, 1.0], weights=weights, cause=[0, 0, 1]
    )
    fit = inference.fit_mle(_competing(), data)
    counts = onp.asarray([4e6, 3.0])
    rates = counts / onp.sum(counts)
    self.assertEqual(set(fit.statuses.values()), {"identified"})
    # Both use the names of the graph, like the start.
    self.assertEqual(set(fit.standard_errors), set(fit.statuses))
    for name, rate, count in zip(("one", "other"), rates, counts):
      self.assert_close(fit.distribution.params[name], rate, 1e-5)
      error = fit.standard_errors[f"params[{name}]"]
      self.assert_close(error, rate / math.sqrt(count), 1e-5)

  def test_numbers_of_parameters_need_no_information(self):
    data = inference.Observations([1.0, 2.0, 4.0])
    fit = inference.fit_mle(pd.Erlang(2, 1.0), data)
    self.assertAlmostEqual(fit.aic, 2.0 - 2.0 * fit.log_likelihood)
    self.assertNotIn("uncertainty", vars(fit))

  def test_all_at_bounds(self):
    data = inference.Observations([1.0, 2.0, 4.0])
    bounds = {"rate": (2.0, 3.0)}
    fit = inference.fit_mle(pd.Erlang(2, 2.5), data, bounds=bounds)
    self.assertEqual(fit.statuses, {"rate": "at a bound"})
    self.assertTrue(onp.isnan(fit.standard_errors["rate"]))
    self.assertTrue(onp.isnan(fit.standard_error_of("mean")))
    times = onp.asarray([1.0, 2.0])
    errors = fit.standard_error_of("cdf", times)
    self.assertEqual(list(onp.isnan(errors)), [True, True])
    self.assertAlmostEqual(fit.aic, 2.0 - 2.0 * fit.log_likelihood)

  def test_methods_of_counts(self):
    counts = onp.asarray([1.0, 1.0, 2.0, 3.0, 5.0, 1.0, 2.0])
    fit = inference.fit_mle(
      pd.DiscretePhaseType([1.0], [[0.2]]), inference.Observations(counts)
    )
    n, p = len(counts), len(counts) / onp.sum(counts)
    error = p * math.sqrt((1 - p) / n)
    # Slopes in p of p (1 - p)^2, of its logarithm, (1 - p)^3, 1 / p and so on.
    slopes = {
      ("prob", 3.0): (1 - p) * (1 - 3 * p),
      ("log_prob", 3.0): 1 / p - 2 / (1 - p),
      ("survival_function", 3.0): 3 * (1 - p) ** 2,
      ("log_survival_function", 3.0): 3 / (1 - p),
      ("cdf", 3.0): 3 * (1 - p) ** 2,
      ("mean",): 1 / p**2,
      ("moment", 2): 4 / p**3 - 1 / p**2,
      ("variance",): 2 / p**3 - 1 / p**2,
      ("probability_generating_function", 0.5): 0.5 / (1 - 0.5 * (1 - p)) ** 2,
    }
    slopes["probability_generating_function", 0.5] *= 0.5
    for (method, *args), slope in slopes.items():
      found = fit.standard_error_of(method, *args)
      self.assert_close(found, abs(slope) * error, 1e-6)
    with self.assertRaisesRegex(NotImplementedError, "are step functions"):
      fit.standard_error_of("quantile", 0.5)

  def test_any_function(self):
    fit = inference.fit_mle(
      pd.Erlang(2, 1.0), inference.Observations([1.0, 2.0, 4.0])
    )
    rate = float(self.host(fit.distribution.rate))
    error = fit.standard_errors["rate"]
    # The entropy is a constant less log(r).
    found = fit.standard_error_of("entropy")
    self.assert_close(found, error / rate, 1e-9)
    # Of E exp(-u X) = (r / (r + u))^2.
    slope = 2 * rate * 0.5 / (rate + 0.5) ** 3
    found = fit.standard_error_of("laplace_transform", 0.5)
    self.assert_close(found, slope * error, 1e-9)


class LikelihoodRatioTest(test_case.TestCase):
  """Tests the validity of the chi-square approximation."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def test_inside(self):
    data = inference.Observations([0.2, 0.4, 0.5, 0.7, 1.2, 4.0, 0.1, 3.0])
    start = pd.Hyperexponential([0.5, 0.5], [0.4, 3.0])
    small = inference.fit_mle(start, data, fixed=["mixture_probs", "rates[0]"])
    large = inference.fit_mle(start, data, fixed=["mixture_probs"])
    found = inference.likelihood_ratio(small, large)
    self.assertEqual(found.degrees_of_freedom, 1)
    self.assertEqual(found.reason, "")
    self.assertAlmostEqual(
      found.p_value, math.erfc(math.sqrt(found.statistic / 2)), places=12
    )
    with self.assertRaisesRegex(ValueError, "larger must have more"):
      inference.likelihood_ratio(large, small)

  def test_equal_rates_in_a_row(self):
    # Rates are exchangeable, so derivatives in their difference are zero.
    data = inference.Observations([0.2, 0.4, 0.5, 0.7, 1.2, 4.0])
    start = pd.Hypoexponential([1.0, 4.0])
    one = inference.fit_mle(start, data, tied=[("rates",)])
    two = inference.fit_mle(start, data)
    self.assertEqual(set(two.statuses.values()), {"identified"})
    found = inference.likelihood_ratio(one, two)
    self.assertTrue(math.isnan(found.p_value))
    self.assertIn("rates[0] of larger is not identified", found.reason)

  def test_on_the_boundary(self):
    times = 2.0 * onp.random.default_rng(0).weibull(0.7, 60)
    data = inference.Observations(times)
    large = inference.fit_mle(
      pd.Coxian([0.5], [1.0, 0.25]),
      data,
      bounds={"exit_rates": (0.0, 50.0)},
      starts=(),
    )
    self.assertEqual(set(large.statuses.values()), {"identified"})
    small = inference.fit_mle(pd.Coxian([0.5], [0.0, 0.25]), data)
    found = inference.likelihood_ratio(small, large)
    self.assertTrue(math.isnan(found.p_value))
    self.assertIn("exit_rates[0] of larger is on the boundary", found.reason)

  def test_at_a_bound_of_the_larger_one(self):
    data = inference.Observations([0.2, 0.4, 0.5, 0.7, 1.2, 4.0, 0.1, 3.0])
    start = pd.Hyperexponential([0.5, 0.5], [0.4, 3.0])
    small = inference.fit_mle(start, data, fixed=["mixture_probs", "rates[0]"])
    large = inference.fit_mle(
      start, data, fixed=["mixture_probs"], bounds={"rates[0]": (0.4, 5.0)}
    )
    found = inference.likelihood_ratio(small, large)
    self.assertTrue(math.isnan(found.p_value))
    self.assertIn("rates[0] of", found.reason)
    self.assertIn("is at a bound", found.reason)

  def test_other_families(self):
    data = inference.Observations([0.2, 0.4, 0.5, 0.7, 1.2, 4.0])
    one = inference.fit_mle(pd.Erlang(2, 1.0), data)
    two = inference.fit_mle(pd.Hypoexponential([1.0, 4.0]), data)
    found = inference.likelihood_ratio(one, two)
    self.assertTrue(math.isnan(found.p_value))
    self.assertIn("are not those of larger", found.reason)

  def test_no_case_of_the_other(self):
    data = inference.Observations([0.2, 0.4, 0.5, 0.7, 1.2, 4.0])
    start = pd.Hyperexponential([0.5, 0.5], [0.4, 3.0])
    other = pd.Hyperexponential([0.25, 0.75], [0.4, 3.0])
    one = inference.fit_mle(other, data, fixed=["mixture_probs", "rates[0]"])
    two = inference.fit_mle(start, data, fixed=["mixture_probs"])
    two = dataclasses.replace(two, log_likelihood=one.log_likelihood + 1)
    with self.assertRaisesRegex(
      ValueError, r"mixture_probs\[0\] is 0.25 in smaller"
    ):
      inference.likelihood_ratio(one, two)

  def test_results_do_not_change(self):
    times = onp.asarray([1.0, 1.0, 2.0, 4.0])
    ends = [0.125, 5.0]
    fit = inference.fit_mle(
      pd.Erlang(1, 1.0), inference.Observations(times), bounds={"rate": ends}
    )
    fit.standard_errors["rate"] = 0.0
    fit.statuses["rate"] = "known"
    times[:], ends[:] = 100.0, [0.0, 0.0]
    for array in (fit.standard_errors["rate"], fit.covariance()[1]):
      with self.assertRaisesRegex(ValueError, "read-only"):
        array[...] = 0.0
    # The rate is 1 / 2, and its standard error r / sqrt(n).
    self.assertAlmostEqual(float(fit.standard_errors["rate"]), 0.25, places=6)
    self.assertAlmostEqual(float(fit.covariance()[1][0, 0]), 0.0625, places=6)
    self.assertEqual(fit.statuses["rate"], "identified")
    self.assertEqual(fit.bounds["rate"], (0.125, 5.0))
    self.assertEqual(self.host(fit.observations.lower).tolist(), [1, 1, 2, 4])

  def test_other_data(self):
    times = onp.asarray([0.2, 0.4, 0.5, 0.7])
    one = inference.fit_mle(pd.Erlang(1, 1.0), inference.Observations(times))
    two = inference.fit_mle(
      pd.Hypoexponential([1.0, 4.0]), inference.Observations(times[:3])
    )
    with self.assertRaisesRegex(ValueError, "different observations"):
      inference.likelihood_ratio(one, two)
    with self.assertRaisesRegex(TypeError, "larger is Hypo.*must be a Fit"):
      inference.likelihood_ratio(one, two.distribution)


if __name__ == "__main__":
  absltest.main()
