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
