"""What SciPy's solves are compared by: values and derivatives."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from benchmarks import models
from benchmarks import splu_moments

_STEP = 1e-30


def _total(model, theta):
  """Mean and variance by dense solves; theta may be complex."""
  off, exits = model.rates @ theta, model.exits @ theta
  matrix = onp.diag(off.sum(axis=1) + exits) - off
  first = onp.linalg.solve(matrix, onp.ones(len(exits)))
  second = onp.linalg.solve(matrix, first)
  mean = model.initial_probs @ first
  return mean, 2.0 * (model.initial_probs @ second) - mean * mean


class SpluMomentsTest(parameterized.TestCase):
  @parameterized.product(
    make=[lambda: models.kingman(6), lambda: models.dense(7)],
    order=["COLAMD", "NATURAL"],
  )
  def test_moments(self, make, order):
    model = make()
    method = splu_moments.SpluMoments(model, order)
    for theta in models.thetas(model, 3):
      expected = _total(model, theta)
      onp.testing.assert_allclose(method.moments(theta), expected, rtol=1e-12)
      value, gradient = method.moments_and_gradient(theta)
      self.assertAlmostEqual(value, sum(expected))
      for unit, slope in zip(onp.eye(2), gradient, strict=True):
        moved = _total(model, theta + 1j * _STEP * unit)
        self.assertAlmostEqual(slope, sum(moved).imag / _STEP)

  def test_batch(self):
    model = models.kingman(5)
    method = splu_moments.SpluMoments(model)
    thetas = models.thetas(model, 4)
    means, variances = method.batch(thetas, "moments")
    for theta, *found in zip(thetas, means, variances, strict=True):
      onp.testing.assert_allclose(found, method.moments(theta))


if __name__ == "__main__":
  absltest.main()
