"""Moments of matched distributions, against exact inverses."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from tests.helpers import test_case

MODE = "numpy"

# Two normalized moments E X^2 / (E X)^2 and E X^3 / (E X E X^2), and the fewest
# phases that have them.
_NORMALIZED = (
  (5.0, 20.0, 2),
  (3.0, 4.6, 2),
  (2.0, 2.95, 3),
  (1.75, 40.0 / 14.0, 3),
  (1.5, 2.9 / 1.5, 3),
  (1.34, 2.2 / 1.34, 4),
  (1.2, 1.6 / 1.2, 9),
  (1.05, 1.16 / 1.05, 22),
)

_MEANS = (1.0, 1e-6, 3e5)
if MODE == "jax":  # The compilation takes seconds.
  _MEANS = (1e-6,)
  _NORMALIZED = _NORMALIZED[:3]


def _moments(dist, count):
  """Computes raw moments with 40 digits, k! alpha (-S)^-k 1."""
  dense = dist.as_phase_type()
  with mpmath.workdps(40):
    matrix = mpmath.matrix(onp.asarray(dense.subgenerator).tolist())
    row = mpmath.matrix([onp.asarray(dense.initial_probs).tolist()])
    ones = mpmath.ones(matrix.rows, 1)
    inverse = (-matrix) ** -1
    found = []
    for k in range(1, count + 1):
      row = row * inverse * k
      found.append(float((row * ones)[0]))
  return found


class MomentMatchingTest(test_case.TestCase):
  """Tests `match_moments`."""

  @parameterized.parameters(*_NORMALIZED)
  def test_three(self, n2, n3, phases):
    for mean in _MEANS:
      wanted = [mean, n2 * mean**2, n3 * n2 * mean**3]
      dist = inference.match_moments(*wanted)
      onp.testing.assert_allclose(_moments(dist, 3), wanted, rtol=1e-8)
      self.assertEqual(dist.num_phases, phases)

  @parameterized.parameters(*_NORMALIZED)
  def test_one_phase_less_is_not_enough(self, n2, n3, phases):
    with self.assertRaisesRegex(ValueError, "take more phases"):
      inference.match_moments(1.0, n2, n3 * n2, num_phases=phases - 1)

  @parameterized.parameters(1.0, 0.5, 0.49, 0.3, 0.04, 0.0401, 1.7, 50.0)
  def test_two(self, squared_cv):
    wanted = [2.0, 4.0 * (1.0 + squared_cv)]
    dist = inference.match_moments(*wanted)
    onp.testing.assert_allclose(_moments(dist, 2), wanted, rtol=1e-12)
    least = 2 if squared_cv > 1 else int(onp.ceil(1 / squared_cv - 1e-9))
    self.assertEqual(dist.num_phases, least)

  @parameterized.parameters(1, 2, 7)
  def test_erlang(self, n):
    third = (n + 1) * (n + 2) / n**2
    dist = inference.match_moments(1.0, (n + 1) / n, third)
    self.assertIsInstance(dist, pd.Erlang)
    self.assertEqual(dist.concentration, n)

  def test_errors(self):
    with self.assertRaisesRegex(ValueError, "second is 1: it must be above"):
      inference.match_moments(1.0, 1.0)
    with self.assertRaisesRegex(ValueError, "third is 2: it must be above"):
      inference.match_moments(1.0, 1.5, 2.0)
    with self.assertRaisesRegex(ValueError, "mean is -1"):
      inference.match_moments(-1.0, 1.5)
    with self.assertRaisesRegex(ValueError, "at least 4"):
      inference.match_moments(1.0, 1.25, num_phases=3)
    for huge in (10**400, 10**5000):
      with self.assertRaisesRegex(
        ValueError,
        "^mean is (10+\\.\\.\\.0+|an integer of .*): it must be below",
      ):
        inference.match_moments(huge, 2.0)


if __name__ == "__main__":
  absltest.main()
