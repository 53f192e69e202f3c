"""Kinds per count of a discrete chain, in all substrates."""

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic.internal import kernel_ops
from phasic.math.calls import kernel_derivatives
from phasic.math.portable import portable_edges
from tests.helpers import test_case

_KINDS = onp.asarray([0, 2, 6, 7, 4, 7], dtype="int32")
_COUNTS = onp.asarray([3.0, 5.0, 2.0, 20.0, 4.0, 9.0])


def _truth(stay):
  """Computes P(N > k) = stay^k of a geometric variable, and derivatives."""
  value = [
    2 * onp.log(stay) + onp.log1p(-stay),
    5 * onp.log(stay),
    onp.log(stay**2 - stay**20),
    0.0,
    onp.log1p(-(stay**4)),
    0.0,
  ]
  slope = [
    2 / stay - 1 / (1 - stay),
    5 / stay,
    (2 * stay - 20 * stay**19) / (stay**2 - stay**20),
    0.0,
    -4 * stay**3 / (1 - stay**4),
    0.0,
  ]
  return onp.asarray(value), onp.asarray(slope)


class DiscreteKindsTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    if kernel_ops.path() != "kernel":
      self.skipTest("the portable path has no kinds of counts")

  def _operands(self, stay):
    return tuple(
      np.asarray(x)
      for x in (
        onp.ones(1),
        onp.asarray([[stay]]),
        onp.zeros(0),
        onp.zeros(0),
        _COUNTS,
      )
    )

  def test_value(self):
    value = kernel_ops.phase_type(
      "log_density",
      self._operands(0.75),
      portable_edges.discrete_phase_type,
      kinds=np.asarray(_KINDS),
      discrete=True,
    )
    self.assert_close(value, _truth(0.75)[0], 1e-14)

  def test_derivatives(self):
    operands = self._operands(0.75)
    weights = onp.asarray([1.0, -2.0, 0.5, 3.0, 1.5, 1.0])
    value, (slopes,) = kernel_derivatives.vjp(
      "log_density",
      operands,
      np.asarray(weights),
      portable_edges.discrete_phase_type,
      [np.asarray(_KINDS)],
      (1,),
      discrete=True,
    )
    truth, slope = _truth(0.75)
    self.assert_close(value, truth, 1e-14)
    self.assert_close(slopes, [[weights @ slope]], 1e-13)
    zeros = [np.zeros_like(x) for x in operands]
    zeros[1] = np.ones_like(operands[1])
    tangent = kernel_derivatives.jvp(
      "log_density",
      operands,
      zeros,
      portable_edges.discrete_phase_type,
      [np.asarray(_KINDS)],
      discrete=True,
    )
    self.assert_close(tangent, slope, 1e-13)

  def test_status(self):
    codes = kernel_ops.status(
      "log_density",
      self._operands(0.75),
      kinds=np.asarray(_KINDS[::-1].copy()),
      discrete=True,
    )
    self.assertIn("kinds", kernel_ops.status_message(codes[3]))


if __name__ == "__main__":
  absltest.main()
