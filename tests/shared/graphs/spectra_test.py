"""Site frequency spectra."""

import fractions
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from tests.helpers import test_case

models = graphs.models


def _sizes(graph, first, time):
  """Returns the history of a population whose size was one until a time."""
  return pd.Epochs(graph, [[1.0], [1.0 / first]], [time])


class SpectraTest(test_case.TestCase):
  """Tests expected spectra and likelihoods."""

  @parameterized.parameters(2, 3, 20, 200)
  def test_constant_size(self, n):
    tree = pd.PhaseType.from_graph(models.kingman(n), [1.0])
    found = models.kingman_spectrum(tree.expected_sojourn_times())
    self.assert_close(found, 2.0 / onp.arange(1, n), 1e-13)

  def test_many_samples(self):
    # E[T_k] = 2 / (k (k - 1)) gives 2 / i.
    lineages = onp.arange(1000.0, 1.0, -1.0)
    found = models.kingman_spectrum(2.0 / (lineages * (lineages - 1.0)))
    self.assert_close(found, 2.0 / onp.arange(1, 1000), 1e-13)

  @parameterized.parameters(2, 5, 60)
  def test_shares(self, n):
    for k in {2, min(3, n), (n + 2) // 2, n} - {1}:
      times = onp.where(onp.arange(n, 1, -1) == k, 1.0, 0.0)
      exact = [
        float(
          fractions.Fraction(
            k * math.comb(n - i - 1, k - 2), math.comb(n - 1, k - 1)
          )
        )
        for i in range(1, n)
      ]
      self.assert_close(models.kingman_spectrum(times), exact, 1e-15)

  def test_too_many_samples(self):
    with self.assertRaisesRegex(ValueError, "times has 4097 entries: it must"):
      models.kingman_spectrum(onp.ones(4097))

  @parameterized.parameters(2, 7)
  def test_sizes_that_change(self, n):
    # Block counts follow each branch.
    blocks = models.block_counting(n)
    branches = onp.asarray(blocks.states, dtype=float)[:, : n - 1]
    history = _sizes(blocks, 0.2, 0.15)
    exact = pd.MultivariateEpochs(history, branches).mean()
    times = _sizes(models.kingman(n), 0.2, 0.15).expected_sojourn_times()
    self.assert_close(models.kingman_spectrum(times), exact, 1e-13)

  def test_many_samples_of_a_population_that_grew(self):
    # Their sum is the sum of k E[T_k].
    times = _sizes(models.kingman(100), 0.01, 0.001).expected_sojourn_times()
    found = self.host(models.kingman_spectrum(times))
    lineages = onp.arange(100, 1, -1)
    self.assert_close(
      onp.sum(found), onp.sum(lineages * self.host(times)), 1e-13
    )
    self.assertTrue(onp.all(onp.diff(found) < 0.0))

  def test_folded(self):
    for n, exact in ((2, [3.0]), (4, [3.0 + 7.0, 5.0]), (5, [14.0, 12.0])):
      spectrum = {2: [3.0], 4: [3.0, 5.0, 7.0], 5: [3.0, 5.0, 7.0, 11.0]}[n]
      self.assert_close(models.folded_spectrum(spectrum), exact)
    self.assert_close(models.folded_spectrum([[3, 5, 7]]), [[10.0, 5.0]])

  def test_likelihoods(self):
    counts, lengths = onp.asarray([5.0, 0.0, 2.0]), onp.asarray([2.0, 1.0, 0.5])
    probs = lengths / onp.sum(lengths)
    exact = math.log(21.0) + onp.sum(counts * onp.log(probs))
    value = models.spectrum_log_likelihood(counts, lengths)
    self.assert_close(value, exact, 1e-13)
    rates = 1.5 * lengths
    exact = onp.sum(counts * onp.log(rates) - rates) - math.log(120.0 * 2.0)
    value = models.spectrum_log_likelihood(counts, lengths, 1.5)
    self.assert_close(value, exact, 1e-13)
    large = onp.asarray([1e6, 2e6])
    exact = (
      math.lgamma(3e6 + 1.0)
      - math.lgamma(1e6 + 1.0)
      - math.lgamma(2e6 + 1.0)
      + 1e6 * math.log(1.0 / 3.0)
      + 2e6 * math.log(2.0 / 3.0)
    )
    value = models.spectrum_log_likelihood(large, [1.0, 2.0])
    self.assert_close(value, exact, 0.0, 3e-8)

  def test_lengths_of_any_scale(self):
    value = models.spectrum_log_likelihood([2.0, 1.0], [1e200, 1e-200])
    self.assert_close(value, math.log(3.0) - 400.0 * math.log(10.0), 1e-13)
    value = models.spectrum_log_likelihood([1.0], [1e-200], 1e-200)
    self.assert_close(value, -400.0 * math.log(10.0), 1e-13)

  def test_factorials(self):
    # Through Poisson probabilities of one number, with a mean of one.
    for c in (*range(25), 150, 1000):
      value = models.spectrum_log_likelihood([float(c)], [1.0], 1.0)
      self.assert_close(value, -1.0 - math.lgamma(c + 1.0), 1e-13)

  @test_case.of_bad_values
  def test_values_that_cannot_be(self):
    value = models.spectrum_log_likelihood([1.0, 2.0], [1.0, 0.0])
    self.assert_close(value, -math.inf)
    value = models.spectrum_log_likelihood([1.0, 0.0], [1.0, 0.0])
    self.assert_close(value, 0.0, 0.0, 1e-14)
    for counts, lengths, rate in (
      ([-1.0, 2.0], [1.0, 1.0], None),
      ([1.5, 2.0], [1.0, 1.0], None),
      ([1.0, 2.0], [1.0, -1.0], None),
      ([1.0, 2.0], [1.0, 1.0], -1.0),
    ):
      value = models.spectrum_log_likelihood(counts, lengths, rate)
      self.assertTrue(onp.isnan(self.host(value)))
    with self.assertRaisesRegex(ValueError, r"counts has shape \(1,\)"):
      models.spectrum_log_likelihood([1.0], [1.0, 2.0])
    with self.assertRaisesRegex(ValueError, "times has shape"):
      models.kingman_spectrum(1.0)
    with self.assertRaisesRegex(ValueError, "spectrum has shape"):
      models.folded_spectrum(onp.zeros((2, 0)))

  def test_fit_of_two_epochs(self):
    # An optimum that was found with many digits elsewhere: the logarithmic
    # slopes are zero there, and the cross entropy is known.
    counts = onp.asarray([997, 441, 228, 156, 117, 114, 83, 105, 109.0])

    def value(logs):
      time, rate = np.exp(logs[:1]), np.exp(-logs[1:])
      history = pd.Epochs(models.kingman(10), [np.ones_like(rate), rate], time)
      lengths = models.kingman_spectrum(history.expected_sojourn_times())
      return models.spectrum_log_likelihood(counts, lengths)

    logs = onp.log([0.145461, 0.481351])
    found, slopes = pm.value_and_gradient(value, logs)
    none = math.lgamma(onp.sum(counts) + 1.0) - sum(
      math.lgamma(c + 1.0) for c in counts
    )
    entropy = (none - float(self.host(found))) / onp.sum(counts)
    self.assertLess(abs(entropy - 1.785767), 5e-7)
    self.assertLess(onp.max(onp.abs(self.host(slopes))) / 2350.0, 1e-6)


if __name__ == "__main__":
  absltest.main()
