"""Accelerated failure times against figures in 50 digits, and R's."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from phasic import regression
from tests.helpers import test_case
from tests.oracle.regressions import exact
from tests.oracle.regressions import from_survreg
from tests.oracle.regressions import models
from tests.oracle.regressions import tables

MODE = "numpy"
_HELD = ("distribution.rate",)


def _weibull():
  """Returns a Weibull distribution whose rate the tests hold at one."""
  return pd.MatrixWeibull(pd.Erlang(1, 1.0), 1.0)


def _rossi():
  table = tables.rossi()
  return table, inference.Observations.right_censored(
    table["week"], table["arrest"]
  )


def _lung():
  table = tables.lung()
  return table, inference.Observations.right_censored(
    table["time"], table["status"]
  )


class RegressionTest(test_case.TestCase):
  """Tests coefficients, errors and predictions of Weibull regressions."""

  def _assert_fit(self, fit, expected, rtol=1e-8):
    """Compares a fit with stored figures, for time and log scales."""
    size = len(expected.names) - sum(
      name.startswith("log_scale") for name in expected.names
    )
    self.assertTrue(fit.record.converged, fit.record.message)
    self.assertAlmostEqual(
      fit.log_likelihood, expected.log_likelihood, delta=1e-8
    )
    _, covariance = fit.covariance()
    errors = onp.sqrt(onp.diag(covariance))
    self.assert_close(fit.parameters["time"], expected.estimates[:size], rtol)
    self.assert_close(fit.standard_errors["time"], expected.errors[:size], rtol)
    self.assert_close(errors[:size], expected.errors[:size], rtol)

  def test_rossi(self):
    table, data = _rossi()
    model = regression.Regression(
      _weibull(), time=list(models.ROSSI_EFFECTS), intercept=True
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
    self._assert_fit(fit, exact.ROSSI_WEIBULL)
    scale = 1.0 / fit.parameters["distribution"].concentration
    known = math.exp(exact.ROSSI_WEIBULL.estimates[-1])
    self.assert_close(scale, known, 1e-8)
    robust = fit.uncertainty.robust().standard_errors["time"]
    self.assert_close(robust, exact.ROSSI_WEIBULL.robust_errors[:-1], 1e-8)
    self.assert_close(
      robust, from_survreg.ROSSI_WEIBULL.robust_errors[:-1], 1e-8
    )
    for i, name in enumerate(("time[fin]", "time[prio]")):
      for method, ends in (
        ("wald", exact.WALD_INTERVALS),
        ("profile", exact.PROFILE_INTERVALS),
      ):
        interval = fit.confidence_interval(name, method=method)
        self.assert_close([interval.low, interval.high], ends[i], 1e-7)
    marginal = regression.standardized(
      fit,
      "survival_function",
      onp.asarray([[13.0], [26.0], [39.0], [52.0]]),
      covariates=table,
      column="fin",
      levels=[0, 1],
    )
    known = onp.stack([exact.STANDARDIZED_0, exact.STANDARDIZED_1])
    self.assert_close(marginal.averages.estimate, known[..., 0], 1e-8)
    difference = marginal.differences
    self.assert_close(
      difference.estimate[0], exact.STANDARDIZED_DIFFERENCES[:, 0], 1e-7
    )
    errors = (difference.high - difference.low)[0] / (2.0 * 1.959963984540054)
    self.assert_close(errors, exact.STANDARDIZED_DIFFERENCES[:, 1], 1e-7)

  def test_rates_stand_for_intercepts(self):
    table, data = _rossi()
    model = regression.Regression(
      _weibull(), intensity=list(models.ROSSI_EFFECTS)
    )
    fit = inference.fit_mle(model, data, covariates=table)
    known = exact.ROSSI_WEIBULL.log_likelihood
    self.assertAlmostEqual(fit.log_likelihood, known, delta=1e-8)
    # Proportional intensities of one phase are proportional hazards.
    self.assert_close(
      fit.parameters["intensity"], exact.PROPORTIONAL[1:-1, 0], 1e-7
    )
    self.assert_close(
      fit.standard_errors["intensity"], exact.PROPORTIONAL[1:-1, 1], 1e-7
    )
    subject = {name: table[name][:1] for name in models.ROSSI_EFFECTS}
    other = {**subject, "prio": subject["prio"] + 2}
    ratio = regression.hazard_ratios(fit, other, subject, [5.0, 50.0])
    coefficient = float(self.host(fit.parameters["intensity"])[-1])
    self.assert_close(
      ratio.estimate, onp.full((1, 2), math.exp(2.0 * coefficient)), 1e-10
    )
    error = 2.0 * exact.PROPORTIONAL[-2, 1] * 1.959963984540054
    self.assert_close(
      onp.log(ratio.high / ratio.estimate), onp.full((1, 2), error), 1e-7
    )

  @parameterized.named_parameters(
    ("exponential", pd.Erlang(1, 1.0), exact.ROSSI_EXPONENTIAL, ("rate",)),
    (
      "log_logistic",
      pd.MatrixLogLogistic(pd.Erlang(1, 1.0), 1.0, 1.0),
      exact.ROSSI_LOG_LOGISTIC,
      ("distribution.rate", "scale"),
    ),
  )
  def test_other_families(self, dist, expected, held):
    if MODE == "jax":
      self.skipTest("compiles for seconds")
    table, data = _rossi()
    model = regression.Regression(
      dist, time=list(models.ROSSI_EFFECTS), intercept=True
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=held)
    self._assert_fit(fit, expected)

  def test_clusters_and_predictions(self):
    table, data = _lung()
    model = regression.Regression(
      _weibull(), time=["age", "sex"], intercept=True
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
    self._assert_fit(fit, exact.LUNG_WEIBULL)
    self._assert_fit(fit, from_survreg.LUNG_WEIBULL)
    self.assert_close(
      fit.parameters["time"], [6.27485306, -0.01225703, 0.38208514], 1e-6
    )
    people = {"age": exact.PEOPLE[:, 0], "sex": exact.PEOPLE[:, 1]}
    for f, args, figures in (
      ("median", (), exact.LOG_MEDIANS),
      ("mean", (), exact.LOG_MEANS),
    ):
      interval = fit.confidence_interval(f, *args, covariates=people)
      self.assert_close(onp.log(interval.estimate), figures[:, 0], 1e-8)
      ends = figures[:, 0] + 1.959963984540054 * figures[:, 1]
      self.assert_close(onp.log(interval.high), ends, 1e-8)
    logs = fit.confidence_interval(
      lambda dist: np.log(dist.cumulative_hazard(365.0)), covariates=people
    )
    known = exact.LOG_CUMULATIVE_HAZARDS
    self.assert_close(logs.estimate, known[:, 0], 1e-8)
    self.assert_close(
      logs.low, known[:, 0] - 1.959963984540054 * known[:, 1], 1e-8
    )
    self.assert_close(
      fit.predict(people).limited_expected_value(365.0),
      exact.RESTRICTED_MEANS[:, 0],
      1e-8,
    )

  def test_clusters(self):
    if MODE != "numpy":
      self.skipTest("NumPy code, the same in all substrates")
    else:
      table, _ = _lung()
      kept = onp.isfinite(table["inst"])
      table = {name: x[kept] for name, x in table.items()}
      data = inference.Observations.right_censored(
        table["time"], table["status"]
      )
      model = regression.Regression(
        _weibull(), time=["age", "sex"], intercept=True
      )
      fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
      self._assert_fit(fit, exact.LUNG_CLUSTERS)
      names, covariance = fit.covariance(clusters=table["inst"])
      self.assertEqual(names[1], "time[age]")
      self.assert_close(
        onp.sqrt(onp.diag(covariance))[:3],
        exact.LUNG_CLUSTERS.robust_errors[:3],
        1e-8,
      )

  def test_weights_and_strata(self):
    table, _ = _lung()
    data = inference.Observations.right_censored(
      table["time"], table["status"], weights=table["weight"]
    )
    model = regression.Regression(
      _weibull(), time=["age", "sex"], intercept=True
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
    self._assert_fit(fit, exact.LUNG_WEIGHTS)
    robust = fit.uncertainty.robust().standard_errors["time"]
    self.assert_close(robust, exact.LUNG_WEIGHTS.robust_errors[:3], 1e-8)

  def test_strata(self):
    table, data = _lung()
    model = regression.Regression(
      _weibull(), time=["age"], intercept=True, strata="sex"
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
    self._assert_fit(fit, exact.LUNG_STRATA)
    dists = fit.predict({"age": [60, 60], "sex": [2, 1]})
    scales = onp.exp(exact.LUNG_STRATA.estimates[-2:][::-1])
    self.assert_close(1.0 / self.host(dists.concentration), scales, 1e-8)

  def test_an_offset(self):
    table, data = _lung()
    # The offset is that of models.py.
    model = regression.Regression(
      _weibull(),
      time=["sex"],
      intercept=True,
      offsets={"time": -0.01 * table["age"]},
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
    self._assert_fit(fit, exact.LUNG_OFFSET)

  def test_a_spline(self):
    table, data = _lung()
    basis = tables.spline_basis(table["age"])
    table = {**table, **{f"b{i}": basis[:, i] for i in range(4)}}
    model = regression.Regression(
      _weibull(), time=["b0", "b1", "b2", "b3", "sex"], intercept=True
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
    self._assert_fit(fit, exact.LUNG_SPLINE)
    by_formula = regression.Regression(
      _weibull(), time="bs(age, df=4) + sex", intercept=True
    )
    again = inference.fit_mle(by_formula, data, covariates=table, fixed=_HELD)
    self.assertAlmostEqual(again.log_likelihood, fit.log_likelihood, delta=1e-8)

  def test_intervals_and_entries(self):
    table = tables.intervals()
    data = inference.Observations(table["lower"], table["upper"])
    model = regression.Regression(
      _weibull(), time=list(_effects(exact.INTERVALS_WEIBULL)), intercept=True
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
    self._assert_fit(fit, exact.INTERVALS_WEIBULL)
    table = tables.entries()
    data = inference.Observations.right_censored(
      table["time"], table["event"], entry=table["entry"]
    )
    model = regression.Regression(
      _weibull(), time=list(_effects(exact.ENTRIES_WEIBULL)), intercept=True
    )
    fit = inference.fit_mle(model, data, covariates=table, fixed=_HELD)
    self._assert_fit(fit, exact.ENTRIES_WEIBULL)


def _effects(expected):
  return [
    name
    for name in expected.names
    if name != "Intercept" and not name.startswith("log_scale")
  ]


if __name__ == "__main__":
  absltest.main()
