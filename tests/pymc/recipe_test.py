"""The PyMC recipe of docs/guide.md, in an environment with PyMC.

`make test-pymc` runs it, on the wheel.
"""

import pathlib
import re
import unittest
import warnings

import jax
import numpy as np
import pymc
import pytensor

from phasic.substrates import jax as ph

_GUIDE = pathlib.Path("docs/guide.md")
_PHASES = 3
# Of the Gamma prior.
_SHAPE, _RATE = 2.0, 1.0


def _recipe() -> str:
  """Returns the block of the guide that imports PyMC."""
  blocks = re.findall(
    r"^```python\n(.*?)^```$", _GUIDE.read_text(), re.MULTILINE | re.DOTALL
  )
  (block,) = (block for block in blocks if "pymc" in block)
  return block


class RecipeTest(unittest.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.names = {}
    exec(_recipe(), cls.names)
    cls.times = np.asarray(cls.names["times"])

  def _of_model(self, rate):
    """Returns the log density of the data, and the derivative of the joint."""
    # A model that has not made predictions: PyMC 5.28 then lists the observed
    # variable twice, and cannot compile the joint density any more.
    names = {}
    exec(_recipe().partition("  posterior =")[0], names)
    model = names["model"]
    log_prob = model.compile_logp(vars=[model["obs"]], jacobian=False)
    slope = model.compile_dlogp(jacobian=False)
    point = {"rate_log__": np.log(rate)}
    return log_prob(point), slope(point)[0]

  def test_log_density_and_gradient(self):
    def log_density(rate):
      return ph.distributions.Erlang(_PHASES, rate).log_prob(self.times).sum()

    def log_joint(log_rate):
      rate = jax.numpy.exp(log_rate)
      prior = jax.scipy.stats.gamma.logpdf(rate * _RATE, _SHAPE)
      return prior + log_density(rate)

    for rate in (0.03, 1.7, 40.0):
      with self.subTest(rate=rate):
        found, slope = self._of_model(rate)
        np.testing.assert_allclose(found, log_density(rate), rtol=1e-12)
        want = jax.grad(log_joint)(np.log(rate))
        np.testing.assert_allclose(slope, want, rtol=1e-12)
        # d / d log rate of Gamma's and Erlang's log densities.
        exact = _SHAPE - 1 - _RATE * rate
        exact += _PHASES * len(self.times) - rate * self.times.sum()
        np.testing.assert_allclose(slope, exact, rtol=1e-12)

  def test_posterior_is_the_conjugate_one(self):
    draws = self.names["posterior"].posterior["rate"].values
    shape = _SHAPE + _PHASES * len(self.times)
    rate = _RATE + self.times.sum()
    # Four standard errors, of half as many draws: they are correlated.
    error = 4.0 * np.sqrt(2.0 * shape / draws.size) / rate
    self.assertLess(abs(draws.mean() - shape / rate), error)
    self.assertLess(abs(draws.std() / (np.sqrt(shape) / rate) - 1.0), 0.2)

  def test_predictions_are_those_of_the_draws(self):
    predicted = self.names["predicted"].posterior_predictive["obs"].values
    draws = self.names["posterior"].posterior["rate"].values
    self.assertEqual(predicted.shape, (*draws.shape, len(self.times)))
    # Times multiplied by their rates are Gamma distributed, whatever the rate.
    scaled = predicted * draws[..., np.newaxis]
    error = 4.0 * np.sqrt(_PHASES / scaled.size)
    self.assertLess(abs(scaled.mean() - _PHASES), error)
    self.assertLess(abs(scaled.var() / _PHASES - 1.0), 0.1)

  def test_prior_predictions(self):
    with self.names["model"]:
      drawn = pymc.sample_prior_predictive(2000, random_seed=1)
    times = drawn.prior_predictive["obs"].values
    rates = drawn.prior["rate"].values[..., np.newaxis]
    self.assertEqual(times.shape, (1, 2000, len(self.times)))
    error = 4.0 * np.sqrt(_PHASES / times.size)
    self.assertLess(abs((times * rates).mean() - _PHASES), error)

  def test_float32_constant(self):
    # PyMC takes 2.0 for float32: the guide says how to write it.
    with pymc.Model(), self.assertRaisesRegex(TypeError, "rate is float32"):
      self._log_prob_at(2.0)
    found = self._log_prob_at(np.float64(2.0)).eval()
    want = ph.distributions.Erlang(_PHASES, 2.0).log_prob(self.times)
    np.testing.assert_allclose(found, want, rtol=1e-12)

  def _log_prob_at(self, rate):
    dist = pymc.CustomDist.dist(rate, logp=self.names["log_prob"])
    return pymc.logp(dist, self.times)

  def test_censored(self):
    log_prob, draw = self.names["log_prob"], self.names["draw"]
    log_cdf = pytensor.wrap_jax(
      lambda times, rate: ph.distributions.Erlang(_PHASES, rate).log_cdf(times)
    )
    rate, limit = np.float64(1.7), 1.5
    dist = pymc.CustomDist.dist(
      rate,
      logp=log_prob,
      logcdf=lambda times, rate, **_: log_cdf(times, rate),
      random=draw,
    )
    with pymc.Model() as model:
      pymc.Censored(
        "obs", dist, lower=None, upper=limit, observed=[1.0, limit, 0.5]
      )
    erlang = ph.distributions.Erlang(_PHASES, rate)
    want = erlang.log_prob(np.array([1.0, 0.5])).sum()
    want += erlang.log_survival_function(limit)
    np.testing.assert_allclose(model.compile_logp()({}), want, rtol=1e-12)


if __name__ == "__main__":
  warnings.simplefilter("ignore", FutureWarning)
  unittest.main()
