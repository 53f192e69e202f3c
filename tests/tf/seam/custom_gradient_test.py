"""Rules in array code: every mode and nesting of TensorFlow's autodiff."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import custom_gradient as custom_gradient_lib
from phasic.substrates.tf.math.calls import gradients

custom_gradient = custom_gradient_lib.custom_gradient

X = onp.array([0.3, 0.8, 1.4])
DIRECTION = onp.array([0.3, -0.7, 1.1])


def _reverse(function):
  def derivative(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      value = function(x)
    return tf.tensordot(tape.gradient(value, x), DIRECTION, 1)

  return derivative


def _forward(function):
  def derivative(x):
    with tf.autodiff.ForwardAccumulator(x, tf.constant(DIRECTION)) as forward:
      value = function(x)
    return forward.jvp(value)

  return derivative


def nested(function, modes):
  """The derivative along DIRECTION, innermost mode first."""
  for mode in modes:
    function = _reverse(function) if mode == "r" else _forward(function)
  return function


# Not reverse mode of forward over forward: see phase_type_op.
NESTINGS = ["r", "f", "rr", "rf", "fr", "ff", "rrr", "rrf", "rfr", "frr"]


@custom_gradient(
  vjp_fwd=lambda x: (x**4, 4 * x**3), vjp_bwd=lambda r, ct: (r * ct,)
)
def fourth_power(x):
  return x**4


@custom_gradient(
  jvp_fn=lambda primals, tangents: (
    primals[0] ** 4,
    4 * primals[0] ** 3 * tangents[0],
  )
)
def fourth_power_forward(x):
  return x**4


def _root_fwd(x):
  y = fourth_root(x)
  return y, y


@custom_gradient(vjp_fwd=_root_fwd, vjp_bwd=lambda y, ct: (ct / (4 * y**3),))
def fourth_root(x):
  """By bisection, which autodiff cannot see through."""
  low, high = tf.zeros_like(x), tf.ones_like(x) * 2
  for _ in range(60):
    middle = (low + high) / 2
    above = middle**4 > x
    low, high = tf.where(above, low, middle), tf.where(above, middle, high)
  return low


def _sum_of_products(x, n):
  return {"all": x["a"] * x["b"][0] * tf.cast(n, x["a"].dtype), "n": (n, None)}


def _sum_bwd(residuals, ct):
  x, n = residuals
  scale = tf.cast(n, ct["all"].dtype) * ct["all"]
  return {"a": scale * x["b"][0], "b": [scale * x["a"]]}, None


def _sum_jvp(primals, tangents):
  (x, n), (dx, _) = primals, tangents
  change = dx["a"] * x["b"][0] + x["a"] * dx["b"][0]
  tangent = {"all": tf.cast(n, change.dtype) * change, "n": (None, None)}
  return _sum_of_products(x, n), tangent


_STRUCTURED = {
  "reverse": custom_gradient(
    vjp_fwd=lambda x, n: (_sum_of_products(x, n), (x, n)), vjp_bwd=_sum_bwd
  )(_sum_of_products),
  "forward": custom_gradient(jvp_fn=_sum_jvp)(_sum_of_products),
}


def _product_bwd(power, residuals, ct):
  x, y = residuals
  return (power * x ** (power - 1) * y * ct, x**power * ct)


@custom_gradient(
  vjp_fwd=lambda x, power, y: (x**power * y, (x, y)),
  vjp_bwd=_product_bwd,
  nondiff_argnums=(1,),
)
def product(x, power, y):
  return x**power * y


class CustomGradientTest(parameterized.TestCase):
  def _check(self, modes, function, plain):
    x = tf.constant(X)
    total = lambda g: lambda x: tf.reduce_sum(tf.sin(g(x * x)))
    want = nested(total(plain), "r" * len(modes))(x)
    for wrap in (lambda g: g, tf.function):
      got = wrap(nested(total(function), modes))(x)
      onp.testing.assert_allclose(got, want, rtol=1e-11)

  @parameterized.parameters(*NESTINGS)
  def test_reverse_rule(self, modes):
    self._check(modes, fourth_power, lambda x: x**4)

  @parameterized.parameters(*NESTINGS)
  def test_forward_rule(self, modes):
    self._check(modes, fourth_power_forward, lambda x: x**4)

  @parameterized.parameters(*NESTINGS)
  def test_implicit_function(self, modes):
    self._check(modes, fourth_root, lambda x: x**0.25)

  @parameterized.parameters(*NESTINGS)
  def test_fixed_argument(self, modes):
    self._check(modes, lambda x: product(x, 3, x), lambda x: x**4)

  @parameterized.product(rule=("reverse", "forward"), modes=["r", "f", "rf"])
  def test_structures(self, rule, modes):
    def of(function):
      def value(x):
        result = function({"a": x, "b": [x * x]}, tf.constant(3))
        return tf.reduce_sum(result["all"])

      return value

    result = _STRUCTURED[rule]({"a": X, "b": [X]}, 3.0)
    self.assertIsNone(result["n"][1])
    x = tf.constant(X)
    want = nested(of(_sum_of_products), "r" * len(modes))(x)
    for wrap in (lambda g: g, tf.function):
      got = wrap(nested(of(_STRUCTURED[rule]), modes))(x)
      onp.testing.assert_allclose(got, want, rtol=1e-12)

  def test_wrong_structure_of_a_rule(self):
    function = custom_gradient(
      vjp_fwd=lambda x: (x["a"], x), vjp_bwd=lambda x, ct: ({"b": ct},)
    )(lambda x: x["a"])
    with self.assertRaisesRegex(TypeError, "structure"):
      nested(lambda x: tf.reduce_sum(function({"a": x})), "r")(tf.constant(X))

  def test_stop_gradient_inside(self):
    function = lambda x: fourth_power(x) + fourth_power(tf.stop_gradient(x))
    x = tf.constant(X)
    got = tf.function(nested(lambda x: tf.reduce_sum(function(x)), "rf"))(x)
    onp.testing.assert_allclose(got, onp.sum(12 * X**2 * DIRECTION**2))

  def test_missing_rule(self):
    function = custom_gradient()(lambda x: x)
    with self.assertRaisesRegex(NotImplementedError, "vjp_fwd"):
      gradients.value_and_gradient(function, X)

  def test_half_of_a_rule(self):
    with self.assertRaisesRegex(ValueError, "together"):
      custom_gradient(vjp_fwd=lambda x: (x, None))


class GradientsTest(parameterized.TestCase):
  def test_value_and_gradient(self):
    value, gradient = gradients.value_and_gradient(lambda x: x * x, X)
    onp.testing.assert_allclose(value, X * X)
    onp.testing.assert_allclose(gradient, 2 * X)

  def test_several_arguments(self):
    value, (dx, dy) = gradients.value_and_gradient(lambda x, y: x * y, X, 2.0)
    onp.testing.assert_allclose(value, 2 * X)
    onp.testing.assert_allclose(dx, onp.full(3, 2.0))
    onp.testing.assert_allclose(dy, onp.sum(X))

  def test_vjp_twice_and_fixed_argument(self):
    _, pullback = gradients.vjp(product, X, 3, X)
    for scale in (1.0, 2.0):
      dx, none, dy = pullback(scale * DIRECTION)
      self.assertIsNone(none)
      onp.testing.assert_allclose(dx, 3 * X**3 * scale * DIRECTION)
      onp.testing.assert_allclose(dy, X**3 * scale * DIRECTION)

  def test_unconnected_is_zero(self):
    _, pullback = gradients.vjp(lambda x, y: x, X, X)
    onp.testing.assert_array_equal(pullback(DIRECTION)[1], onp.zeros(3))

  def test_jvp_of_one_array_given_twice(self):
    x = tf.constant(X)
    value, tangent = gradients.jvp(
      lambda x, y: x * y, (x, x), (DIRECTION, 2 * DIRECTION)
    )
    onp.testing.assert_allclose(value, X * X)
    onp.testing.assert_allclose(tangent, 3 * X * DIRECTION)

  def test_stop_gradient(self):
    function = lambda x: x * gradients.stop_gradient(x)
    _, gradient = gradients.value_and_gradient(function, X)
    onp.testing.assert_allclose(gradient, X)


if __name__ == "__main__":
  absltest.main()
