"""Options of EM, against `fit_mle`, which finds the same maxima in another way."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from tests.helpers import fit_data
from tests.helpers import test_case

_START = ((1.0, 0.5), (0.2, 0.3, 2.0))


class FitEmOptionsTest(test_case.TestCase):
  def data(self):
    return inference.Observations(fit_data.TIMES)

  @parameterized.parameters(
    dict(fixed=["exit_rates[0]"]),
    dict(bounds={"exit_rates": (0.25, 0.6)}),
    dict(fixed=["progression_rates"], bounds={"exit_rates[2]": (0.1, 1.0)}),
  )
  def test_fixed_and_bounds(self, **options):
    start = pd.Coxian(*_START)
    expected = inference.fit_mle(start, self.data(), starts=(), **options)
    fit = inference.fit_em(
      start,
      self.data(),
      starts=(),
      second_order=False,
      max_steps=100,
      **options,
    )
    # EM is slow near the maximum: what it has lost is little, and it never has
    # more than what `fit_mle` reaches.
    self.assertLess(fit.log_likelihood, expected.log_likelihood + 1e-6)
    self.assertGreater(fit.log_likelihood, expected.log_likelihood - 0.5)
    rates = self.host(fit.distribution.exit_rates)
    onward = self.host(fit.distribution.progression_rates)
    fixed = options.get("fixed", ())
    if "exit_rates[0]" in fixed:
      self.assertEqual(rates[0], 0.2)
    if "progression_rates" in fixed:
      self.assertEqual(onward.tolist(), list(_START[0]))
    for name, (low, high) in options.get("bounds", {}).items():
      inside = rates if name == "exit_rates" else rates[2:]
      self.assertTrue(onp.all((low <= inside) & (inside <= high)))
    continued = inference.fit_em(start, self.data(), starts=(), **options)
    self.assertAlmostEqual(
      continued.log_likelihood, expected.log_likelihood, delta=1e-3
    )

  def test_a_rate_at_its_bound(self):
    # The maximum of an exponential law within bounds is at the nearer end.
    data = inference.Observations([1.0, 2.0, 3.0])
    fit = inference.fit_em(pd.Erlang(1, 1.0), data, bounds={"rate": (0.8, 2.0)})
    self.assertAlmostEqual(float(fit.distribution.rate), 0.8, places=6)
    self.assertAlmostEqual(
      fit.log_likelihood, 3.0 * math.log(0.8) - 0.8 * 6.0, places=6
    )
    self.assertEqual([str(name) for name in fit.at_bounds], ["rate"])


class GrownTest(test_case.TestCase):
  def test_more_phases_are_never_worse(self):
    data = inference.Observations(fit_data.TIMES)
    choice = inference.choose_num_phases(
      lambda p: pd.Coxian(onp.full(p - 1, 1.0 * p), onp.full(p, 0.5)),
      data,
      (1, 2),
      starts=(),
    )
    one, two = (choice.fits[p].log_likelihood for p in (1, 2))
    self.assertGreaterEqual(two, one - 1e-6)

  @parameterized.parameters(7, 24)
  def test_guesses_of_many_phases(self, p):
    # Erlang times of as many stages: the guess is near them.
    data = inference.Observations(
      onp.random.default_rng(4).gamma(p, 1.0 / p, 200)
    )
    guess = inference.initial_guess(data, p, "hyper-erlang")
    found = data.log_likelihood(guess)
    known = data.log_likelihood(pd.Erlang(p, 1.0 * p))
    self.assertGreater(float(found), float(known) - 1.0)


if __name__ == "__main__":
  absltest.main()
