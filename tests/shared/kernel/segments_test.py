"""Segment sums for all batch shapes and dtypes."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import static
from tests.helpers import test_case


class SegmentSumTest(test_case.TestCase):
  @parameterized.product(batch=((), (2,), (2, 3)), dtype=("float32", "float64"))
  def test_values(self, batch, dtype):
    x = onp.arange(4 * onp.prod(batch, dtype=int), dtype=dtype)
    x = onp.reshape(x, (*batch, 4))
    found = array_ops.segment_sum(np.asarray(x), [2, 0, 2, 4], 5)
    zero = onp.zeros_like(x[..., 0])
    expected = [x[..., 1], zero, x[..., 0] + x[..., 2], zero, x[..., 3]]
    self.assert_close(found, onp.stack(expected, axis=-1), 0.0)
    self.assertEqual(static.dtype_name(found), dtype)

  def test_nothing(self):
    found = array_ops.segment_sum(np.zeros((3, 0)), onp.zeros(0, onp.int32), 2)
    self.assert_close(found, onp.zeros((3, 2)), 0.0)


if __name__ == "__main__":
  absltest.main()
