"""Derivatives and samples of epochs."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import flint
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic.math.calls import gradients
from tests.helpers import epoch_models
from tests.helpers import test_case
from tests.oracle import epoch_oracle

MODE = "numpy"

models = graphs.models


class DerivativesTest(test_case.TestCase):
  """Tests derivatives in all parameters and boundaries."""

  def _truth(self, function, params, boundaries):
    """Computes exact derivatives in parameters and boundaries."""
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
      found.append(
        epoch_models.middle((values[0] - values[1]) / (2 * flint.arb(change)))
      )
    return found

  def test_generating_function_below_zero(self):

    def slopes(method, u):
      def value(rate):
        given = models.kingman(3)
        # Beyond the decay rate of the last epoch it would be infinite.
        epochs = pd.Epochs(given, [[2.0], rate], [0.75])
        return getattr(epochs, method)(u)

      rate = np.asarray([0.5])
      return self.host(gradients.value_and_gradient(value, rate)[1])

    self.assert_close(
      slopes("moment_generating_function", -0.25),
      slopes("laplace_transform", 0.25),
      1e-14,
    )

  @parameterized.parameters("log_prob", "cdf", "mean", "variance")
  def test_isolation_with_migration(self, name):
    given, params, boundaries, maps = epoch_models.migration()
    t = 1.25

    def value(first, second, ends):
      epochs = pd.Epochs(given, [first, second], ends, maps)
      method = getattr(epochs, name)
      return method() if name in ("mean", "variance") else method(t)

    def exact(rows, ends):
      oracle = epoch_oracle.EpochOracle(given, rows, ends, maps)
      if name == "log_prob":
        return oracle.density(t).log()
      if name == "cdf":
        return oracle.cdf(t)
      mean = oracle.moment(1)
      return mean if name == "mean" else oracle.moment(2) - mean * mean

    arrays = [np.asarray(onp.asarray(x)) for x in (*params, boundaries)]
    _, found = gradients.value_and_gradient(value, *arrays)
    flat = onp.concatenate([self.host(x) for x in found])
    truth = self._truth(exact, params, boundaries)
    self.assert_close(flat, truth, 1e-10, 1e-12)

  def test_rates_of_zero(self):
    # The second phase is not reached at this rate, but next to it.
    def transitions(phase):
      if phase == 0:
        yield 1, {"on": 1.0}
      yield graphs.ABSORBED, ({"first": 1.0}, {"second": 1.0})[phase]

    graph = graphs.Graph.from_transitions(
      transitions, 0, params=("on", "first", "second")
    )

    def prob(rate):
      others = np.asarray(onp.asarray([1.0, 3.0]))
      params = [
        np.concatenate([x, others], axis=-1) for x in (rate, 0.0 * rate)
      ]
      return pd.Epochs(graph, np.stack(params), onp.asarray([0.75])).prob(1.5)

    def exact(rate):
      # exp(-(1 + rate) u) and the integral of rate exp(-(1 + rate) v - 3 (u - v)).
      u = mpmath.mpf(0.75)
      stays = mpmath.exp(-(1 + rate) * u)
      moves = rate * (stays - mpmath.exp(-3 * u)) / (2 - rate)
      return stays * mpmath.exp(-u) + 3 * moves * mpmath.exp(-3 * u)

    rate = np.asarray(onp.asarray([0.0]))
    value, slope = gradients.value_and_gradient(prob, rate)
    with mpmath.workdps(30):
      self.assert_close(value, float(exact(mpmath.mpf(0))), 1e-13)
      self.assert_close(slope, [float(mpmath.diff(exact, 0))], 1e-13)

  def test_times_in_all_epochs(self):
    # Unused parts of an epoch must not change the gradient.
    graph = models.kingman(3)
    rates, boundaries = epoch_models.history(3)
    times = [0.0625, 0.125, 0.75, 2.0]

    def value(theta, ends):
      epochs = pd.Epochs(graph, theta, ends)
      return np.sum(epochs.log_prob(onp.asarray(times)))

    def exact(rows, ends):
      oracle = epoch_oracle.EpochOracle([graph] * 3, rows, ends)
      return sum((oracle.density(t).log() for t in times), flint.arb(0))

    arrays = [np.asarray(rates), np.asarray(boundaries)]
    _, found = gradients.value_and_gradient(value, *arrays)
    flat = onp.concatenate([onp.ravel(self.host(x)) for x in found])
    truth = self._truth(exact, rates.tolist(), boundaries.tolist())
    self.assert_close(flat, truth, 1e-10, 1e-12)


class TrapsTest(test_case.TestCase):
  """Tests derivatives where paths are trapped in the last epoch.

  Phase "up" leads to absorption, or to "down", from which nothing leads away
  after the boundary. Arguments are the three rates of each epoch, the last of
  which is zero or has no edge, and the boundary.
  """

  _POINT = (1.0, 0.7, 0.5, 2.0, 1.0, 0.0, 0.8)

  def _epochs(self, x, has_exit):
    ends = {
      "up": [(graphs.ABSORBED("x"), [1, 0, 0]), ("down", [0, 1, 0])],
      "down": [(graphs.ABSORBED("y"), [0, 0, 1])],
    }
    first = graphs.Graph.from_transitions(lambda s: ends[s], "up", 3)
    second = first
    if not has_exit:
      second = graphs.Graph.from_transitions(
        lambda s: ends[s] if s == "up" else [],
        "up",
        3,
        allow_never_absorbing=True,
      )
    return pd.Epochs([first, second], [x[:3], x[3:6]], x[6:])

  def _check(self, function, exact, but=()):
    """Compares a gradient with that of a formula; but those of some arguments.

    The formula is differentiated by differences of numbers with 40 digits.
    """
    point = np.asarray(onp.asarray(self._POINT))
    value, slopes = gradients.value_and_gradient(function, point)
    slopes = self.host(slopes)
    with mpmath.workdps(40):
      self.assert_close(value, float(exact(*self._POINT)), 1e-13)
      for j in range(7):
        if j in but:
          self.assertTrue(math.isnan(slopes[j]))
          continue
        orders = tuple(int(i == j) for i in range(7))
        slope = float(mpmath.diff(exact, self._POINT, orders))
        self.assert_close(slopes[j], slope, 1e-12, 1e-14)

  @staticmethod
  def _moment(n):
    """Returns a formula for E Y^n, Y the time in "up"."""

    def exact(a, b, c, d, e, f, end):
      del c, f
      early = mpmath.quad(
        lambda t: n * t ** (n - 1) * mpmath.exp(-(a + b) * t), [0, end]
      )
      # The rest of Y is exponential: n t^(n - 1) by parts.
      later = sum(
        mpmath.ff(n, k) * end ** (n - k) / (d + e) ** k for k in range(1, n + 1)
      )
      return early + mpmath.exp(-(a + b) * end) * later

    return exact

  @parameterized.parameters(True, False)
  def test_rewards_elsewhere(self, has_exit):
    rewards = onp.asarray([[1.0], [0.0]])

    def dist(x):
      return pd.MultivariateEpochs(self._epochs(x, has_exit), rewards)

    def variance(*point):
      return self._moment(2)(*point) - self._moment(1)(*point) ** 2

    self._check(lambda x: dist(x).mean()[0], self._moment(1))
    self._check(lambda x: dist(x).variance()[0], variance)
    self._check(lambda x: dist(x).mixed_moment([3]), self._moment(3))
    self._check(
      lambda x: self._epochs(x, has_exit).expected_sojourn_times()[0],
      self._moment(1),
    )

  @parameterized.parameters(True, False)
  def test_causes(self, has_exit):

    def exact(a, b, c, d, e, f, end):
      del c, f
      left = mpmath.exp(-(a + b) * end)
      return a / (a + b) * (1 - left) + left * d / (d + e)

    # Of "down" the exit rate is zero: at any other one all are absorbed, and of
    # such parameters none has a derivative.
    but = (3, 4, 5) if has_exit else ()
    self._check(
      lambda x: self._epochs(x, has_exit).cause_probs()[0], exact, but
    )

  def test_a_way_back(self):
    # At any positive rate paths return to the phase with a reward.
    ends = {
      "up": [(graphs.ABSORBED, [1, 0]), ("down", [1, 0])],
      "down": [("up", [0, 1])],
    }
    graph = graphs.Graph.from_transitions(lambda s: ends[s], "up", 2)

    def mean(x):
      epochs = pd.Epochs(graph, [x[:2], x[2:4]], x[4:])
      return pd.MultivariateEpochs(epochs, onp.asarray([[1.0], [0.0]])).mean()[
        0
      ]

    point = np.asarray(onp.asarray([1.0, 0.5, 1.0, 0.0, 0.8]))
    _, slopes = gradients.value_and_gradient(mean, point)
    slopes = self.host(slopes)
    self.assertTrue(math.isnan(slopes[3]))
    self.assertTrue(onp.all(onp.isfinite(slopes[[0, 1, 4]])))

  def test_infinite_where_masses_underflow(self):
    # exp(-1000) of all paths reach the trap, after two boundaries.
    ends = {
      "up": [(graphs.ABSORBED, [1.0, 0.0]), ("down", [0.0, 1.0])],
      "down": [],
    }
    graph = graphs.Graph.from_transitions(
      lambda s: ends[s], "up", 2, allow_never_absorbing=True
    )

    def of_rate(x, rewards):
      rates = np.stack([x, np.zeros_like(x)])
      last = onp.asarray([1.0, 1.0])
      epochs = pd.Epochs(graph, [rates, rates, last], onp.asarray([2.0, 4.0]))
      return epochs, pd.MultivariateEpochs(epochs, onp.asarray(rewards))

    rate = np.asarray(onp.asarray(250.0))
    epochs, both = of_rate(rate, [[1.0, 0.0], [0.0, 1.0]])
    exact = [1.0 / 250.0, math.inf]
    self.assertEqual(self.host(epochs.mean()), math.inf)
    self.assert_close(epochs.expected_sojourn_times(), exact, 1e-13)
    self.assert_close(both.mean(), exact, 1e-13)
    self.assertEqual(self.host(both.mixed_moment([1, 1])), math.inf)
    _, slope = gradients.value_and_gradient(
      lambda x: of_rate(x, [[1.0], [0.0]])[1].mean()[0], rate
    )
    self.assert_close(slope, -1.0 / 250.0**2, 1e-12)


class SamplesTest(test_case.TestCase):
  """Tests distributions of samples."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()

  def test_samples(self):
    given, params, boundaries, maps = epoch_models.migration()
    epochs = pd.Epochs(given, params, boundaries, maps)
    samples = onp.sort(self.host(epochs.sample(20_000, seed=11)))
    # Kolmogorov's bound for one in 10,000.
    steps = onp.arange(20_000) / 20_000
    distance = onp.max(onp.abs(self.host(epochs.cdf(samples)) - steps))
    self.assertLess(distance * math.sqrt(20_000), 2.23)
    again = self.host(epochs.sample((100, 200), seed=11))
    self.assert_close(onp.sort(onp.ravel(again)), samples, 0.0)

  def test_samples_of_a_batch(self):
    rates = onp.asarray([[1.0, 50.0], [0.5, 60.0]])[..., None]
    epochs = pd.Epochs(models.kingman(2), rates, [0.5])
    samples = self.host(epochs.sample((30, 40), seed=3))
    self.assertEqual(samples.shape, (30, 40, 2))
    means = self.host(epochs.mean())
    errors = onp.mean(samples, axis=(0, 1)) - means
    self.assertLess(onp.max(onp.abs(errors / means)), 5 / math.sqrt(1200))


if __name__ == "__main__":
  absltest.main()
