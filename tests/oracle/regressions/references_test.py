"""Figures of regressions by mpmath, R's survreg and lifelines agree."""

import dataclasses

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np

from tests.oracle.regressions import aft
from tests.oracle.regressions import exact
from tests.oracle.regressions import figures
from tests.oracle.regressions import from_lifelines
from tests.oracle.regressions import from_survreg
from tests.oracle.regressions import models
from tests.oracle.regressions import quantities
from tests.oracle.regressions import tables

# Those whose maximization takes less than a quarter of a second.
_QUICK = (
  "LUNG_CLUSTERS",
  "LUNG_OFFSET",
  "LUNG_STRATA",
  "LUNG_WEIGHTS",
  "INTERVALS_WEIBULL",
  "INTERVALS_LOG_LOGISTIC",
  "ENTRIES_WEIBULL",
  "ENTRIES_LOG_LOGISTIC",
)
_PERSON = (1.0, 50.0, 1.0)
_QUANTITIES = {
  "effect_on_intensity": lambda m: quantities.proportional_intensities(m)[1],
  "log_cumulative_hazard": lambda m: quantities.log_cumulative_hazard(
    m, _PERSON, 365.0
  ),
  "log_quantile": lambda m: quantities.log_quantile(m, _PERSON, 0.5),
  "log_mean": lambda m: quantities.log_mean(m, _PERSON),
  "restricted_mean": lambda m: quantities.restricted_mean(m, _PERSON, 365.0),
  "standardized": lambda m: _standardized(m)[:2],
  "standardized_difference": lambda m: _standardized(m)[4:],
}


def _standardized(maximum):
  return quantities.standardized_survival(maximum, models.lung().data, 2, 365.0)


def _fits(module) -> dict[str, figures.Fit]:
  return {
    name: value
    for name, value in vars(module).items()
    if isinstance(value, figures.Fit)
  }


class FitsTest(parameterized.TestCase):
  """Tests the stored fits against each other."""

  def _check(self, actual, expected, rtol):
    self.assertEqual(actual.names, expected.names)
    for field in ("log_likelihood", "estimates", "errors", "robust_errors"):
      value = np.asarray(getattr(actual, field))
      present = np.isfinite(value)  # lifelines does not have all.
      np.testing.assert_allclose(
        value[present],
        np.asarray(getattr(expected, field))[present],
        rtol=rtol,
        err_msg=field,
      )

  @parameterized.parameters(*_fits(from_survreg))
  def test_survreg(self, name):
    self._check(getattr(from_survreg, name), getattr(exact, name), rtol=1e-10)

  @parameterized.parameters(*_fits(from_lifelines))
  def test_lifelines(self, name):
    self._check(getattr(from_lifelines, name), getattr(exact, name), rtol=3e-6)

  @parameterized.parameters(*_QUICK)
  def test_exact(self, name):
    self._check(models.MODELS[name]().fit(), getattr(exact, name), rtol=1e-15)

  def test_all_models_are_stored(self):
    self.assertEqual(list(_fits(exact)), list(models.MODELS))

  def test_known_log_likelihoods(self):
    known = {
      "ROSSI_WEIBULL": -679.916563937,
      "ROSSI_EXPONENTIAL": -686.365940854,
      "ROSSI_LOG_LOGISTIC": -679.938411053,
      "LUNG_WEIBULL": -1147.05443143,
    }
    for name, value in known.items():
      fit = getattr(exact, name)
      self.assertAlmostEqual(fit.log_likelihood, value, delta=1e-8)

  def test_tables(self):
    rossi, lung = tables.rossi(), tables.lung()
    self.assertLen(rossi["week"], 432)
    self.assertEqual(np.sum(rossi["arrest"]), 114)
    self.assertLen(lung["time"], 228)
    self.assertEqual(np.sum(lung["status"]), 165)
    basis = tables.spline_basis(np.array([39.0, 50.0, 63.0, 82.0]))
    np.testing.assert_allclose(basis, from_survreg.SPLINE_BASIS, atol=1e-14)


class QuantitiesTest(parameterized.TestCase):
  """Tests functions of fits, and their errors."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.maximum = models.lung().maximum()

  @parameterized.parameters(*_QUANTITIES)
  def test_error(self, name):
    quantity = _QUANTITIES[name]
    step = mpmath.mpf(10) ** -15

    def moved(j, h):
      params = list(self.maximum.params)
      params[j] += h
      return quantity(dataclasses.replace(self.maximum, params=params))[0]

    with mpmath.workdps(aft.DIGITS):
      gradient = [
        (moved(j, step) - moved(j, -step)) / (2 * step)
        for j in range(len(self.maximum.params))
      ]
      error = quantities.error(self.maximum.covariance, gradient)
      self.assertLess(abs(quantity(self.maximum)[1] / error - 1), 1e-20)

  def test_survreg(self):
    logs = np.log(from_survreg.QUANTILES)
    errors = from_survreg.LOG_QUANTILE_ERRORS
    medians = np.stack([logs[:, 1], errors[:, 1]], axis=1)
    np.testing.assert_allclose(medians, exact.LOG_MEDIANS, rtol=1e-11)
    np.testing.assert_allclose(
      from_survreg.QUANTILE_ERRORS, from_survreg.QUANTILES * errors, rtol=1e-13
    )
    for name in ("STANDARDIZED_0", "STANDARDIZED_1"):
      np.testing.assert_allclose(
        getattr(from_survreg, name)[:, 0],
        getattr(exact, name)[:, 0],
        rtol=1e-12,
      )
    np.testing.assert_allclose(
      from_survreg.PROFILE_INTERVALS, exact.PROFILE_INTERVALS, rtol=1e-9
    )

  def test_standardized_differences(self):
    np.testing.assert_allclose(
      exact.STANDARDIZED_DIFFERENCES[:, 0],
      exact.STANDARDIZED_1[:, 0] - exact.STANDARDIZED_0[:, 0],
      rtol=1e-13,
    )

  def test_wald_intervals(self):
    fit = exact.ROSSI_WEIBULL
    rows = [fit.names.index(name) for name in ("fin", "prio")]
    half = np.sqrt(3.841458820694124) * fit.errors[rows]
    ends = [fit.estimates[rows] - half, fit.estimates[rows] + half]
    np.testing.assert_allclose(
      exact.WALD_INTERVALS, np.stack(ends, axis=1), rtol=1e-13
    )

  def test_proportional_intensities(self):
    fit = exact.ROSSI_WEIBULL
    values = exact.PROPORTIONAL[:, 0]
    effects = -fit.estimates[:-1] / np.exp(fit.estimates[-1])
    np.testing.assert_allclose(values[:-1], effects, rtol=1e-14)

  def test_exponential_rate_interval(self):
    mean = 20.0 * exact.EXPONENTIAL_RATE_INTERVAL[0]
    fall = 2.0 * (10.0 * np.log(mean / 10.0) - mean + 10.0)
    np.testing.assert_allclose(fall, -3.841458820694124, rtol=1e-14)


if __name__ == "__main__":
  absltest.main()
