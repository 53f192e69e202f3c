"""Kepler's equation, the example of a native op, against 40-digit values."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.native_ops import libraries

libraries.kepler()

from kepler.numpy import kepler  # noqa: E402


def exact(mean_anomaly, eccentricity, start):
  """sin E and cos E to 40 digits, from a start near E."""
  mean, e, x = map(mpmath.mpf, (mean_anomaly, eccentricity, start))
  for _ in range(60):
    change = (x - e * mpmath.sin(x) - mean) / (1 - e * mpmath.cos(x))
    x -= change
    if abs(change) <= mpmath.mpf(10) ** -38 * abs(x):
      break
  return mpmath.sin(x), mpmath.cos(x)


def cases(count, seed=0):
  """Eccentricities up to 0.99 and E in (-pi, pi], many of them small."""
  rng = onp.random.default_rng(seed)
  eccentricity = onp.concatenate(
    [
      onp.zeros(count // 20),
      onp.full(count // 5, 0.99),
      rng.uniform(0.0, 0.99, count),
      0.99 - 10 ** rng.uniform(-9, -1, count // 5),
    ]
  )
  size = len(eccentricity)
  anomaly = onp.pi * rng.uniform(-1.0, 1.0, size)
  small = rng.uniform(size=size) < 0.4
  anomaly[small] = onp.sign(anomaly[small]) * 10 ** rng.uniform(
    -14, 0.4, small.sum()
  )
  anomaly[-4:] = [onp.pi, onp.nextafter(-onp.pi, 0), 0.0, 1e-300]
  with mpmath.workdps(40):
    mean = [
      float(mpmath.mpf(x) - mpmath.mpf(e) * mpmath.sin(mpmath.mpf(x)))
      for x, e in zip(anomaly, eccentricity, strict=True)
    ]
  return onp.array(mean), eccentricity, anomaly


class KeplerTest(parameterized.TestCase):
  def test_values(self):
    mean, eccentricity, anomaly = cases(1000)
    sines, cosines = kepler(mean, eccentricity)
    with mpmath.workdps(40):
      for *point, sine, cosine in zip(
        mean, eccentricity, anomaly, sines, cosines, strict=True
      ):
        true_sine, true_cosine = exact(*point)
        self.assertLessEqual(abs(true_sine - sine), 1e-15, point)
        self.assertLessEqual(abs(true_cosine - cosine), 1e-15, point)

  def test_float32(self):
    mean, eccentricity, _ = cases(200, seed=1)
    mean, eccentricity = onp.float32(mean), onp.float32(eccentricity)
    narrow = kepler(mean, eccentricity)
    wide = kepler(onp.float64(mean), onp.float64(eccentricity))
    for x, y in zip(narrow, wide, strict=True):
      self.assertEqual(x.dtype, onp.float32)
      onp.testing.assert_array_equal(x, onp.float32(y))

  def test_many_turns(self):
    """The mean anomaly is reduced without loss, whatever its size."""
    for mean in (1e3, -7.5e8, 1e22):
      sine, cosine = kepler(mean, 0.6)
      with mpmath.workdps(60):
        turn = 2 * mpmath.pi
        reduced = mpmath.mpf(mean) % turn
        true_sine, true_cosine = exact(reduced, 0.6, reduced)
      self.assertLessEqual(abs(true_sine - sine), 1e-15)
      self.assertLessEqual(abs(true_cosine - cosine), 1e-15)

  def test_eccentricities_near_one(self):
    for e in (1 - 1e-6, 1 - 1e-12, onp.nextafter(1.0, 0.0)):
      for mean in (1e-300, 1e-12, 1e-3, 1.0, 3.0):
        sine, _ = kepler(mean, e)
        with mpmath.workdps(40):
          start = min(mpmath.cbrt(6 * mean), mean / (1 - mpmath.mpf(float(e))))
          true_sine, _ = exact(mean, float(e), min(start, 3))
          self.assertLessEqual(abs(true_sine / sine - 1), 1e-13, (e, mean))

  @parameterized.parameters(
    (1.0, -0.1),
    (1.0, 1.0),
    (1.0, 2.0),
    (1.0, onp.nan),
    (onp.nan, 0.1),
    (onp.inf, 0.1),
    (-onp.inf, 0.1),
    (1.0, onp.inf),
  )
  def test_outside_of_the_domain_is_nan(self, mean, eccentricity):
    self.assertTrue(onp.all(onp.isnan(kepler(mean, eccentricity))))

  def test_other_arguments(self):
    onp.testing.assert_array_equal(
      kepler(onp.array([1, 2]), 0), [onp.sin([1, 2]), onp.cos([1, 2])]
    )
    with self.assertRaisesRegex(ValueError, "op kepler: .*do not broadcast"):
      kepler(onp.ones(2), onp.full(3, 0.5))
    with self.assertRaisesRegex(TypeError, "eccentricity is float32"):
      kepler(onp.ones(2), onp.full(2, 0.5, "f4"))

  def test_broadcasting(self):
    mean, eccentricity = onp.linspace(-3, 3, 5)[:, None], onp.array([0.1, 0.7])
    sines, _ = kepler(mean, eccentricity)
    self.assertEqual(sines.shape, (5, 2))
    for i in range(5):
      for j in range(2):
        self.assertEqual(sines[i, j], kepler(mean[i, 0], eccentricity[j])[0])

  def test_first_derivatives(self):
    mean, eccentricity, anomaly = cases(100, seed=2)
    ones, zeros = onp.ones_like(mean), onp.zeros_like(mean)
    by_mean = kepler.jvp((mean, eccentricity), (ones, zeros))
    by_e = kepler.jvp((mean, eccentricity), (zeros, ones))
    pulled = kepler.vjp((mean, eccentricity), (ones, zeros))
    onp.testing.assert_allclose(pulled[0], by_mean[0], rtol=1e-15)
    onp.testing.assert_allclose(pulled[1], by_e[0], rtol=1e-15)
    with mpmath.workdps(40):
      for i, point in enumerate(zip(mean, eccentricity, anomaly, strict=True)):
        sine, cosine = exact(*point)
        slope = 1 / (1 - mpmath.mpf(point[1]) * cosine)
        # The digits that 1 - e cos E loses.
        bound = 4e-16 * (1 + slope)
        for actual, expected in (
          (by_mean[0][i], cosine * slope),
          (by_mean[1][i], -sine * slope),
          (by_e[0][i], cosine * sine * slope),
          (by_e[1][i], -sine * sine * slope),
        ):
          error = abs(expected - actual)
          self.assertLessEqual(error, bound * slope, point)


if __name__ == "__main__":
  absltest.main()
