"""NumPy's derivatives: what they reach, and that nothing is lost in silence."""

import bisect
import copy
import math
import pickle
import statistics

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from phasic.substrates.numpy import binding
from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import math as pm
from phasic.substrates.numpy.internal import custom_gradient
from phasic.substrates.numpy.internal import kernel_ops
from phasic.substrates.numpy.math.calls import gradients

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


def _doubled(x):
  x *= 2.0
  return x


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
  "doubled": (_doubled, "an assignment to its entries"),
  "objects": (lambda x: np.where(x > 1, np.array([x, x], object), x), "object"),
  "complex_array": (lambda x: np.abs(1j * x), "an array of dtype complex"),
  "store_into": (_stored_into, "an assignment to its entries"),
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
  "sum_of_some": (lambda x: np.sum(x, where=_X > 1), r"numpy.sum \(with these"),
  "sum_in_dtype": (lambda x: np.sum(x, 0, "float32"), "numpy.sum with dtype"),
  "initial": (lambda x: np.max(x, initial=0.0), r"numpy.max \(with these"),
  "take_mode": (
    lambda x: np.take(x, [0], mode="clip"),
    r"numpy.take \(with these",
  ),
  "conditions": (lambda x: np.where(x > 1), r"numpy.where \(with these"),
  "triangle": (lambda x: np.tril(x[0]), "numpy.tril of a vector"),
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
      NotImplementedError, f"{name} .*of an array that is differentiated"
    ):
      gradients.vjp(function, _X)

  def test_store(self):
    with self.assertRaises(ValueError) as caught:
      gradients.vjp(_stored, _X)
    self.assertIn("goes into float", str(caught.exception.__cause__))

  @parameterized.parameters("tolist", "item", "tobytes", "argsort", "view")
  def test_methods_of_arrays(self, name):
    with self.assertRaisesRegex(AttributeError, f"has no attribute {name}"):
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


class HeldTest(absltest.TestCase):
  """Derivatives are of arrays as they were when they were used."""

  def test_buffers(self):
    x = np.asarray([1.0, 2.0, 3.0])

    def values(x):
      buffer, total = np.zeros(3), 0.0
      for i in range(3):
        buffer[:] = i
        total = total + np.sum(x * buffer)
      return total

    def places(x):
      index, total = np.zeros(1, int), 0.0
      for i in range(3):
        index[0] = i
        total = total + (i + 1) * x[index][0]
      return total

    def choices(x):
      chosen, total = np.zeros(3, bool), 0.0
      for i in range(3):
        chosen[:] = False
        chosen[i] = True
        total = total + (i + 1) * np.sum(np.where(chosen, x, 0.0))
      return total

    for function, slope in (
      (values, [3.0] * 3),
      (places, [1.0, 2.0, 3.0]),
      (choices, [1.0, 2.0, 3.0]),
    ):
      _, found = gradients.value_and_gradient(function, x)
      np.testing.assert_array_equal(found, slope)

  def test_times_and_rates(self):
    q = np.asarray([1.0, 2.0])

    def log_likelihood(q, in_place):
      buffer, total = np.zeros(1), 0.0
      for t in (0.5, 1.0, 2.0):
        buffer[0] = t
        times = buffer if in_place else np.asarray([t])
        total = total + pd.Hypoexponential(q).log_prob(times)[0]
      return total

    found, expected = (
      gradients.value_and_gradient(lambda q, k=k: log_likelihood(q, k), q)
      for k in (True, False)
    )
    np.testing.assert_array_equal(found[1], expected[1])

  def test_arguments_and_results(self):
    x = np.asarray([1.0, 2.0])
    value, pull = gradients.vjp(lambda x: np.exp(x) * x, x)
    before = pull(np.ones(2))[0].copy()
    x[:] = 100.0
    value[:] = 0.0
    np.testing.assert_array_equal(pull(np.ones(2))[0], before)

  def test_gradients_are_arrays_of_their_own(self):
    x = np.ones(2)
    _, (a, b) = gradients.value_and_gradient(lambda x, y: x + y, x, x)
    a *= 2.0
    np.testing.assert_array_equal(b, np.ones(2))
    _, c = gradients.value_and_gradient(np.sum, x)
    c *= 2.0


class EndedTest(absltest.TestCase):
  """What leaks out of a differentiation is not taken for a constant."""

  def test_kept_for_later(self):
    kept = {}

    def inner(x):
      kept["x"] = np.sum(x * x)
      return np.sum(x)

    def outer(x):
      gradients.value_and_gradient(inner, x)
      return kept["x"]

    with self.assertRaisesRegex(TypeError, "has ended"):
      gradients.vjp(outer, _X)
    with self.assertRaisesRegex(TypeError, "has ended"):
      _ = kept["x"] * 2.0

  def test_results_that_are_no_arrays(self):
    for make in (
      lambda x: bisect,
      lambda x: (row for row in x),
      lambda x: np.asarray([None]),
    ):
      with self.assertRaisesRegex(TypeError, "must be arrays of real numbers"):
        gradients.vjp(make, _X)
      with self.assertRaisesRegex(TypeError, "must be arrays of real numbers"):
        gradients.jvp(make, (_X,), (_X,))

  def test_bound_without_a_derivative(self):
    function = binding.bind(
      lambda x, n: x * n,
      vjp=lambda args, c: (c * args[1], None),
      jvp=lambda args, t: t[0] * args[1],
      nondifferentiable=(1,),
    )
    with self.assertRaisesRegex(NotImplementedError, "apply stop_gradient"):
      gradients.value_and_gradient(lambda y: function(2.0, y), 3.0)
    _, slope = gradients.value_and_gradient(lambda y: function(y, 3.0), 2.0)
    self.assertEqual(slope, 3.0)


class CornersTest(parameterized.TestCase):
  def test_names_and_not_places(self):
    primal, tangent = {"a": 1.0, "b": 2.0}, {"b": 1.0, "a": 0.0}
    _, change = gradients.jvp(
      lambda d: d["a"] * 3.0 + d["b"], (primal,), (tangent,)
    )
    self.assertEqual(change, 1.0)
    _, pull = gradients.vjp(lambda x: {"a": x * 3.0, "b": x}, 1.0)
    self.assertEqual(pull({"b": 0.0, "a": 1.0}), (3.0,))
    with self.assertRaisesRegex(ValueError, "must have the structure of"):
      pull({"a": 1.0})

  def test_float32_stays(self):
    x = np.asarray([0.5, 1.5], "float32")
    for function in (
      lambda x: x**2,
      lambda x: np.maximum(x, 1.0),
      np.max,
      np.log2,
      lambda x: 2.0**x,
      lambda x: x * np.asarray([1.0, 2.0]),
      lambda x: pd.Hypoexponential(x).log_prob(np.float32(0.5)),
      lambda x: pd.TruncatedPhaseType(
        pd.NegativeBinomialTrials(2, x[0]), 2.0, 7.0
      ).variance(),
    ):
      _, slope = gradients.value_and_gradient(function, x)
      self.assertEqual(slope.dtype, "float32")

  @parameterized.parameters(
    (lambda x: np.sum(x[0, 0], axis=0), [[1, 0], [0, 0]]),
    (lambda x: np.max(x[0, 0], axis=-1), [[1, 0], [0, 0]]),
    (lambda x: np.sum(np.take(x, np.argmax(x, 0), axis=0)), [[0, 0], [2, 2]]),
    (lambda x: np.sort(x, None)[0], [[1, 0], [0, 0]]),
    (
      lambda x: np.sum(np.take_along_axis(x, np.array([[0, 0, 1]]), 1)),
      [[2, 1], [2, 1]],
    ),
    (lambda x: np.sum(np.true_divide(x, [1.0, 2.0])), [[1, 0.5], [1, 0.5]]),
    (lambda x: np.sum(x % 0.2 + x // 0.2), [[1, 1], [1, 1]]),
    (lambda x: np.sum(np.full_like(x, x[0, 1])), [[0, 4], [0, 0]]),
  )
  def test_slope(self, function, slope):
    _, found = gradients.value_and_gradient(function, _X)
    np.testing.assert_allclose(found, slope)

  def test_values_as_numpy_s(self):
    x = np.arange(12.0).reshape(3, 4)
    for function in (
      lambda x: np.take_along_axis(x, np.array([[0, 2]]), axis=1),
      lambda x: np.full_like(x, 2.7, dtype=int) * x,
      lambda x: np.sum(x, 0, None),
      lambda x: np.mean(x, keepdims=True),
    ):
      value, _ = gradients.vjp(function, x)
      np.testing.assert_array_equal(value, function(x))
    with self.assertRaisesRegex(ValueError, "matmul of shapes"):
      gradients.vjp(lambda x: np.matmul(x[0], np.ones(1)), x)


class OrderTest(parameterized.TestCase):
  """log f(t) = log(r) - r t of an exponential time."""

  def _nested(self, order, rate, time):
    def function(r):
      return pm.phase_type.log_prob(time, [1.0], -np.reshape(r, (1, 1)))

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
    with self.assertRaisesRegex(NotImplementedError, "orders up to 3"):
      self._nested(4, np.asarray(1.5), np.asarray(0.75))


class RulesTest(absltest.TestCase):
  def test_rules_that_do_not_fit(self):
    for rule, message in (
      (lambda r, c: (np.sum(c),), r"cotangent of shape \(\)"),
      (lambda r, c: (), "an entry for each of 1"),
      (lambda r, c: (c, c), "an entry for each of 1"),
    ):
      wrong = custom_gradient.custom_gradient(
        vjp_fwd=lambda x: (x, ()), vjp_bwd=rule
      )(lambda x: x)
      with self.assertRaisesRegex(ValueError, message):
        gradients.vjp(lambda x, f=wrong: f(x) * 1.0, _X)[1](_X)

  def test_arguments_without_a_derivative(self):
    power = custom_gradient.custom_gradient(
      vjp_fwd=lambda n, x: (x**n, x),
      vjp_bwd=lambda n, x, c: (n * x ** (n - 1) * c,),
      nondiff_argnums=(0,),
    )(lambda n, x: x**n)
    with self.assertRaisesRegex(
      TypeError, "no derivative with respect to argument 0"
    ):
      gradients.vjp(lambda n: power(n, 2.0), 3.0)

  def test_what_rates_of_edges_are_made_of(self):
    def edges(constants, coefficients):
      return pm.EdgeRates([0, 1], [1, 2], [2.0], coefficients, constants)

    points = np.asarray([0.5, 0.25]), np.asarray([[3.0], [1.0]])
    for function in (
      pm.phase_type.log_prob,
      pm.phase_type.hazard_function,
      pm.phase_type.quantile,
    ):
      for i, _ in enumerate(points):

        def of_one(x, f=function, i=i):
          return f(0.5, [1.0, 0.0], edges(*points[:i], x, *points[i + 1 :]))

        for derivative in (
          gradients.value_and_gradient,
          lambda f, x: gradients.jvp(f, (x,), (np.ones_like(x),)),
        ):
          with self.assertRaisesRegex(
            NotImplementedError, "rates of the edges"
          ):
            derivative(of_one, points[i])

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

    def of_constant(x):
      return x * cube(gradients.stop_gradient(x))

    self.assertEqual(
      gradients.value_and_gradient(of_constant, 2.0), (16.0, 8.0)
    )
    self.assertEqual(
      gradients.hessian_vector_product(of_constant, (2.0,), (1.0,)), 0.0
    )


if __name__ == "__main__":
  absltest.main()
