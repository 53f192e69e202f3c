"""Native functions bound for NumPy: calls, rules, refusals."""

import ctypes
import os

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic.substrates.numpy import binding
from phasic.substrates.numpy.internal.native import native_libraries
from tests.native_ops import libraries
from tests.native_ops import mistakes


def _scale_jvp(inputs, outputs, tangents):
  (factor, x), (d_factor, dx) = inputs, tangents
  return (d_factor[..., None] * x + factor[..., None] * dx,)


def _scale_vjp(inputs, outputs, cotangents):
  (factor, x), (ct,) = inputs, cotangents
  return onp.sum(ct * x, axis=-1), factor[..., None] * ct


def scale():
  return binding.bind_native(
    libraries.ops(), "test_scale", jvp=_scale_jvp, vjp=_scale_vjp
  )


def cube():
  return binding.bind_native(
    libraries.ops(),
    "test_cube",
    forward=["test_cube_jvp", "test_cube_jvp2"],
    adjoint=["test_cube_vjp", "test_cube_vjp2"],
  )


def gather():
  return binding.bind_native(
    libraries.ops(), "test_gather", sizes={"k": lambda m, n: 2 * m}
  )


class NativeOpsTest(parameterized.TestCase):
  @parameterized.product(
    dtype=("float32", "float64"),
    shapes=(
      ((), (3,)),
      ((5,), (5, 3)),
      ((5, 1), (1, 4, 3)),
      ((2, 1, 1), (4, 3)),
      ((0,), (0, 3)),
      ((5,), (5, 0)),
    ),
  )
  def test_batches_broadcast(self, dtype, shapes):
    rng = onp.random.default_rng(0)
    factor, x = (rng.normal(size=s).astype(dtype) for s in shapes)
    actual = scale()(factor, x)
    expected = factor[..., None] * x
    self.assertEqual(actual.dtype, onp.dtype(dtype))
    self.assertEqual(actual.shape, expected.shape)
    onp.testing.assert_array_equal(actual, expected)

  def test_views_numbers_and_lists(self):
    x = onp.arange(12.0).reshape(3, 4).T[::2]
    onp.testing.assert_array_equal(scale()(2, x), 2 * x)
    onp.testing.assert_array_equal(scale()([1, 2], x), x * [[1.0], [2.0]])
    self.assertEqual(cube()(2, 3), (24.0, 5.0))

  def test_several_outputs_integers_options_and_sizes(self):
    indices = onp.array([2, 0], onp.int32)
    y, count = gather()(indices, onp.array([1.0, 2.0, 4.0]), copies=2)
    onp.testing.assert_array_equal(y, [4.0, 1.0, 4.0, 1.0])
    self.assertEqual((count.dtype.name, int(count)), ("int32", 2))

  def test_rules_in_array_code(self):
    rng = onp.random.default_rng(1)
    factor, x, df, dx, ct = (
      rng.normal(size=s) for s in ((5, 1), (4, 3), (5, 1), (4, 3), (5, 4, 3))
    )
    moved = scale().jvp((factor, x), (df, dx))
    expected = df[..., None] * x + factor[..., None] * dx
    onp.testing.assert_allclose(moved, expected, rtol=1e-15)
    of_factor, of_x = scale().vjp((factor, x), ct)
    onp.testing.assert_allclose(
      of_factor, onp.sum(ct * x, axis=(-1, -2))[:, None], rtol=1e-13
    )
    onp.testing.assert_allclose(
      of_x, onp.sum(ct * factor[..., None], axis=0), rtol=1e-13
    )

  def test_native_derivatives(self):
    x, w = onp.array([1.0, 2.0, 3.0]), onp.array(0.5)
    dy, dsum = cube().jvp((x, w), (onp.ones(3), 2.0))
    onp.testing.assert_allclose(dy, 3 * x**2 * w + 2 * x**3, rtol=1e-15)
    onp.testing.assert_allclose(dsum, onp.full(3, 3.0))
    of_x, of_w = cube().vjp((x, w), (onp.ones(3), onp.ones(3)))
    onp.testing.assert_allclose(of_x, 3 * x**2 * w + 1, rtol=1e-15)
    onp.testing.assert_allclose(of_w, onp.sum(x**3 + 1), rtol=1e-15)

  def test_complex_cotangents_are_those_of_all_substrates(self):
    op = binding.bind_native(
      libraries.ops(),
      "test_complex",
      forward=["test_complex_jvp"],
      adjoint=["test_complex_vjp"],
    )
    z, w, ct = (onp.array(x) for x in (0.3 + 0.1j, 0.5 + 0.7j, 1.0 - 2.0j))
    found = op.vjp([z, w], ct)
    onp.testing.assert_allclose(found, [2 * z * w * ct, z * z * ct], rtol=1e-14)
    along = op.jvp([z, w], [ct, z])
    onp.testing.assert_allclose(along, 2 * z * w * ct + z**3, rtol=1e-14)

  def test_missing_rules(self):
    bare = binding.bind_native(libraries.ops(), "test_scale")
    message = "op test_scale: .* without a forward rule.*jvp.*declared as"
    with self.assertRaisesRegex(NotImplementedError, message):
      bare.jvp((1.0, onp.ones(2)), (1.0, onp.ones(2)))
    message = "op test_scale: .* without a reverse rule.*vjp.*declared as"
    with self.assertRaisesRegex(NotImplementedError, message):
      bare.vjp((1.0, onp.ones(2)), onp.ones(2))

  @parameterized.parameters(
    ((1.0,), TypeError, "1 arguments: there must be 2"),
    ((1.0, 2.0), ValueError, r"x has shape \(\): it must have 1 dimensions"),
    ((onp.ones(2), onp.ones((3, 4))), ValueError, "do not broadcast"),
    ((onp.ones((), "f4"), onp.ones(2)), TypeError, "factor is float32 and x"),
    ((1.0, onp.ones(2, complex)), TypeError, "x has dtype complex128"),
    ((1.0, onp.ones(2, bool)), TypeError, "x has dtype bool"),
    ((None, onp.ones(2)), TypeError, "factor is None"),
  )
  def test_arguments_refused(self, args, error, message):
    with self.assertRaisesRegex(error, f"op test_scale: .*{message}.*declared"):
      scale()(*args)

  def test_memory_of_any_kind(self):
    raw = onp.zeros(9, onp.uint8)
    raw[1:] = onp.array([2, 0], onp.int32).view(onp.uint8)
    unaligned = raw[1:].view(onp.int32)
    swapped = onp.array([2, 0], ">i4")
    self.assertFalse(unaligned.flags.aligned)
    x = onp.array([1.0, 2.0, 4.0])
    raw = onp.zeros(25, onp.uint8)
    raw[1:] = x.view(onp.uint8)
    for indices in (unaligned, swapped, onp.array([2, 1, 0], onp.int32)[::2]):
      for values in (x, x.astype(">f8"), raw[1:].view(onp.float64)):
        y, _ = gather()(indices, values, copies=2)
        onp.testing.assert_array_equal(y, [4.0, 1.0, 4.0, 1.0])
        gather().check(indices, values, copies=2)

  def test_plain(self):
    raw = onp.zeros(9, onp.uint8)
    for x in (
      onp.array(3, ">i2"),
      raw[1:].view(onp.float64),
      onp.ones((2, 3)).T,
    ):
      array = native_libraries.plain(x)
      self.assertTrue(array.flags.aligned and array.flags.c_contiguous)
      self.assertTrue(array.dtype.isnative)
      self.assertEqual(array.shape, x.shape)
      onp.testing.assert_array_equal(array, x)

  @parameterized.parameters(
    ([2.7, 0.0], TypeError, "indices is float64: it must be int32"),
    ([True, False], TypeError, "indices is bool: it must be int32"),
    ([2**40, 0], ValueError, "indices has a number that does not fit"),
    ([[0], [1, 2]], ValueError, ".*inhomogeneous"),
    (onp.ma.array([0, 1], "i4"), TypeError, "indices is a masked array"),
  )
  def test_numbers_are_not_rounded_to_integers(self, indices, error, message):
    with self.assertRaisesRegex(error, f"op test_gather: {message}"):
      gather()(indices, onp.ones(3), copies=2)
    y, _ = gather()([2, 0], [1, 2, 4], copies=2)
    onp.testing.assert_array_equal(y, [4.0, 1.0, 4.0, 1.0])

  def test_integers_are_not_converted(self):
    for indices in (onp.array([0, 1]), onp.array([0.0, 1.0])):
      with self.assertRaisesRegex(TypeError, "indices is .* must be int32"):
        gather()(indices, onp.ones(3), copies=2)

  @parameterized.parameters(*mistakes.FAILURES)
  def test_function_fails(self, name, message):
    op = binding.bind_native(libraries.ops(), name)
    for _ in range(2):  # the process lives on
      with self.assertRaisesRegex(RuntimeError, f"op {name}: .*{message}"):
        op(1.0)

  def test_function_takes_another_dtype(self):
    op = binding.bind_native(libraries.ops(), "test_takes_double")
    self.assertEqual(op(1.5), 1.5)
    message = r"input 0 \(x\) is float32 and was taken as float64"
    with self.assertRaisesRegex(RuntimeError, message):
      op(onp.float32(1.5))

  def test_sizes_that_lie(self):
    for copies in (1, 3):
      with self.assertRaisesRegex(RuntimeError, "test_gather: k must be m"):
        gather()(onp.array([0], onp.int32), onp.ones(3), copies=copies)

  @parameterized.parameters(*mistakes.WRONG_COTANGENTS)
  def test_cotangents_of_wrong_shapes(self, rule, message):
    op = binding.bind_native(
      libraries.ops(), "test_scale", vjp=lambda i, o, c: rule(i, c[0])
    )
    with self.assertRaisesRegex(
      (TypeError, ValueError), f"op test_scale: the rule vjp returned {message}"
    ):
      op.vjp((2.0, onp.ones((2, 3))), onp.ones((2, 3)))

  @parameterized.parameters(*mistakes.WRONG_TANGENTS)
  def test_tangents_of_wrong_shapes_and_dtypes(self, rule, message):
    op = binding.bind_native(
      libraries.ops(), "test_scale", jvp=lambda i, o, t: rule(i, t)
    )
    args = onp.ones(2), onp.ones((2, 3))
    with self.assertRaisesRegex(
      (TypeError, ValueError),
      f"op test_scale: .*the rule jvp returned {message}",
    ):
      op.jvp(args, args)

  def test_numbers_of_rules_have_no_precision(self):
    op = binding.bind_native(
      libraries.ops(),
      "test_cube",
      jvp=lambda i, o, t: (t[0], 0.0),
      vjp=lambda i, o, c: (c[0], 0),
    )
    one = onp.float32(1.0)
    for found in (op.jvp((one, one), (one, one)), op.vjp((one, one), (1, 1))):
      self.assertEqual([x.dtype for x in found], ["float32"] * 2)
      self.assertEqual([float(x) for x in found], [1.0, 0.0])

  @parameterized.parameters(
    ((1.0,), TypeError, "an entry for each of factor, x"),
    (1.0, TypeError, "an entry for each of factor, x"),
    (
      (None, [1.0] * 3),
      TypeError,
      "the tangents must have an array for factor",
    ),
    ((1.0, None), TypeError, "the tangents must have an array for x"),
    ((1j, [1.0] * 3), TypeError, "tangent of factor is complex128"),
    ((1.0, [1.0] * 4), ValueError, r"tangent of x has shape \(4,\)"),
  )
  def test_tangents_that_are_none(self, tangents, error, message):
    op = binding.bind_native(
      libraries.ops(), "test_scale", jvp=lambda i, o, t: (t[0] * i[1],)
    )
    with self.assertRaisesRegex(error, f"op test_scale: .*{message}"):
      op.jvp((2.0, onp.ones(3)), tangents)

  def test_cotangents_that_are_none(self):
    op = binding.bind_native(
      libraries.ops(), "test_scale", vjp=lambda i, o, c: (c[0], c[0])
    )
    with self.assertRaisesRegex(
      TypeError, "the cotangents must have an array for y"
    ):
      op.vjp((2.0, onp.ones(3)), None)

  def test_cotangents_that_lose_a_part(self):
    op = binding.bind_native(
      libraries.ops(),
      "test_scale",
      vjp=lambda i, o, c: (onp.sum(c[0] * i[1]), 1j * c[0]),
    )
    with self.assertRaisesRegex(TypeError, "vjp returned complex128"):
      op.vjp((2.0, onp.ones(3)), onp.ones(3))

  @parameterized.parameters(
    (1j, TypeError, "the cotangent of y is complex128: it must be float64"),
    ([1.0] * 4, ValueError, r"cotangent of y has shape \(4,\): .*\(3,\)"),
  )
  def test_cotangents_that_do_not_fit(self, cotangent, error, message):
    with self.assertRaisesRegex(error, f"op test_scale: .*{message}"):
      scale().vjp((2.0, onp.ones(3)), onp.asarray(cotangent))

  def test_cotangents_take_the_op_s_precision(self):
    args = onp.float32(2.0), onp.ones(3, "f4")
    found = scale().vjp(args, onp.ones(3))
    self.assertEqual([x.dtype for x in found], ["float32"] * 2)

  @parameterized.parameters(*mistakes.WRONG_SIZES)
  def test_sizes_that_are_none(self, k, error, message):
    op = binding.bind_native(libraries.ops(), "test_gather", sizes={"k": k})
    with self.assertRaisesRegex(error, f"op test_gather: .*{message}"):
      op(onp.array([0, 0], onp.int32), onp.ones(3))

  def test_shapes_that_lie(self):
    """Straight to the library, as a caller with a wrong rule would."""
    library = ctypes.CDLL(libraries.ops())
    source = onp.arange(3.0)
    target = onp.full(2, 7.0)

    class Buffer(ctypes.Structure):
      _fields_ = (
        ("data", ctypes.c_void_p),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int32),
        ("type", ctypes.c_int32),
      )

    def buffer(array):
      dims = (ctypes.c_int64 * 4)(*array.shape)
      return Buffer(array.ctypes.data, dims, array.ndim, 13)

    inputs = (Buffer * 2)(buffer(onp.array(2.0)), buffer(source))
    outputs = (Buffer * 1)(buffer(target))
    message = ctypes.create_string_buffer(500)
    failed = library.phasic_op_test_scale_call(
      inputs, 2, outputs, 1, b"", message, ctypes.c_int64(500)
    )
    self.assertEqual(failed, 1)
    self.assertIn(b"output 0 (y) has shape [2]: dimension n", message.value)
    self.assertIn(b"declared as 'factor(), x(n) -> y(n)'", message.value)
    onp.testing.assert_array_equal(target, [7.0, 7.0])

  def test_half_precision(self):
    op = binding.bind_native(libraries.ops(), "test_float16")
    x = onp.array([1.5, -0.0, onp.inf], onp.float16)
    y = op(x)
    self.assertEqual(y.dtype.name, "float16")
    self.assertEqual(y.tobytes(), x.tobytes())

  def test_no_entries_in_many_examples(self):
    x = onp.empty((2**58, 0))
    self.assertEqual(scale()(1.0, x).shape, x.shape)

  def test_too_many_dimensions_of_a_batch(self):
    self.assertEqual(scale()(onp.ones((1,) * 8), onp.ones(2)).ndim, 9)
    with self.assertRaisesRegex(ValueError, "test_scale: the batch has 9 dim"):
      scale()(onp.ones((1,) * 9), onp.ones(2))

  def test_check_of_what_is_right(self):
    scale().check(onp.ones((5, 1)), onp.ones((4, 3)))
    scale().check(2.0, onp.full(3, onp.nan, "f4"))
    scale().check(2.0, onp.ones(0))
    gather().check(onp.array([2, 0], onp.int32), onp.ones(3), copies=2)
    cube().check(1, 2)

  @parameterized.parameters(
    ("test_skips", "1 of the 3 entries of output y are not written"),
    ("test_overruns", "writes outside of output y"),
    ("test_writes_input", "input x is written to"),
    ("test_reads_output", "output y differs between two calls"),
    ("test_throws", "no such luck"),
  )
  def test_check_of_what_is_wrong(self, name, message):
    op = binding.bind_native(libraries.ops(), name)
    x = 1.0 if name == "test_throws" else onp.arange(3.0)
    with self.assertRaisesRegex(RuntimeError, f"op {name}: .*{message}"):
      op.check(x)

  def test_include_dir(self):
    header = os.path.join(binding.include_dir(), "phasic", "op.h")
    self.assertTrue(os.path.exists(header))


if __name__ == "__main__":
  absltest.main()
