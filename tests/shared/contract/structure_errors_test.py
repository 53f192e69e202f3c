"""Shapes and dtypes that do not fit."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from tests.helpers import test_case


class StructureErrorTest(test_case.TestCase):
  """Tests that invalid shapes and dtypes always raise."""

  @parameterized.named_parameters(
    ("scalar_alpha", 1.0, [[-1.0]], 1.0, None, "initial_probs is a scalar"),
    ("vector", [1.0], [-1.0], 1.0, None, "must be square"),
    ("not_square", [1.0], [[-1.0, 1.0]], 1.0, None, "must be square"),
    ("phases", [1.0, 0.0], [[-1.0]], 1.0, None, "phases p must agree"),
    (
      "no_phases",
      onp.zeros((0,)),
      onp.zeros((0, 0)),
      1.0,
      None,
      r"initial_probs has shape \(0,\): the number of phases",
    ),
    ("exits", [1.0], [[-1.0]], 1.0, [1.0, 2.0], "exit_rates"),
    (
      "batch",
      onp.ones((2, 1)),
      -onp.ones((3, 1, 1)),
      1.0,
      None,
      "do not broadcast",
    ),
    ("times", onp.ones((2, 1)), [[-1.0]], onp.ones(3), None, "broadcast"),
    ("ragged", [1.0], [[-1.0], [1.0, 2.0]], 1.0, None, "subgenerator"),
  )
  def test_shapes(self, alpha, matrix, times, exits, message):
    with self.assertRaisesRegex(ValueError, message):
      pm.phase_type.log_prob(times, alpha, matrix, exits)

  def test_mixed_dtypes_are_both_named(self):
    with self.assertRaisesRegex(TypeError, "float32.*float64"):
      pm.phase_type.log_prob(1.0, onp.ones(1, onp.float32), -onp.ones((1, 1)))

  @parameterized.parameters("complex128", "bool")
  def test_other_dtypes(self, dtype):
    with self.assertRaisesRegex(TypeError, f"value.*{dtype}"):
      pm.phase_type.log_prob(onp.ones(2, dtype), [1.0], [[-1.0]])

  @parameterized.parameters(
    (onp.ma.array([1.0, 2.0], mask=[True, False]),),
    (onp.ma.array([1.0, 2.0]),),
    ([1.0, onp.ma.masked],),
    ([onp.ma.array([1.0, 2.0], mask=[True, False])],),
  )
  def test_masked_arrays(self, masked):
    dist = pd.PhaseType([1.0], [[-1.0]])
    for call, name in (
      (lambda x: pm.phase_type.log_prob(x, [1.0], [[-1.0]]), "value"),
      (dist.log_prob, "value"),
      (lambda x: pd.PhaseType(x, [[-1.0, 0.0], [0.0, -1.0]]), "initial_probs"),
    ):
      with self.assertRaisesRegex(TypeError, f"{name} is a masked array"):
        call(masked)

  @parameterized.parameters(
    (onp.ones(2), ValueError, r"a cotangent has shape \(2,\): .*\(3,\)"),
    (onp.ones((1, 3)), ValueError, r"cotangent has shape \(1, 3\): .*\(3,\)"),
    (1j, TypeError, "cotangent has dtype complex128"),
    ((onp.ones(3),), ValueError, "cotangent .*shape"),
    (onp.ma.ones(3), TypeError, "cotangent is a masked array"),
  )
  def test_cotangents(self, cotangent, error, message):
    _, pullback = pm.vjp(
      lambda t: pm.phase_type.cdf(t, [1.0], [[-1.0]]), np.asarray(onp.ones(3))
    )
    with self.assertRaisesRegex(error, message):
      pullback(cotangent)

  @parameterized.parameters(
    (onp.ones(3), ValueError, r"a tangent has shape \(3,\): .*\(2,\)"),
    (onp.ones((2, 1)), ValueError, r"a tangent has shape \(2, 1\): .*\(2,\)"),
    (onp.ones(2) * 1j, TypeError, "tangent has dtype complex128"),
  )
  def test_tangents(self, tangent, error, message):
    with self.assertRaisesRegex(error, message):
      pm.jvp(
        lambda x: pm.phase_type.cdf(1.0, x, -onp.eye(2)),
        (onp.ones(2) / 2,),
        (tangent,),
      )

  def test_directions_of_numbers(self):
    def cube(x):
      return x * x * x

    wrong = r"angent has shape \(1,\): it must be \(\), the shape of its primal"
    _, pullback = pm.vjp(cube, 2.0)
    for call in (
      lambda x: pm.jvp(cube, (2.0,), (x,)),
      lambda x: pm.hessian_vector_product(cube, (2.0,), (x,)),
      pullback,
    ):
      for value in (onp.ones(1), [1.0]):
        with self.assertRaisesRegex(ValueError, wrong):
          call(value)
    with self.assertRaisesRegex(
      ValueError, r"a tangent has shape \(\): it must be \(1,\), the shape"
    ):
      pm.jvp(cube, (onp.ones(1),), (1.0,))

  def test_directions_of_another_dtype(self):
    single, third = onp.ones(2, onp.float32), onp.ones(2) / 3.0
    with self.assertRaisesRegex(
      TypeError, "is float32 and a tangent is float64"
    ):
      pm.jvp(lambda x: 2.0 * x, (single,), (third,))
    _, pullback = pm.vjp(lambda x: 2.0 * x, np.asarray(single))
    with self.assertRaisesRegex(
      TypeError, "float32 and a cotangent is float64"
    ):
      pullback(third)
    (found,) = pullback(onp.asarray(third, onp.float32))
    self.assert_close(found, 2.0 * onp.asarray(third, onp.float32), 1e-7)
    (found,) = pullback([1.0, 2.0])
    self.assert_close(found, onp.asarray([2.0, 4.0], onp.float32))


if __name__ == "__main__":
  absltest.main()
