"""Intervals, robust errors and summaries of fits of all kinds."""

import math
import pickle
from typing import ClassVar

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
import scipy.optimize
import scipy.stats

from phasic import distributions as pd
from phasic import inference
from tests.helpers import test_case
from tests.oracle.regressions import exact

MODE = "numpy"
_TIMES = onp.asarray([0.4, 0.7, 1.1, 1.9, 2.0, 2.8, 3.5, 6.0])
_SEEN = onp.asarray([1, 1, 1, 0, 1, 1, 0, 1])
_Z = scipy.stats.norm.ppf(0.975)


class _Groups(inference.LikelihoodModel):
  """Exponential times of two groups."""

  parameters: ClassVar = {"rate": 1.0, "slope": onp.zeros(1)}
  bounds: ClassVar = {"slope": (-math.inf, math.inf)}
  labels: ClassVar = {"slope": ("group",)}

  def log_likelihood_terms(self, parameters, data):
    eta = np.log(parameters["rate"]) + parameters["slope"][0] * data["group"]
    return data["seen"] * eta - np.exp(eta) * data["time"]


class _Waiting(inference.LikelihoodModel):
  """Two distributions with one share, of which data tell the sums."""

  parameters: ClassVar = {
    "first": pd.Hypoexponential([1.0, 2.0]),
    "second": pd.Erlang(1, 1.0),
    "share": 0.5,
  }
  bounds: ClassVar = {"share": (0.0, 1.0)}

  def log_likelihood_terms(self, parameters, data):
    share = parameters["share"]
    return np.where(
      data["kind"] > 0,
      np.log(share) + parameters["first"].log_prob(data["time"]),
      np.log(1.0 - share) + parameters["second"].log_prob(data["time"]),
    )


def _exponential(**options):
  data = inference.Observations.right_censored(_TIMES, _SEEN, **options)
  return inference.fit_mle(pd.Erlang(1, 0.3), data, starts=())


class IntervalsTest(test_case.TestCase):
  """Tests intervals by closed forms of exponential times."""

  def test_wald(self):
    fit = _exponential()
    events, total = float(onp.sum(_SEEN)), float(onp.sum(_TIMES))
    rate, error = events / total, math.sqrt(events) / total
    interval = fit.confidence_interval("rate")
    self.assert_close(interval.estimate, rate, 1e-9)
    wide = math.exp(_Z * error / rate)
    self.assert_close([interval.low, interval.high], [rate / wide, rate * wide])
    self.assertEqual(interval.method, "wald")
    # The mean is one over the rate, also on the scale of logarithms.
    mean = fit.confidence_interval("mean")
    self.assert_close(mean.low, 1.0 / interval.high, 1e-9)
    # Survival has log odds.
    times = onp.asarray([1.0, 4.0])
    survival = onp.exp(-rate * times)
    odds = survival / (1.0 - survival)
    step = _Z * times * survival * error / (survival * (1.0 - survival))
    found = fit.confidence_interval("survival_function", times)
    high = odds * onp.exp(step)
    self.assert_close(found.high, high / (1.0 + high), 1e-9)
    # A function of the user has no bounds unless they are given.
    plain = fit.confidence_interval(lambda dist: dist.rate)
    self.assert_close(plain.low, rate - _Z * error, 1e-9)
    bounded = fit.confidence_interval(
      lambda dist: dist.rate, bounds=(-math.inf, 10.0), confidence_level=0.9
    )
    step = scipy.stats.norm.ppf(0.95) * error / (10.0 - rate)
    self.assert_close(bounded.low, 10.0 - (10.0 - rate) * math.exp(step), 1e-9)
    self.assert_close(
      fit.confidence_interval("log_prob", 1.0).high,
      math.log(rate) - rate + _Z * error * abs(1.0 / rate - 1.0),
      1e-9,
    )

  def test_profile(self):
    data = inference.Observations.exact(onp.full(10, 2.0))
    fit = inference.fit_mle(pd.Erlang(1, 0.3), data, starts=())
    interval = fit.confidence_interval("rate", method="profile")
    ends = [float(interval.low), float(interval.high)]
    self.assert_close(ends, exact.EXPONENTIAL_RATE_INTERVAL[0], 1e-8)
    for rate in ends:
      deviance = 2.0 * (10.0 * math.log(2.0 * rate) - 20.0 * rate + 10.0)
      self.assertAlmostEqual(deviance, -3.841458820694124, delta=1e-8)
    # It does not depend on the scale.
    median = fit.confidence_interval("median", method="profile")
    self.assert_close(
      [median.high, median.low], onp.log(2.0) / onp.asarray(ends), 1e-8
    )
    both = fit.confidence_interval(
      lambda dist: np.stack([dist.rate, dist.mean()]), method="profile"
    )
    self.assert_close(both.low, [ends[0], 1.0 / ends[1]], 1e-8)

  def test_profile_of_two_parameters(self):
    # The profile of a Weibull shape, by a search over the rate in closed form.
    data = inference.Observations.right_censored(_TIMES, _SEEN)
    fit = inference.fit_mle(
      pd.MatrixWeibull(pd.Erlang(1, 0.3), 1.0), data, starts=()
    )

    def profile(shape):
      powers = onp.sum(_TIMES**shape)
      events = onp.sum(_SEEN)
      logs = onp.sum(_SEEN * onp.log(_TIMES))
      return (
        events * (math.log(shape) + math.log(events / powers))
        + (shape - 1.0) * logs
        - events
      )

    top = float(self.host(fit.distribution.concentration))
    bound = profile(top) - scipy.stats.chi2.ppf(0.95, 1) / 2.0
    low, high = (
      scipy.optimize.brentq(lambda k: profile(k) - bound, *ends, xtol=1e-13)
      for ends in ((0.1 * top, top), (top, 10.0 * top))
    )
    interval = fit.confidence_interval("concentration", method="profile")
    self.assert_close([interval.low, interval.high], [low, high], 1e-8)

  def test_an_end_at_infinity(self):
    # Few deaths from the second phase, at late times: they may come at once or
    # never, and the mean may be infinite.
    if MODE != "numpy":
      self.skipTest("host code, the same in all substrates")
    else:
      random = onp.random.default_rng(5)
      early = random.random(200) < 0.4
      times = random.exponential(5, 200) + onp.where(
        early, random.exponential(3, 200), random.exponential(30, 200)
      )
      ends = random.uniform(5, 80, 200)
      data = inference.Observations.right_censored(
        onp.minimum(times, ends), times <= ends
      )
      fit = inference.fit_mle(
        pd.Coxian([0.0263], [0.0523, 0.0255]), data, starts=()
      )
      interval = fit.confidence_interval("mean", method="profile")
      self.assertEqual(interval.high, math.inf)
      self.assertTrue(0.0 < interval.low < interval.estimate)
      low = fit.confidence_interval("exit_rates[1]", method="profile").low
      self.assertEqual(low, 0.0)

  @parameterized.parameters(1e-9, 604800.0, 1e8)
  def test_units_of_time(self, unit):
    if MODE != "numpy":
      self.skipTest("host code, the same in all substrates")
    else:
      ends = []
      for scale in (1.0, unit):
        data = inference.Observations.right_censored(_TIMES * scale, _SEEN)
        fit = inference.fit_mle(
          pd.MatrixWeibull(pd.Erlang(1, 0.3 / scale), 1.0), data, starts=()
        )
        interval = fit.confidence_interval("median", method="profile")
        ends.append([interval.low / scale, interval.high / scale])
      self.assert_close(ends[1], ends[0], 1e-8)

  def test_robust_errors(self):
    weights = onp.asarray([1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 1.0, 3.0])
    fit = _exponential(weights=weights)
    rate = float(self.host(fit.distribution.rate))
    scores = weights * (_SEEN / rate - _TIMES)
    information = onp.sum(weights * _SEEN) / rate**2
    names, covariance = fit.covariance(robust=True)
    self.assertEqual(names, ("rate",))
    known = onp.sum(scores**2) / information**2
    self.assert_close(covariance, [[known]], 1e-8)
    clusters = ["a", "a", "b", "b", "c", "c", "d", "d"]
    sums = onp.sum(onp.reshape(scores, (4, 2)), axis=-1)
    _, covariance = fit.covariance(clusters=clusters)
    self.assert_close(covariance, [[onp.sum(sums**2) / information**2]], 1e-8)
    interval = fit.confidence_interval("rate", robust=True)
    self.assert_close(
      interval.high / rate, math.exp(_Z * math.sqrt(known) / rate), 1e-8
    )
    self.assert_close(
      fit.standard_error_of("mean", robust=True),
      math.sqrt(known) / rate**2,
      1e-8,
    )

  def test_summaries(self):
    fit = _exponential()
    summary = fit.summary()
    row = summary.rows["rate"]
    interval = fit.confidence_interval("rate")
    self.assert_close(row["low"], interval.low)
    self.assertTrue(math.isnan(row["z"]))
    self.assertEqual(summary.facts["events"], 6.0)
    self.assertEqual(summary.facts["right-censored"], 2.0)
    self.assert_close(summary.facts["AIC"], fit.aic)
    self.assertIn("rate", str(summary))
    self.assertIn("<td>rate</td>", summary._repr_html_())
    self.assertEqual(summary.to_dict()["rows"]["rate"], dict(row))
    table = summary.to_dataframe()
    self.assertEqual(list(table.index), ["rate"])
    self.assert_close(table.loc["rate", "estimate"], row["estimate"])
    boundary = inference.fit_mle(
      pd.Coxian([1.0], [0.1, 1.0]),
      inference.Observations.exact(
        onp.asarray([0.3, 0.5, 0.8, 1.1, 1.6, 2.5, 4.2, 7.0])
      ),
      starts=(),
    )
    text = str(boundary.summary())
    self.assertIn("on the boundary (zero)", text)

  def test_a_model(self):
    group = onp.asarray([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    data = {"time": _TIMES, "seen": 1.0 * _SEEN, "group": group}
    fit = inference.fit_mle(_Groups(), data)
    events = onp.asarray([onp.sum(_SEEN[:4]), onp.sum(_SEEN[4:])])
    rates = events / onp.asarray([onp.sum(_TIMES[:4]), onp.sum(_TIMES[4:])])
    self.assert_close(fit.parameters["rate"], rates[0], 1e-9)
    slope = math.log(rates[1] / rates[0])
    self.assert_close(fit.parameters["slope"], [slope], 1e-8)
    error = math.sqrt(onp.sum(1.0 / events))
    self.assert_close(fit.standard_errors["slope"], [error], 1e-8)
    self.assertEqual(set(fit.statuses), {"rate", "slope[group]"})
    interval = fit.confidence_interval("slope[group]")
    self.assert_close(interval.high, slope + _Z * error, 1e-8)
    row = fit.summary().rows["slope[group]"]
    self.assert_close(row["z"], slope / error, 1e-7)
    self.assert_close(
      row["p"], 2.0 * scipy.stats.norm.sf(abs(slope / error)), 1e-6
    )
    ratio = fit.confidence_interval(
      lambda x: np.exp(x["slope"]), method="profile"
    )
    profile = fit.confidence_interval("slope", method="profile")
    self.assert_close(ratio.low, onp.exp(profile.low), 1e-8)
    held = inference.fit_mle(_Groups(), data, fixed=["slope"])
    test = inference.likelihood_ratio(held, fit)
    self.assertEqual((test.degrees_of_freedom, test.reason), (1, ""))
    logs = onp.sum(events * onp.log(rates))
    rate = onp.sum(events) / onp.sum(_TIMES)
    known = 2.0 * (logs - onp.sum(events) * math.log(rate))
    self.assert_close(test.statistic, known, 1e-8)
    self.assert_close(test.p_value, scipy.stats.chi2.sf(known, 1), 1e-8)
    with self.assertRaisesRegex(TypeError, "must be of one kind"):
      inference.likelihood_ratio(_exponential(), fit)
    self.assert_close(
      held.parameters["rate"], onp.sum(events) / onp.sum(_TIMES), 1e-8
    )
    self.assertEqual(held.num_parameters, 1)
    # Functions that were compiled for other bounds are not taken.
    model = _Groups()
    for bounds in ({}, {"rate": (0.0, 5.0)}, {"rate": (0.01, 2.0)}):
      again = inference.fit_mle(model, data, bounds=bounds)
      self.assert_close(again.parameters["rate"], rates[0], 1e-8)
    if MODE == "numpy":
      again = pickle.loads(pickle.dumps(fit))
      self.assert_close(
        again.confidence_interval("rate").low,
        fit.confidence_interval("rate").low,
      )
    with self.assertRaisesRegex(ValueError, "fixed has 'no'"):
      inference.fit_mle(_Groups(), data, fixed=["no"])
    with self.assertRaisesRegex(TypeError, "takes none"):
      inference.fit_mle(_Groups(), data, covariates={"a": [1.0]})

  def test_a_model_of_distributions(self):
    data = {
      "time": onp.asarray([0.5, 1.5, 2.5, 1.0, 3.0]),
      "kind": onp.asarray([1.0, 1.0, 1.0, 0.0, 0.0]),
    }
    fit = inference.fit_mle(
      _Waiting(), data, tied=[("first.rates[0]", "first.rates[1]")]
    )
    self.assert_close(fit.parameters["share"], 0.6, 1e-8)
    self.assert_close(fit.parameters["second"].rate, 0.5, 1e-8)
    self.assert_close(fit.parameters["first"].rates, [6 / 4.5] * 2, 1e-7)
    self.assertEqual(
      set(fit.statuses), {"share", "first.rates[0]", "second.rate"}
    )
    interval = fit.confidence_interval("share")
    error = math.sqrt(0.6 * 0.4 / 5.0)
    odds = 1.5 * math.exp(_Z * error / 0.24)
    self.assert_close(interval.high, odds / (1.0 + odds), 1e-7)
    limited = inference.fit_mle(
      _Waiting(), data, bounds={"second.rate": (0.7, 2.0)}
    )
    self.assertEqual(limited.statuses["second.rate"], "at a bound")

  def test_maxima(self):
    def log_likelihood(x):
      return np.sum(_SEEN * np.log(x["rate"]) - x["rate"] * _TIMES)

    maximum = inference.maximize(log_likelihood, {"rate": 1.0})
    fit = _exponential()
    names, covariance = maximum.covariance()
    self.assertEqual(names, ("rate",))
    self.assert_close(covariance, fit.covariance()[1], 1e-7)
    for method in ("wald", "profile"):
      found = maximum.confidence_interval("rate", method=method)
      known = fit.confidence_interval("rate", method=method)
      self.assert_close([found.low, found.high], [known.low, known.high], 1e-7)
    self.assert_close(
      maximum.standard_error_of(lambda x: 1.0 / x["rate"]),
      fit.standard_error_of("mean"),
      1e-7,
    )

  @parameterized.named_parameters(
    ("level", {"confidence_level": 1.0}, "confidence_level is 1"),
    ("method", {"method": "exact"}, "method is 'exact'"),
    ("bounds", {"bounds": (1.0, 0.0)}, "bounds is"),
    ("robust", {"method": "profile", "robust": True}, "robust errors go with"),
    ("clusters", {"clusters": [1, 2]}, r"clusters has shape \(2,\)"),
    ("one_cluster", {"clusters": [1] * 8}, "clusters has 1 label"),
    ("no_label", {"clusters": [1.0] * 7 + [math.nan]}, r"clusters\[7\] is NaN"),
  )
  def test_refusals(self, options, message):
    with self.assertRaisesRegex(ValueError, message):
      _exponential().confidence_interval("rate", **options)


if __name__ == "__main__":
  absltest.main()
