"""Bound Python functions in TensorFlow: what graphs do with them."""

import concurrent.futures
import faulthandler
import functools
import os
import re
import subprocess
import sys
import tempfile
import threading

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import binding
from phasic.substrates.tf.internal.native import host_programs
from phasic.substrates.tf.internal.native import host_results
from tests.tf.kernel import tapes

_DTYPES = (
  *("bool", "int8", "int16", "int32", "int64"),
  *("uint8", "uint16", "uint32", "uint64"),
  *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


class _OwnError(Exception):
  """What no framework knows."""


def _raise(*args):
  raise _OwnError("the text")


def _environment():
  path = os.pathsep.join(p for p in sys.path if p)
  return {**os.environ, "PYTHONPATH": path}


class BindingTest(parameterized.TestCase):
  @parameterized.parameters(*_DTYPES)
  def test_dtypes(self, dtype):
    op = binding.bind(lambda x: onp.stack([x[0], x[0], x[1]]))
    x = tf.cast(tf.constant([1, 0, 1]), dtype)
    compiled = tf.function(op, jit_compile=True)
    for call in (op, tf.function(op), compiled):
      result = call(x)
      self.assertEqual(result.dtype, tf.as_dtype(dtype))
      onp.testing.assert_array_equal(result, tf.gather(x, [0, 0, 1]))

  def test_complex_gradients_are_tensorflow_s(self):
    weights = onp.array([1.0 + 2.0j, -0.5j])
    op = binding.bind(
      lambda x: weights * x,
      jvp=lambda args, d: weights * d[0],
      vjp=lambda args, c: (weights * c,),
    )
    linear = binding.bind_linear(
      lambda x: weights * x, transpose=lambda c: weights * c
    )
    x = tf.constant([0.3 + 0.1j, 2.0 - 1.0j], tf.complex128)
    loss = lambda f: lambda x: tf.reduce_sum(tf.abs(f(x)) ** 2)
    for derivative in (
      tapes.gradient_of,
      lambda f: tf.function(tapes.gradient_of(f)),
    ):
      expected = derivative(loss(lambda x: tf.constant(weights) * x))(x)
      for f in (op, linear):
        onp.testing.assert_allclose(derivative(loss(f))(x), expected)

  def test_integers_and_nondifferentiable_arguments(self):
    op = binding.bind(
      lambda x, n, y: (x**n * y, n + 1),
      vjp=lambda args, c: (
        args[1] * args[0] ** (args[1] - 1) * c[0],
        None,
        None,
      ),
      jvp=lambda args, d: (args[1] * args[0] ** (args[1] - 1) * d[0], None),
      nondifferentiable=(2,),
    )
    n, x, y = tf.constant(3), tf.constant(2.0, "float64"), tf.constant(1.0)
    for derivative in (tapes.gradient_of, tapes.along_ones):
      for wrap in (lambda f: f, tf.function):
        result = wrap(derivative(lambda x: op(x, n, y)[0]))(x)
        self.assertEqual(float(result), 12.0)
    with self.assertRaisesRegex(NotImplementedError, "nondifferentiable.* 2"):
      tapes.gradient_of(lambda y: op(x, n, y)[0])(y)

  @parameterized.named_parameters(
    ("jvp", "jvp", tapes.along_ones), ("vjp", "vjp", tapes.gradient_of)
  )
  def test_one_rule_that_is_missing(self, rule, derivative):
    rules = {
      "jvp": lambda args, d: onp.cos(args[0]) * d[0],
      "vjp": lambda args, c: (onp.cos(args[0]) * c,),
    }
    x = tf.constant([0.5, 1.0], tf.float64)
    only = binding.bind(onp.sin, **{rule: rules[rule]}, name="sine")
    for wrap in (lambda f: f, tf.function):
      onp.testing.assert_array_equal(wrap(derivative(only))(x), onp.cos(x))
    del rules[rule]
    other = binding.bind(onp.sin, **rules, name="sine")
    for wrap in (lambda f: f, tf.function):
      with self.assertRaisesRegex(Exception, f"sine.*rule {rule}"):
        wrap(derivative(other))(x)

  @parameterized.parameters(tapes.along_ones, tapes.gradient_of)
  def test_second_order_without_rules_is_an_error(self, derivative):
    op = binding.bind(
      onp.sin,
      jvp=lambda args, d: onp.cos(args[0]) * d[0],
      vjp=lambda args, c: (onp.cos(args[0]) * c,),
      name="sine",
    )
    x = tf.constant([0.5, 1.0], tf.float64)
    for wrap in (lambda f: f, tf.function):
      with self.assertRaisesRegex(
        Exception, r"vjp of sine .*vjp=array_code\(rule\)"
      ):
        wrap(derivative(tapes.gradient_of(op)))(x)

  def test_fixed_arguments_have_no_derivative(self):
    op = binding.bind_linear(
      lambda k, x: k * x,
      transpose=lambda k, c: k * c,
      num_fixed=1,
      name="scaled",
    )
    k, x = tf.constant(2.0), tf.constant(2.0)
    for derivative in (tapes.along_ones, tapes.gradient_of):
      for wrap in (lambda f: f, tf.function):
        result = wrap(derivative(lambda y: op(k, y * y)))(x)
        self.assertEqual(float(result), 8.0)
        with self.assertRaisesRegex(
          Exception, "scaled has no derivative in its first arg"
        ):
          wrap(derivative(lambda y: op(y, k)))(x)
        stopped = lambda y: op(tf.stop_gradient(y), y)
        self.assertEqual(float(wrap(derivative(stopped))(x)), 2.0)

  def test_exceptions(self):
    op = binding.bind(_raise, abstract=lambda x: x, name="mine")
    x = tf.constant([1.0, 2.0])
    with self.assertRaisesRegex(_OwnError, "the text"):
      op(x)
    with self.assertRaises(tf.errors.OpError) as caught:
      tf.function(op)(x)
    text = str(caught.exception)
    for part in ("mine raised _OwnError: the text", "in _raise"):
      self.assertIn(part, text)
    self.assertIsInstance(binding.last_error(), _OwnError)
    good = binding.bind(lambda x: 2.0 * x)
    self.assertEqual(float(tf.function(good)(3.0)), 6.0)

  @parameterized.named_parameters(
    ("shape", lambda x: x[:1], r"float64\[1\] as result 0.*float64\[2\]"),
    ("dtype", lambda x: x.astype("float32"), r"float32\[2\] as result 0"),
    ("tuple", lambda x: (x, x), "structure"),
    ("nothing", lambda x: None, "structure"),
    ("object", lambda x: object(), "as result 0"),
  )
  def test_abstract_that_lies(self, f, message):
    op = binding.bind(f, abstract=lambda x: x, name="mine")
    x = tf.constant([1.0, 2.0], tf.float64)
    with self.assertRaisesRegex(TypeError, f"mine.*{message}.*abstract"):
      op(x)
    with self.assertRaisesRegex(
      tf.errors.OpError, f"mine.*{message}.*abstract"
    ):
      tf.function(op)(x)

  @parameterized.parameters(
    (lambda x: object(), None, "mine returned object .*arrays of numbers"),
    (lambda x: ["abc"], None, "mine returned str.*arrays of numbers"),
    (lambda x: x, ((-1,), "float64"), r"mine.*float64\[-1\]: its sizes must"),
    (lambda x: x, ((2**62,), "float64"), "mine cannot return"),
  )
  def test_results_that_there_cannot_be(self, f, spec, message):
    rule = None if spec is None else lambda x: binding.ArraySpec(*spec)
    op = binding.bind(f, abstract=rule, name="mine")
    for call in (op, tf.function(op, autograph=False)):
      with self.assertRaisesRegex((TypeError, ValueError), message):
        call(tf.ones(2))

  def test_compiled_exceptions(self):
    op = binding.bind(_raise, abstract=lambda x: x, name="mine")
    with self.assertRaises(tf.errors.OpError) as caught:
      tf.function(op, jit_compile=True)(tf.constant([1.0]))
    text = str(caught.exception)
    for part in ("mine raised _OwnError: the text", "in _raise"):
      self.assertIn(part, text)
    lies = binding.bind(lambda x: x[:1], abstract=lambda x: x, name="mine")
    with self.assertRaisesRegex(tf.errors.OpError, "mine returned.*abstract"):
      tf.function(lies, jit_compile=True)(tf.constant([1.0, 2.0]))

  def test_a_call_that_is_interrupted(self):
    def interrupted(x):
      raise KeyboardInterrupt

    op = binding.bind(interrupted, abstract=lambda x: x, name="mine")
    for compiled in (False, True):
      with self.assertRaisesRegex(Exception, "mine raised KeyboardInterrupt"):
        tf.function(op, jit_compile=compiled)(tf.constant([1.0]))
      self.assertIsInstance(binding.last_error(), KeyboardInterrupt)

  @parameterized.parameters(False, True)
  def test_many_calls_from_many_threads(self, jit_compile):
    op = binding.bind(onp.sin, abstract=lambda x: x)

    @functools.partial(tf.function, jit_compile=jit_compile)
    def program(x):
      return tf.stack([op(row) for row in tf.unstack(x)])

    def caller(seed):
      rng = onp.random.default_rng(seed)
      for _ in range(20):
        x = rng.uniform(size=(24, 1000))
        onp.testing.assert_array_equal(program(tf.constant(x)), onp.sin(x))
      return seed

    # A hang ends the process, with all stacks, and that is a failure.
    faulthandler.dump_traceback_later(240, exit=True)
    self.addCleanup(faulthandler.cancel_dump_traceback_later)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      self.assertEqual(list(pool.map(caller, range(8))), list(range(8)))

  def test_compiled_missing_rules(self):
    op = binding.bind(
      onp.sin,
      jvp=lambda args, d: onp.cos(args[0]) * d[0],
      vjp=lambda args, c: (onp.cos(args[0]) * c,),
    )
    x = tf.constant([0.5, 1.0], tf.float64)
    for derivative in (tapes.along_ones, tapes.gradient_of):
      with self.assertRaisesRegex(Exception, "vjp of sin has no derivative"):
        tf.function(derivative(tapes.gradient_of(op)), jit_compile=True)(x)

  def test_unknown_sizes_need_abstract(self):
    op = binding.bind(lambda x: x, name="mine")
    signature = [tf.TensorSpec([None], tf.float64)]
    with self.assertRaisesRegex(TypeError, "mine.*rule `abstract`"):
      tf.function(op, input_signature=signature)(onp.ones(2))

  def test_function_is_called_once_each_time(self):
    calls = []

    def count(x):
      calls.append(1)
      return 2.0 * x

    op = binding.bind(
      count, abstract=lambda x: x, vjp=lambda args, c: (2.0 * c,)
    )
    for wrap in (lambda f: f, tf.function):
      calls.clear()
      tapes.gradient_of(op)(tf.constant(1.0))
      self.assertLen(calls, 1)
      wrap(op)(tf.constant(1.0))
      self.assertLen(calls, 2)

  def test_exceptions_without_a_text(self):
    class Surrogate(Exception):
      def __str__(self):
        return "not \udc80 UTF-8 \0 and \u00e4" + "\u00e4" * 20000

    class Broken(Exception):
      def __str__(self):
        raise ValueError("no text")

    def fails(error):
      def on_host(*values):
        raise error

      return on_host

    x = tf.constant([1.0, 2.0])
    like = host_results.ArraySpec((2,), "float32")
    for on_host, message in (
      (fails(Surrogate()), "not . UTF-8   and \u00e4"),
      (fails(Broken()), "Broken, whose text cannot be had"),
      (lambda x: [x[:1]], r"result 0 is float32\[1\].* float32\[2\]"),
      (lambda x: [x.astype("float64")], r"result 0 is float64\[2\]"),
      (lambda x: [x, x], "longer"),
    ):
      program = tf.function(
        lambda x, on_host=on_host: host_programs.in_graph(on_host, [x], like),
        jit_compile=True,
      )
      with self.assertRaisesRegex(tf.errors.OpError, message):
        program(x)

  def test_exit_waits_for_calls_of_graphs(self):
    running = host_programs.Running()
    goes_on, begun, ended = (threading.Event() for _ in range(3))

    def call():
      with running:
        begun.set()
        goes_on.wait()
      ended.set()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
      pool.submit(call)
      begun.wait()
      stopped = pool.submit(running.stop)
      with self.assertRaises(concurrent.futures.TimeoutError):
        stopped.result(timeout=0.1)
      with self.assertRaisesRegex(RuntimeError, "is exiting"), running:
        self.fail("a call has begun")
      goes_on.set()
      stopped.result()
    self.assertTrue(ended.is_set())

  def test_forked_process_ends_while_calls_run(self):
    source = """
import os, sys, threading
import tensorflow as tf
from phasic.substrates.tf import binding
begun, goes_on = threading.Semaphore(0), threading.Event()
def waits(x):
  begun.release()
  goes_on.wait()
  return x
op = binding.bind(waits, abstract=lambda x: x)
for jit_compile in (False, True):
  program = tf.function(op, jit_compile=jit_compile)
  threading.Thread(target=program, args=(tf.constant(1.0),)).start()
  begun.acquire()
if os.fork() == 0:
  sys.exit()  # Without the threads that call.
_, status = os.wait()
goes_on.set()
print("ended", status)
"""
    result = subprocess.run(
      [sys.executable, "-c", source],
      env=_environment(),
      capture_output=True,
      text=True,
      check=False,
      timeout=240,
    )
    self.assertIn("ended 0", result.stdout, result.stderr[-2000:])

  def test_saved_program_says_so_elsewhere(self):
    module = tf.Module()
    op = binding.bind(lambda x: 3.0 * x, name="triple")
    module.call = tf.function(
      op, input_signature=[tf.TensorSpec([2], tf.float64)]
    )
    directory = self.enter_context(tempfile.TemporaryDirectory())
    tf.saved_model.save(module, directory)
    # The number of its Python function here; elsewhere there may be one, too.
    graph = module.call.get_concrete_function().graph.as_graph_def()
    number = max(map(int, re.findall(r"pyfunc_(\d+)", str(graph))))
    source = f"""
import tensorflow as tf
from phasic.substrates.tf.binding import bind  # Loads the ops.
if {{other}}:
  same = lambda x: x
  ops = [bind(same, abstract=same) for _ in range({number} + 1)]
  own = tf.function(lambda x: [op(x) for op in ops])
  own(tf.constant([1.0, 2.0], tf.float64))
call = tf.saved_model.load({directory!r}).call
try:
  call(tf.constant([1.0, 2.0], tf.float64))
except Exception as error:
  print(type(error).__name__, error)
print("lives on")
"""
    for other, message in (
      (False, "Could not find callback"),
      (True, "another process"),
    ):
      result = subprocess.run(
        [sys.executable, "-c", source.format(other=other)],
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
      )
      self.assertEqual(result.returncode, 0, result.stderr[-2000:])
      self.assertRegex(result.stdout, message)
      self.assertIn("lives on", result.stdout)


if __name__ == "__main__":
  absltest.main()
