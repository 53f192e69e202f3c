"""Native ops bound for TensorFlow: derivatives, refusals, XLA, SavedModel."""

import concurrent.futures
import subprocess
import sys
import tempfile
import time

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import binding
from phasic.substrates.tf.internal import xla_calls
from tests.native_ops import libraries

libraries.kepler()

from kepler import library  # noqa: E402
from kepler.tf import kepler  # noqa: E402

_LOADER = """
import sys
sys.path[:] = {path!r}
import tensorflow as tf
from phasic.substrates.tf import binding
if {bound}:
  def jvp(inputs, outputs, tangents):
    (_, e), (s, c), (dm, de) = inputs, outputs, tangents
    dE = (dm + s * de) / (1 - e * c)
    return c * dE, -s * dE
  binding.bind_native({library!r}, "kepler", jvp=jvp)
model = tf.saved_model.load(sys.argv[1])
mean = tf.constant([0.5, 1.0], tf.float64)
with tf.GradientTape() as outer:
  outer.watch(mean)
  with tf.GradientTape() as inner:
    inner.watch(mean)
    value = model.sine(mean)
  gradient = inner.gradient(value, mean)
second = outer.gradient(gradient, mean)
print("RESULT", *value.numpy(), *gradient.numpy(), *second.numpy())
"""


def bind(name, **rules):
  return binding.bind_native(
    libraries.ops(), name, tf_library=libraries.ops_tf(), **rules
  )


def _scale_jvp(inputs, outputs, tangents):
  (factor, x), (d_factor, dx) = inputs, tangents
  return (d_factor[..., None] * x + factor[..., None] * dx,)


def _scale_vjp(inputs, outputs, cotangents):
  (factor, x), (ct,) = inputs, cotangents
  return tf.reduce_sum(ct * x, axis=-1), factor[..., None] * ct


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
  op = bind("test_scale", **rules)
  factor = tf.constant([[2.0], [3.0]], tf.float64)
  x = tf.reshape(tf.range(1, 13, dtype=tf.float64), [4, 3]) / 7
  return (
    lambda a, b: tf.reduce_sum(tf.sin(op(a, b))),
    lambda a, b: tf.reduce_sum(tf.sin(a[..., None] * b)),
    [factor, x],
  )


def _cube_case():
  op = bind(
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
  op = bind("test_complex", **rules)
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
  "vjp": lambda: _scale_case(vjp=_scale_vjp),
  "native": _cube_case,
  "complex jvp": lambda: _complex_case(jvp=_complex_jvp),
  "complex vjp": lambda: _complex_case(vjp=_complex_vjp),
  "complex native": lambda: _complex_case(**_NATIVE_COMPLEX),
  "kepler": _kepler_case,
}
_USES = {"second": _second, "forward": _forward, "hvp": _hvp}
_MODES = {
  "eager": lambda f: f,
  "graph": lambda f: tf.function(f, autograph=False),
  "xla": lambda f: tf.function(f, autograph=False, jit_compile=True),
}


class NativeOpsTest(parameterized.TestCase):
  @parameterized.product(
    case=sorted(_CASES), use=sorted(_USES), mode=sorted(_MODES)
  )
  def test_derivatives(self, case, use, mode):
    f, reference, args = _CASES[case]()
    actual = _MODES[mode](lambda *args: _USES[use](f, list(args)))(*args)
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
    op = bind("test_complex", **rules)
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

    op = bind("test_scale", **{rule: {"jvp": jvp, "vjp": vjp}[rule]})
    x = tf.constant([1.0, 2.0], tf.float64)
    with self.assertRaisesRegex(TypeError, f"test_scale.*{rule}.*complex"):
      with tf.GradientTape() as tape:
        tape.watch(x)
        value = op(tf.constant(2.0, tf.float64), x)
      tape.gradient(value, x)

  def test_autograph_does_not_warn(self):
    op = bind("test_float16")
    with self.assertNoLogs("tensorflow", "WARNING"):
      tf.function(op)(tf.constant(1.0, tf.float16))

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

  def test_empty_batches_of_sizes_known_when_it_runs(self):
    specs = [tf.TensorSpec([None], tf.float64)] * 2
    compiled = tf.function(kepler, input_signature=specs, jit_compile=True)
    for sizes, expected in (((0, 1), 0), ((1, 0), 0), ((1, 3), 3), ((0, 0), 0)):
      sine, cosine = compiled(
        *[tf.fill([n], tf.zeros([], tf.float64)) for n in sizes]
      )
      self.assertEqual((sine.shape, cosine.shape), ((expected,), (expected,)))

  def test_options_in_the_text_of_a_program(self):
    op = bind("test_options", vjp=lambda i, o, c: (3.0 * c[0],))
    text = 'two\nlines "quoted" \\ \\22 end" \x7f'

    @tf.function(jit_compile=True, autograph=False)
    def gradient(x):
      number, _, length = op(x, text=text)
      return length, *tf.gradients(number, x)

    length, slope = gradient(tf.constant(1.0, tf.float64))
    self.assertEqual((int(length), float(slope)), (len(text), 3.0))

  def test_nested_function_that_was_traced_for_graphs(self):
    mean = tf.constant([0.5, 1.0], tf.float64)
    inner = tf.function(lambda m: kepler(m, 0.3)[0], autograph=False)
    inner(mean)
    outer = tf.function(inner, autograph=False, jit_compile=True)
    # TensorFlow traces it once; so it has to be another one for XLA.
    with self.assertRaisesRegex(tf.errors.OpError, "PhasicOpKepler"):
      outer(mean)

  def test_many_threads_register_a_handler_once(self):
    class Symbol:
      calls = 0

      def __call__(self, api):
        del api
        time.sleep(0.05)
        self.calls += 1
        return int(self.calls > 1)  # refused

    symbol = Symbol()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      list(pool.map(xla_calls.register, [symbol] * 8, ["test_threads"] * 8))
    self.assertEqual(symbol.calls, 1)

  def test_many_threads_bind_one_op(self):
    operands = tf.constant(2.0, tf.float64), tf.ones([3], tf.float64)

    def gradient(op):
      with tf.GradientTape() as tape:
        tape.watch(operands)
        y = op(*operands)
      return float(tape.gradient(y, operands[0]))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      ops = list(
        pool.map(lambda _: bind("test_scale", vjp=_scale_vjp), range(16))
      )
    self.assertEqual([gradient(op) for op in ops], [3.0] * 16)

  def test_rank_not_known(self):
    op = bind("test_scale", vjp=_scale_vjp)
    traced = tf.function(
      op,
      input_signature=[tf.TensorSpec([]), tf.TensorSpec(None)],
      autograph=False,
    )
    with self.assertRaisesRegex(ValueError, "op test_scale: .*TensorSpec a"):
      traced(2.0, tf.ones([3]))

  def test_integers_options_and_sizes(self):
    op = bind("test_gather", sizes={"k": lambda m, n: 2 * m})
    indices = onp.array([2, 0], onp.int32)
    x = tf.constant([1.0, 2.0, 4.0], tf.float64)
    specs = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.float64)]
    traced = tf.function(
      lambda i, x: op(i, x, copies=2), input_signature=specs, autograph=False
    )
    for f in (lambda i, x: op(i, x, copies=2), traced):
      y, count = f(indices, x)
      onp.testing.assert_array_equal(y, [4.0, 1.0, 4.0, 1.0])
      self.assertEqual(int(count), 2)

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
    op = bind("test_takes_double")
    x = tf.constant(1.0, tf.float64)
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = op(x)
    with self.assertRaisesRegex(NotImplementedError, "bound without rules"):
      tape.gradient(y, x)

  def test_kepler_writes_what_it_must(self):
    kepler.check(tf.ones([3, 1]), tf.constant([0.1, 0.9]))

  def test_vectorized_map_and_map_fn(self):
    mean = tf.constant([0.5, 1.0], tf.float64)
    expected = kepler(mean, 0.3)[0]
    for mapped in (tf.vectorized_map, tf.map_fn):
      actual = mapped(lambda m: kepler(m, 0.3)[0], mean)
      onp.testing.assert_array_equal(actual, expected)

  @parameterized.parameters((1.0, -0.1), (1.0, 1.0), (onp.nan, 0.1))
  def test_kepler_outside_of_the_domain(self, mean, eccentricity):
    self.assertTrue(onp.all(onp.isnan(kepler(mean, eccentricity))))

  def test_kepler_has_the_same_bits_as_in_numpy(self):
    from kepler.numpy import kepler as in_numpy

    mean = onp.linspace(-3.0, 3.0, 50)
    for f in _MODES.values():
      actual = f(lambda m: kepler(m, 0.7))(tf.constant(mean))
      onp.testing.assert_array_equal(actual, in_numpy(mean, 0.7))


class SavedModelTest(absltest.TestCase):
  def _load(self, folder, bound):
    code = _LOADER.format(path=sys.path, library=str(library.PATH), bound=bound)
    return subprocess.run(
      [sys.executable, "-c", code, folder],
      capture_output=True,
      text=True,
      check=False,
    )

  def test_another_process(self):
    model = tf.Module()
    model.sine = tf.function(
      lambda m: kepler(m, tf.constant(0.3, tf.float64))[0],
      input_signature=[tf.TensorSpec([None], tf.float64)],
      autograph=False,
    )
    with tempfile.TemporaryDirectory() as folder:
      tf.saved_model.save(model, folder)
      done = self._load(folder, True)
      without = self._load(folder, False)
    self.assertEqual(done.returncode, 0, done.stderr)
    line = next(x for x in done.stdout.splitlines() if x.startswith("RESULT"))
    actual = onp.array([float(x) for x in line.split()[1:]]).reshape(3, 2)
    mean = tf.constant([0.5, 1.0], tf.float64)
    with tf.GradientTape() as outer:
      outer.watch(mean)
      with tf.GradientTape() as inner:
        inner.watch(mean)
        value = kepler(mean, 0.3)[0]
      gradient = inner.gradient(value, mean)
    expected = [value, gradient, outer.gradient(gradient, mean)]
    onp.testing.assert_allclose(actual, expected, rtol=1e-12)
    self.assertNotEqual(without.returncode, 0)
    self.assertIn("PhasicOpKepler", without.stderr)


if __name__ == "__main__":
  absltest.main()
