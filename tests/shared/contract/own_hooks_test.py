"""Users' families with few methods: those that follow, against closed forms."""

import copy
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from phasic.distributions.base import constraints
from phasic.internal import structures
from tests.helpers import test_case

_RATE = 2.0
_TIMES = onp.asarray([1e-3, 0.25, 1.0, 4.0])


class _Family(pd.Distribution):
  """The exponential distribution, with methods in subclasses."""

  def __init__(
    self, rate, validate_args=False, allow_nan_stats=True, name="Own"
  ):
    super().__init__(
      {
        "rate": rate,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": name,
      }
    )

  @classmethod
  def _parameter_properties(cls):
    return {"rate": pd.ParameterProperties(0, "positive")}

  def _hazard(self, value):
    """Returns the rate times the time, zero before zero."""
    return self._arrays()["rate"] * np.maximum(value, 0.0)

  def _support(self):
    return pd.Erlang(1, 1.0).support


class _Densities:
  def _prob(self, value):
    rate = self._arrays()["rate"]
    return np.where(value < 0, 0.0, rate * np.exp(-self._hazard(value)))


class _LogDensities:
  def _log_prob(self, value):
    rate = self._arrays()["rate"]
    found = np.log(rate) - self._hazard(value)
    return np.where(value < 0, -math.inf, found)


class _Cdf:
  def _cdf(self, value):
    return -np.expm1(-self._hazard(value))


class _LogCdf:
  def _log_cdf(self, value):
    some = value > 0
    lost = -np.expm1(-self._hazard(np.where(some, value, 1.0)))
    return np.where(some, np.log(lost), -math.inf)


class _Survival:
  def _survival_function(self, value):
    return np.exp(-self._hazard(value))


class _LogSurvival:
  def _log_survival_function(self, value):
    return -self._hazard(value)


@structures.register
class OfCdf(_Densities, _Cdf, _Family):
  pass


@structures.register
class OfLogCdf(_LogDensities, _LogCdf, _Family):
  pass


@structures.register
class OfSurvival(_LogDensities, _Cdf, _Survival, _Family):
  pass


@structures.register
class OfLogSurvival(_Densities, _LogCdf, _LogSurvival, _Family):
  pass


_FAMILIES = (OfCdf, OfLogCdf, OfSurvival, OfLogSurvival)


class FallbacksTest(test_case.TestCase):
  @parameterized.parameters(*_FAMILIES)
  def test_functions_of_times(self, family):
    dist, t = family(_RATE), _RATE * _TIMES
    lost = -onp.expm1(-t)
    for method, expected in (
      ("prob", _RATE * onp.exp(-t)),
      ("log_prob", math.log(_RATE) - t),
      ("cdf", lost),
      ("log_cdf", onp.log(lost)),
      ("survival_function", onp.exp(-t)),
      ("log_survival_function", -t),
      ("hazard_function", onp.full(4, _RATE)),
      ("log_hazard_function", onp.full(4, math.log(_RATE))),
      ("cumulative_hazard", t),
    ):
      # 1 - F has lost up to four digits at the last time.
      self.assert_close(getattr(dist, method)(_TIMES), expected, 1e-12)

  def test_no_hazard_where_there_is_neither(self):
    class Underflows(OfLogCdf):
      def _log_prob(self, value):
        return np.where(value > 1.0, -math.inf, super()._log_prob(value))

      def _log_survival_function(self, value):
        found = super()._log_survival_function(value)
        return np.where(value > 1.0, -math.inf, found)

    found, warnings = self.caught(
      lambda: Underflows(_RATE).log_hazard_function(
        onp.asarray([0.5, 2.0, onp.inf])
      )
    )
    self.assert_close(found, [math.log(_RATE), onp.nan, onp.nan])
    self.assertNotEmpty(warnings)

  def test_what_has_no_formula(self):
    dist = OfCdf(_RATE)
    self.assertEqual(tuple(dist.event_shape), ())
    self.assertEqual(dist.diagnose(1.0, "prob"), "ok")

    class Lost(OfCdf):
      def _prob(self, value):
        return math.nan * value

    reason = Lost(_RATE).diagnose(1.0, "prob")
    self.assertStartsWith(
      str(reason), "it is not defined there, too few digits"
    )
    with self.assertRaisesRegex(
      NotImplementedError, "OfCdf has no cross_entropy: there is no quadrature"
    ):
      dist.cross_entropy(dist)
    with self.assertRaises(NotImplementedError):
      dist.kl_divergence(pd.Erlang(1, 1.0))


class ObservationsTest(test_case.TestCase):
  """Tests likelihoods of observations, from densities and cdf alone."""

  def _terms(self, lower, upper, entry):
    """Computes log P(observation | X > entry) of the exponential time."""
    if lower == upper:
      term = math.log(_RATE) - _RATE * lower
    elif upper == math.inf:
      term = -_RATE * lower
    else:
      start = math.exp(-_RATE * max(lower, entry, 0.0))
      term = math.log(start - math.exp(-_RATE * upper))
    return term + _RATE * max(entry, 0.0)

  @parameterized.parameters(*_FAMILIES)
  def test_kinds(self, family):
    rows = [
      (0.5, 0.5, -1.0),
      (0.75, math.inf, -1.0),
      (-1.0, 1.25, -1.0),
      (0.5, 3.0, -1.0),
      (0.0, 0.5, -1.0),
      (1.0, 1.0, 0.25),
      (1.5, math.inf, 0.5),
      (0.75, 2.0, 0.25),
      (-1.0, 2.0, 0.5),
    ]
    lower, upper, entry = onp.asarray(rows).T
    data = inference.Observations(lower, upper, entry=entry)
    expected = [self._terms(*row) for row in rows]
    dist = family(_RATE)
    self.assert_close(data.log_likelihood(dist), math.fsum(expected), 1e-12)
    for row, term in zip(rows, expected, strict=True):
      one = inference.Observations(
        onp.asarray(row[:1]), onp.asarray(row[1:2]), entry=onp.asarray(row[2:])
      )
      self.assert_close(one.log_likelihood(dist), term, 1e-12)

  def test_fit(self):
    # Two events in a total time of 5; the search needs no chain.
    data = inference.Observations.right_censored(
      [1.0, 1.5, 2.5], [True, False, True]
    )
    fit = inference.fit_mle(OfLogSurvival(1.0), data)
    self.assertTrue(fit.record.converged)
    self.assert_close(fit.distribution.parameters["rate"], 0.4, 1e-6)
    with self.assertRaisesRegex(TypeError, "OfCdf: EM has no M-step"):
      inference.em_step(OfCdf(1.0), data)


class FactsTest(test_case.TestCase):
  def test_ways_to_differentiate_samples(self):
    kind = pd.FULLY_REPARAMETERIZED
    self.assertIs(pd.Erlang(1, 1.0).reparameterization_type, kind)
    self.assertIs(copy.copy(kind), kind)
    self.assertIs(copy.deepcopy([kind])[0], kind)
    self.assertIn("ReparameterizationType", repr(kind))

  def test_properties_of_parameters(self):
    for ndims in (-1, 21):
      with self.assertRaisesRegex(
        ValueError, f"event_ndims is {ndims}: it must be from 0 to 20"
      ):
        pd.ParameterProperties(ndims, "positive")
    constraint = pd.ParameterProperties(0, "positive").constraint
    again = pd.ParameterProperties(0, constraint).constraint
    self.assertEqual(constraint, again)
    self.assertEqual(constraint, "positive")
    self.assertEqual(hash(constraint), hash("positive"))
    self.assertEqual(repr(constraint), "'positive'")
    self.assertNotEqual(constraint, constraints.named("nonnegative"))
    self.assertNotEqual(constraint, 3)


if __name__ == "__main__":
  absltest.main()
