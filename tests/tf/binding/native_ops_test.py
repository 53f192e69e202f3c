"""Native ops bound for TensorFlow: tracing, XLA, threads, SavedModel."""

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
from tests.tf.binding import native_cases

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


class NativeOpsTest(parameterized.TestCase):
  @parameterized.parameters(*native_cases.MODES)
  def test_a_library_for_tensorflow_alone(self, mode):
    scale = binding.bind_native(
      None,
      "test_scale",
      vjp=native_cases.scale_vjp,
      tf_library=libraries.ops_tf(),
    )
    x = tf.constant([1.0, 2.0, 4.0], tf.float64)
    factor = tf.constant(3.0, tf.float64)
    scale.check(factor, x)

    def gradient(factor):
      with tf.GradientTape() as tape:
        tape.watch(factor)
        y = scale(factor, x)
      return y, tape.gradient(y, factor)

    y, slope = native_cases.MODES[mode](gradient)(factor)
    onp.testing.assert_array_equal(y, [3.0, 6.0, 12.0])
    self.assertEqual(float(slope), 7.0)

  def test_autograph_does_not_warn(self):
    op = native_cases.bind("test_float16")
    with self.assertNoLogs("tensorflow", "WARNING"):
      tf.function(op)(tf.constant(1.0, tf.float16))

  def test_empty_batches_of_sizes_known_when_it_runs(self):
    specs = [tf.TensorSpec([None], tf.float64)] * 2
    compiled = tf.function(kepler, input_signature=specs, jit_compile=True)
    for sizes, expected in (((0, 1), 0), ((1, 0), 0), ((1, 3), 3), ((0, 0), 0)):
      sine, cosine = compiled(
        *[tf.fill([n], tf.zeros([], tf.float64)) for n in sizes]
      )
      self.assertEqual((sine.shape, cosine.shape), ((expected,), (expected,)))

  def test_options_in_the_text_of_a_program(self):
    op = native_cases.bind("test_options", vjp=lambda i, o, c: (3.0 * c[0],))
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
        pool.map(
          lambda _: native_cases.bind("test_scale", vjp=native_cases.scale_vjp),
          range(16),
        )
      )
    self.assertEqual([gradient(op) for op in ops], [3.0] * 16)

  def test_rank_not_known(self):
    op = native_cases.bind("test_scale", vjp=native_cases.scale_vjp)
    traced = tf.function(
      op,
      input_signature=[tf.TensorSpec([]), tf.TensorSpec(None)],
      autograph=False,
    )
    with self.assertRaisesRegex(ValueError, "op test_scale: .*TensorSpec a"):
      traced(2.0, tf.ones([3]))

  def test_integers_options_and_sizes(self):
    op = native_cases.bind("test_gather", sizes={"k": lambda m, n: 2 * m})
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
    for f in native_cases.MODES.values():
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
