"""Conformance: quantiles, against exact distribution functions."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import test_case

_EPS = 2.0**-52
# Probabilities and their logarithms.
_PROBS = (1e-12, 0.25, 0.9, 1 - 1e-9)
_LOGS = (-300.0, -3.0, -0.1, -1e-9)


class QuantilesTest(test_case.TestCase):
  """Tests that F(Q(u)) is u, up to rounding of Q."""

  @parameterized.named_parameters(*conformance.rows("quantiles"))
  def test_quantiles(self, family, mode):
    case = conformance.CASES[family]
    logs = _LOGS
    if family.startswith(("shifted", "truncated")):
      # Floats near a bound are too coarse for a stricter test.
      logs = (-1.0, *_LOGS[1:])
    count = len(logs)
    if mode == conformance.VECTORIZED:
      rows = [conformance.varied(family, i) for i in range(count)]
    else:
      rows = [dict(case.parameters)] * count

    def quantiles(parameters, value):
      return {"quantile": case.build(**parameters).quantile(value)}

    def of_logs(parameters, value):
      dist = case.build(**parameters)
      return {
        "cdf": dist.quantile_log_cdf(value),
        "sf": dist.quantile_log_survival(value),
      }

    found = conformance_modes.evaluate(quantiles, mode, rows, _PROBS)
    found |= conformance_modes.evaluate(of_logs, mode, rows, logs)
    with mpmath.workdps(conformance.digits(family)):
      laws = [conformance.law(family, row) for row in rows]
      for i, law in enumerate(laws):
        u, v = mpmath.mpf(_PROBS[i]), mpmath.exp(mpmath.mpf(logs[i]))
        for name, below in (("quantile", u), ("cdf", v), ("sf", 1 - v)):
          with self.subTest(f"{name} {i}"):
            above = v if name == "sf" else 1 - below
            x = mpmath.mpf(float(found[name][i]))
            if case.discrete:
              self._check_count(law, x, below, above)
            else:
              self._check_time(law, x, below, above)

  def _check_time(self, law, x, below, above):
    if x == 0:
      self.assertLessEqual(below, law.cdf(x) * (1 + 4 * _EPS))
      return
    slack = 16 * _EPS * (1 + abs(mpmath.log(min(below, above))))
    moved = x * law.prob(x) / min(below, above)
    error = abs(law.cdf(x) - below) if below < above else law.sf(x) - above
    bound = slack * min(below, above) * (1 + moved)
    self.assertLessEqual(abs(error), bound, float(abs(error) / bound))

  def _check_count(self, law, k, below, above):
    # At a tie, or for a probability that is not a float, the next count is right.
    slack = 1e-13 * min(below, above)
    self.assertEqual(k, mpmath.floor(k))
    self.assertGreaterEqual(law.cdf(k), below - slack)
    if k >= 1:
      self.assertLess(law.cdf(k - 1), below + slack)

  @parameterized.named_parameters(
    *(
      row
      for row in conformance.rows("quantiles")
      if row[2] == conformance.EAGER
    )
  )
  @test_case.of_bad_values
  def test_ends(self, family, mode):
    del mode
    case = conformance.CASES[family]
    dist = case.make()
    last = case.parameters.get("high", math.inf)
    found = self.host(dist.quantile([1.0, -0.5, 1.5, math.nan]))
    self.assert_close(found, [last, math.nan, math.nan, math.nan])
    for method in (dist.quantile_log_cdf, dist.quantile_log_survival):
      self.assertTrue(onp.isnan(self.host(method(0.5))))
    self.assert_close(dist.quantile_log_cdf(0.0), last)
    self.assert_close(dist.quantile_log_survival(-math.inf), last)
    with self.assertRaisesRegex(ValueError, r"value = 1\.5"):
      case.make(validate_args=True).quantile(1.5)


if __name__ == "__main__":
  absltest.main()
