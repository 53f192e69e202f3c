"""Epochs as a distribution."""

import copy
import math
import pickle
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic.internal import static
from tests.helpers import epoch_models
from tests.helpers import test_case

MODE = "numpy"

models = graphs.models


class EpochsTest(test_case.TestCase):
  """Tests the common methods of distributions."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()  # The portable path is slow.

  def test_one_class(self):
    self.assertTrue(issubclass(pd.Epochs, pd.Distribution))
    with self.assertRaisesRegex(AttributeError, "has no attribute 'Epochs'"):
      _ = graphs.Epochs

  def test_properties(self):
    graph = models.kingman(3)
    rates = onp.ones((2, 5, 1))
    dist = pd.Epochs(graph, rates, onp.ones((4, 1, 1)), name="history")
    self.assertEqual(dist.batch_shape, (4, 5))
    self.assertEqual(dist.event_shape, ())
    self.assertEqual(dist.num_epochs, 2)
    self.assertEqual(dist.dtype, "float64")
    self.assertEqual(
      repr(dist),
      "<Epochs 'history' batch_shape=(4, 5), event_shape=(), dtype=float64, "
      "graphs=<Graph 2 phases, 2 edges, 1 parameter coalescence>, "
      "params=[[[1], [1], [1], [1], [1]], [[1], [1], [1], [1], [1]]], "
      "boundaries=[[[1]], [[1]], [[1]], [[1]]]>",
    )
    self.assertEqual(
      {k: v.event_ndims for k, v in dist.parameter_properties().items()},
      {"params": 1, "boundaries": 1, "edge_values": 1},
    )
    self.assertEqual(dist.support.constraint, "nonnegative")
    self.assertLen(dist.graphs, 2)
    self.assert_close(dist.params[1], onp.ones((5, 1)))
    rates[...] = 7.0  # The distribution has a copy.
    self.assert_close(dist.params[1], onp.ones((5, 1)))

  def test_batches_of_one_epoch(self):
    dist = pd.Epochs(models.kingman(2), [[1.0]], onp.ones((3, 0)))
    for x in (dist.mean(), dist.log_prob(1.0), dist.cdf(1.0)):
      self.assertEqual(static.shape(x), (3,))
    samples = self.host(dist.sample(4, seed=1))
    self.assertEqual(samples.shape, (4, 3))
    self.assertLen(onp.unique(samples), 12)

  def test_samples_of_a_batch_are_independent(self):
    # Times before the boundaries too.
    dist = pd.Epochs(models.kingman(2), [[1.0], [1.0]], [[50.0], [60.0]])
    samples = self.host(dist.sample(400, seed=2))
    self.assertLess(abs(onp.corrcoef(samples.T)[0, 1]), 0.25)

  @parameterized.parameters(0, (slice(None), 1), (None, ..., slice(0, 2)))
  def test_slices(self, *index):
    index = index if len(index) > 1 else index[0]
    graph = models.kingman(3)
    rates = onp.asarray([[[1.0], [2.0]], [[0.5], [4.0]]])
    dist = pd.Epochs(graph, rates, [[[0.5]], [[1.0]], [[2.0]]])
    self.assertEqual(dist.batch_shape, (3, 2))
    part = dist[index]
    expected = self.host(dist.log_prob(1.5))[index]
    self.assertEqual(part.batch_shape, expected.shape)
    self.assert_close(part.log_prob(1.5), expected, 1e-14)

  def test_copies(self):
    arguments = epoch_models.migration()
    dist = pd.Epochs(*arguments)
    later = dist.copy(boundaries=[1.5])
    given, params, _, maps = arguments
    whole = pd.Epochs(given, params, [1.5], maps)
    self.assert_close(later.mean(), whole.mean())
    self.assertNotEqual(float(later.mean()), float(dist.mean()))
    # Parameters are the constructor's arguments.
    found = dist.parameters
    self.assertLen(found["params"], dist.num_epochs)
    self.assert_close(pd.Epochs(**found).mean(), dist.mean(), 0.0)
    if MODE != "tf":
      other = copy.deepcopy(dist)
      self.assert_close(other.mean(), dist.mean())
    if MODE == "numpy":
      other = pickle.loads(pickle.dumps(dist))
      self.assert_close(other.copy(boundaries=[1.5]).mean(), whole.mean())

  def test_maps_that_do_not_fit(self):
    dist = pd.Epochs(*epoch_models.migration())
    maps = dist.parameters["state_maps"]
    with self.assertRaisesRegex(
      ValueError, r"state_maps\[0\] maps to 4 phases"
    ):
      pd.Epochs(models.kingman(3), [[1.0], [1.0]], [0.5], maps)

  @test_case.of_bad_values
  def test_checks(self):
    graph = models.kingman(3)
    for params, message in (
      ([[1.0], [-1.0]], r"^graphs\[1\].edge_values\(params\[1\]\)\[0\] = -3"),
      ([[math.nan], [1.0]], r"^params\[0\]\['coalescence'\] = nan: "),
    ):
      with self.assertRaisesRegex(ValueError, message):
        pd.Epochs(graph, params, [1.0], validate_args=True)
      lax = pd.Epochs(graph, params, [1.0])
      self.assert_close(lax.log_prob(2.0), math.nan)
      self.assert_close(lax.variance(), math.nan)
    strict = pd.Epochs(graph, [[1.0], [2.0]], [1.0], validate_args=True)
    with self.assertRaisesRegex(ValueError, "value = -1.0: it must be >= 0"):
      strict.cdf(-1.0)
    with self.assertRaisesRegex(ValueError, r"value has shape \(2,\)"):
      pd.Epochs(graph, onp.ones((1, 3, 1)), []).cdf([1.0, 2.0])

  @parameterized.parameters(*range(4))
  def test_no_probability_above_one(self, seed):
    # Sums over epochs round, and their quantiles exist all the same.
    rng = onp.random.default_rng(seed)
    count = 2 + 2 * seed
    rates = onp.exp(rng.normal(0.0, 1.0, (count, 8, 1)))
    ends = onp.cumsum(rng.exponential(1.0, (8, count - 1)), axis=-1)
    dist = pd.Epochs(models.kingman(3), rates, ends)
    times = onp.geomspace(0.5, 50.0, 60)[:, None]
    log_cdf = self.host(dist.log_cdf(times))
    self.assertLessEqual(onp.max(log_cdf), 0.0)
    self.assertLessEqual(onp.max(self.host(dist.cdf(times))), 1.0)
    log_survival = self.host(dist.log_survival_function(times))
    self.assertLessEqual(onp.max(log_survival), 0.0)
    self.assert_close(log_cdf, onp.log1p(-onp.exp(log_survival)), 1e-12, 1e-14)
    found = self.host(dist.quantile_log_cdf(log_cdf))
    self.assertFalse(onp.any(onp.isnan(found)))
    found = self.host(dist.quantile_log_survival(log_survival))
    self.assert_close(found, times + onp.zeros(8), 1e-9)

  def test_moments(self):
    graph = models.kingman(3)
    dist = pd.Epochs(graph, [[1.0]] * 3, [0.25, 0.75])
    one = pd.PhaseType.from_graph(graph, [1.0])
    for k in (1, 2, 3, 4):
      self.assert_close(dist.moment(k), one.moment(k), 1e-13)
    with self.assertRaisesRegex(ValueError, "k is 0"):
      dist.moment(0)
    self.assert_close(dist.stddev(), one.stddev(), 1e-13)

  @test_case.of_bad_values
  def test_quantiles(self):
    given, params, boundaries, maps = epoch_models.migration()
    rates, ends = epoch_models.history(4)
    for dist in (
      pd.Epochs(given, params, boundaries, maps),
      pd.Epochs(models.kingman(4), rates, ends),
    ):
      u = onp.asarray([0.0, 1e-200, 1e-9, 0.1, 0.3, 0.5, 0.7, 0.95, 1 - 1e-9])
      times = dist.quantile(u)
      self.assertTrue(onp.all(onp.diff(self.host(times)) > 0.0))
      self.assert_close(dist.cdf(times), u, 1e-12)
      logs = onp.asarray([-1e-9, -0.2, -3.0, -50.0, -900.0])
      times = dist.quantile_log_survival(logs)
      self.assert_close(dist.log_survival_function(times), logs, 1e-12, 1e-15)
      times = dist.quantile_log_cdf(logs)
      self.assert_close(dist.log_cdf(times), logs, 1e-12, 1e-14)
      wrong = dist.quantile(onp.asarray([-0.5, 1.5, math.nan, 1.0]))
      self.assert_close(wrong, [*[math.nan] * 3, math.inf])
      # Values at the boundaries round-trip.
      at = self.host(dist.boundaries)
      self.assert_close(dist.quantile(dist.cdf(at)), at, 1e-12)

  def test_boundaries_near_zero(self):
    # Nothing has happened by then.
    pair = graphs.models.kingman(3)
    later = pd.PhaseType.from_graph(pair, [0.5])
    times = onp.asarray([0.5, 1.0, 2.0])
    least = (1e-300, 3e-308)
    if MODE == "numpy":
      least = (*least, 1e-310, 5e-324)  # Others flush them to zero.
    for boundary in least:
      dist = pd.Epochs(pair, [[1.0], [0.5]], [boundary])
      for method in ("log_prob", "log_survival_function", "log_cdf", "cdf"):
        expected = self.host(getattr(later, method)(times))
        self.assert_close(getattr(dist, method)(times), expected, 1e-13)
      if boundary > 2.3e-308:
        self.assert_close(dist.mean(), later.mean(), 1e-13)

  def test_rates_of_zero_give_no_warnings(self):
    pair = models.kingman(2)
    u = onp.asarray([0.0, 0.25, 0.75])
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      # The support starts at one.
      dist = pd.Epochs(pair, [[0.0], [2.0]], [1.0])
      expected = 1.0 - onp.log1p(-u[1:]) / 2.0
      self.assert_close(dist.quantile(u)[1:], expected)
      self.assert_close(dist.quantile_log_cdf(math.log(0.75)), expected[1])
      self.assert_close(dist.log_cdf(0.5), -math.inf)
      self.assert_close(dist.mean(), 1.5)
      self.assert_close(dist.variance(), 0.25)
      self.assert_close(dist.entropy(), 1.0 - math.log(2.0), 1e-9)
      # The support ends there.
      dist = pd.Epochs(pair, [[1.0], [0.0]], [1.0])
      self.assert_close(dist.log_cdf(3.0), math.log(-math.expm1(-1.0)))
      self.assert_close(dist.quantile(u), [0.0, -math.log(0.75), math.inf])
      self.assert_close(
        dist.moment_generating_function(-1.0), -0.5 * math.expm1(-2.0)
      )
      for method in ("mean", "variance", "stddev"):
        self.assert_close(getattr(dist, method)(), math.inf)
      self.assert_close(dist.moment(3), math.inf)
      with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*entropy is NaN")
        self.assert_close(dist.entropy(), math.nan)
      # Absorption is impossible.
      dist = pd.Epochs(pair, [[0.0], [0.0]], [1.0])
      self.assert_close(dist.log_cdf(3.0), -math.inf)
      self.assert_close(dist.variance(), math.inf)
      self.assert_close(dist.moment_generating_function(-1.0), 0.0)

  @test_case.of_bad_values
  def test_infinite_moments(self):
    dist = pd.Epochs(models.kingman(3), [[1.0], [0.0]], [1.0])
    self.assert_close(dist.mean(), math.inf)
    self.assert_close(dist.variance(), math.inf)
    with self.assertRaisesRegex(ValueError, "mean is NaN, and allow_nan_stats"):
      pd.Epochs(
        models.kingman(3), [[1.0], [-1.0]], [1.0], allow_nan_stats=False
      ).mean()


if __name__ == "__main__":
  absltest.main()
