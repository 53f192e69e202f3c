"""Arguments of fits, starts, tests and rules that do not fit, with advice."""

import dataclasses
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from tests.helpers import test_case

Observations = inference.Observations
_DATA = Observations([0.3, 0.7, 1.1, 0.4, 2.5, 0.9])


class DensitiesTest(test_case.TestCase):
  def test_a_rule_of_an_exponential_density(self):
    found = inference.observations_from_density(
      lambda t: 2.0 * onp.exp(-2.0 * t), scale=0.5
    )
    times, weights = self.host(found.lower), self.host(found.weights)
    for k in range(5):
      # E X^k = k! / 2^k.
      moment = onp.sum(weights * times**k)
      self.assert_close(moment, math.factorial(k) / 2.0**k, 1e-8)

  @parameterized.parameters(
    (3, {}, TypeError, "density is 3: it must be"),
    (onp.exp, {"scale": 0.0}, ValueError, "scale is 0.0: it must be positive"),
    (onp.exp, {"scale": onp.inf}, ValueError, "scale is inf: it must be pos"),
    (onp.exp, {"tolerance": 1.0}, ValueError, r"tolerance is 1.0: .* \(0, 1\)"),
    (lambda t: t[:3], {}, ValueError, r"density returned shape \(3,\) for tim"),
    (lambda t: -onp.exp(-t), {}, ValueError, "it must be finite and >= 0"),
    (lambda t: onp.nan * t, {}, ValueError, "the density at .* is nan: it mus"),
  )
  def test_refused(self, density, options, error, message):
    with self.assertRaisesRegex(error, message):
      inference.observations_from_density(density, **options)


class StartsTest(test_case.TestCase):
  @parameterized.parameters(
    (Observations([1.0], cause=[0]), "observations have causes, and the dist"),
    (Observations([0.0, 0.0]), "there is no event later than zero"),
    (Observations([1.0, 2.0], [onp.inf] * 2), "there is no event later than"),
    (Observations([[1.0, 2.0]]), r"shape \(1, 2\): .* one data set"),
  )
  def test_data(self, data, message):
    with self.assertRaisesRegex(ValueError, message):
      inference.initial_guess(data, 2)

  def test_several_data_sets(self):
    data = Observations([[1.0, 2.0], [3.0, 4.0]])
    with self.assertRaisesRegex(
      ValueError,
      r"observations have shape \(2, 2\): they must be \(n,\), since",
    ):
      inference.fit_mle(pd.Erlang(2, 1.0), data)

  def test_three_moments_at_their_limit(self):
    # Of an Erlang time of three stages, and of nearly one.
    mean, second, third = 1.5, 3.0, 7.5
    exact = inference.match_moments(mean, second, third, num_phases=3)
    for k, moment in enumerate((mean, second, third), start=1):
      self.assert_close(exact.moment(k), moment, 1e-9)
    for factor in (0.9, 1.2):
      with self.assertRaisesRegex(ValueError, "third|phases"):
        inference.match_moments(mean, second, factor * third, num_phases=3)


class NamesTest(test_case.TestCase):
  @parameterized.parameters("fixed", "free")
  def test_names_are_strings(self, argument):
    with self.assertRaisesRegex(
      TypeError, f"{argument} has 0: names must be strings"
    ):
      inference.fit_mle(pd.Erlang(2, 1.0), _DATA, **{argument: [0]})

  def test_tied_twice(self):
    dist = pd.Hypoexponential([1.0, 2.0, 3.0])
    with self.assertRaisesRegex(
      ValueError, r"tied has 'rates\[1\]' twice: an entry must be in one group"
    ):
      inference.fit_mle(
        dist,
        _DATA,
        tied=[("rates[0]", "rates[1]"), ("rates[2]", "rates[1]")],
      )

  @test_case.of_bad_values
  def test_starts_that_break_rules(self):
    for dist, message in (
      (pd.Hypoexponential([1.0, -2.0]), r"rates\[1\] is -2: at the start of a"),
      (pd.Hypoexponential([1.0, onp.inf]), r"rates\[1\] is inf: at the start"),
      (pd.PhaseType([0.75, 0.5], [[-1.0, 0.0], [0.0, -1.0]]), "sums to 1.25"),
      (
        pd.PhaseType([1.0], [[1.0]]),
        "row 0 of subgenerator sums to 1: it must",
      ),
      (
        pd.DiscretePhaseType([1.0], [[1.5]]),
        "row 0 of subtransition sums to 1",
      ),
    ):
      with self.assertRaisesRegex(ValueError, message):
        inference.fit_mle(dist, _DATA)


class SelectionTest(test_case.TestCase):
  def test_numbers_of_phases(self):
    def start(p):
      return pd.Erlang(p, float(p))

    for options, error, message in (
      ({"criterion": "cic"}, ValueError, "criterion is 'cic': it must be in"),
      ({"criterion": 3}, ValueError, "criterion is 3: it must be in"),
      ({"num_phases": ()}, ValueError, "num_phases is empty: it must have at"),
      ({"num_phases": "12"}, TypeError, "num_phases is '12': it must be a seq"),
      ({"num_phases": 3}, TypeError, "num_phases is 3: it must be a sequence"),
      ({"num_phases": [0]}, ValueError, r"num_phases\[0\] is 0: it must be"),
    ):
      with self.assertRaisesRegex(error, message):
        inference.choose_num_phases(
          start, _DATA, **{"num_phases": (1, 2), **options}
        )

  def test_likelihood_ratios(self):
    data = Observations.right_censored(
      [0.3, 0.7, 1.1, 0.4, 2.5, 0.9], [True, True, True, True, False, True]
    )
    start = pd.Hypoexponential([1.0, 2.0])
    fixed = inference.fit_mle(start, data, fixed=["rates[0]"])
    free = inference.fit_mle(start, data)
    entry, more = onp.full(6, 0.01), onp.full(6, 0.02)
    same = Observations(data.lower, data.upper, entry=entry)
    for first, second, message in (
      (data, Observations(data.lower, data.upper), ""),
      (data, same, "different observations"),
      (same, data, "different observations"),
      (same, Observations(data.lower, data.upper, entry=entry), ""),
      (
        same,
        Observations(data.lower, data.upper, entry=more),
        "different observations",
      ),
    ):
      smaller = dataclasses.replace(fixed, observations=first)
      larger = dataclasses.replace(free, observations=second)
      if message:
        with self.assertRaisesRegex(ValueError, message):
          inference.likelihood_ratio(smaller, larger)
      else:
        found = inference.likelihood_ratio(smaller, larger)
        self.assertEqual(found.degrees_of_freedom, 1)
        self.assert_close(
          found.statistic, 2.0 * (free.log_likelihood - fixed.log_likelihood)
        )
    with self.assertRaisesRegex(
      ValueError, r"it must be at least \S+, as in smaller"
    ):
      low = dataclasses.replace(free, log_likelihood=fixed.log_likelihood - 1.0)
      inference.likelihood_ratio(fixed, low)


if __name__ == "__main__":
  absltest.main()
