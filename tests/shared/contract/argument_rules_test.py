"""Rules of arguments of distributions and of functions of models."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import sparse

from phasic import binding
from phasic import distributions as pd
from phasic import math as pm
from phasic.graphs import ABSORBED
from phasic.graphs import Graph
from phasic.internal import kernel_ops
from tests.helpers import test_case

_EXPONENTIAL = [1.0], [[-1.0]]


def _chain(p):
  """Returns a graph of p phases in a row with rate a."""
  edges = [(i, i + 1, {"a": 1.0}) for i in range(p - 1)]
  return Graph.from_edges(
    [*edges, (p - 1, ABSORBED, {"a": 1.0})], 0, params=("a",)
  )


class ModelsTest(test_case.TestCase):
  @parameterized.parameters(
    (
      lambda: pm.phase_type.hitting_probs([0], 1.0, *_EXPONENTIAL[1:]),
      ValueError,
      r"initial_probs is a scalar: it must be \(..., p\)",
    ),
    (
      lambda: pm.phase_type.joint_log_prob([1.0, 2.0], [[1.0]], *_EXPONENTIAL),
      ValueError,
      r"value has shape \(2,\): it must be \(..., R\), R = 1",
    ),
    (
      lambda: pm.phase_type.mixed_moment(
        [99, 99, 99], [[1.0, 2.0, 3.0]], *_EXPONENTIAL
      ),
      ValueError,
      "which needs 1000000 moments up to these orders: there must be at most",
    ),
    (
      lambda: pm.phase_type.joint_mark_probs(
        [2], onp.ones((2, 1, 1)), onp.ones((3, 1)), *_EXPONENTIAL
      ),
      ValueError,
      r"rewards have shape \(2, 1, 1\) and mark_rates \(3, 1\): batch shapes do",
    ),
    (
      lambda: pm.phase_type.kl_divergence(
        (*_EXPONENTIAL, None, None),
        (onp.ones(1, "float32"), -onp.ones((1, 1), "float32"), None, None),
      ),
      TypeError,
      "model has dtype float64 and other has dtype float32: the dtypes must",
    ),
    (
      lambda: pm.discrete_phase_type.reward_transform(
        [1.0], [1.0], [[0.5]], impulse_rewards=[[1.0]]
      ),
      ValueError,
      r"impulse_rewards have shape \(1, 1\): they must be \(..., p, p \+ 1\) wit",
    ),
  )
  def test_refused(self, call, error, message):
    with self.assertRaisesRegex(error, message):
      call()

  def test_too_many_phases_for_a_dense_matrix(self):
    p = 5000
    steps = onp.arange(p)
    edges = pm.EdgeRates(steps, steps + 1, onp.full(p, 1e4))
    with self.assertRaisesRegex(
      ValueError, f"the model has {p} phases: moment generating functions at s"
    ):
      pm.phase_type.moment_generating_function(
        0.5, onp.where(steps == 0, 1.0, 0.0), edges
      )


class DistributionsTest(test_case.TestCase):
  @parameterized.parameters(
    (
      lambda: pd.mixture(
        onp.asarray([0.5, 0.5], "float32"), [pd.Erlang(1, 1.0)] * 2
      ),
      TypeError,
      r"probs are float32 and distributions\[0\] is float64: floating argum",
    ),
    (
      lambda: pd.register_kl(3, pd.Erlang),
      TypeError,
      "first is 3: it must be a class of distributions",
    ),
    (
      lambda: pd.register_kl(pd.Erlang, "x"),
      TypeError,
      "second is 'x': it must be a class of distributions",
    ),
    (
      lambda: pd.Epochs(3, [[1.0], [2.0]], [1.0]),
      TypeError,
      "graphs is int: it must be a Graph, or a list with one for each epoch",
    ),
    (
      lambda: pd.Epochs([_chain(1), 3], [[1.0], [2.0]], [1.0]),
      TypeError,
      r"graphs\[1\] is int: it must be a Graph",
    ),
    (
      lambda: pd.piecewise_constant(3, lambda t: [1.0], [1.0]),
      TypeError,
      "graph is 3: it must be a continuous Graph",
    ),
  )
  def test_refused(self, call, error, message):
    with self.assertRaisesRegex(error, message):
      call()

  def test_rewards_of_epochs(self):
    dist = pd.Epochs(
      [_chain(2), _chain(1)], [[1.0], [2.0]], [1.0], [lambda state: 0]
    )
    with self.assertRaisesRegex(
      ValueError,
      r"rewards has shape \(1, 1\): where epochs have different numbers of pha"
      r"ses, \(2, 1\), it must be a list with an array",
    ):
      pd.MultivariateEpochs(dist, onp.ones((1, 1)))

  @test_case.of_bad_values
  def test_what_joint_totals_lack(self):
    dist = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]])
    for method, argument, why in (
      ("quantile_log_survival", -1.0, "quantile_log_survival"),
      ("quantile_log_cdf", -1.0, "quantile_log_cdf"),
      ("cross_entropy", dist, "cross_entropy"),
      (
        "probability_generating_function",
        0.5,
        "probability_generating_function: rewards are not whole numbers",
      ),
    ):
      with self.assertRaisesRegex(
        NotImplementedError, f"MultivariatePhaseType has no {why}"
      ):
        getattr(dist, method)(argument)

  def test_rewards_of_several_epochs(self):
    dist = pd.MultivariateEpochs(
      pd.Epochs(_chain(1), [[1.0], [2.0]], [1.0]), onp.asarray([[1.0, 2.0]])
    )
    self.assert_close(dist.mixed_moment([0, 0]), 1.0)
    mean = 1.0 - math.exp(-1.0) / 2.0
    self.assert_close(dist.mixed_moment([0, 1]), 2.0 * mean)
    with self.assertRaisesRegex(
      NotImplementedError, "no moment_generating_function: laplace_transform"
    ):
      dist.moment_generating_function([0.5, 0.5])

  def test_windows_of_epochs(self):
    dist = pd.MultivariateEpochs(
      pd.Epochs(_chain(1), [[1.0], [2.0]], [1.0]), onp.ones((1, 1))
    )
    with self.assertRaisesRegex(
      ValueError, r"since has shape \(2,\) and until \(3,\): they must broadc"
    ):
      dist.distribution.expected_sojourn_times(
        since=onp.zeros(2), until=onp.ones(3)
      )

  def test_text_of_several_graphs(self):
    one, two = _chain(1), _chain(2)
    dist = pd.Epochs([one] * 2, [[1.0], [2.0]], [1.0])
    self.assertIn(repr(one), repr(dist))
    dist = pd.Epochs([two] * 5, [[1.0]] * 5, [1.0, 2.0, 3.0, 4.0])
    self.assertIn(f"{two!r}, ", repr(dist))
    self.assertIn("...)", repr(dist))


class LargeTest(test_case.TestCase):
  """Tests models of more numbers than are looked at before a call."""

  def test_stages(self):
    p, rate = 320, 4.0
    matrix = onp.diag(onp.full(p, -rate)) + onp.diag(onp.full(p - 1, rate), 1)
    start = onp.eye(p)[0]
    self.assert_close(pm.phase_type.mean(start, matrix), p / rate)
    dist = pd.PhaseType(start, matrix)
    self.assert_close(dist.mean(), p / rate)
    # E X^2 / (2 E X) of p stages.
    life = pd.Equilibrium(dist)
    self.assert_close(life.mean(), (p + 1) / (2 * rate), 1e-11)
    checked = pd.PhaseType(start, matrix, validate_args=True)
    self.assert_close(checked.mean(), p / rate)
    with self.assertRaisesRegex(ValueError, "subgenerator"):
      pd.PhaseType(start, -matrix, validate_args=True).mean()

  def test_integers_in_sparse_matrices(self):
    # A sparse matrix of integers takes the dtype of its exits.
    matrix = sparse.csr_matrix(onp.asarray([[-3, 2], [0, -1]]))
    edges = pd.PhaseType([1.0, 0.0], matrix, onp.asarray([1.0, 1.0]))
    self.assert_close(edges.mean(), 1 / 3 + 2 / 3)


class SpecsTest(test_case.TestCase):
  def test_shapes(self):
    for shape in (3, None, "12", {"a": 1}):
      with self.assertRaisesRegex(
        TypeError, "shape is .*: it must be a tuple of sizes"
      ):
        binding.ArraySpec(shape, "float64")

  def test_dtypes(self):
    for dtype in ("float65", None, {"a": 1}, "("):
      with self.assertRaisesRegex(
        TypeError, "dtype is .*: it must be a dtype of NumPy"
      ):
        binding.ArraySpec((1, 2), dtype)


class PortableTest(test_case.TestCase):
  """The portable path has limits, and no times at all."""

  def test_no_times(self):
    with kernel_ops.use_path("portable"):
      for function, model in (
        (pm.phase_type.log_prob, _EXPONENTIAL),
        (pm.discrete_phase_type.log_prob, ([1.0], [[0.5]])),
      ):
        found = function(onp.zeros((2, 0)), *model)
        self.assertEqual(self.host(found).shape, (2, 0))

  def test_too_many_edges(self):
    p = 10_000
    steps = onp.arange(p)
    edges = pm.EdgeRates(steps, steps + 1, onp.ones(p))
    model = onp.where(steps == 0, 1.0, 0.0), edges
    with kernel_ops.use_path("portable"):
      for call in (
        lambda: pm.phase_type.mean(*model),
        lambda: pm.phase_type.prob(1.0, *model),
      ):
        with self.assertRaisesRegex(
          ValueError, f"the model has {p} edges and {p} phases: on the portable"
        ):
          call()


if __name__ == "__main__":
  absltest.main()
