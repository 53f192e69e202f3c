"""The worked examples on real data, against what is known otherwise."""

import os
import sys
import tempfile

from absl.testing import absltest
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import integrate
from scipy import optimize
from scipy import stats

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cracks
import overview
import survival

from phasic.substrates.numpy import distributions
from phasic.substrates.numpy import inference

matplotlib.use("Agg")


class SurvivalTest(absltest.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.table = pd.read_csv(survival.DATA)
    cls.data = survival.read(cls.table)

  def test_data(self):
    # 128 deaths in 16663 days: the numbers of textbooks.
    self.assertEqual(len(self.table), 137)
    self.assertEqual(self.table.days.sum(), 16663)
    self.assertEqual(self.table.died.sum(), 128)
    self.assertEqual((self.table.treatment == "standard").sum(), 69)

  def test_one_phase_is_deaths_by_days(self):
    start = distributions.Erlang(1, 0.01)
    found = inference.fit_mle(start, self.data)
    rate = 128 / 16663
    self.assertAlmostEqual(float(found.distribution.rate) / rate, 1, places=6)
    self.assertAlmostEqual(
      found.log_likelihood, 128 * np.log(rate) - 128, places=6
    )

  def test_fits(self):
    choice = survival.fit(self.data, 2)
    self.assertEqual(list(choice.fits), [1, 2])
    self.assertIs(choice.best, choice.fits[2])
    # The hazard falls: two phases are a mixture of two exponentials.
    days, died = self.table.days.values, self.table.died.values

    def loss(x):
      share, fast, slow = 1 / (1 + np.exp(-x[0])), np.exp(x[1]), np.exp(x[2])
      early = share * np.exp(-fast * days)
      late = (1 - share) * np.exp(-slow * days)
      values = np.where(died, early * fast + late * slow, early + late)
      return -np.log(values).sum()

    expected = optimize.minimize(loss, [0.0, -4.0, -5.5], tol=1e-9)
    self.assertAlmostEqual(choice.best.log_likelihood, -expected.fun, places=4)
    estimate = inference.kaplan_meier(self.data)
    fitted = choice.best.distribution.survival_function(estimate.times)
    self.assertLess(np.max(np.abs(fitted - estimate.survival)), 0.06)
    with tempfile.TemporaryDirectory() as directory:
      path = os.path.join(directory, "survival.png")
      survival.draw(choice.best, path)
      self.assertGreater(os.path.getsize(path), 10000)


class OverviewTest(absltest.TestCase):
  def test_spectrum_of_a_constant_population_falls_as_one_by_i(self):
    _, (left, middle, right) = plt.subplots(1, 3)
    overview.draw_survival(left)
    overview.draw_spectrum(middle)
    overview.draw_tail(right)
    shares = np.array([bar.get_height() for bar in middle.containers[0]])
    copies = np.arange(1, 12)
    expected = (1 / copies) / np.sum(1 / copies)
    np.testing.assert_allclose(shares, expected, rtol=1e-12)
    plt.close("all")


class CracksTest(absltest.TestCase):
  def test_data(self):
    edges, counts = cracks.read()
    self.assertEqual(counts.sum(), cracks.NUM_PARTS)
    self.assertEqual((edges[-2], counts[-1]), (1932, 73))

  def test_erlang_by_scipy(self):
    edges, counts = cracks.read()
    data = inference.Observations.grouped(edges, counts)
    start = distributions.Erlang(3, 3 / 1500)
    found = inference.fit_mle(start, data)

    def loss(log_rate):
      masses = np.diff(stats.gamma.cdf(edges, 3, scale=np.exp(-log_rate)))
      return -counts @ np.log(masses)

    best = optimize.minimize_scalar(loss, bounds=(-9, -4), method="bounded")
    self.assertAlmostEqual(found.log_likelihood, -best.fun, places=5)
    self.assertAlmostEqual(
      float(np.log(found.distribution.rate)), best.x, places=3
    )

  def test_fits(self):
    found = cracks.fits(inference.Observations.grouped(*cracks.read()))
    erlang = found["Erlang, 3 stages"].log_likelihood
    free = found["3 stages of any rates"].log_likelihood
    self.assertGreater(free, erlang - 1e-6)


class FinchesTest(absltest.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    from bayes import gene_flow

    cls.gene_flow = gene_flow
    cls.sites, cls.counts = gene_flow.read()

  def probability(self, count, migration, mutation):
    """By quadrature over the time, whose distribution is known in closed form."""
    moves = 2 * migration
    # Rates of the two exponential modes of two phases.
    middle, root = moves + 0.5, np.sqrt(moves**2 + 0.25)
    fast = middle + root
    slow = moves / fast
    density = lambda t: moves * (np.exp(-slow * t) - np.exp(-fast * t))
    value, _ = integrate.quad(
      lambda t: stats.poisson.pmf(count, mutation * t) * density(t),
      0,
      np.inf,
      epsabs=1e-13,
    )
    return value / (fast - slow)

  def test_data(self):
    self.assertEqual((len(self.sites), self.sites.sum()), (30, 16119))
    self.assertEqual((self.counts.sum(), (self.counts == 0).sum()), (144, 4))

  def test_law_of_differences(self):
    for migration, mutation in ((0.3, 0.004), (2.0, 0.02)):
      dist = self.gene_flow.differences(migration, mutation, self.sites[:2])
      for count in (0, 1, 5):
        expected = [
          self.probability(count, migration, mutation * sites)
          for sites in self.sites[:2]
        ]
        np.testing.assert_allclose(dist.prob(count + 1.0), expected, rtol=1e-9)

  def test_posterior_against_a_grid(self):
    from bayes import samplers
    import jax

    priors = self.gene_flow.PRIORS
    logs = [
      np.log(median) + np.linspace(-3.5, 3.5, 71) * sd
      for median, sd in priors.values()
    ]
    log_posterior = sum(
      stats.norm.logpdf(x, np.log(median), sd)
      for x, (median, sd) in zip(np.meshgrid(*logs), priors.values())
    )
    data = self.gene_flow.inference.Observations.exact(self.counts[:, None] + 1)

    @jax.jit
    @jax.vmap
    @jax.vmap
    def of_logs(migration, mutation):
      dist = self.gene_flow.differences(
        *jax.numpy.exp(jax.numpy.stack([migration, mutation])), self.sites
      )
      return jax.numpy.sum(data.log_likelihood(dist))

    log_posterior += np.asarray(of_logs(*np.meshgrid(*logs)))
    weights = np.exp(log_posterior - log_posterior.max())
    weights /= weights.sum()
    found = samplers.nuts_by_numpyro(
      self.gene_flow.model(self.sites, self.counts),
      jax.random.key(2005),
      num_chains=2,
    )
    for name, x in zip(priors, np.meshgrid(*logs)):
      mean = np.sum(weights * x)
      sd = np.sqrt(np.sum(weights * (x - mean) ** 2))
      draws = np.log(found.posterior[name])
      # Of ranks, so that of logarithms is the same.
      size = float(samplers.arviz.ess(found)[name])
      self.assertGreater(size, 100)
      self.assertLess(abs(float(draws.mean()) - mean), 4 * sd / np.sqrt(size))
      self.assertLess(abs(float(draws.std()) / sd - 1), 4 / np.sqrt(size))


if __name__ == "__main__":
  absltest.main()
