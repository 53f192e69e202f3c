"""Conformance: identities between methods, values outside, and NaN."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import test_case
from tests.oracle import law_methods

_INF = math.inf
# Values of methods at -1 and at infinity.
_OUTSIDE = {
  "log_prob": (-_INF, -_INF),
  "prob": (0.0, 0.0),
  "cdf": (0.0, 1.0),
  "log_cdf": (-_INF, 0.0),
  "survival_function": (1.0, 0.0),
  "log_survival_function": (0.0, -_INF),
  "hazard_function": (0.0, math.nan),
  "log_hazard_function": (-_INF, math.nan),
  "cumulative_hazard": (0.0, _INF),
}
# Structure, which is always checked.
_REFUSED = {("epochs", "boundaries"): "boundaries are .nan.: they must be"}
_QUANTILES = ("quantile", "quantile_log_cdf", "quantile_log_survival")


class RulesTest(test_case.TestCase):
  """Tests identities for all families."""

  @parameterized.named_parameters(*conformance.rows("rules"))
  @test_case.of_bad_values
  def test_rules(self, family, mode):
    case = conformance.CASES[family]
    rows, values = conformance.points(family, mode)

    def methods(parameters, value):
      dist = case.build(**parameters)
      names = (*law_methods.METHODS, "unnormalized_log_prob")
      return {name: getattr(dist, name)(value) for name in names}

    # TensorFlow takes minutes to trace a vectorized search.
    quantiles = () if mode == conformance.VECTORIZED else _QUANTILES

    def all_methods(parameters, value):
      # Invalid probabilities give NaN too.
      dist = case.build(**parameters)
      found = {name: getattr(dist, name)(value) for name in quantiles}
      return {**methods(parameters, value), **found}

    with self.subTest("identities"):
      found = conformance_modes.evaluate(methods, mode, rows, values)
      self._check_identities(found)
    outside = [-1.0, _INF, math.nan]
    rows = [case.parameters] * 3
    found = conformance_modes.evaluate(all_methods, mode, rows, outside)
    for name, (below, beyond) in _OUTSIDE.items():
      with self.subTest(f"{name} outside"):
        expected = onp.asarray([below, beyond, math.nan])
        self.assert_close(found[name], expected, 4e-16, 4e-16)
    for name in quantiles:
      with self.subTest(f"{name} of NaN"):
        self.assert_close(found[name][2], math.nan)
    for name in case.parameters:
      with self.subTest(f"{name} is NaN"):
        if (family, name) in _REFUSED:
          with self.assertRaisesRegex(ValueError, _REFUSED[family, name]):
            self._check_nan(case, name, methods)
        else:
          self._check_nan(case, name, methods)

  def _check_identities(self, found):
    for log, plain in (
      ("log_prob", "prob"),
      ("log_cdf", "cdf"),
      ("log_survival_function", "survival_function"),
      ("log_hazard_function", "hazard_function"),
    ):
      logs = found[log]
      sizes = onp.maximum(1.0, onp.abs(logs))
      error = onp.abs(found[plain] - onp.exp(logs))
      bound = 1e-14 * sizes * onp.exp(logs) + 1e-300
      # Each value has a small relative error.
      self.assertTrue(onp.all(error <= 100 * bound), (plain, error, bound))
    total = found["cdf"] + found["survival_function"]
    self.assert_close(total, onp.ones_like(total), 1e-13)
    hazard = -found["log_survival_function"]
    self.assert_close(found["cumulative_hazard"], hazard, 1e-13, 1e-14)
    # At early times, too.
    ends = -onp.expm1(-found["cumulative_hazard"])
    self.assert_close(ends, found["cdf"], 1e-13)
    self.assert_close(found["unnormalized_log_prob"], found["log_prob"], 0.0)

  def _check_nan(self, case, name, methods):
    """Checks that a NaN parameter gives NaN."""
    arrays = conformance.arrays(case.parameters)
    arrays[name] = onp.full_like(arrays[name], math.nan)
    found = methods(arrays, onp.asarray(case.values[-2]))
    for method, x in found.items():
      self.assertTrue(onp.isnan(self.host(x)), method)


if __name__ == "__main__":
  absltest.main()
