"""Derivatives of NumPy's functions by the tape, compared with JAX."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.math.calls import gradients as jax_gradients
from phasic.substrates.numpy.math.calls import gradients

_STATE = onp.random.RandomState(0)
_MATRIX = _STATE.uniform(0.2, 0.8, (3, 4))
_ROW = _STATE.uniform(0.2, 0.8, 4)
_TALL = _STATE.uniform(0.2, 0.8, (4, 2))
_BATCH = _STATE.normal(size=(5, 1, 3, 4))
_STACK = _STATE.normal(size=(2, 4, 3))
_ONE = onp.asarray(0.625)
_TIES = onp.asarray([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]])

_UNARY = [
  "square",
  "sqrt",
  "cbrt",
  "reciprocal",
  "exp",
  "exp2",
  "expm1",
  "log",
  "log2",
  "log10",
  "log1p",
  "abs",
  "sin",
  "cos",
  "tan",
  "arcsin",
  "arccos",
  "arctan",
  "sinh",
  "cosh",
  "tanh",
  "negative",
  "positive",
]
_BINARY = [
  "add",
  "subtract",
  "multiply",
  "true_divide",
  "power",
  "float_power",
  "logaddexp",
  "maximum",
  "minimum",
]

# Functions of an array namespace and arrays.
_FUNCTIONS = {
  "powers": (lambda np, x: x**3 + 2.0**x + x**0 + x**-1.5, _MATRIX),
  "power_at_zero": (lambda np, x: x**2 + x**1 + x**0, onp.zeros(2)),
  "operators": (lambda np, x, y: -x / y + 2.0 - y * x, _MATRIX, _ROW),
  "matmul": (lambda np, x, y: np.matmul(x, y), _MATRIX, _TALL),
  "matrix_vector": (lambda np, x, y: x @ y, _MATRIX, _ROW),
  "vector_matrix": (lambda np, x, y: x @ y, _ROW, _TALL),
  "vectors": (lambda np, x: x @ x, _ROW),
  "batches": (lambda np, x, y: np.matmul(x, y), _BATCH, _STACK),
  "batch_and_matrix": (lambda np, x, y: np.matmul(x, y), _BATCH, _TALL),
  "sum": (lambda np, x: np.sum(x * x, axis=-1), _MATRIX),
  "sum_of_all": (lambda np, x: np.sum(x * x), _MATRIX),
  "sum_kept": (lambda np, x: x * np.sum(x, axis=(0,), keepdims=True), _MATRIX),
  "mean": (lambda np, x: np.mean(x * x, axis=0), _MATRIX),
  "max": (lambda np, x: np.max(x, axis=1) ** 2, _MATRIX),
  "min": (lambda np, x: np.min(x), _MATRIX),
  "ties": (lambda np, x: np.max(x, axis=1) + np.min(x, axis=1), _TIES),
  "equal": (lambda np, x: np.maximum(x, 2.0) * np.minimum(x, 3.0), _TIES),
  "cumsum": (lambda np, x: np.cumsum(x * x, axis=1), _MATRIX),
  "reshape": (lambda np, x: np.reshape(x, (2, 6)) ** 2, _MATRIX),
  "moveaxis": (lambda np, x: np.moveaxis(x, 0, -1) ** 2, _BATCH),
  "swapaxes": (lambda np, x: np.swapaxes(x, 0, -1) ** 2, _BATCH),
  "transpose": (lambda np, x: np.transpose(x, (3, 0, 2, 1)) ** 2, _BATCH),
  "T": (lambda np, x: x.T**2, _MATRIX),
  "take": (lambda np, x: np.take(x, onp.array([0, 1, 0]), axis=-1), _MATRIX),
  "slices": (lambda np, x: x[1:, ..., ::2] ** 2 + x[0, 0], _MATRIX),
  "indices": (
    lambda np, x: x[onp.array([0, 0, 2]), onp.array([1, 1, 3])] ** 2,
    _MATRIX,
  ),
  "take_along_axis": (
    lambda np, x: np.take_along_axis(x, onp.array([[0], [1], [1]]), -1) ** 2,
    _MATRIX,
  ),
  "concatenate": (
    lambda np, x, y: (
      np.concatenate([x, np.broadcast_to(y, (2, 4)), np.ones((1, 4))], axis=0)
      ** 2
    ),
    _MATRIX,
    _ROW,
  ),
  "stack": (lambda np, x: np.stack([x, x * x, np.ones(4)], axis=-1), _ROW),
  "where": (lambda np, x, y: np.where(x > 0.5, x * x, y**3), _MATRIX, _ROW),
  "flip": (lambda np, x: np.flip(x, -1) ** 2 * np.arange(4.0), _MATRIX),
  "sort": (lambda np, x: np.sort(x, axis=-1) ** 2 * np.arange(4.0), _MATRIX),
  "clip": (lambda np, x: np.clip(x, 0.3, 0.6) ** 2, _MATRIX),
  "dot": (lambda np, x, y: np.dot(x, y), _ROW, _TALL),
  "outer": (lambda np, x: np.outer(x, x), _ROW),
  "tril": (lambda np, x: np.tril(x) ** 2 + np.triu(x, 1), _MATRIX),
  "expand_dims": (lambda np, x: np.expand_dims(x, 1) ** 2, _MATRIX),
  "squeeze": (lambda np, x: np.squeeze(x, 1) ** 2, _BATCH),
  "methods": (
    lambda np, x: (
      x.sum(axis=0).clip(0.1, 9.0).reshape(2, 2).transpose().ravel() * x.mean(0)
      + x.max() * x.T.dot(x.take(1, axis=1)).cumsum()
      + x.swapaxes(0, 1)[:, 0].astype("float64").copy()
      + x.transpose((1, 0)).min(axis=1).squeeze()
    ),
    _MATRIX,
  ),
  "rows": (lambda np, x: sum(row * row for row in x), _MATRIX),
  "steps": (lambda np, x: x * np.floor(10.0 * x) + np.sign(x), _MATRIX),
  "constant": (lambda np, x: np.ones_like(x), _ROW),
  "float32": (
    lambda np, x: np.exp(x) * onp.float32(2.0),
    onp.asarray([0.5, 1.5], "float32"),
  ),
}
_CASES = {
  **{
    name: (lambda np, x, name=name: getattr(np, name)(x), _MATRIX)
    for name in _UNARY
  },
  **{
    f"{name}_{i}": (
      lambda np, x, y, name=name: getattr(np, name)(x, y),
      *arrays,
    )
    for name in _BINARY
    for i, arrays in enumerate([(_MATRIX, _ROW), (_ROW, _MATRIX), (_ONE, _ROW)])
  },
  **_FUNCTIONS,
}


class GradientsTest(parameterized.TestCase):
  @parameterized.named_parameters((k, k) for k in _CASES)
  def test_function(self, name):
    function, *arrays = _CASES[name]
    tangents = [_STATE.normal(size=x.shape).astype(x.dtype) for x in arrays]

    def of(np):
      return lambda *x: function(np, *x)

    value, bars, change, second, twice = _derivatives(
      gradients, of(onp), arrays, tangents
    )
    expected = _derivatives(jax_gradients, of(jnp), arrays, tangents)
    tolerance = 1e-5 if arrays[0].dtype == "float32" else 1e-12
    self._compare(value, expected[0], tolerance)
    self._compare(change, expected[2], tolerance)
    for i, x in enumerate(arrays):
      self.assertEqual(bars[i].shape, x.shape)
      self.assertEqual(bars[i].dtype, x.dtype)
      self._compare(bars[i], expected[1][i], tolerance)
      # These are forward over reverse, and reverse over reverse.
      self._compare(second[i], expected[3][i], tolerance)
      self._compare(twice[i], expected[3][i], tolerance)

  def _compare(self, found, expected, tolerance):
    onp.testing.assert_allclose(
      found, onp.asarray(expected), rtol=tolerance, atol=tolerance
    )


def _derivatives(module, function, arrays, tangents):
  """Computes value, gradient, tangent, and second derivatives in two ways."""

  def gradient(*x):
    value, pull = module.vjp(function, *x)
    weights = onp.cos(onp.arange(onp.size(value))).reshape(onp.shape(value))
    return pull(onp.asarray(weights, onp.dtype(value.dtype)))

  def along(*x):
    pairs = zip(gradient(*x), tangents, strict=True)
    return sum(onp.sum(bar * tangent) for bar, tangent in pairs)

  value, change = module.jvp(function, arrays, tangents)
  _, second = module.jvp(gradient, arrays, tangents)
  twice = second
  if module is gradients:
    twice = module.vjp(along, *arrays)[1](1.0)
  return value, gradient(*arrays), change, second, twice


if __name__ == "__main__":
  jax.config.update("jax_enable_x64", True)
  absltest.main()
