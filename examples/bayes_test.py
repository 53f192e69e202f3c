"""Samplers of NumPyro and BlackJAX, and optax, on our log-likelihood."""

import os
import sys

from absl.testing import absltest
import numpy as np
from scipy import optimize

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bayes import one_rate
from bayes import samplers

arviz = samplers.arviz


class OneRateTest(absltest.TestCase):
  """A coalescent with one rate and 200 times, against a grid."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.key = one_rate.key(1982)
    cls.times = one_rate.simulate(cls.key)
    cls.mean, cls.sd = one_rate.by_grid(cls.times)

  def check_to_monte_carlo_error(self, found):
    rates = found.posterior["rate"]
    self.assertEqual(rates.shape, (4, 500))
    self.assertFalse(found.sample_stats["diverging"].any())
    size = float(arviz.ess(found)["rate"])
    self.assertGreater(size, 300)
    self.assertLess(float(arviz.rhat(found)["rate"]), 1.03)
    # Four standard errors; that of a sd is the one of a normal posterior.
    error = 4 * self.sd / np.sqrt(size)
    self.assertLess(abs(float(rates.mean()) - self.mean), error)
    self.assertLess(abs(float(rates.std()) - self.sd), error / np.sqrt(2))

  def test_grid_has_the_truth(self):
    self.assertLess(abs(self.mean - one_rate.TRUTH), 3 * self.sd)

  def test_nuts_of_numpyro(self):
    model = one_rate.model(self.times)
    self.check_to_monte_carlo_error(samplers.nuts_by_numpyro(model, self.key))

  def test_nuts_of_blackjax(self):
    model = one_rate.model(self.times)
    self.check_to_monte_carlo_error(samplers.nuts_by_blackjax(model, self.key))

  def test_svgd_of_blackjax(self):
    found = samplers.svgd_by_blackjax(one_rate.model(self.times), self.key)
    rates = found.posterior["rate"]
    self.assertEqual(rates.shape, (1, 100))
    self.assertLess(abs(float(rates.mean()) / self.mean - 1), 0.02)
    self.assertLess(abs(float(rates.std()) / self.sd - 1), 0.15)

  def test_optax_on_log_prob(self):
    rate, error = one_rate.by_optax(self.times)
    times = np.asarray(self.times)

    def loss(rate):
      # Exponential stages with rates 6, 3 and 1: a signed mixture.
      stages = np.array([6.0, 3.0, 1.0])
      signs = np.array([0.2, -1.0, 1.8])
      terms = signs * rate * stages * np.exp(-rate * stages * times[:, None])
      return -np.log(terms.sum(1)).sum()

    expected = optimize.minimize_scalar(loss, bounds=(0.3, 1.5)).x
    self.assertLess(abs(rate / expected - 1), 1e-4)
    self.assertLess(abs(error / self.sd - 1), 0.05)

  def test_blackjax_on_log_prob(self):
    mean, sd = one_rate.by_blackjax(self.times, self.key)
    # 2000 draws of one chain are worth at least 400 independent ones.
    error = 4 * self.sd / np.sqrt(400)
    self.assertLess(abs(mean - self.mean), error)
    self.assertLess(abs(sd - self.sd), error / np.sqrt(2))


if __name__ == "__main__":
  absltest.main()
