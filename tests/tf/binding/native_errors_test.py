"""Native ops bound for TensorFlow: what is refused, and what fails."""

import pathlib
import tempfile

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import binding
from tests.native_ops import libraries
from tests.native_ops import mistakes
from tests.tf.binding import native_cases


def _tape(f):
  def gradients(*args):
    with tf.GradientTape() as tape:
      tape.watch(args)
      value = f(*args)
    return tape.gradient(value, args)

  return gradients


def _forward(f):
  def tangent(*args):
    args = [tf.identity(x) for x in args]
    with tf.autodiff.ForwardAccumulator(args, args) as accumulator:
      value = f(*args)
    return accumulator.jvp(value)

  return tangent


_DERIVATIVES = {"tape": _tape, "forward": _forward}


class NativeErrorsTest(parameterized.TestCase):
  @parameterized.parameters(*mistakes.WRONG_SIZES)
  def test_sizes_that_are_none(self, k, error, message):
    op = native_cases.bind("test_gather", sizes={"k": k})
    message = f"op test_gather: .*{message}.*declared as 'indices: int32"
    x = tf.constant([1.0, 2.0, 4.0], tf.float64)
    for f in (op, tf.function(op, autograph=False, jit_compile=True)):
      with self.assertRaisesRegex(
        (error, tf.errors.InvalidArgumentError), f"(?s){message}"
      ):
        f(onp.array([2, 0], onp.int32), x)

  @parameterized.parameters(-4, 2**62)
  def test_sizes_that_are_none_when_it_runs(self, offset):
    op = native_cases.bind("test_gather", sizes={"k": lambda m, n: m + offset})
    specs = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.float64)]
    traced = tf.function(op, input_signature=specs, autograph=False)
    for _ in range(2):  # the process lives on
      with self.assertRaisesRegex(
        tf.errors.InvalidArgumentError,
        r"op test_gather: output 0 \(y\) cannot have shape .*`sizes`",
      ):
        traced(onp.array([2, 0], onp.int32), tf.ones([3], tf.float64))

  @parameterized.parameters(*mistakes.WRONG_COTANGENTS)
  def test_cotangents_of_wrong_shapes(self, rule, message):
    op = native_cases.bind("test_scale", vjp=lambda i, o, c: rule(i, c[0]))
    ones = tf.ones([2, 3], tf.float64)
    with self.assertRaisesRegex(
      (TypeError, ValueError), f"op test_scale: the rule vjp returned {message}"
    ):
      op.vjp((2.0, ones), ones)

  @parameterized.product(
    case=mistakes.WRONG_TANGENTS,
    mode=sorted(native_cases.MODES),
    way=("tape", "forward"),
  )
  def test_tangents_of_wrong_shapes_and_dtypes(self, case, mode, way):
    rule, message = case
    op = native_cases.bind("test_scale", jvp=lambda i, o, t: rule(i, t))
    args = tf.ones([2], tf.float64), tf.ones([2, 3], tf.float64)
    # Forward mode traces gradients without shapes where there have been many.
    late = "another shape for y than it must have"
    with self.assertRaisesRegex(
      (TypeError, ValueError, tf.errors.InvalidArgumentError),
      f"(?s)op test_scale: .*the rule jvp returned ({message}|{late})"
      ".*declared as",
    ):
      native_cases.MODES[mode](_DERIVATIVES[way](op))(*args)

  @parameterized.product(
    case=(
      ("vjp", lambda i, t: (tf.reduce_sum(t, -1), t[..., :1]), "x"),
      ("vjp", lambda i, t: (tf.reduce_sum(t), t), None),
      ("vjp", lambda i, t: (tf.concat([t[..., 0]] * 2, 0), t), "factor"),
      ("jvp", lambda i, t: (t[1][..., :1],), "y"),
      ("jvp", lambda i, t: (t[0],), "y"),
      ("jvp", lambda i, t: (t[1][:1],), None),
      ("jvp", lambda i, t: (tf.concat([t[1], t[1]], 0),), "y"),
    ),
    way=("tape", "forward"),
  )
  def test_results_of_wrong_shapes_when_it_runs(self, case, way):
    """None is for shapes that are right: a size of a batch may be 1."""
    name, rule, wrong = case
    rules = {
      "vjp": lambda i, o, c: rule(i, c[0]),
      "jvp": lambda i, o, t: rule(i, t),
    }
    op = native_cases.bind("test_scale", **{name: rules[name]})
    specs = [
      tf.TensorSpec([None], tf.float64),
      tf.TensorSpec([None, None], tf.float64),
    ]
    f = tf.function(
      _DERIVATIVES[way](op), input_signature=specs, autograph=False
    )
    args = tf.ones([2], tf.float64), tf.ones([2, 3], tf.float64)
    if wrong is None:
      f(*args)
      return
    with self.assertRaisesRegex(
      tf.errors.InvalidArgumentError,
      f"(?s)op test_scale: the rule {name} returned another shape for {wrong} "
      ".*declared as",
    ):
      f(*args)

  @parameterized.parameters(
    (1j, TypeError, "the cotangent of y is complex128: it must be float64"),
    ([1.0] * 4, ValueError, r"cotangent of y has shape \(4,\): .*\(3,\)"),
  )
  def test_cotangents_that_do_not_fit(self, cotangent, error, message):
    op = native_cases.bind(
      "test_scale", vjp=lambda i, o, c: (tf.reduce_sum(c[0]), c[0])
    )
    with self.assertRaisesRegex(error, f"op test_scale: .*{message}"):
      op.vjp((2.0, tf.ones(3, tf.float64)), onp.array(cotangent))

  def test_numbers_of_rules_have_no_precision(self):
    op = native_cases.bind("test_scale", vjp=lambda i, o, c: (0, c[0]))
    found = op.vjp((2.0, tf.ones(3)), tf.ones(3))
    self.assertEqual([x.dtype for x in found], [tf.float32] * 2)

  @parameterized.product(
    case=mistakes.FAILURES,
    mode=sorted(native_cases.MODES),
  )
  def test_function_fails(self, case, mode):
    name, message = case
    op = native_cases.bind(name)
    f = native_cases.MODES[mode](lambda x: op(x))
    for _ in range(2):  # the process lives on
      with self.assertRaisesRegex(
        tf.errors.InvalidArgumentError, f"op {name}: .*{message}"
      ):
        f(tf.constant(1.0, tf.float64))

  def test_function_takes_another_dtype(self):
    with self.assertRaisesRegex(
      tf.errors.InvalidArgumentError, "was taken as float64"
    ):
      native_cases.bind("test_takes_double")(tf.constant(1.0))

  def test_no_library(self):
    with self.assertRaisesRegex(
      FileNotFoundError,
      "op test_scale: tf_library is /nothing_tf.so, .*not exist",
    ):
      binding.bind_native(
        libraries.ops(), "test_scale", tf_library="/nothing_tf.so"
      )

  @parameterized.parameters(
    (b"text", OSError, "cannot be loaded"),
    (None, ValueError, "not compiled for TensorFlow"),
  )
  def test_files_that_are_no_such_libraries(self, content, error, message):
    with tempfile.TemporaryDirectory() as folder:
      path = pathlib.Path(folder) / "libwrong_tf.so"
      path.write_bytes(content or pathlib.Path(libraries.ops()).read_bytes())
      with self.assertRaisesRegex(
        error, f"op test_scale: tf_library is .*wrong_tf.so.*{message}"
      ):
        binding.bind_native(libraries.ops(), "test_scale", tf_library=path)
    message = (
      "library is .*libops_tf.so, which was compiled for TensorFlow.*; for "
      "TensorFlow alone pass None"
    )
    with self.assertRaisesRegex(ValueError, message):
      binding.bind_native(libraries.ops_tf(), "test_scale")

  def test_a_library_for_tensorflow_alone(self):
    with self.assertRaisesRegex(TypeError, "op test_scale: library is None: "):
      binding.bind_native(None, "test_scale")
    with self.assertRaisesRegex(
      ValueError, "^op test_missing: library is .*_tf.so, which has no such op"
    ):
      binding.bind_native(None, "test_missing", tf_library=libraries.ops_tf())
    with self.assertRaisesRegex(
      FileNotFoundError, "op test_scale: tf_library is /nothing_tf.so"
    ):
      binding.bind_native(None, "test_scale", tf_library="/nothing_tf.so")

  def test_op_of_another_library_in_the_way(self):
    op = native_cases.bind("test_options")
    with tempfile.TemporaryDirectory() as folder:
      other = pathlib.Path(folder) / "libother_tf.so"
      other.write_bytes(pathlib.Path(libraries.ops_tf()).read_bytes())
      with self.assertRaisesRegex(
        ValueError, "libother_tf.so and in .*libops_tf.so"
      ):
        binding.bind_native(
          libraries.ops(), "test_scale", tf_library=str(other)
        )
      same = pathlib.Path(folder) / "libsame_tf.so"
      same.symlink_to(libraries.ops_tf())
      binding.bind_native(libraries.ops(), "test_scale", tf_library=str(same))
    # A new kernel is looked for: that of the first library is there alone.
    self.assertEqual(int(op(1.0, text="another")[2]), len("another"))


if __name__ == "__main__":
  absltest.main()
