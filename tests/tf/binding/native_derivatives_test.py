"""Derivatives of native ops in TensorFlow, of all orders and in all modes."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from tests.native_ops import libraries
from tests.tf.binding import native_cases

libraries.kepler()

from kepler.tf import kepler  # noqa: E402


def _scale_jvp(inputs, outputs, tangents):
  (factor, x), (d_factor, dx) = inputs, tangents
  return (d_factor[..., None] * x + factor[..., None] * dx,)


def _second(f, args):
  """Value, gradients, and the gradients of something of these."""
  with tf.GradientTape() as outer:
    outer.watch(args)
    with tf.GradientTape() as inner:
      inner.watch(args)
      value = f(*args)
    gradients = inner.gradient(value, args)
    mixed = tf.reduce_sum(gradients[0] ** 2) + tf.reduce_sum(gradients[1])
  return value, gradients, outer.gradient(mixed, args)


def _forward(f, args):
  args = [tf.identity(x) for x in args]
  along = [tf.fill(tf.shape(x), tf.constant(0.3, x.dtype)) for x in args]
  with tf.autodiff.ForwardAccumulator(args, along) as accumulator:
    value = f(*args)
  return accumulator.jvp(value)


def _hvp(f, args):
  args = [tf.identity(x) for x in args]
  along = [tf.fill(tf.shape(x), tf.constant(0.3, x.dtype)) for x in args]
  with tf.autodiff.ForwardAccumulator(args, along) as accumulator:
    with tf.GradientTape() as tape:
      tape.watch(args)
      value = f(*args)
    gradients = tape.gradient(value, args)
  return accumulator.jvp(gradients)


def _scale_case(**rules):
  op = native_cases.bind("test_scale", **rules)
  factor = tf.constant([[2.0], [3.0]], tf.float64)
  x = tf.reshape(tf.range(1, 13, dtype=tf.float64), [4, 3]) / 7
  return (
    lambda a, b: tf.reduce_sum(tf.sin(op(a, b))),
    lambda a, b: tf.reduce_sum(tf.sin(a[..., None] * b)),
    [factor, x],
  )


def _cube_case():
  op = native_cases.bind(
    "test_cube",
    forward=["test_cube_jvp", "test_cube_jvp2"],
    adjoint=["test_cube_vjp", "test_cube_vjp2"],
  )

  def reference(a, b):
    return tf.reduce_sum(tf.sin(a**3 * b)) + tf.reduce_sum(tf.sin(a + b))

  x = tf.constant([0.1, 0.2, 0.5], tf.float64)
  return (
    lambda a, b: tf.add_n([tf.reduce_sum(tf.sin(y)) for y in op(a, b)]),
    reference,
    [x, tf.constant(0.7, tf.float64)],
  )


def _complex_jvp(inputs, outputs, tangents):
  (z, w), (dz, dw) = inputs, tangents
  return (2.0 * z * w * dz + z * z * dw,)


def _complex_vjp(inputs, outputs, cotangents):
  (z, w), (ct,) = inputs, cotangents
  return 2.0 * z * w * ct, z * z * ct


_NATIVE_COMPLEX = {
  "forward": ["test_complex_jvp", "test_complex_jvp2"],
  "adjoint": ["test_complex_vjp", "test_complex_vjp2"],
}


def _complex_case(**rules):
  op = native_cases.bind("test_complex", **rules)
  z = tf.constant([0.3 + 0.1j, 2.0 - 1.0j], tf.complex128)
  loss = lambda y: tf.reduce_sum(tf.math.real(tf.exp(1j * y)))
  return (
    lambda z, w: loss(op(z, w)),
    lambda z, w: loss(z * z * w),
    [z, tf.constant(0.5 + 0.7j, tf.complex128)],
  )


def _kepler_case():
  def reference(mean, e):
    x = mean + e * tf.sin(mean)
    for _ in range(8):
      x = x - (x - e * tf.sin(x) - mean) / (1 - e * tf.cos(x))
    return tf.reduce_sum(tf.sin(x) + 2 * tf.cos(x))

  def actual(mean, e):
    sin_E, cos_E = kepler(mean, e)
    return tf.reduce_sum(sin_E + 2 * cos_E)

  mean = tf.constant([[0.5], [-2.0]], tf.float64)
  return actual, reference, [mean, tf.constant([0.1, 0.3], tf.float64)]


_CASES = {
  "jvp": lambda: _scale_case(jvp=_scale_jvp),
  "vjp": lambda: _scale_case(vjp=native_cases.scale_vjp),
  "native": _cube_case,
  "complex jvp": lambda: _complex_case(jvp=_complex_jvp),
  "complex vjp": lambda: _complex_case(vjp=_complex_vjp),
  "complex native": lambda: _complex_case(**_NATIVE_COMPLEX),
  "kepler": _kepler_case,
}
_USES = {"second": _second, "forward": _forward, "hvp": _hvp}


class NativeDerivativesTest(parameterized.TestCase):
  @parameterized.product(
    case=sorted(_CASES), use=sorted(_USES), mode=sorted(native_cases.MODES)
  )
  def test_derivatives(self, case, use, mode):
    f, reference, args = _CASES[case]()
    actual = native_cases.MODES[mode](lambda *args: _USES[use](f, list(args)))(
      *args
    )
    expected = _USES[use](reference, args)
    tf.nest.map_structure(
      lambda x, y: onp.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-13),
      actual,
      expected,
    )

  @parameterized.parameters(
    {"jvp": _complex_jvp}, {"vjp": _complex_vjp}, _NATIVE_COMPLEX
  )
  def test_complex_cotangents_are_those_of_all_substrates(self, **rules):
    op = native_cases.bind("test_complex", **rules)
    z, w, ct = 0.3 + 0.1j, 0.5 + 0.7j, 1.0 - 2.0j
    found = op.vjp([onp.array(z), onp.array(w)], onp.array(ct))
    onp.testing.assert_allclose(found, [2 * z * w * ct, z * z * ct], rtol=1e-14)
    along = op.jvp([onp.array(z), onp.array(w)], [onp.array(ct), onp.array(z)])
    onp.testing.assert_allclose(along, 2 * z * w * ct + z**3, rtol=1e-14)

  @parameterized.parameters("jvp", "vjp")
  def test_complex_results_of_rules_for_real_numbers(self, rule):
    def jvp(inputs, outputs, tangents):
      return (tf.complex(*_scale_jvp(inputs, outputs, tangents) * 2),)

    def vjp(inputs, outputs, cotangents):
      return tuple(tf.complex(x, x) for x in inputs)

    op = native_cases.bind(
      "test_scale", **{rule: {"jvp": jvp, "vjp": vjp}[rule]}
    )
    x = tf.constant([1.0, 2.0], tf.float64)
    with self.assertRaisesRegex(TypeError, f"test_scale.*{rule}.*complex"):
      with tf.GradientTape() as tape:
        tape.watch(x)
        value = op(tf.constant(2.0, tf.float64), x)
      tape.gradient(value, x)

  @parameterized.parameters("graph", "xla")
  def test_sizes_known_when_it_runs(self, mode):
    f, reference, args = _kepler_case()
    specs = [
      tf.TensorSpec([None, 1], tf.float64),
      tf.TensorSpec([None], tf.float64),
    ]
    compiled = tf.function(
      lambda *args: _second(f, list(args)),
      input_signature=specs,
      autograph=False,
      jit_compile=mode == "xla",
    )
    for rows in (1, 2):
      given = [args[0][:rows], args[1]]
      tf.nest.map_structure(
        lambda x, y: onp.testing.assert_allclose(x, y, rtol=1e-11),
        compiled(*given),
        _second(reference, given),
      )

  def test_third_order_of_rules(self):
    mean = tf.constant(0.7, tf.float64)
    with tf.GradientTape() as outer:
      outer.watch(mean)
      with tf.GradientTape() as middle:
        middle.watch(mean)
        with tf.GradientTape() as inner:
          inner.watch(mean)
          value = kepler(mean, 0.0)[0]
        first = inner.gradient(value, mean)
      second = middle.gradient(first, mean)
    third = outer.gradient(second, mean)
    onp.testing.assert_allclose(
      [first, second, third],
      [onp.cos(0.7), -onp.sin(0.7), -onp.cos(0.7)],
      rtol=1e-14,
    )

  def test_above_the_native_orders(self):
    f, _, args = _cube_case()

    def third(*args):
      args = list(args)
      with tf.GradientTape() as tape:
        tape.watch(args)
        value = tf.reduce_sum(_second(f, args)[2][0])
      return tape.gradient(value, args)

    for run in (third, tf.function(third, autograph=False)):
      with self.assertRaisesRegex(
        (NotImplementedError, tf.errors.UnimplementedError),
        "op test_cube: a reverse derivative of order 3",
      ):
        run(*args)

  def test_no_rules(self):
    op = native_cases.bind("test_takes_double")
    x = tf.constant(1.0, tf.float64)
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = op(x)
    with self.assertRaisesRegex(NotImplementedError, "bound without rules"):
      tape.gradient(y, x)


if __name__ == "__main__":
  absltest.main()
