"""Bound Python functions in TensorFlow: arguments, results and their orders."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import binding
from tests.tf.kernel import tapes


class BindingArgumentsTest(parameterized.TestCase):
  def test_second_order_in_all_modes(self):
    def forward(args, tangents):
      return onp.cos(args[0]) * tangents[0]

    def forward_jvp(args, tangents):
      (x,), (v,) = args
      (dx,), (dv,) = tangents
      return onp.cos(x) * dv - onp.sin(x) * v * dx

    def forward_vjp(args, c):
      (x,), (v,) = args
      return (-onp.sin(x) * v * c,), (onp.cos(x) * c,)

    def reverse_jvp(args, tangents):
      (x,), c = args
      (dx,), dc = tangents
      return (onp.cos(x) * dc - onp.sin(x) * c * dx,)

    def reverse_vjp(args, cotangents):
      (x,), c = args
      (d,) = cotangents
      return (-onp.sin(x) * c * d,), onp.cos(x) * d

    sine = binding.bind(
      onp.sin,
      jvp=binding.bind(forward, jvp=forward_jvp, vjp=forward_vjp),
      vjp=binding.bind(
        lambda args, c: (onp.cos(args[0]) * c,),
        jvp=reverse_jvp,
        vjp=reverse_vjp,
      ),
    )
    x = tf.constant([0.5, -2.0], tf.float64)
    for outer in (tapes.along_ones, tapes.gradient_of):
      for inner in (tapes.along_ones, tapes.gradient_of):
        for wrap in (lambda f: f, tf.function):
          result = wrap(outer(inner(sine)))(x)
          onp.testing.assert_allclose(result, -onp.sin(x), rtol=1e-15)

  def test_rules_in_array_code(self):
    cosine = binding.bind(
      onp.cos,
      vjp=binding.array_code(lambda args, c: (-sine(args[0]) * c,)),
    )
    sine = binding.bind(
      onp.sin,
      jvp=binding.array_code(lambda args, ts: cosine(args[0]) * ts[0]),
    )
    x = tf.constant([0.5, -2.0], tf.float64)
    modes = (tapes.along_ones, tapes.gradient_of)
    for first in modes:
      for second in modes:
        for wrap in (lambda f: f, tf.function):
          result = wrap(second(first(sine)))(x)
          onp.testing.assert_allclose(result, -onp.sin(x), rtol=1e-15)
    third = tapes.gradient_of(tapes.gradient_of(tapes.gradient_of(sine)))
    onp.testing.assert_allclose(third(x), -onp.cos(x), rtol=1e-15)

  def test_dicts_in_any_order_of_keys(self):
    op = binding.bind(
      lambda s: {"sum": s["a"] + s["b"], "a": s["a"]},
      vjp=lambda args, c: ({"a": c["sum"] + c["a"], "b": c["sum"]},),
      abstract=lambda s: {"a": s["a"], "sum": s["a"]},
    )
    x = tf.constant(2.0)

    def gradient(x):
      return tapes.gradient_of(lambda x: op({"b": x * x, "a": x})["sum"])(x)

    for wrap in (lambda f: f, tf.function):
      self.assertEqual(float(wrap(gradient)(x)), 5.0)

  def test_numbers_are_as_in_numpy(self):
    op = binding.bind(lambda x: x, nondifferentiable=(0,))
    plain = binding.bind(lambda x: x)
    for number in (2, 2.0, True, 1j, 2**60 + 1):
      for f in (op, plain, tf.function(lambda x=number: plain(x))):
        result = f(number) if f in (op, plain) else f()
        self.assertEqual(result.dtype, onp.asarray(number).dtype)
        self.assertEqual(result.numpy(), number)

  def test_nothing_in_or_out(self):
    three = binding.bind(lambda: onp.asarray(3.0))
    nothing = binding.bind(lambda x: (), abstract=lambda x: ())
    for jit_compile in (None, False, True):
      wrap = lambda f, compiled=jit_compile: (
        f if compiled is None else tf.function(f, jit_compile=compiled)
      )
      self.assertEqual(float(wrap(three)()), 3.0)
      self.assertEqual(wrap(nothing)(tf.constant(1.0)), ())

  @parameterized.parameters("text", object(), onp.longdouble(1.0))
  def test_no_numbers(self, result):
    with self.assertRaisesRegex(TypeError, "mine has an array of"):
      binding.bind(lambda x: x, name="mine")(tf.constant("text"))
    op = binding.bind(lambda x: result, name="mine")
    for wrap in (lambda f: f, tf.function):
      with self.assertRaisesRegex(TypeError, "mine (returned|has an array of)"):
        wrap(op)(tf.constant(1.0))

  @parameterized.product(
    case=(
      (lambda x: x[x > 0], None, r"float64\[2\] as result 0.*zeros"),
      (
        lambda x: x[x > 0],
        lambda x: binding.ArraySpec((0,), x.dtype),
        r"float64\[2\] as result 0.*abstract",
      ),
      (
        lambda x: onp.ma.array(x, mask=x > 1),
        lambda x: x,
        "result 0 is a masked array",
      ),
    ),
    jit_compile=(False, True),
  )
  def test_results_that_programs_refuse(self, case, jit_compile):
    """Of what has no entries, too, though compilers leave that out."""
    f, abstract, message = case
    op = binding.bind(f, abstract=abstract, name="mine")
    with self.assertRaisesRegex(tf.errors.OpError, f"mine.*{message}"):
      tf.function(op, jit_compile=jit_compile)(tf.ones([2], tf.float64))


if __name__ == "__main__":
  absltest.main()
