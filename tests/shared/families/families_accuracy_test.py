"""Values and moments of models with many phases, against exact formulas."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.helpers import family_cases
from tests.helpers import test_case
from tests.oracle import family_oracle

CASES = family_cases.CASES
# The conformance suite has the other families.
NAMES = (("erlang_1000",),)


class FamiliesAccuracyTest(test_case.TestCase):
  """Tests relative errors of logarithms, also in tails."""

  @parameterized.parameters(*NAMES)
  def test_values(self, name):
    case = CASES[name]
    dist = case.make()
    values = onp.asarray(case.values)
    for method, kind in (
      ("log_prob", "prob"),
      ("log_cdf", "cdf"),
      ("log_survival_function", "sf"),
    ):
      with self.subTest(method):
        found = getattr(dist, method)(values)
        self.assert_close(found, case.logs(kind), 1e-12, 1e-14)
    for method, kind in (
      ("prob", "prob"),
      ("cdf", "cdf"),
      ("survival_function", "sf"),
    ):
      with self.subTest(method):
        found = getattr(dist, method)(values)
        logs = case.logs(kind)
        rtol = 1e-12 * (1 + onp.max(-logs[logs > -700]))
        self.assert_close(found, onp.exp(logs), rtol, 1e-300)

  @parameterized.parameters(*NAMES)
  def test_moments(self, name):
    case = CASES[name]
    dist = case.make()
    with mpmath.workdps(family_oracle.DIGITS):
      law = case.exact()
      mean, variance = float(law.mean), float(law.variance)
    self.assert_close(dist.mean(), mean, 1e-13)
    self.assert_close(dist.variance(), variance, 1e-12)
    self.assert_close(dist.stddev(), variance**0.5, 1e-12)


if __name__ == "__main__":
  absltest.main()
