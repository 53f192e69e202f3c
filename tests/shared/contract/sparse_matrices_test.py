"""Sparse matrices of SciPy, JAX and TensorFlow in the place of dense ones."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
import scipy.sparse

from phasic import distributions as pd
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
  from jax.experimental import sparse
if MODE == "tf":
  import tensorflow as tf

_START = [0.5, 0.25, 0.25]
_RATES = [[-3.0, 1.0, 0.5], [0.0, -2.0, 2.0], [1e-9, 0.0, -1e-9 - 0.25]]
_PROBS = [[0.25, 0.5, 0.0], [0.0, 0.0, 1.0], [0.125, 0.0, 0.625]]


def _own(matrix):
  """Returns a sparse matrix of the substrate."""
  found = scipy.sparse.coo_matrix(onp.asarray(matrix))
  if MODE == "jax":
    own = sparse.BCOO.from_scipy_sparse(found)
  elif MODE == "tf":
    places = onp.stack([found.row, found.col], axis=-1)
    own = tf.sparse.SparseTensor(places, found.data, found.shape)
  else:
    own = found
  return own


_KINDS = {
  "own": _own,
  "csr": scipy.sparse.csr_matrix,
  "csc_array": lambda x: scipy.sparse.csc_array(onp.asarray(x)),
}


class SparseMatricesTest(test_case.TestCase):
  """Results are those of the dense matrix, up to rounding."""

  def skip_in_numpy(self, reason):
    if MODE == "numpy":
      self.skipTest(reason)

  @parameterized.named_parameters(*((k, k) for k in _KINDS))
  def test_rates(self, kind):
    dist = pd.PhaseType(_START, _KINDS[kind](_RATES))
    dense = pd.PhaseType(_START, _RATES)
    self.assertIsInstance(dist.subgenerator, pm.EdgeRates)
    for method in ("log_prob", "survival_function", "quantile"):
      value = [0.25, 0.75]
      found, expected = (getattr(x, method)(value) for x in (dist, dense))
      self.assert_close(found, expected, 1e-13)
    self.assert_close(dist.mean(), dense.mean(), 1e-13)
    # Far into the tail, where the smallest exit counts.
    tail = pm.phase_type.log_prob([2.0, 90.0], _START, _KINDS[kind](_RATES))
    self.assert_close(tail, dense.log_prob([2.0, 90.0]), 1e-13)

  @parameterized.named_parameters(*((k, k) for k in _KINDS))
  def test_probs(self, kind):
    dist = pd.DiscretePhaseType(_START, _KINDS[kind](_PROBS))
    dense = pd.DiscretePhaseType(_START, _PROBS)
    self.assertIsInstance(dist.subtransition, pm.EdgeProbs)
    steps = [0.0, 1.0, 2.0, 40.0]
    self.assert_close(dist.log_prob(steps), dense.log_prob(steps), 1e-13)
    self.assert_close(dist.variance(), dense.variance(), 1e-12)
    found = pm.discrete_phase_type.mean(_START, _KINDS[kind](_PROBS))
    self.assert_close(found, dense.mean(), 1e-13)

  def test_given_exits(self):
    exits = [1.5, 1e-300, 0.25]
    off = onp.asarray(_RATES) * (1.0 - onp.eye(3))
    dist = pd.PhaseType(_START, _own(off), exits)
    dense = pd.PhaseType(_START, off - onp.diag(onp.sum(off, 1) + exits), exits)
    self.assert_close(dist.log_cdf([1e-3, 4.0]), dense.log_cdf([1e-3, 4.0]))
    self.assertIsNone(dist.exit_rates)

  def test_rewards(self):
    rewards = [[1.0, 0.0], [2.0, 1.0], [0.5, 3.0]]
    found, expected = (
      pd.MultivariatePhaseType(_START, x, rewards).covariance()
      for x in (_own(_RATES), _RATES)
    )
    self.assert_close(found, expected, 1e-12)

  def test_derivatives(self):
    """An entry moves the exit of its row, as that of a dense matrix does."""
    self.skip_in_numpy("matrices of SciPy have no derivatives")

    def of_sparse(values):
      places = [[0, 0], [0, 1], [1, 1]]
      if MODE == "jax":
        matrix = sparse.BCOO((values, np.asarray(places)), shape=(2, 2))
      else:
        matrix = tf.sparse.SparseTensor(places, values, (2, 2))
      return pm.phase_type.log_prob(0.75, [1.0, 0.0], matrix)

    def of_dense(values):
      zero = np.zeros_like(values[0])
      rows = [[values[0], values[1]], [zero, values[2]]]
      matrix = np.stack([np.stack(row) for row in rows])
      return pm.phase_type.log_prob(0.75, [1.0, 0.0], matrix)

    values = np.asarray([-3.0, 1.0, -2.0])
    found, expected = (
      gradients.value_and_gradient(f, values)[1] for f in (of_sparse, of_dense)
    )
    self.assert_close(found, expected, 1e-12)

  def test_integers_in_a_matrix_of_scipy(self):
    found = pd.PhaseType([1.0, 0.0], scipy.sparse.csr_array([[-2, 1], [0, -1]]))
    self.assert_close(found.mean(), 0.5 + 0.5, 1e-14)

  def test_errors(self):
    with self.assertRaisesRegex(ValueError, r"subgenerator has shape \(2, 3\)"):
      pd.PhaseType([1.0, 0.0], scipy.sparse.csr_matrix(onp.ones((2, 3))))
    with self.assertRaisesRegex(
      ValueError, "initial_probs has shape|in .0, 2."
    ):
      pd.PhaseType([1.0, 0.0], _own(_RATES))
    row = scipy.sparse.csr_matrix([[1.0, 0.0]])
    with self.assertRaisesRegex(TypeError, "initial_probs is a sparse matrix"):
      pd.PhaseType(row, [[-1.0, 1.0], [0.0, -1.0]])

  @parameterized.named_parameters(*((k, k) for k in _KINDS))
  def test_row_sums(self, kind):
    with self.assertRaisesRegex(
      ValueError, r"row sum of subgenerator\[1\] = 0.5: row sums must be <= 0"
    ):
      pd.PhaseType([1.0, 0.0], _KINDS[kind]([[-1.0, 1.0], [1.5, -1.0]]))
    with self.assertRaisesRegex(
      ValueError, r"row sum of subtransition\[0\] = 1.25: row sums must be <= 1"
    ):
      pm.discrete_phase_type.mean(
        [1.0, 0.0], _KINDS[kind]([[0.75, 0.5], [0.5, 0.25]])
      )
    # A tenth is not ten times in one, but rounding is no error.
    tenths = onp.full((10, 10), 0.1)
    found = pd.DiscretePhaseType([1.0] + [0.0] * 9, _KINDS[kind](tenths))
    self.assert_close(found.prob(1.0), 0.0)

  def test_traced_places(self):
    self.skip_in_numpy("arrays of NumPy are never traced")

    def of_places(places):
      values = np.asarray([-1.0])
      if MODE == "jax":
        matrix = sparse.BCOO((values, places), shape=(1, 1))
      else:
        matrix = tf.sparse.SparseTensor(places, values, (1, 1))
      return pm.phase_type.mean([1.0], matrix)

    traced, places = of_places, onp.zeros((1, 2), onp.int64)
    if MODE == "jax":
      traced = jax.jit(of_places)
    if MODE == "tf":
      traced = tf.function(of_places)
      places = tf.constant(places)
    with self.assertRaisesRegex(TypeError, "indices are traced"):
      traced(places)


if __name__ == "__main__":
  absltest.main()
