"""Each array function against NumPy: values, dtypes and shapes."""

import inspect

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import array_functions as np

F64 = onp.array([[0.5, -1.25, 3.0], [2.0, 0.0, -0.75]])
F32 = F64.astype(onp.float32)
POSITIVE = onp.abs(F64) + 0.5
ODD = onp.array([onp.inf, -onp.inf, onp.nan, 0.0])
I64 = onp.array([[1, -2, 3], [4, 0, -6]])
I32 = I64.astype(onp.int32)
BOOL = onp.array([[True, False, True], [True, True, True]])
CUBE = onp.arange(24.0).reshape(2, 3, 4)

# name, positional arguments, keyword arguments
CASES = [
  ("abs", (F64,), {}),
  ("abs", (I32,), {}),
  ("all", (BOOL,), {}),
  ("all", (BOOL,), {"axis": -1}),
  ("any", (~BOOL,), {"axis": 0}),
  ("any", (I64,), {}),
  ("arange", (5,), {}),
  ("argsort", (F32[0],), {}),
  ("argsort", (I32[1],), {}),
  ("asarray", (F32,), {}),
  ("asarray", (F32,), {"dtype": "float64"}),
  ("asarray", (F64,), {"dtype": "int32"}),
  ("asarray", (2,), {}),
  ("asarray", (2.5,), {}),
  ("asarray", (True,), {}),
  ("asarray", ([1, 2.5],), {}),
  ("asarray", (3,), {"dtype": "float32"}),
  ("broadcast_to", (F32, (4, 2, 3)), {}),
  ("broadcast_to", (1.0, ()), {}),
  ("concatenate", ([F64, I64],), {}),
  ("concatenate", ([F32, F32[:, :1]],), {"axis": -1}),
  ("cumsum", (F32,), {"axis": -1}),
  ("cumsum", (I32,), {"axis": 0}),
  ("exp", (F32,), {}),
  ("exp", (I64,), {}),
  ("expm1", (F64,), {}),
  ("eye", (3,), {}),
  ("eye", (2,), {"dtype": "float32"}),
  ("flip", (F64,), {}),
  ("flip", (F64,), {"axis": 0}),
  ("floor", (F32,), {}),
  ("floor", (I64,), {}),
  ("isfinite", (ODD,), {}),
  ("isfinite", (I64,), {}),
  ("isnan", (ODD,), {}),
  ("log", (POSITIVE,), {}),
  ("log", (2,), {}),
  ("log1p", (POSITIVE,), {}),
  ("logical_not", (BOOL,), {}),
  ("logical_not", (True,), {}),
  ("matmul", (CUBE, CUBE[0].T), {}),
  ("matmul", (F32, F64.T), {}),
  ("max", (F64,), {}),
  ("max", (F32,), {"axis": -1}),
  ("max", (ODD,), {}),
  ("maximum", (F32, 0), {}),
  ("maximum", (F32, 0.5), {}),
  ("maximum", (I64, 0.5), {}),
  ("maximum", (ODD, 0.0), {}),
  ("minimum", (F32, F64), {}),
  ("minimum", (I32, 2), {}),
  ("moveaxis", (CUBE, 0, -1), {}),
  ("moveaxis", (CUBE, -1, 0), {}),
  ("ones_like", (I32,), {}),
  ("reshape", (CUBE, (4, -1)), {}),
  ("reshape", (F32, (6,)), {}),
  ("reshape", (2.0, ()), {}),
  ("sqrt", (POSITIVE,), {}),
  ("square", (F32,), {}),
  ("square", (I64,), {}),
  ("stack", ([F32, F32],), {}),
  ("stack", ([F64, I64],), {"axis": -1}),
  ("sum", (F64,), {}),
  ("sum", (F32,), {"axis": (0, 1)}),
  ("sum", (BOOL,), {"axis": -1}),
  ("sum", (I32,), {}),
  ("take", (F64, onp.array([[1, 0], [1, 1]])), {"axis": 0}),
  ("take", (F64, I32[:1, :1]), {"axis": -1}),
  ("transpose", (CUBE,), {}),
  ("transpose", (CUBE, (1, 0, 2)), {}),
  ("where", (F64 > 0, F64, 0.0), {}),
  ("where", (F64 > 0, F32, 0), {}),
  ("where", (F64 > 0, 1.0, 0.0), {}),
  ("where", (F64 > 0, I32, F32), {}),
  ("where", (BOOL[0], CUBE[..., :1], I64[0]), {}),
  ("zeros", ((2, 0),), {}),
  ("zeros", ((3,),), {"dtype": "float32"}),
  ("zeros_like", (F32,), {}),
]


def _tensors(x):
  """Arrays as tensors, in lists too; all else as it is."""
  if isinstance(x, onp.ndarray):
    return tf.constant(x)
  return [_tensors(item) for item in x] if isinstance(x, list) else x


class ArrayFunctionsTest(parameterized.TestCase):
  @parameterized.parameters(*CASES)
  def test_as_numpy(self, name, args, kwargs):
    want = onp.asarray(getattr(onp, name)(*args, **kwargs))
    for inputs in (args, tuple(_tensors(x) for x in args)):
      got = getattr(np, name)(*inputs, **kwargs)
      self.assertIsInstance(got, tf.Tensor)
      self.assertEqual(got.dtype.as_numpy_dtype, want.dtype)
      self.assertEqual(tuple(got.shape), want.shape)
      # Elementary functions differ in the last place.
      rtol = 3e-7 if want.dtype == onp.float32 else 4e-16
      onp.testing.assert_allclose(got.numpy(), want, rtol=rtol)

  def test_shape(self):
    self.assertEqual(np.shape(CUBE), (2, 3, 4))
    self.assertEqual(np.shape(2.0), ())

  def test_unknown_shapes(self):
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)])
    def compute(x):
      size = np.shape(x)[0]
      self.assertTrue(tf.is_tensor(size))
      flat = np.reshape(x, (3, size))
      return np.broadcast_to(flat, (2, 3, size)), np.zeros((size,))

    got, zeros = compute(F64)
    onp.testing.assert_array_equal(got[1], onp.reshape(F64, (3, 2)))
    self.assertEqual(zeros.shape, (2,))

  def test_not_of_nan_in_graphs(self):
    # TensorFlow makes x < 0 of ~(x >= 0).
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def neither(x):
      return np.logical_not(x >= 0.0), np.logical_not(x < 0.0)

    got, other = neither(ODD)
    onp.testing.assert_array_equal(got, ~(ODD >= 0))
    onp.testing.assert_array_equal(other, ~(ODD < 0))

  def test_comparisons(self):
    other = onp.array([onp.inf, 0.0, onp.nan, -0.0])

    def compare(x):
      return np.equal(x, other), np.not_equal(other, x), np.equal(x, onp.inf)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
      in_graph = session.run(compare(tf.constant(ODD)))
    for found in (
      *(compare(ODD), compare(tf.constant(ODD)), in_graph),
      tf.function(compare)(tf.constant(ODD)),
    ):
      onp.testing.assert_array_equal(found[0], other == ODD)
      onp.testing.assert_array_equal(found[1], other != ODD)
      onp.testing.assert_array_equal(found[2], onp.inf == ODD)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
      x = tf.constant(ODD)  # NaN is not equal to itself.
      same, other = session.run((np.equal(x, x), np.not_equal(x, x)))
    onp.testing.assert_array_equal(same, onp.equal(ODD, ODD))
    onp.testing.assert_array_equal(other, onp.isnan(ODD))
    self.assertIs(np.equal("a", "a"), True)
    self.assertIs(np.not_equal(1, None), True)
    self.assertIs(np.equal(tf.constant(1.0), None), False)

  def test_list_with_tensors(self):
    got = np.asarray([tf.constant(1.0), tf.constant(2.0)], dtype="float64")
    onp.testing.assert_array_equal(got, [1.0, 2.0])

  def test_all_are_tested(self):
    names = {
      name
      for name, x in vars(np).items()
      if inspect.isfunction(x) and not name.startswith("_")
    }
    others = {"equal", "not_equal", "shape"}
    self.assertEqual(names, {name for name, _, _ in CASES} | others)


if __name__ == "__main__":
  absltest.main()
