"""Observations: log likelihoods and their sums."""

import math
import warnings

from absl.testing import absltest
import numpy as onp

from phasic import config
from phasic import distributions as pd
from phasic import inference
from phasic import math as pm
from phasic.math.likelihood import discrete_observations
from tests.helpers import test_case

MODE = "numpy"

_LAWS = 4
if MODE == "jax":  # Each is compiled for seconds.
  _LAWS = 2
_INF, _NAN = math.inf, math.nan
_LOWER = onp.asarray([0.5, 2.0, -1.0, 1.0, 0.0])
_UPPER = onp.asarray([0.5, _INF, 1.5, 2.0, 0.25])
_ENTRY = onp.asarray([0.25, 1.0, -1.0, 0.5, -1.0])


class StepsTest(test_case.TestCase):
  """Tests numbers of steps that are no integers."""

  def test_bounds_are_rounded_down_and_exact_values_are_not(self):
    # Geometric: P(N > k) = 2^-k.
    lower = onp.asarray([2.0, 2.5, 2.5, 1.5, -1.0, 0.5])
    upper = onp.asarray([2.0, 2.5, _INF, 3.5, 2.5, 0.75])
    exact = onp.asarray([2.0**-2, 0.0, 2.0**-2, 2.0**-1 - 2.0**-3, 0.75, 0.0])
    with onp.errstate(divide="ignore"):
      exact = onp.log(exact)
    for path in self.paths():
      with config.use_path(path):
        found = discrete_observations.log_likelihood_terms(
          [1.0], [[0.5]], lower, upper
        )
        self.assert_close(found, exact, 1e-14)


class SumsTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.dist = pd.ZeroInflated(pd.Erlang(2, 1.5), 0.25)

  def _value(self, *args, **kwargs):
    data = inference.Observations(*args, **kwargs)
    return self.host(data.log_likelihood(self.dist))

  def test_weights_are_numbers_of_values(self):
    weights = onp.asarray([1, 2, 0, 3, 1])
    rows = onp.repeat(onp.arange(5), weights)
    found = self._value(_LOWER, _UPPER, weights, _ENTRY)
    expected = self._value(_LOWER[rows], _UPPER[rows], None, _ENTRY[rows])
    self.assert_close(found, expected, 1e-14)

  def test_what_has_no_weight_counts_for_nothing(self):
    with_impossible = self._value([0.5, 1e300], None, [1.0, 0.0])
    self.assert_close(with_impossible, self._value([0.5]), 1e-15)

  def test_what_has_no_weight_may_be_impossible(self):
    self.dist = pd.TruncatedPhaseType(pd.Erlang(1, 1.0), 2.0)
    with warnings.catch_warnings():
      warnings.simplefilter("error", RuntimeWarning)
      found = self._value([0.5, 3.0], None, [0.0, 1.0])
    self.assert_close(found, -1.0, 1e-14)

  def test_zeros_are_of_the_atom(self):
    self.assert_close(self._value([0.0]), math.log(0.25), 1e-15)
    # An interval from zero excludes zero; a left-censored value includes it.
    both = self._value([0.0], [1.0]), self._value([-1.0], [1.0])
    self.assert_close(onp.exp(both[1]) - onp.exp(both[0]), 0.25, 1e-14)

  def test_at_zero(self):
    # Zero in one of four cases, else of rate 2: P(X > t) = 3/4 exp(-2 t).
    chain = pd.PhaseType([0.75], [[-2.0]])
    alive = [0.75 * math.exp(-2.0 * t) for t in (0.5, 1.0)]
    early = 1.0 - math.exp(-2.0)
    cases = (
      (0.0, 0.0, -1.0, 0.25),
      (-1.0, 0.0, -1.0, 0.25),
      (-_INF, 0.0, -1.0, 0.25),
      (0.0, _INF, -1.0, 0.75),
      (-1.0, _INF, -1.0, 1.0),
      (-1.0, 1.0, -1.0, 1.0 - alive[1]),
      (0.0, 1.0, -1.0, 0.75 - alive[1]),
      # With an entry time, even zero, values of zero are not observed.
      (-1.0, 1.0, 0.0, early),
      (0.0, 1.0, 0.0, early),
      (0.0, _INF, 0.0, 1.0),
      (1.0, 1.0, 0.0, 2.0 * math.exp(-2.0)),
      (-1.0, 1.0, 0.5, 1.0 - alive[1] / alive[0]),
    )
    lower, upper, entry, probs = onp.asarray(cases).T
    data = inference.Observations(lower, upper, entry=entry)
    laws = (
      chain,
      pd.ZeroInflated(pd.Erlang(1, 2.0), 0.25),
      pd.MatrixWeibull(chain, 1.0),
      pd.TruncatedPhaseType(chain, 0.0),
    )
    for dist in laws[:_LAWS]:
      for path in self.paths():
        with config.use_path(path):
          found = data.log_likelihood_terms(dist)
          self.assert_close(found, onp.log(probs), 1e-13, 1e-14)
    for law in (pd.Erlang(1, 2.0), pd.DiscretePhaseType([1.0], [[0.5]])):
      self.dist = law
      self.assertEqual(self._value([-1.0], [0.0]), -_INF)
    with self.assertRaisesRegex(ValueError, "the exit must be after the entry"):
      inference.Observations([0.0], entry=[0.0])
    with self.assertRaisesRegex(ValueError, "the exit must be after the entry"):
      inference.Observations([-1.0], [0.0], entry=[0.0])

  def test_entries_are_conditions(self):
    alive = self.host(self.dist.log_survival_function(_ENTRY))
    alive = onp.where(_ENTRY < 0, 0.0, alive)
    cut = onp.where(_LOWER < _UPPER, onp.maximum(_LOWER, _ENTRY), _LOWER)
    found = self._value(_LOWER, _UPPER, None, _ENTRY)
    expected = self._value(cut, _UPPER) - onp.sum(alive)
    self.assert_close(found, expected, 1e-13)

  def test_ends_that_mean_nothing(self):
    with self.assertRaisesRegex(ValueError, "times.*must be >= 0"):
      inference.Observations.right_censored([-5.0, 1.0], [0, 1])
    with self.assertRaisesRegex(ValueError, "edges.*must increase"):
      inference.Observations.grouped([0.0, 1.0, 1.0, 2.0], [3, 2, 1])

  def test_groups(self):
    edges, counts = [-1.0, 0.5, 1.0, _INF], [3, 2, 4]
    found = inference.Observations.grouped(edges, counts)
    cdf = self.host(self.dist.cdf(onp.asarray([0.5, 1.0])))
    parts = [cdf[0], cdf[1] - cdf[0], 1.0 - cdf[1]]
    self.assert_close(
      found.log_likelihood(self.dist), counts @ onp.log(parts), 1e-13
    )
    with self.assertRaisesRegex(ValueError, r"edges has shape \(1,\)"):
      inference.Observations.grouped([1.0], [])

  def test_batches(self):
    rates = onp.asarray([1.0, 1.5, 3.0])
    lower = onp.stack([_LOWER, _LOWER + 0.25])[:, None]
    upper = onp.stack([_UPPER, _UPPER + 0.25])[:, None]
    for entry in (None, _ENTRY):
      for dist in (
        pd.Erlang(2, rates),
        pd.MatrixWeibull(pd.Erlang(2, rates), 1.25),
        pd.TruncatedPhaseType(pd.Erlang(2, rates), 0.0625),
        pd.PhaseType(
          [0.5, 0.25], rates[:, None, None] * onp.asarray([[-2.0, 1], [0, -1]])
        ),
      ):
        data = inference.Observations(lower, upper, None, entry)
        found = self.host(data.log_likelihood(dist))
        self.assertEqual(found.shape, (2, 3))
        for i in range(2):
          for j in range(3):
            one = inference.Observations(lower[i, 0], upper[i, 0], None, entry)
            alone = one.log_likelihood(dist[j])
            self.assert_close(found[i, j], alone, 1e-14)

  def test_batches_of_cotangents(self):
    self.require_kernel()
    rates = onp.asarray([1.0, 1.5, 3.0])
    matrix = rates[:, None, None] * onp.asarray([[-2.0, 1], [0, -1]])
    alpha = onp.asarray([0.5, 0.25])

    def log_likelihood(initial_probs, subgenerator):
      return inference.Observations(
        _LOWER, _UPPER, entry=_ENTRY
      ).log_likelihood(pd.PhaseType(initial_probs, subgenerator))

    value, pullback = pm.vjp(log_likelihood, alpha, matrix)
    self.assertEqual(self.host(value).shape, (3,))
    of_alpha, of_matrix = pullback(onp.asarray([1.0, -2.0, 0.5]))
    total = onp.zeros(2)
    for j, weight in enumerate((1.0, -2.0, 0.5)):
      _, own = pm.value_and_gradient(log_likelihood, alpha, matrix[j])
      total += weight * self.host(own[0])
      self.assert_close(
        self.host(of_matrix)[j], weight * self.host(own[1]), 1e-13
      )
    self.assert_close(of_alpha, total, 1e-12)

  def test_impossible(self):
    self.dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 1.0, 2.0)
    self.assertEqual(self._value([2.5]), -_INF)
    self.assertEqual(self._value([0.25], [0.75]), -_INF)
    self.assertEqual(self._value([2.0], [_INF]), -_INF)
    self.assert_close(self._value([0.0], [2.0]), 0.0, 0.0, 1e-15)

  def test_ends_that_become_one_are_not_known(self):
    # An interval so far out that both ends have the same h(y).
    self.dist = pd.MatrixPareto(pd.Erlang(2, 1.0), 1e-300)
    found = self._value([1.0], [1.0 + 1e-15])
    self.assertTrue(math.isnan(found))

  def test_float32(self):
    dist = pd.Erlang(2, onp.asarray(1.5, onp.float32))
    data = inference.Observations(
      onp.asarray(_LOWER, onp.float32), onp.asarray(_UPPER, onp.float32)
    )
    found = self.host(data.log_likelihood(dist))
    self.assertEqual(found.dtype, onp.float32)
    self.dist = pd.Erlang(2, 1.5)
    self.assert_close(found, self._value(_LOWER, _UPPER), 1e-5)

  def test_representation(self):
    text = repr(inference.Observations([1.0, 2.0], weights=[1, 2]))
    self.assertIn("with lower, weights", text)


class NoObservationsTest(test_case.TestCase):
  """Tests data sets without observations."""

  def setUp(self):
    super().setUp()
    self.data = inference.Observations([], weights=[], entry=[])

  def test_the_log_likelihood_is_zero(self):
    rates = onp.asarray([1.0, 2.0])
    dist = pd.Erlang(2, rates)
    for data in (self.data, inference.Observations.right_censored([], [])):
      self.assert_close(data.log_likelihood(dist), onp.zeros(2), 0.0)
    terms = inference.Observations([[], []]).log_likelihood_terms(dist)
    self.assertEqual(tuple(terms.shape), (2, 0))
    _, slope = pm.value_and_gradient(
      lambda rate: self.data.log_likelihood(pd.Erlang(2, rate)), rates[0]
    )
    self.assert_close(slope, 0.0, 0.0)

  def test_float32(self):
    numbers = onp.asarray([0.5, 1.0, 1.5, 3.0])
    data = inference.Observations(onp.asarray(numbers, onp.float32))
    dist = pd.Erlang(2, onp.asarray(0.75))
    if MODE == "tf":
      with self.assertRaisesRegex(TypeError, "observations are float32"):
        data.log_likelihood(dist)
    else:
      expected = inference.Observations(numbers).log_likelihood(dist)
      self.assert_close(data.log_likelihood(dist), expected, 0.0)
      terms = data.log_likelihood_terms(dist)
      self.assertEqual(self.host(terms).dtype, onp.float64)
      fit = inference.fit_mle(dist, data)
      # The closed form: two stages in the mean.
      self.assert_close(fit.distribution.rate, 2 / numbers.mean(), 1e-7)
      self.assertEqual(fit.distribution.dtype, "float64")
    narrow = pd.Erlang(2, onp.asarray(0.75, onp.float32))
    with self.assertRaisesRegex(TypeError, "distribution is float32 and the"):
      inference.Observations(numbers).log_likelihood(narrow)

  def test_fits_need_some(self):
    dist = pd.Erlang(2, 1.0)
    for fit in (
      lambda: inference.fit_mle(dist, self.data),
      lambda: inference.fit_em(pd.Hypoexponential([1.0, 2.0]), self.data),
      lambda: inference.initial_guess(self.data, 2),
      lambda: inference.kaplan_meier(self.data),
      lambda: inference.em_step(
        pd.PhaseType([1.0], [[-1.0]]), inference.Observations([[], []])
      ),
    ):
      with self.assertRaisesRegex(
        ValueError, "observations is empty, of shape"
      ):
        fit()


if __name__ == "__main__":
  absltest.main()
