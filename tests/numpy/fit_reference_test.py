"""Fits against the best of many searches from random starts."""

import os

from absl.testing import absltest
from absl.testing import parameterized

from phasic.substrates.numpy import inference
from tests.numpy import fit_references

# Of 50 searches with 5 and with 10 phases, see fit_references.
_FIVE = {
  "weibull": -416.7101539,
  "lognormal": -266.9106310,
  "bimodal": -577.9273474,
}
_TEN = {
  "weibull": -415.8247276,
  "lognormal": -266.2376497,
  "bimodal": -531.5135710,
}
_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"


def _data(name):
  return inference.Observations(fit_references.samples()[name])


class FitReferenceTest(parameterized.TestCase):
  def grown(self, name, most_phases):
    """A Coxian that grows by a phase at a time."""
    data = _data(name)
    fit = inference.fit_mle(inference.initial_guess(data, 1, "coxian"), data)
    for phases in range(2, most_phases + 1):
      before = fit.log_likelihood
      grown = inference.add_phase(fit.distribution)
      start = inference.initial_guess(data, phases, "coxian")
      fit = inference.fit_mle(start, data, starts=grown)
      self.assertGreaterEqual(fit.log_likelihood, before)
    self.assertTrue(fit.record.converged)
    return fit.log_likelihood

  @parameterized.parameters(*_FIVE)
  def test_five_phases(self, name):
    if name != "bimodal" and not _FULL:
      self.skipTest("takes ten seconds")
    self.assertGreater(self.grown(name, 5), _FIVE[name] - 1e-6)

  def test_ten_phases_by_add_phase(self):
    if not _FULL:
      self.skipTest("takes minutes")
    self.assertGreater(self.grown("weibull", 10), _TEN["weibull"] - 1e-6)

  @parameterized.parameters("lognormal", "bimodal")
  def test_ten_phases(self, name):
    if not _FULL:
      self.skipTest("takes minutes")
    data = _data(name)
    fit = inference.fit_mle(
      inference.initial_guess(data, 10),
      data,
    )
    self.assertTrue(fit.record.converged)
    self.assertGreater(fit.log_likelihood, _TEN[name] - 1e-6)


if __name__ == "__main__":
  absltest.main()
