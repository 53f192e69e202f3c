"""Epochs against matrix exponentials in ball arithmetic."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from phasic.internal import static
from tests.helpers import epoch_models
from tests.helpers import test_case
from tests.oracle import epoch_oracle

MODE = "numpy"

models = graphs.models

_TIMES = (1e-6, 0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 60.0)


class ValuesTest(test_case.TestCase):
  """Tests values and moments."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()  # The portable path is slow.

  def _check(self, epochs, oracle, times=_TIMES):
    for name, truth in (
      ("prob", oracle.density),
      ("survival_function", oracle.survival),
      ("cdf", oracle.cdf),
    ):
      exact = [truth(t) for t in times]
      values = self.host(getattr(epochs, name)(onp.asarray(times)))
      self.assert_close(values, [epoch_models.middle(x) for x in exact], 1e-13)
      logs = self.host(getattr(epochs, f"log_{name}")(onp.asarray(times)))
      expected = [epoch_models.middle(x.log()) for x in exact]
      self.assert_close(logs, expected, 1e-13, 1e-13)
    first, second = oracle.moment(1), oracle.moment(2)
    self.assert_close(epochs.mean(), epoch_models.middle(first), 1e-13)
    self.assert_close(epochs.moment(2), epoch_models.middle(second), 1e-13)
    variance = second - first * first
    self.assert_close(epochs.variance(), epoch_models.middle(variance), 1e-12)
    self.assert_close(
      epochs.stddev(), epoch_models.middle(variance.sqrt()), 1e-12
    )

  @parameterized.parameters(1, 2, 5, 10)
  def test_coalescent(self, count):
    graph = models.kingman(6)
    rates, boundaries = epoch_models.history(count)
    oracle = epoch_oracle.EpochOracle([graph] * count, rates, boundaries)
    epochs = pd.Epochs(graph, rates, boundaries)
    self.assertEqual(epochs.num_epochs, count)
    self._check(epochs, oracle)

  def test_isolation_with_migration(self):
    arguments = epoch_models.migration()
    self._check(pd.Epochs(*arguments), epoch_oracle.EpochOracle(*arguments))

  def test_cycles_and_an_atom(self):
    patient = graphs.Graph.from_transitions(
      lambda state: [
        ("ill" if state == "well" else "well", {"turn": 1.0}),
        (graphs.ABSORBED(state), {"dies": 1.0 if state == "well" else 3.0}),
      ],
      {"well": 0.5, "ill": 0.25, graphs.ABSORBED: 0.25},
      ("turn", "dies"),
    )
    params = [[2.0, 0.125], [0.0625, 4.0], [0.5, 1.0]]
    oracle = epoch_oracle.EpochOracle([patient] * 3, params, [0.5, 2.0])
    named = [dict(zip(("turn", "dies"), x, strict=True)) for x in params]
    epochs = pd.Epochs(patient, named, [0.5, 2.0])
    self._check(epochs, oracle)
    self.assert_close(epochs.prob(0.0), 0.25)
    self.assert_close(epochs.cdf(0.0), 0.25)

  def test_one_epoch_is_the_phase_type_law(self):
    graph = models.island_coalescent([2, 1])
    dist = pd.PhaseType.from_graph(graph, [1.0, 0.5])
    epochs = pd.Epochs(graph, [[1.0, 0.5]], [])
    values = onp.asarray([-1.0, 0.0, 0.5, 3.0, math.inf, math.nan])
    for name in ("log_prob", "cdf", "log_survival_function"):
      self.assert_close(
        getattr(epochs, name)(values), getattr(dist, name)(values), 0.0
      )

  def test_same_parameters_change_nothing(self):
    graph = models.busy_period(4)
    theta = [0.75, 1.0]
    dist = pd.PhaseType.from_graph(graph, theta)
    epochs = pd.Epochs(graph, [theta] * 3, [0.5, 4.0])
    times = onp.asarray(_TIMES)
    self.assert_close(epochs.log_prob(times), dist.log_prob(times), 1e-13)
    self.assert_close(epochs.log_cdf(times), dist.log_cdf(times), 1e-13, 1e-15)

  def test_all_of_the_line(self):
    rates, boundaries = epoch_models.history(3)
    epochs = pd.Epochs(models.kingman(3), rates, boundaries)
    values = onp.asarray([-math.inf, -1.0, 0.0, math.inf, math.nan])
    inf, nan = math.inf, math.nan
    self.assert_close(epochs.prob(values), [0.0, 0.0, 0.0, 0.0, nan])
    self.assert_close(epochs.log_prob(values), [-inf, -inf, -inf, -inf, nan])
    self.assert_close(epochs.cdf(values), [0.0, 0.0, 0.0, 1.0, nan], 1e-15)
    self.assert_close(epochs.survival_function(values), [1, 1, 1, 0, nan])

  def test_at_a_boundary_the_later_epoch_counts(self):
    epochs = pd.Epochs(models.kingman(2), [[1.0], [4.0]], [0.5])
    self.assert_close(epochs.prob(0.5), 4 * math.exp(-0.5), 1e-15)
    self.assert_close(epochs.survival_function(0.5), math.exp(-0.5), 1e-15)

  def test_quantiles_as_functions_of_a_boundary(self):
    # P(X > t) = exp(-b - 4 (t - b)) after the boundary b; nothing else varies.
    def quantile(boundary):
      epochs = pd.Epochs(models.kingman(2), [[1.0], [4.0]], boundary)
      return epochs.quantile(0.9)

    value, slope = pm.value_and_gradient(quantile, np.asarray([0.5]))
    self.assert_close(value, 0.5 + (math.log(10.0) - 0.5) / 4.0, 1e-13)
    self.assert_close(slope, [0.75], 1e-13)

  def test_far_tail(self):
    # Each epoch scales its masses, as their product would underflow.
    graph = models.kingman(3)
    rates = [[50.0], [1.0], [60.0]]
    epochs = pd.Epochs(graph, rates, [10.0, 12.0])
    oracle = epoch_oracle.EpochOracle([graph] * 3, rates, [10.0, 12.0])
    times = (11.0, 20.0, 40.0)
    expected = [epoch_models.middle(oracle.density(t).log()) for t in times]
    self.assertLess(expected[-1], -2000)
    self.assert_close(epochs.log_prob(onp.asarray(times)), expected, 1e-13)

  def test_far_tail_within_an_epoch(self):
    # Masses of all phases are below the smallest number at the boundary.
    graph = models.island_coalescent([2, 1])
    params = [[300.0, 70.0], [0.5, 1.0]]
    epochs = pd.Epochs(graph, params, [16.0])
    oracle = epoch_oracle.EpochOracle([graph] * 2, params, [16.0])
    times = (15.0, 16.5, 20.0)
    expected = [epoch_models.middle(oracle.density(t).log()) for t in times]
    self.assertLess(expected[0], -1000)
    self.assert_close(epochs.log_prob(onp.asarray(times)), expected, 1e-13)

  @parameterized.parameters(0.0, 1e-300, 1e-12)
  def test_absorption_cannot_be_reached_at_first(self, migration_rate):
    # Isolation: two lineages apart do not meet before the split.
    given, _, boundaries, maps = epoch_models.migration()
    params = [[1.0, 0.5, migration_rate, migration_rate], [0.3]]
    self._check(
      pd.Epochs(given, params, boundaries, maps),
      epoch_oracle.EpochOracle(given, params, boundaries, maps),
      (0.5, 0.75, 2.0, 9.0) if migration_rate > 0 else (0.75, 2.0, 9.0),
    )

  def test_nothing_happens_at_first(self):
    self._check_wait(2.0)

  def test_a_long_wait_adds_nothing_to_the_variance(self):
    self._check_wait(
      2.0**30
    )  # The second moment minus its square has no digits.

  def _check_wait(self, wait):
    epochs = pd.Epochs(models.kingman(3), [[0.0], [1.0]], [wait])
    one = pd.Epochs(models.kingman(3), [[1.0]], [])
    times = onp.asarray([0.5, 1.0, 8.0])
    self.assert_close(epochs.prob(times[:2]), onp.zeros(2))
    self.assert_close(epochs.log_prob(times + wait), one.log_prob(times), 1e-13)
    self.assert_close(epochs.mean(), wait + self.host(one.mean()), 1e-14)
    self.assert_close(epochs.variance(), one.variance(), 1e-13)

  def test_what_underflows_is_not_zero(self):
    # Few paths pass these stages.
    def transitions(i):
      yield (i + 1 if i < 40 else graphs.ABSORBED), {"pass": 1e-9}
      if i == 40:
        yield graphs.ABSORBED, {"end": 1.0}

    stages = graphs.Graph.from_transitions(transitions, 0, ("pass", "end"))
    params = [[1.0, 0.0], [1.0, 0.0]]
    oracle = epoch_oracle.EpochOracle([stages] * 2, params, [1e-3])
    self.assertLess(epoch_models.middle(oracle.density(2e-3).log()), -1200)
    # About half of the stages are passed in each epoch.
    epochs = pd.Epochs(stages, params, [1e-3])
    self.assertTrue(onp.isnan(self.host(epochs.log_prob(2e-3))))
    self.assert_close(epochs.log_survival_function(2e-3), 0.0, 0.0, 1e-15)
    # Only the last stage leads to absorption.
    last = pd.Epochs(stages, [[1.0, 0.0], [0.0, 1.0]], [1e-3])
    self.assertTrue(onp.isnan(self.host(last.log_prob(2e-3))))
    self.assert_close(last.prob(2e-3), 0.0)

  def test_all_mass_at_zero(self):
    graph = graphs.Graph.from_transitions(
      lambda n: [(graphs.ABSORBED, {"rate": 1.0})],
      {0: {"q": 1.0}, graphs.ABSORBED: {1: 1.0, "q": -1.0}},
      ("rate", "q"),
    )
    epochs = pd.Epochs(graph, [[1.0, 0.0], [2.0, 0.0]], [0.5])
    values = onp.asarray([0.0, 0.25, 0.5, 1.0])
    self.assert_close(epochs.prob(values), [1.0, 0.0, 0.0, 0.0])
    self.assert_close(epochs.cdf(values), onp.ones(4))
    self.assert_close(epochs.log_prob(values), [0.0, *[-math.inf] * 3])
    self.assert_close(epochs.mean(), 0.0)

  def test_batches(self):
    graph = models.kingman(4)
    rates = onp.asarray([[1.0, 2.0, 4.0], [0.5, 0.25, 3.0]])[..., None]
    boundaries = onp.asarray([[0.5], [1.0], [0.25]])
    epochs = pd.Epochs(graph, rates, boundaries)
    times = onp.asarray([[0.1], [0.6], [2.0]])
    values = self.host(epochs.log_prob(times))
    means, seconds = self.host(epochs.mean()), self.host(epochs.moment(2))
    self.assertEqual(values.shape, (3, 3))
    self.assertEqual(means.shape, (3,))
    for j in range(3):
      one = pd.Epochs(graph, rates[:, j], boundaries[j])
      self.assert_close(values[:, j], one.log_prob(times[:, 0]), 1e-13)
      self.assert_close(means[j], one.mean(), 1e-13)
      self.assert_close(seconds[j], one.moment(2), 1e-13)

  def test_float32(self):
    graph = models.kingman(4)
    rates = onp.asarray([[1.0], [0.25]], onp.float32)
    epochs = pd.Epochs(graph, rates, [0.5])
    wide = pd.Epochs(graph, [[1.0], [0.25]], [0.5])
    value = epochs.log_prob(2.0)
    self.assertEqual(static.dtype_name(value), "float32")
    self.assert_close(value, onp.float32(self.host(wide.log_prob(2.0))), 1e-7)
    self.assert_close(epochs.mean(), onp.float32(self.host(wide.mean())), 1e-7)
    with self.assertRaisesRegex(TypeError, "float32 .* float64"):
      pd.Epochs(graph, rates, onp.asarray([0.5]))


class ErrorsTest(test_case.TestCase):
  """Tests errors of arguments that do not fit."""

  def test_refused(self):
    pair = models.kingman(2)
    steps = graphs.embedded_jump_chain(pair, [1.0]).graph
    one, two = [[1.0]], [[1.0], [2.0]]
    cases = (
      ((pair, two, 0.5), ValueError, "boundaries is a number"),
      (
        (pair, two, [0.5, 1.0]),
        ValueError,
        "params has parameters of 2 epochs",
      ),
      ((pair, one, [0.5]), ValueError, "params has parameters of 1 epochs"),
      ((pair, {"coalescence": 1.0}, []), TypeError, "params is dict"),
      (([pair], two, [0.5]), ValueError, "graphs has 1 graphs"),
      (([pair, 3], two, [0.5]), TypeError, r"graphs\[1\] is int"),
      (([pair, steps], [[1.0], None], [1.0]), ValueError, "is discrete"),
      ((pair, two, [-0.5]), ValueError, "positive, finite and increasing"),
      ((pair, [[1.0]] * 3, [1.0, 1.0]), ValueError, "increasing"),
      ((pair, two, [math.nan]), ValueError, "increasing"),
      ((pair, [[1.0, 2.0], [1.0]], [1.0]), ValueError, r"shape \(2,\)"),
      ((pair, two, [1.0], []), ValueError, "state_maps has 0 functions"),
      ((pair, two, [1.0], [3]), TypeError, r"state_maps\[0\] is 3"),
      (
        ([models.kingman(3), pair], two, [1.0]),
        ValueError,
        r"state_maps\[0\] is None: the graphs .* have different states",
      ),
      (
        ([models.kingman(3), pair], two, [1.0], [lambda n: n]),
        ValueError,
        r"state_maps\[0\] maps 3 to 3, which is not a state of the next graph",
      ),
      (
        (pair, two, [1.0], [lambda n: graphs.ABSORBED]),
        ValueError,
        "maps 2 to ABSORBED",
      ),
    )
    for arguments, error, message in cases:
      with self.assertRaisesRegex(error, message):
        pd.Epochs(*arguments)
    with self.assertRaisesRegex(TypeError, "complex64"):
      pd.Epochs(pair, two, [1.0]).cdf(onp.asarray([1.0], onp.complex64))


if __name__ == "__main__":
  absltest.main()
