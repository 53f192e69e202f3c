"""Epochs against matrix exponentials in ball arithmetic."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic.internal import gradients
from phasic.internal import static
from tests import test_case
from tests.oracle import epoch_oracle

MODE = "numpy"

models = graphs.models

_TIMES = (1e-6, 0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 60.0)


def history(epochs, seed=0):
  """Rates and boundaries of a population that changes in size."""
  state = onp.random.RandomState(seed + epochs)
  rates = onp.exp(state.normal(size=(epochs, 1)))
  return rates, onp.cumsum(state.uniform(0.05, 0.3, size=epochs - 1))


def migration():
  """Isolation with migration: graphs, parameters, boundaries, maps."""
  recent, ancestral, merge = models.isolation_with_migration([3, 2])
  params = [[1.0, 0.5, 0.25, 2.0], [0.3]]
  return [recent, ancestral], params, [0.7], [merge]


def middle(ball):
  return float(ball.mid())


class ValuesTest(test_case.TestCase):
  """The law and its moments."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()  # NumPy has no autodiff without it.

  def _check(self, epochs, oracle, times=_TIMES):
    for name, truth in (
      ("prob", oracle.density),
      ("survival_function", oracle.survival),
      ("cdf", oracle.cdf),
    ):
      exact = [truth(t) for t in times]
      values = self.host(getattr(epochs, name)(onp.asarray(times)))
      self.assert_close(values, [middle(x) for x in exact], 1e-13)
      logs = self.host(getattr(epochs, f"log_{name}")(onp.asarray(times)))
      expected = [middle(x.log()) for x in exact]
      self.assert_close(logs, expected, 1e-13, 1e-13)
    first, second = oracle.moment(1), oracle.moment(2)
    self.assert_close(epochs.mean(), middle(first), 1e-13)
    self.assert_close(epochs.second_moment(), middle(second), 1e-13)
    variance = second - first * first
    self.assert_close(epochs.variance(), middle(variance), 1e-12)
    self.assert_close(epochs.stddev(), middle(variance.sqrt()), 1e-12)

  @parameterized.parameters(1, 2, 5, 10)
  def test_coalescent(self, count):
    graph = models.kingman(6)
    rates, boundaries = history(count)
    oracle = epoch_oracle.EpochOracle([graph] * count, rates, boundaries)
    epochs = graphs.Epochs(graph, rates, boundaries)
    self.assertEqual(epochs.num_epochs, count)
    self._check(epochs, oracle)

  def test_isolation_with_migration(self):
    arguments = migration()
    self._check(graphs.Epochs(*arguments), epoch_oracle.EpochOracle(*arguments))

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
    epochs = graphs.Epochs(patient, named, [0.5, 2.0])
    self._check(epochs, oracle)
    self.assert_close(epochs.prob(0.0), 0.25)
    self.assert_close(epochs.cdf(0.0), 0.25)

  def test_one_epoch_is_the_phase_type_law(self):
    graph = models.island_coalescent([2, 1])
    dist = pd.PhaseType.from_graph(graph, [1.0, 0.5])
    epochs = graphs.Epochs(graph, [[1.0, 0.5]], [])
    values = onp.asarray([-1.0, 0.0, 0.5, 3.0, math.inf, math.nan])
    for name in ("log_prob", "cdf", "log_survival_function"):
      self.assert_close(
        getattr(epochs, name)(values), getattr(dist, name)(values), 0.0
      )

  def test_same_parameters_change_nothing(self):
    graph = models.busy_period(4)
    theta = [0.75, 1.0]
    dist = pd.PhaseType.from_graph(graph, theta)
    epochs = graphs.Epochs(graph, [theta] * 3, [0.5, 4.0])
    times = onp.asarray(_TIMES)
    self.assert_close(epochs.log_prob(times), dist.log_prob(times), 1e-13)
    self.assert_close(epochs.log_cdf(times), dist.log_cdf(times), 1e-13, 1e-15)

  def test_all_of_the_line(self):
    rates, boundaries = history(3)
    epochs = graphs.Epochs(models.kingman(3), rates, boundaries)
    values = onp.asarray([-math.inf, -1.0, 0.0, math.inf, math.nan])
    inf, nan = math.inf, math.nan
    self.assert_close(epochs.prob(values), [0.0, 0.0, 0.0, 0.0, nan])
    self.assert_close(epochs.log_prob(values), [-inf, -inf, -inf, -inf, nan])
    self.assert_close(epochs.cdf(values), [0.0, 0.0, 0.0, 1.0, nan], 1e-15)
    self.assert_close(epochs.survival_function(values), [1, 1, 1, 0, nan])

  def test_at_a_boundary_the_later_epoch_counts(self):
    epochs = graphs.Epochs(models.kingman(2), [[1.0], [4.0]], [0.5])
    self.assert_close(epochs.prob(0.5), 4 * math.exp(-0.5), 1e-15)
    self.assert_close(epochs.survival_function(0.5), math.exp(-0.5), 1e-15)

  def test_far_tail(self):
    # Each epoch scales its masses: a product of theirs would underflow.
    graph = models.kingman(3)
    rates = [[50.0], [1.0], [60.0]]
    epochs = graphs.Epochs(graph, rates, [10.0, 12.0])
    oracle = epoch_oracle.EpochOracle([graph] * 3, rates, [10.0, 12.0])
    times = (11.0, 20.0, 40.0)
    expected = [middle(oracle.density(t).log()) for t in times]
    self.assertLess(expected[-1], -2000)
    self.assert_close(epochs.log_prob(onp.asarray(times)), expected, 1e-13)

  def test_far_tail_within_an_epoch(self):
    # Masses of all phases are below the smallest number at the boundary.
    graph = models.island_coalescent([2, 1])
    params = [[300.0, 70.0], [0.5, 1.0]]
    epochs = graphs.Epochs(graph, params, [16.0])
    oracle = epoch_oracle.EpochOracle([graph] * 2, params, [16.0])
    times = (15.0, 16.5, 20.0)
    expected = [middle(oracle.density(t).log()) for t in times]
    self.assertLess(expected[0], -1000)
    self.assert_close(epochs.log_prob(onp.asarray(times)), expected, 1e-13)

  @parameterized.parameters(0.0, 1e-300, 1e-12)
  def test_absorption_cannot_be_reached_at_first(self, migration_rate):
    # Isolation: two lineages apart do not meet before the split.
    given, _, boundaries, maps = migration()
    params = [[1.0, 0.5, migration_rate, migration_rate], [0.3]]
    self._check(
      graphs.Epochs(given, params, boundaries, maps),
      epoch_oracle.EpochOracle(given, params, boundaries, maps),
      (0.5, 0.75, 2.0, 9.0) if migration_rate > 0 else (0.75, 2.0, 9.0),
    )

  def test_nothing_happens_at_first(self):
    epochs = graphs.Epochs(models.kingman(3), [[0.0], [1.0]], [2.0])
    one = graphs.Epochs(models.kingman(3), [[1.0]], [])
    times = onp.asarray([0.5, 1.0, 8.0])
    self.assert_close(epochs.prob(times[:2]), onp.zeros(2))
    self.assert_close(epochs.log_prob(times + 2), one.log_prob(times), 1e-13)
    self.assert_close(epochs.mean(), 2 + self.host(one.mean()), 1e-14)
    self.assert_close(epochs.variance(), one.variance(), 1e-13)

  def test_what_underflows_is_not_zero(self):
    # Stages that few get through.
    def transitions(i):
      yield (i + 1 if i < 40 else graphs.ABSORBED), {"pass": 1e-9}
      if i == 40:
        yield graphs.ABSORBED, {"end": 1.0}

    stages = graphs.Graph.from_transitions(transitions, 0, ("pass", "end"))
    params = [[1.0, 0.0], [1.0, 0.0]]
    oracle = epoch_oracle.EpochOracle([stages] * 2, params, [1e-3])
    self.assertLess(middle(oracle.density(2e-3).log()), -1200)
    # About half of them are passed in each epoch, and more are seen too.
    epochs = graphs.Epochs(stages, params, [1e-3])
    self.assertTrue(onp.isnan(self.host(epochs.log_prob(2e-3))))
    self.assert_close(epochs.log_survival_function(2e-3), 0.0, 0.0, 1e-15)
    # Only from the last one can the end be reached.
    last = graphs.Epochs(stages, [[1.0, 0.0], [0.0, 1.0]], [1e-3])
    self.assertTrue(onp.isnan(self.host(last.log_prob(2e-3))))
    self.assert_close(last.prob(2e-3), 0.0)

  def test_all_mass_at_zero(self):
    graph = graphs.Graph.from_transitions(
      lambda n: [(graphs.ABSORBED, {"rate": 1.0})],
      {0: {"q": 1.0}, graphs.ABSORBED: {1: 1.0, "q": -1.0}},
      ("rate", "q"),
    )
    epochs = graphs.Epochs(graph, [[1.0, 0.0], [2.0, 0.0]], [0.5])
    values = onp.asarray([0.0, 0.25, 0.5, 1.0])
    self.assert_close(epochs.prob(values), [1.0, 0.0, 0.0, 0.0])
    self.assert_close(epochs.cdf(values), onp.ones(4))
    self.assert_close(epochs.log_prob(values), [0.0, *[-math.inf] * 3])
    self.assert_close(epochs.mean(), 0.0)

  def test_batches(self):
    graph = models.kingman(4)
    rates = onp.asarray([[1.0, 2.0, 4.0], [0.5, 0.25, 3.0]])[..., None]
    boundaries = onp.asarray([[0.5], [1.0], [0.25]])
    epochs = graphs.Epochs(graph, rates, boundaries)
    times = onp.asarray([[0.1], [0.6], [2.0]])
    values = self.host(epochs.log_prob(times))
    means, seconds = self.host(epochs.mean()), self.host(epochs.second_moment())
    self.assertEqual(values.shape, (3, 3))
    self.assertEqual(means.shape, (3,))
    for j in range(3):
      one = graphs.Epochs(graph, rates[:, j], boundaries[j])
      self.assert_close(values[:, j], one.log_prob(times[:, 0]), 1e-13)
      self.assert_close(means[j], one.mean(), 1e-13)
      self.assert_close(seconds[j], one.second_moment(), 1e-13)

  def test_samples(self):
    given, params, boundaries, maps = migration()
    epochs = graphs.Epochs(given, params, boundaries, maps)
    samples = onp.sort(self.host(epochs.sample(20_000, seed=11)))
    # Kolmogorov's bound for one in 10,000.
    steps = onp.arange(20_000) / 20_000
    distance = onp.max(onp.abs(self.host(epochs.cdf(samples)) - steps))
    self.assertLess(distance * math.sqrt(20_000), 2.23)
    again = self.host(epochs.sample((100, 200), seed=11))
    self.assert_close(onp.sort(onp.ravel(again)), samples, 0.0)

  def test_samples_of_a_batch(self):
    rates = onp.asarray([[1.0, 50.0], [0.5, 60.0]])[..., None]
    epochs = graphs.Epochs(models.kingman(2), rates, [0.5])
    samples = self.host(epochs.sample((30, 40), seed=3))
    self.assertEqual(samples.shape, (30, 40, 2))
    means = self.host(epochs.mean())
    errors = onp.mean(samples, axis=(0, 1)) - means
    self.assertLess(onp.max(onp.abs(errors / means)), 5 / math.sqrt(1200))

  def test_float32(self):
    graph = models.kingman(4)
    rates = onp.asarray([[1.0], [0.25]], onp.float32)
    epochs = graphs.Epochs(graph, rates, [0.5])
    wide = graphs.Epochs(graph, [[1.0], [0.25]], [0.5])
    value = epochs.log_prob(2.0)
    self.assertEqual(static.dtype_name(value), "float32")
    self.assert_close(value, onp.float32(self.host(wide.log_prob(2.0))), 1e-6)
    self.assert_close(epochs.mean(), onp.float32(self.host(wide.mean())), 1e-6)
    with self.assertRaisesRegex(TypeError, "float32 .* float64"):
      graphs.Epochs(graph, rates, onp.asarray([0.5]))


class DerivativesTest(test_case.TestCase):
  """In all parameters and boundaries, against differences in many bits."""

  def _truth(self, function, params, boundaries):
    """Derivatives in a list of lists and in a list."""
    change = flint.fmpq(1, 10**50)
    flat = [x for row in params for x in row] + list(boundaries)
    sizes = [len(row) for row in params]
    found = []
    for i in range(len(flat)):
      values = []
      for sign in (1, -1):
        moved = [flint.fmpq(*float(x).as_integer_ratio()) for x in flat]
        moved[i] += sign * change
        places = iter(moved)
        rows = [[next(places) for _ in range(n)] for n in sizes]
        values.append(function(rows, list(places)))
      found.append(middle((values[0] - values[1]) / (2 * flint.arb(change))))
    return found

  @parameterized.parameters("log_prob", "cdf", "mean", "second_moment")
  def test_isolation_with_migration(self, name):
    if MODE == "numpy":
      self.skipTest("NumPy has no autodiff")
    given, params, boundaries, maps = migration()
    t = 1.25

    def value(first, second, ends):
      epochs = graphs.Epochs(given, [first, second], ends, maps)
      method = getattr(epochs, name)
      return method() if name in ("mean", "second_moment") else method(t)

    def exact(rows, ends):
      oracle = epoch_oracle.EpochOracle(given, rows, ends, maps)
      if name == "log_prob":
        return oracle.density(t).log()
      if name == "cdf":
        return oracle.cdf(t)
      return oracle.moment(1 if name == "mean" else 2)

    arrays = [np.asarray(onp.asarray(x)) for x in (*params, boundaries)]
    _, found = gradients.value_and_gradient(value, *arrays)
    flat = onp.concatenate([self.host(x) for x in found])
    truth = self._truth(exact, params, boundaries)
    self.assert_close(flat, truth, 1e-10, 1e-12)

  def test_times_in_all_epochs(self):
    # What is not used of an epoch must not spoil the gradient.
    if MODE == "numpy":
      self.skipTest("NumPy has no autodiff")
    graph = models.kingman(3)
    rates, boundaries = history(3)
    times = [0.0625, 0.125, 0.75, 2.0]

    def value(theta, ends):
      epochs = graphs.Epochs(graph, theta, ends)
      return np.sum(epochs.log_prob(onp.asarray(times)))

    def exact(rows, ends):
      oracle = epoch_oracle.EpochOracle([graph] * 3, rows, ends)
      return sum((oracle.density(t).log() for t in times), flint.arb(0))

    arrays = [np.asarray(rates), np.asarray(boundaries)]
    _, found = gradients.value_and_gradient(value, *arrays)
    flat = onp.concatenate([onp.ravel(self.host(x)) for x in found])
    truth = self._truth(exact, rates.tolist(), boundaries.tolist())
    self.assert_close(flat, truth, 1e-10, 1e-12)


class ErrorsTest(test_case.TestCase):
  """What does not fit is refused."""

  def test_refused(self):
    pair = models.kingman(2)
    steps = graphs.normalise(pair, [1.0]).graph
    one, two = [[1.0]], [[1.0], [2.0]]
    cases = (
      ((pair, two, 0.5), ValueError, "boundaries is a number"),
      ((pair, two, [0.5, 1.0]), ValueError, "params has those of 2 epochs"),
      ((pair, one, [0.5]), ValueError, "params has those of 1 epochs"),
      ((pair, {"coalescence": 1.0}, []), TypeError, "params is dict"),
      (([pair], two, [0.5]), ValueError, "graphs has 1 of them"),
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
        r"state_maps\[0\] is None, but the graphs .* differ in their states",
      ),
      (
        ([models.kingman(3), pair], two, [1.0], [lambda n: n]),
        ValueError,
        r"state_maps\[0\] maps 3 to 3, which is no state of the next graph",
      ),
      (
        (pair, two, [1.0], [lambda n: graphs.ABSORBED]),
        ValueError,
        "maps 2 to ABSORBED",
      ),
    )
    for arguments, error, message in cases:
      with self.assertRaisesRegex(error, message):
        graphs.Epochs(*arguments)
    with self.assertRaisesRegex(TypeError, "float32"):
      graphs.Epochs(pair, two, [1.0]).cdf(onp.asarray([1.0], onp.float32))


if __name__ == "__main__":
  absltest.main()
