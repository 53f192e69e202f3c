"""Where fits end: saddles, sums that are known, and what is not known."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from tests.helpers import test_case


def _overdispersed():
  """Returns 200 values that vary more than exponential ones."""
  values = onp.random.default_rng(14).gamma(0.7, 2.0, 200)
  return inference.Observations.exact(values)


class SaddlesTest(test_case.TestCase):
  @parameterized.parameters(
    lambda rates: pd.Hyperexponential([0.5, 0.5], rates),
    lambda rates: pd.PhaseType([0.5, 0.5], -onp.diag(onp.asarray(rates))),
    lambda rates: pd.MatrixWeibull(pd.Hyperexponential([0.5, 0.5], rates), 1.0),
  )
  def test_equal_rates_become_different(self, build):
    data = _overdispersed()
    fixed = []
    if isinstance(build([1.0, 1.0]), pd.MatrixWeibull):
      fixed = ["concentration"]
    ends = [
      inference.fit_mle(build(rates), data, fixed=fixed, starts=())
      for rates in ([1.0, 1.0], [1.0, 0.3])
    ]
    for fit in ends:
      self.assertTrue(fit.record.converged)
      self.assert_close(fit.log_likelihood, ends[1].log_likelihood, 1e-9)
    # One exponential law is the saddle.
    one = inference.fit_mle(pd.Erlang(1, 1.0), data).log_likelihood
    self.assertGreater(ends[0].log_likelihood, one + 5.0)


class EndsTest(test_case.TestCase):
  def test_an_exit_rate_that_equals_a_progression_rate(self):
    values = onp.random.default_rng(3).gamma(2.0, 1.0, 200)
    data = inference.Observations.exact(values)
    fit = inference.fit_mle(pd.Coxian([1.0], [0.1, 2.0]), data)
    # Its optimum is the Erlang law of two stages.
    rate = 2.0 / onp.mean(values)
    ((names, (value, error)),) = fit.sums.items()
    self.assertEqual(names, ("progression_rates[0]", "exit_rates[1]"))
    self.assert_close(value, 2.0 * rate, 1e-6)
    self.assert_close(error, 2.0 * rate / onp.sqrt(400.0), 1e-3)

  def test_starts_beside_zero(self):
    # The logarithm of a tiny rate has no slope: the search does not move it.
    values = onp.random.default_rng(1).gamma(1.6, 1.0, 100)
    data = inference.Observations.exact(values)
    ends = [
      inference.fit_mle(pd.Coxian([1.0], [exit_rate, 1.0]), data, starts=())
      for exit_rate in (1e-12, 0.3)
    ]
    likelihoods = [fit.log_likelihood for fit in ends]
    self.assert_close(likelihoods[0], likelihoods[1], 1e-9)

  def test_a_phase_with_two_rates_like_another(self):
    # An exponential law and one of four stages: with two phases the optimum has
    # equal total rates, of which the first is the sum of two.
    random = onp.random.default_rng(1)
    stages = onp.where(random.random(400) < 0.3, 1.0, 4.0)
    data = inference.Observations.exact(random.gamma(stages, 1.0))
    fit = inference.fit_mle(pd.Coxian([0.5], [0.5, 1.0]), data, starts=())
    (on,) = self.host(fit.distribution.progression_rates)
    first, last = self.host(fit.distribution.exit_rates)
    self.assert_close(on + first, last, 1e-3)
    ((names, (value, error)),) = fit.sums.items()
    self.assertEqual(names, ("progression_rates[0]", "exit_rates[1]"))
    self.assert_close(value, on + last)
    self.assertGreater(error, 0.0)
    self.assertEqual(fit.statuses["exit_rates[0]"], "identified")

  def test_nothing_is_known_of_a_search_that_did_not_end(self):
    start = pd.Coxian([4.4], [0.6, 0.15])
    fit = inference.fit_mle(start, _overdispersed(), starts=(), max_steps=1)
    self.assertFalse(fit.record.converged)
    self.assertEqual(
      set(fit.statuses.values()), {"unknown (the fit did not converge)"}
    )
    self.assertEqual(fit.sums, {})

  def test_messages_are_in_words(self):
    fit = inference.fit_mle(pd.Erlang(1, 2.0), _overdispersed())
    self.assertRegex(fit.record.message, "^slopes of the mean log likelihood")

  def test_what_bounds_leave_without_effect(self):
    # With equal exit rates nothing depends on when one goes on.
    fit = inference.fit_mle(
      pd.Coxian([4.4], [0.6, 0.15]),
      _overdispersed(),
      bounds={"exit_rates": (5, 10)},
      starts=(),
    )
    self.assert_close(fit.distribution.exit_rates, [5.0, 5.0])
    self.assertEqual(
      fit.statuses["progression_rates[0]"], "not identified (flat likelihood)"
    )

  def test_a_difference_of_rates_that_is_kept(self):
    fit = inference.fit_mle(
      pd.AcyclicPhaseType([1.0, 0.0], [0.5, 0.8]),
      _overdispersed(),
      fixed=["rates[1] - rates[0]"],
    )
    found = fit.standard_errors["rates"]
    self.assert_close(found, fit.standard_error_of(lambda d: d.rates), 1e-12)
    self.assertTrue(onp.all(found > 0.0))


if __name__ == "__main__":
  absltest.main()
