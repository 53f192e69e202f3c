"""NumPy's derivatives: what they reach, and that nothing is lost in silence."""

import bisect
import copy
import math
import pickle
import statistics

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import math as pm
from phasic.substrates.numpy.internal import custom_gradient
from phasic.substrates.numpy.internal import gradients
from phasic.substrates.numpy.internal import kernel_ops

_X = np.asarray([[0.25, 0.5], [0.75, 2.0]])


def _bound(x):
  return math.sinh(x)


def _stored(x):
  y = np.zeros(2)
  y[0] = x[0, 0]
  return y


def _stored_into(x):
  x[0, 0] = 1.0
  return x


def _added_to(x):
  y = np.zeros((2, 2))
  y += x
  return y


# Ways for an array to become a constant, and what the error names.
_LEAVING = {
  "asarray": (lambda x: np.sum(np.asarray(x)), "numpy.asarray"),
  "array_of_entries": (lambda x: np.array([x[0, 0], 1.0]), "numpy.asarray"),
  "contiguous": (np.ascontiguousarray, "numpy.asarray"),
  "scalar": (lambda x: np.float64(x[0, 0]), "numpy.asarray"),
  "integer_scalar": (lambda x: np.int64(x[0, 0]), "numpy.asarray"),
  "vectorize": (lambda x: np.vectorize(_bound)(x), "numpy.asarray"),
  "full": (lambda x: np.full(3, x[0, 0]), "numpy.asarray"),
  "float": (lambda x: float(x[0, 0]), "into float"),
  "math": (lambda x: math.exp(x[0, 0]), "into float"),
  "fsum": (lambda x: math.fsum(x[0]), "into float"),
  "statistics": (lambda x: statistics.fmean(x[0]), "into float"),
  "percent": (lambda x: f"{float(x[0, 0])}", "into float"),
  "int": (lambda x: int(x[0, 0]), "into int"),
  "complex": (lambda x: complex(x[0, 0]), "into complex"),
  "range": (lambda x: range(x[0, 0]), "an index or a size"),
  "branch": (lambda x: x if x[0, 0] > 0.5 else -x, "a branch"),
  "any": (lambda x: x if np.any(x > 0.5) else -x, "a branch"),
  "and": (lambda x: x[0, 0] > 0.5 and x, "a branch"),
  "smallest": (lambda x: min(x[0]), "a branch"),
  "sorted": (lambda x: sorted(x[0]), "a branch"),
  "bisect": (lambda x: bisect.bisect([0.0, 1.0], x[0, 0]), "a branch"),
  "store_into": (_stored_into, "a store into it"),
  "added_to": (_added_to, "numpy.add with out"),
  "out": (lambda x: np.add(x, 1.0, out=np.zeros((2, 2))), "numpy.add with out"),
  "dtype": (lambda x: np.exp(x, dtype="float32"), "numpy.exp with dtype"),
  "masked": (lambda x: np.exp(x, where=_X > 0.3), "numpy.exp with where"),
  "reduce": (np.add.reduce, "numpy.add.reduce"),
  "accumulate": (np.multiply.accumulate, "numpy.multiply.accumulate"),
  "pickle": (pickle.dumps, "a pickle"),
}
# Functions without a rule.
_NO_RULES = {
  "svd": (np.linalg.svd, "numpy.linalg.svd"),
  "einsum": (lambda x: np.einsum("ij->i", x), "numpy.einsum"),
  "copyto": (lambda x: np.copyto(np.zeros((2, 2)), x), "numpy.copyto"),
  "interp": (lambda x: np.interp(x, [0, 1], [0, 1]), "numpy.interp"),
  "linspace": (lambda x: np.linspace(0.0, x[0, 0]), "numpy.linspace"),
  "frexp": (np.frexp, "numpy.frexp"),
  "along_axis": (lambda x: np.apply_along_axis(sum, 0, x), "apply_along_axis"),
}


class WaysOutTest(parameterized.TestCase):
  @parameterized.named_parameters((k, *v) for k, v in _LEAVING.items())
  def test_leaving(self, function, what):
    pattern = rf"differentiated goes .*{what}"
    with self.assertRaisesRegex(TypeError, pattern):
      gradients.vjp(function, _X)
    with self.assertRaisesRegex(TypeError, pattern):
      gradients.jvp(function, (_X,), (_X,))

  @parameterized.named_parameters((k, *v) for k, v in _NO_RULES.items())
  def test_no_rule(self, function, name):
    with self.assertRaisesRegex(
      NotImplementedError, f"{name} of an array that is differentiated"
    ):
      gradients.vjp(function, _X)

  def test_store(self):
    with self.assertRaises(ValueError) as caught:
      gradients.vjp(_stored, _X)
    self.assertIn("goes into float", str(caught.exception.__cause__))

  @parameterized.parameters("tolist", "item", "astype", "sum", "view")
  def test_methods_of_arrays(self, name):
    with self.assertRaisesRegex(AttributeError, f"has no {name}"):
      gradients.vjp(lambda x: getattr(x, name)(), _X)

  def test_the_line_is_named(self):
    with self.assertRaisesRegex(TypeError, r"differentiation_test.py:\d+"):
      gradients.vjp(lambda x: float(x[0, 0]), _X)

  def test_copies_are_the_array(self):
    _, slope = gradients.value_and_gradient(
      lambda x: np.sum(copy.deepcopy(x) * copy.copy(x)), _X
    )
    np.testing.assert_array_equal(slope, 2.0 * _X)

  def test_integers_of_it(self):
    # Steps have no slope, where they have a value; they still decide nothing.
    _, slope = gradients.value_and_gradient(lambda x: np.sum(np.floor(x)), _X)
    np.testing.assert_array_equal(slope, np.zeros((2, 2)))
    with self.assertRaisesRegex(TypeError, "into int"):
      gradients.vjp(lambda x: int(np.floor(x[0, 0])), _X)


class StructureTest(absltest.TestCase):
  def test_nested_arguments(self):
    value, slope = gradients.value_and_gradient(
      lambda x: x["a"] * x["b"][0] + x["b"][1], {"a": 2.0, "b": (3.0, 4.0)}
    )
    self.assertEqual(value, 10.0)
    self.assertEqual(slope, {"a": 3.0, "b": (2.0, 1.0)})

  def test_nested_results(self):
    value, pull = gradients.vjp(lambda x: {"s": x * x, "t": (x,)}, 3.0)
    self.assertEqual(value, {"s": 9.0, "t": (3.0,)})
    self.assertEqual(pull({"s": 1.0, "t": (10.0,)}), (16.0,))
    self.assertEqual(pull({"s": 0.0, "t": (1.0,)}), (1.0,))

  def test_lists_of_entries(self):
    def log_prob(rate):
      return pd.Coxian([rate, 2.0 * rate], [0.5, rate, 1.0]).log_prob(1.0)

    def same(rate):
      ones = np.ones(1)
      a = np.concatenate([rate * ones, 2.0 * rate * ones])
      e = np.concatenate([0.5 * ones, rate * ones, ones])
      return pd.Coxian(a, e).log_prob(1.0)

    one = gradients.value_and_gradient(log_prob, 1.5)
    self.assertEqual(one, gradients.value_and_gradient(same, 1.5))

  def test_cotangents_that_do_not_fit(self):
    _, pull = gradients.vjp(lambda x: x * x, _X)
    with self.assertRaisesRegex(ValueError, r"cotangent has shape \(3,\)"):
      pull(np.ones(3))
    with self.assertRaisesRegex(ValueError, r"tangent has shape \(3,\)"):
      gradients.jvp(lambda x: x * x, (_X,), (np.ones(3),))

  def test_stopped(self):
    _, slope = gradients.value_and_gradient(
      lambda x: x * float(gradients.stop_gradient(x)), 3.0
    )
    self.assertEqual(slope, 3.0)


class OrderTest(parameterized.TestCase):
  """log f(t) = log(r) - r t of an exponential time."""

  def _nested(self, order, rate, time):
    def function(r):
      return pm.log_density([1.0], -np.reshape(r, (1, 1)), time)

    for _ in range(order):
      inner = function

      def function(r, inner=inner):
        return gradients.value_and_gradient(inner, r)[1]

    return function(rate)

  @parameterized.parameters("kernel", "portable")
  def test_orders(self, path):
    with kernel_ops.use_path(path):
      rate, time = np.asarray(1.5), np.asarray(0.75)
      found = [self._nested(k, rate, time) for k in range(4)]
    np.testing.assert_allclose(
      found,
      [math.log(1.5) - 1.125, 1 / 1.5 - 0.75, -1 / 1.5**2, 2 / 1.5**3],
      rtol=1e-10,
    )

  def test_the_kernel_ends_with_three(self):
    with self.assertRaisesRegex(NotImplementedError, "end with order 3"):
      self._nested(4, np.asarray(1.5), np.asarray(0.75))


class RulesTest(absltest.TestCase):
  def test_missing_rules(self):
    @custom_gradient.custom_gradient(
      vjp_fwd=lambda x: (x * x, x), vjp_bwd=lambda x, ct: (2.0 * x * ct,)
    )
    def square(x):
      return x * x

    def through(x):
      return 3.0 * square(x)

    self.assertEqual(gradients.value_and_gradient(through, 2.0), (12.0, 12.0))
    with self.assertRaisesRegex(NotImplementedError, "square has no jvp_fn"):
      gradients.jvp(through, (2.0,), (1.0,))

  def test_rules_are_differentiated(self):
    @custom_gradient.custom_gradient(
      vjp_fwd=lambda x: (x**3, x), vjp_bwd=lambda x, ct: (3.0 * x**2 * ct,)
    )
    def cube(x):
      return x**3

    def slope(x):
      return gradients.value_and_gradient(cube, x)[1]

    self.assertEqual(gradients.value_and_gradient(slope, 2.0), (12.0, 12.0))
    self.assertEqual(gradients.jvp(slope, (2.0,), (1.0,)), (12.0, 12.0))


if __name__ == "__main__":
  absltest.main()
