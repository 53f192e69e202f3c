"""Fits against the best of many searches from random starts."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np

from phasic.substrates import numpy as ph

# The highest log likelihoods of 50 searches from random Coxians of 5 phases.
_REFERENCES = {
  "weibull": -416.7101539,
  "lognormal": -266.9106310,
  "bimodal": -577.9273474,
}


def _samples() -> dict[str, np.ndarray]:
  random = np.random.default_rng(1)
  return {
    "weibull": 2.0 * random.weibull(1.7, 300),
    "lognormal": random.lognormal(0.0, 0.6, 300),
    "bimodal": np.concatenate(
      [random.gamma(5, 0.2, 150), random.gamma(20, 0.25, 150)]
    ),
  }


class FitReferenceTest(parameterized.TestCase):
  """Coxians that grow by a phase at a time."""

  @parameterized.parameters(*_REFERENCES)
  def test_five_phases(self, name):
    data = ph.inference.Observations(_samples()[name])
    fit = ph.inference.fit_mle(ph.inference.start_of(data, 1, "coxian"), data)
    for phases in range(2, 6):
      before = fit.log_likelihood
      grown = ph.inference.with_one_more_phase(fit.distribution)
      start = ph.inference.start_of(data, phases, "coxian")
      fit = ph.inference.fit_mle(start, data, starts=grown)
      self.assertGreaterEqual(fit.log_likelihood, before)
    self.assertTrue(fit.record.converged)
    self.assertGreater(fit.log_likelihood, _REFERENCES[name] - 1e-6)


if __name__ == "__main__":
  absltest.main()
