"""Raw moments of the families, and their consistency."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp
from scipy import special

from phasic import distributions as pd
from phasic import graphs
from tests.helpers import family_cases
from tests.helpers import test_case

MODE = "numpy"
CASES = family_cases.CASES
NAMES = [name for name in CASES if name != "erlang_1000"]
if MODE == "jax":
  # Each distribution is compiled.
  NAMES = ["hyper_erlang", "weibull", "pareto"]


def _epochs():
  return pd.Epochs(graphs.models.kingman(2), [[1.0], [0.5]], [1.0])


class MomentsTest(test_case.TestCase):
  """Tests that moments, mean and variance agree."""

  @parameterized.parameters(*NAMES)
  def test_first_two(self, name):
    dist = CASES[name].make()
    try:
      mean, variance = self.host(dist.mean()), self.host(dist.variance())
    except NotImplementedError:
      with self.assertRaisesRegex(NotImplementedError, r"no moment\(2\): .*"):
        dist.moment(2)
      return
    self.assert_close(dist.moment(1), mean, 1e-14)
    self.assert_close(dist.moment(2), variance + mean**2, 1e-9)

  def test_first_two_of_epochs(self):
    dist = _epochs()
    mean, variance = self.host(dist.mean()), self.host(dist.variance())
    self.assert_close(dist.moment(1), mean, 1e-14)
    self.assert_close(dist.moment(2), variance + mean**2, 1e-12)

  @parameterized.parameters(1, 3, 6)
  def test_transformed_times(self, k):
    # Of a generalized gamma variable, X^(1 / c).
    dist = pd.MatrixWeibull(pd.Erlang(2, [1.0, 3.0]), 0.8)
    expected = special.gamma(2 + k / 0.8) * onp.asarray([1.0, 3.0]) ** (
      -k / 0.8
    )
    self.assert_close(dist.moment(k), expected, 1e-9)

  def test_powers_that_are_out_of_range(self):
    dist = pd.MatrixWeibull(pd.Erlang(1, [1e-4, 1e-40]), 2.0)
    expected = [math.gamma(11.0) * 1e40, math.inf]
    self.assert_close(dist.moment(20), expected, 1e-9)
    # Times beyond the quadrature points matter.
    self.assert_close(dist.moment(50), [math.nan, math.nan])

  @parameterized.parameters(1, 2, 5)
  def test_truncated_below(self, k):
    base = pd.Hypoexponential([2.0])
    dist = pd.TruncatedPhaseType(base, [0.0, 3.0])
    with mpmath.workdps(30):
      expected = [
        float(
          mpmath.quad(
            lambda t, low=low: (low + t) ** k * 2 * mpmath.exp(-2 * t),
            [0, 1, 4, 16, 64],
          )
        )
        for low in (0, 3)
      ]
    self.assert_close(dist.moment(k), expected, 1e-12)

  @parameterized.parameters(
    (0,), (-1,), (1.5,), (True,), ("2",), (None,), (171,), (10**9,)
  )
  def test_orders_that_are_none(self, k):
    erlang = pd.Erlang(2, 1.0)
    for dist in (
      erlang,
      pd.NegativeBinomialFailures(2, 0.5),
      pd.MatrixWeibull(erlang, 2.0),
      pd.TruncatedPhaseType(erlang, 1.0),
      _epochs(),
    ):
      with self.assertRaisesRegex(
        ValueError, f"^k is {k!r}: it must be a positive integer, and at most"
      ):
        dist.moment(k)

  def test_orders_that_are_numpy_integers(self):
    dist = pd.Erlang(2, 1.0)
    self.assert_close(dist.moment(onp.int64(3)), 24.0)


if __name__ == "__main__":
  absltest.main()
