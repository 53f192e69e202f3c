"""Fits of a family that inference does not know."""

from absl.testing import absltest

from phasic import inference
from tests.helpers import own_family
from tests.helpers import test_case


class FitsTest(test_case.TestCase):
  def test_fits(self):
    self.require_kernel()
    data = inference.Observations([0.3, 0.7, 1.1, 0.4, 2.5, 0.9, 1.6])
    start = own_family.Detour(1.0, 0.5, 1)
    best = inference.fit_mle(start, data)
    climbed = inference.fit_em(start, data, second_order=False, max_steps=500)
    self.assertTrue(best.record.converged)
    self.assertAlmostEqual(
      climbed.log_likelihood, best.log_likelihood, delta=1e-4
    )
    self.assertEqual(set(best.statuses), {"rate", "detour_prob"})


if __name__ == "__main__":
  absltest.main()
