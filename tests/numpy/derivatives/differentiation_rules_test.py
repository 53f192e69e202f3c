"""Derivative rules of NumPy's functions, against what NumPy itself computes.

A linear function is its own derivative: along a tangent the derivative is the
function's value at the tangent, and the pullback is the transpose.
"""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from phasic.substrates.numpy import math as pm
from phasic.substrates.numpy.internal import array_ops
from phasic.substrates.numpy.internal import custom_gradient
from phasic.substrates.numpy.math.calls import gradients

_X = np.asarray([[0.25, 0.5, -1.0], [0.75, 2.0, 3.0]])
_TANGENT = np.asarray([[1.0, -2.0, 4.0], [8.0, 16.0, -32.0]])
_A = np.asarray([[1.0, 2.0], [-3.0, 0.5], [4.0, 0.25]])
_LINEAR = {
  "T": lambda x: x.T,
  "astype": lambda x: x.astype("float32"),
  "broadcast_arrays": lambda x: np.broadcast_arrays(np.ones((2, 1, 1)), x)[1],
  "concatenate_flat": lambda x: np.concatenate([x, 2.0 * x[0]], axis=None),
  "copy": np.copy,
  "copy_method": lambda x: x.copy(),
  "cumsum_flat": np.cumsum,
  "cumsum_method": lambda x: x.cumsum(axis=1),
  "dot": lambda x: np.dot(x, _A),
  "dot_left": lambda x: np.dot(_A, x),
  "dot_scalar": lambda x: np.dot(x, 3.0),
  "dot_vector": lambda x: np.dot(x, _A[:, 0]),
  "dot_vector_left": lambda x: np.dot(_A[0], x),
  "dot_vectors": lambda x: np.dot(_A[:, 0], x[0]),
  "matmul_vector": lambda x: x @ _A[:, 1],
  "matmul_vector_left": lambda x: _A[1] @ x,
  "max_of_one": lambda x: np.max(x[:1], axis=0),
  "outer": lambda x: np.outer(x[0], _A[0]),
  "outer_left": lambda x: np.outer(_A[0], x),
  "reshape_method": lambda x: x.reshape(3, 2),
  "squeeze": lambda x: np.squeeze(x[:, None]),
  "squeeze_axis": lambda x: np.squeeze(x[None, :, None], axis=2),
  "squeeze_method": lambda x: x[None].squeeze(),
  "sum_method": lambda x: x.sum(axis=0),
  "swapaxes_method": lambda x: x.swapaxes(0, 1),
  "take_along_flat": lambda x: np.take_along_axis(x, np.array([5, 0, 5]), None),
  "take_flat": lambda x: np.take(x, [[5, 0], [5, 1]]),
  "take_method": lambda x: x.take([2, 2], axis=1),
  "transpose_method": lambda x: x.transpose(1, 0),
  "tril": np.tril,
  "triu": lambda x: np.triu(x, 1),
}


class LinearFunctionsTest(parameterized.TestCase):
  @parameterized.named_parameters(_LINEAR.items())
  def test_linear(self, function):
    value, moved = gradients.jvp(function, (_X,), (_TANGENT,))
    np.testing.assert_array_equal(value, function(_X))
    np.testing.assert_array_equal(moved, function(_TANGENT))
    self.assertEqual(value.dtype, np.asarray(function(_X)).dtype)
    value, pull = gradients.vjp(function, _X)
    np.testing.assert_array_equal(value, function(_X))
    c = np.cos(1.0 + np.arange(np.size(value))).reshape(np.shape(value))
    (back,) = pull(c.astype(value.dtype))
    self.assertEqual(back.shape, _X.shape)
    np.testing.assert_allclose(
      np.sum(back * _TANGENT), np.sum(c * function(_TANGENT)), rtol=1e-6
    )

  def test_clip(self):
    for function, slope in (
      (lambda x: np.clip(x, 0.3, 1.0), [[0, 1, 0], [1, 0, 0]]),
      (lambda x: np.clip(x, None, 1.0), [[1, 1, 1], [1, 0, 0]]),
      (lambda x: np.clip(x, 0.3, None), [[0, 1, 0], [1, 1, 1]]),
      (lambda x: x.clip(0.3, 1.0), [[0, 1, 0], [1, 0, 0]]),
    ):
      value, found = gradients.value_and_gradient(
        lambda x, f=function: np.sum(f(x)), _X
      )
      self.assertEqual(value, np.sum(function(_X)))
      np.testing.assert_array_equal(found, slope)

  def test_products_of_two_arguments(self):
    u, v = np.asarray([1.0, -2.0, 4.0]), np.asarray([0.5, 3.0])
    _, found = gradients.value_and_gradient(
      lambda u, v: np.sum(np.outer(u, v)), u, v
    )
    np.testing.assert_array_equal(found[0], [np.sum(v)] * 3)
    np.testing.assert_array_equal(found[1], [np.sum(u)] * 2)
    value, slope = gradients.value_and_gradient(lambda u: np.dot(u, u), u)
    self.assertEqual(value, 21.0)
    np.testing.assert_array_equal(slope, 2.0 * u)

  def test_both_arguments_of_a_power(self):
    def power(x, y):
      return np.power(x, y)

    x, y = 1.75, 2.5
    _, slopes = gradients.value_and_gradient(power, x, y)
    self.assertAlmostEqual(slopes[0], y * x ** (y - 1.0), places=14)
    self.assertAlmostEqual(slopes[1], x**y * math.log(x), places=14)

    def slope_in_x(y):
      return gradients.value_and_gradient(lambda x: np.power(x, y), x)[1]

    _, mixed = gradients.value_and_gradient(slope_in_x, y)
    expected = x ** (y - 1.0) * (1.0 + y * math.log(x))
    self.assertAlmostEqual(mixed, expected, places=14)


class ConstantsTest(parameterized.TestCase):
  """Shapes and dtypes are known, and steps have no slope."""

  def test_shapes_and_dtypes(self):
    def known(x):
      sizes = np.size(x), np.size(x, 1), np.ndim(x), len(x), x.size
      self.assertEqual(sizes, (6, 3, 2, 2, 6))
      self.assertEqual(np.result_type(x, "float32"), np.float64)
      single = x.astype("float32")
      self.assertEqual(np.result_type(single, np.int8), np.float32)
      self.assertEqual(repr(x), f"Traced({_X!r})")
      return x

    gradients.vjp(known, _X)
    with self.assertRaisesRegex(TypeError, "without dimensions"):
      gradients.vjp(lambda x: len(x[0, 0]), _X)

  @parameterized.named_parameters(
    ("argmax", lambda x: np.argmax(a=x, axis=1)),
    ("any", lambda x: np.any(a=x > 1.0, axis=0)),
    ("isclose", lambda x: np.isclose(a=x, b=0.5)),
    ("isclose_second", lambda x: np.isclose(2.0, b=x)),
    ("count", lambda x: np.count_nonzero(x > 0.4, axis=0)),
  )
  def test_arrays_by_name(self, function):
    value, pull = gradients.vjp(lambda x: function(x) * 1.0, _X)
    np.testing.assert_array_equal(value, function(_X))
    np.testing.assert_array_equal(pull(np.ones(value.shape))[0], 0.0 * _X)

  def test_binary_exponents(self):
    def scaled(x):
      unit = array_ops.power_of_two(-array_ops.binary_exponent(x))
      return np.sum(unit * x)

    value, slope = gradients.value_and_gradient(scaled, _X)
    powers = 2.0 ** -np.floor(np.log2(abs(_X)))
    self.assertEqual(value, np.sum(powers * _X))
    np.testing.assert_array_equal(slope, powers)


class ErrorsTest(parameterized.TestCase):
  @parameterized.named_parameters(
    ("dot", lambda x: np.dot(x, np.ones((1, 3, 2))), "dot of more than two"),
    ("order", lambda x: np.reshape(x, 6, order="F"), "reshape with order='F'"),
    ("any_out", lambda x: np.any(x, out=np.ones((), bool)), "any with out"),
  )
  def test_no_rule(self, function, name):
    with self.assertRaisesRegex(
      NotImplementedError,
      rf"numpy.{name}.* of an array that is differentiated, at .*rules_test.py:",
    ):
      gradients.vjp(function, _X)

  @parameterized.named_parameters(
    ("round", lambda x: round(x[0, 0]), "round"),
    ("complex", lambda x: x.astype(complex), "an array of dtype complex128"),
    ("index", lambda x: np.take(_A, np.argmax(x)), "numpy.asarray"),
  )
  def test_leaving(self, function, what):
    with self.assertRaisesRegex(
      TypeError, f"is differentiated goes.* {what}.* at .*rules_test.py:"
    ):
      gradients.vjp(function, _X)

  def test_errors_of_numpy(self):
    # They are not mistaken for missing rules.
    with self.assertRaisesRegex(TypeError, "cannot be interpreted as an int"):
      gradients.vjp(lambda x: np.reshape(x, "six"), _X)

  @parameterized.parameters(
    (lambda x: x @ np.ones((2, 2)), r"shapes \(\) and \(2, 2\): both must be"),
    (lambda x: np.ones(3) @ x, r"matmul of shapes \(3,\) and \(\): both must"),
    (
      lambda x: np.concatenate([x, np.ones(2)]),
      r"concatenate of shapes \(\), \(2,\): each must have a dimension",
    ),
    (
      lambda x: np.stack([x, np.ones(2)]),
      r"stack of shapes \(\), \(2,\): all shapes must be equal",
    ),
    (
      lambda x: np.transpose(x, (1, 0)),
      r"transpose of shape \(\): axes is \(1, 0\)",
    ),
    (
      lambda x: np.take_along_axis(x, np.zeros(1, int), axis=-1),
      r"take_along_axis of shape \(\): indices has shape \(1,\)",
    ),
  )
  def test_shapes_are_those_that_were_given(self, function, message):
    with self.assertRaises((ValueError, IndexError)):
      function(np.asarray(1.0))
    for derivative in (
      lambda: gradients.jvp(function, (1.0,), (1.0,)),
      lambda: gradients.vjp(function, 1.0),
      lambda: gradients.hessian_vector_product(function, (1.0,), (1.0,)),
    ):
      with self.assertRaisesRegex(ValueError, message):
        derivative()

  def test_rules_that_are_not_given(self):
    with self.assertRaisesRegex(ValueError, "must be given together"):
      custom_gradient.custom_gradient(vjp_fwd=lambda x: (x, ()))

    @custom_gradient.custom_gradient(
      jvp_fn=lambda args, along: (args[0] * 2.0, along[0] * 2.0)
    )
    def doubled(x):
      return x * 2.0

    self.assertEqual(gradients.jvp(doubled, (3.0,), (5.0,)), (6.0, 10.0))
    with self.assertRaisesRegex(
      NotImplementedError, "doubled has no vjp_fwd and vjp_bwd"
    ):
      gradients.value_and_gradient(doubled, 3.0)

  def test_arguments(self):
    with self.assertRaisesRegex(
      TypeError, "primals is 2.0: it must be a tuple"
    ):
      gradients.jvp(np.exp, 2.0, (1.0,))
    with self.assertRaisesRegex(TypeError, "tangents is 1.0: it must be a tup"):
      gradients.jvp(np.exp, (2.0,), 1.0)
    with self.assertRaisesRegex(ValueError, "tangents has 2 entries.* 1 prim"):
      gradients.jvp(np.exp, (2.0,), (1.0, 1.0))
    with self.assertRaisesRegex(TypeError, "no argument has real numbers"):
      gradients.value_and_gradient(lambda i, b: 1.0 * i, np.arange(3), True)

  def test_results(self):
    for value in ((1.0, 2.0), [1.0], None):
      with self.assertRaisesRegex(TypeError, "must be one array of real numb"):
        gradients.value_and_gradient(lambda x, y=value: y, 2.0)
    with self.assertRaisesRegex(TypeError, "must be one array of real numbers"):
      gradients.value_and_gradient(lambda x: np.arange(3), 2.0)
    with self.assertRaisesRegex(TypeError, r"f returned \[array\(2.0?\)\]: it"):
      gradients.hessian_vector_product(lambda x: [x], (2.0,), (1.0,))
    with self.assertRaisesRegex(TypeError, "dtype complex128: it must be real"):
      gradients.vjp(lambda x: np.asarray([1j]), 2.0)

  def test_cotangents(self):
    _, pull = gradients.vjp(lambda x: (x, [2.0 * x, None]), 3.0)
    self.assertEqual(pull((1.0, [10.0, None])), (21.0,))
    for wrong in ((1.0,), (1.0, 2.0), (1.0, [10.0, 1.0]), 1.0):
      with self.assertRaisesRegex(ValueError, "must have the structure of"):
        pull(wrong)


class DirectionsTest(parameterized.TestCase):
  """Derivatives of directional derivatives, in the direction.

  log f(t) = log(r) - r t of an exponential time has the derivative
  (1 / r - t) a along a.
  """

  def _log_prob(self, rate):
    return pm.phase_type.log_prob(0.75, [1.0], -np.reshape(rate, (1, 1)))

  def _along(self, rate, direction):
    return gradients.jvp(self._log_prob, (rate,), (direction,))[1]

  def test_first_order(self):
    rate, slope = np.asarray(1.5), 1.0 / 1.5 - 0.75
    value, found = gradients.value_and_gradient(
      lambda a: self._along(rate, a), np.asarray(3.0)
    )
    self.assertAlmostEqual(value, 3.0 * slope, places=14)
    self.assertAlmostEqual(found, slope, places=14)
    value, found = gradients.jvp(
      lambda a: self._along(rate, a), (np.asarray(3.0),), (np.asarray(-2.0),)
    )
    self.assertAlmostEqual(value, 3.0 * slope, places=14)
    self.assertAlmostEqual(found, -2.0 * slope, places=14)

  def test_second_order(self):
    rate, second = np.asarray(1.5), -1.0 / 1.5**2

    def bend(a):
      def along(rate):
        return self._along(rate, a)

      return gradients.value_and_gradient(along, rate)[1]

    value, found = gradients.value_and_gradient(bend, np.asarray(3.0))
    self.assertAlmostEqual(value, 3.0 * second, places=13)
    self.assertAlmostEqual(found, second, places=13)
    _, found = gradients.jvp(bend, (np.asarray(3.0),), (np.asarray(-2.0),))
    self.assertAlmostEqual(found, -2.0 * second, places=13)


if __name__ == "__main__":
  absltest.main()
