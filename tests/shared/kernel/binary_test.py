"""Exponents and powers of two, in the whole range of each dtype."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import static
from tests.helpers import test_case


@parameterized.parameters("float32", "float64")
class BinaryTest(test_case.TestCase):
  def test_powers_of_two(self, dtype):
    info = onp.finfo(dtype)
    inside = onp.arange(info.minexp, info.maxexp)
    outside = [-onp.inf, -1e5, info.minexp - 1, info.maxexp, 1e5, onp.inf]
    n = onp.concatenate([inside, outside])
    found = array_ops.power_of_two(np.asarray(onp.asarray(n, dtype)))
    self.assertEqual(static.dtype_name(found), dtype)
    expected = onp.ldexp(onp.ones((), dtype), inside)
    expected = onp.concatenate([expected, [0.0] * 3, [onp.inf] * 3])
    onp.testing.assert_array_equal(onp.asarray(found), expected)

  def test_exponents(self, dtype):
    info = onp.finfo(dtype)
    n = onp.arange(info.minexp, info.maxexp)
    one = onp.ones((), dtype)
    for mantissa in (one, -one, onp.nextafter(2 * one, one)):
      x = onp.ldexp(mantissa, n)
      found = array_ops.binary_exponent(np.asarray(x))
      self.assertEqual(static.dtype_name(found), dtype)
      rounded = onp.asarray(found)
      onp.testing.assert_array_equal(rounded, onp.floor(rounded))
      self.assert_close(rounded, n, atol=1.0)

  def test_exponents_of_what_is_too_small(self, dtype):
    info = onp.finfo(dtype)
    x = onp.asarray([0.0, info.smallest_subnormal], dtype)
    found = onp.asarray(array_ops.binary_exponent(np.asarray(x)))
    self.assertTrue(onp.all(found <= info.minexp))
    self.assertTrue(onp.all(found >= info.minexp - 1))


if __name__ == "__main__":
  absltest.main()
