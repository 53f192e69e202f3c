"""What inference offers for fits of multi-state models."""

import functools
import math
import pickle

from absl.testing import absltest
import numpy as onp
from scipy import linalg
from scipy import stats

from phasic import inference
from phasic import multistate
from tests.helpers import panel_cases
from tests.helpers import test_case

_TRANSITIONS = {"well": ["ill", "dead"], "ill": ["well", "dead"]}
_NAMES = ("well -> ill", "well -> dead", "ill -> well", "ill -> dead")
_SHARED = {"well": {"ill": "a", "dead": "d"}, "ill": {"well": "b", "dead": "d"}}


@functools.cache
def _data(seed=3):
  rows = panel_cases.table(60, seed, hazard_ratio=1.5)
  return panel_cases.panel_data(rows, covariates=["drug"])


@functools.cache
def _fit(transitions=None, effects=None, cuts=(), fixed=()):
  """Returns a fit, whose arguments are hashable."""
  model = multistate.MultiState(
    _SHARED if transitions == "shared" else _TRANSITIONS,
    effects=dict(effects) if isinstance(effects, tuple) else effects,
    cuts=cuts,
  )
  return inference.fit_mle(model, _data(), fixed=fixed)


def _of_each(rates, coefficients=None, data=None):
  """Computes the log likelihood of each subject, by eigenvectors."""
  data = data or _data()
  ends = onp.flatnonzero(~data.is_first)
  lengths = data.times[ends] - data.times[ends - 1]
  drugs = data.covariates["drug"][ends - 1]
  states = onp.asarray([panel_cases.STATES.index(x) for x in data.states])
  probs = onp.zeros(len(ends))
  for drug in (0.0, 1.0):
    matrix = onp.zeros((3, 3))
    for i, name in enumerate(_NAMES):
      place = tuple(map(panel_cases.STATES.index, name.split(" -> ")))
      log = 0.0 if coefficients is None else drug * coefficients[i]
      matrix[place] = rates[i] * math.exp(log)
    # Two states that can be left have real, distinct eigenvalues.
    slopes, vectors = linalg.eig(panel_cases.generator(matrix))
    inverse = linalg.inv(vectors)
    chosen = drugs == drug
    powers = onp.exp(slopes.real * lengths[chosen, None])
    probs[chosen] = onp.sum(
      vectors[states[ends - 1][chosen]]
      * powers
      * inverse.T[states[ends][chosen]],
      axis=-1,
    ).real
  return onp.bincount(data.subject[ends], onp.log(probs), len(data.subjects))


def _scores(rates):
  """Computes the gradient for each subject by central differences, (n, 4)."""
  columns = []
  for step in 1e-5 * onp.diag(rates):
    ends = [_of_each(rates + sign * step) for sign in (1.0, -1.0)]
    columns.append((ends[0] - ends[1]) / (2.0 * onp.sum(step)))
  return onp.stack(columns, axis=-1)


@functools.cache
def _hessian():
  """Computes the Hessian at the fit without effects, (4, 4)."""
  rates = onp.asarray(_fit().parameters["rates"], onp.float64)
  rows = []
  for step in 1e-4 * onp.diag(rates):
    ends = [
      onp.sum(_scores(rates + sign * step), axis=0) for sign in (1.0, -1.0)
    ]
    rows.append((ends[0] - ends[1]) / (2.0 * onp.sum(step)))
  return onp.stack(rows)


class InferenceTest(test_case.TestCase):
  def test_standard_errors(self):
    fit = _fit()
    rates = onp.asarray(fit.parameters["rates"], onp.float64)
    names, covariance = fit.covariance()
    self.assertEqual(names, tuple(f"rates[{x}]" for x in _NAMES))
    inverse = onp.linalg.inv(-_hessian())
    onp.testing.assert_allclose(covariance, inverse, 1e-4)
    onp.testing.assert_allclose(
      fit.standard_errors["rates"], onp.sqrt(onp.diag(inverse)), 1e-4
    )
    scores = _scores(rates)
    robust = inverse @ scores.T @ scores @ inverse
    onp.testing.assert_allclose(
      fit.covariance(robust=True)[1], robust, 1e-4, atol=1e-6
    )
    onp.testing.assert_allclose(onp.sum(scores, axis=0), 0.0, atol=1e-3)

  def test_criteria(self):
    fit = _fit()
    value = onp.sum(_of_each(onp.asarray(fit.parameters["rates"])))
    onp.testing.assert_allclose(fit.log_likelihood, value, 1e-10)
    self.assertEqual((fit.num_parameters, fit.num_observations), (4, 60.0))
    onp.testing.assert_allclose(fit.aic, 8.0 - 2.0 * value, 1e-10)
    onp.testing.assert_allclose(
      fit.bic, 4.0 * math.log(60.0) - 2.0 * value, 1e-10
    )
    text = str(_fit(effects="drug").summary())
    self.assertIn("effects[drug, ill -> dead]", text)
    self.assertIn("observations 60", text)

  def test_wald_and_profile_intervals(self):
    fit = _fit()
    rates = onp.asarray(fit.parameters["rates"], onp.float64)
    wald = fit.confidence_interval("rates[ill -> well]")
    error = math.sqrt(onp.linalg.inv(-_hessian())[2, 2]) / rates[2]
    z = stats.norm.ppf(0.975)
    onp.testing.assert_allclose(
      [wald.low, wald.high], rates[2] * onp.exp([-z * error, z * error]), 1e-4
    )
    profile = fit.confidence_interval("rates[ill -> well]", method="profile")
    drop = stats.chi2.ppf(0.95, 1) / 2.0
    for end in (profile.low, profile.high):
      start = rates.copy()
      start[2] = float(onp.squeeze(end))
      # The others are fitted anew, by Newton steps on the scores.
      others = [0, 1, 3]
      for _ in range(4):
        slope = onp.sum(_scores(start), axis=0)[others]
        bend = _hessian()[onp.ix_(others, others)]
        start[others] -= onp.linalg.solve(bend, slope)
      value = onp.sum(_of_each(start))
      onp.testing.assert_allclose(value, fit.log_likelihood - drop, atol=1e-3)

  def test_bootstrap_draws_subjects(self):
    fit = _fit()
    result = inference.bootstrap(fit, 3)
    self.assertEqual(result.num_failed, 0)
    for i, entries in enumerate(result.entries):
      sequence = onp.random.SeedSequence(0, spawn_key=(i,))
      random = onp.random.default_rng(sequence)
      counts = random.multinomial(60, onp.full(60, 1.0 / 60.0))
      # Subjects count as often as they were drawn: the scores sum to zero.
      scores = _scores(onp.asarray(entries, onp.float64))
      onp.testing.assert_allclose(counts @ scores, 0.0, atol=5e-3)
    interval = fit.confidence_interval(
      "rates", method="bootstrap", bootstrap=result, confidence_level=0.5
    )
    self.assertTrue(onp.all(interval.low < interval.high))

  def test_parametric_bootstraps_are_refused(self):
    with self.assertRaisesRegex(ValueError, "use method='cases'"):
      inference.bootstrap(_fit(), 3, method="parametric")

  def test_fixed_and_bounded(self):
    fit = _fit(fixed=("rates[well -> dead]", "rates[ill -> dead]"))
    start = onp.asarray(fit.model.parameters["rates"])
    rates = onp.asarray(fit.parameters["rates"])
    onp.testing.assert_array_equal(rates[[1, 3]], start[[1, 3]])
    self.assertEqual(fit.num_parameters, 2)
    onp.testing.assert_allclose(
      onp.sum(_scores(rates), axis=0)[[0, 2]], 0.0, atol=1e-3
    )
    model = multistate.MultiState(_TRANSITIONS, effects=["drug"])
    bounded = inference.fit_mle(
      model, _data(), bounds={"effects": (-0.05, 0.05)}
    )
    effects = onp.asarray(bounded.parameters["effects"])
    self.assertTrue(onp.all(onp.abs(effects) <= 0.05))
    test = inference.likelihood_ratio(_fit(), bounded)
    self.assertTrue(math.isnan(test.p_value))
    self.assertIn("of larger is on the boundary", test.reason)

  def test_numbers_are_not_tied(self):
    model = multistate.MultiState(_TRANSITIONS)
    names = ["rates[well -> dead]", "rates[ill -> dead]"]
    with self.assertRaisesRegex(
      ValueError, r"tied has 'rates\[well -> dead\]'"
    ):
      inference.fit_mle(model, _data(), tied=[names])
    with self.assertRaisesRegex(ValueError, "free has 'rates'"):
      inference.fit_mle(model, _data(), free=["rates"])

  def test_pickles(self):
    fit = _fit(effects="drug")
    again = pickle.loads(pickle.dumps(fit))
    self.assertEqual(again.log_likelihood, fit.log_likelihood)
    onp.testing.assert_allclose(
      again.standard_errors["effects"], fit.standard_errors["effects"], 1e-12
    )

  def _nested(self, smaller, larger, degrees):
    """Checks a test of nested models."""
    test = inference.likelihood_ratio(smaller, larger)
    self.assertEqual(test.reason, "")
    self.assertEqual(test.degrees_of_freedom, degrees)
    statistic = 2.0 * (larger.log_likelihood - smaller.log_likelihood)
    onp.testing.assert_allclose(test.statistic, statistic, 1e-10)
    onp.testing.assert_allclose(
      test.p_value, stats.chi2.sf(statistic, degrees), 1e-10
    )

  def test_likelihood_ratios_of_nested_models(self):
    plain, by_drug = _fit(), _fit(effects="drug")
    one_effect = _fit(effects=((_NAMES, "drug"),))
    self._nested(plain, by_drug, 4)
    self._nested(one_effect, by_drug, 3)
    self._nested(plain, _fit(cuts=(1.0,)), 4)
    self._nested(_fit("shared"), plain, 1)
    self._nested(_fit("shared"), by_drug, 5)
    test = inference.likelihood_ratio(one_effect, _fit(cuts=(1.0,)))
    self.assertTrue(math.isnan(test.p_value))
    self.assertIn("no special case", test.reason)

  def test_which_models_contain_others(self):
    def model(transitions=None, **options):
      known = multistate.MultiState(transitions or _TRANSITIONS, **options)
      return known.with_data(_data())[0]

    plain, two_cuts = model(), model(cuts=[1.0, 1.8])
    shared = model(_SHARED, effects=["drug"])
    for larger, smaller, expected in (
      (two_cuts, model(cuts=[1.0]), True),
      (two_cuts, model(cuts=[1.5]), False),
      (model(effects=["drug"]), shared, True),
      (shared, model(effects=["drug"]), False),
      (two_cuts, shared, False),
      (model(effects=["drug"], cuts=[1.0]), model(cuts=[1.0]), True),
      (plain, model({**_TRANSITIONS, "ill": ["well", "dead", "lost"]}), False),
      # The order of transitions does not matter.
      (plain, model({"ill": ["dead", "well"], "well": ["dead", "ill"]}), True),
    ):
      self.assertIs(larger.contains(smaller), expected)
    self.assertIsNone(plain.contains(inference.LikelihoodModel()))
    other, _ = multistate.MultiState(_TRANSITIONS).with_data(_data(4))
    with self.assertRaisesRegex(ValueError, "different panel data"):
      other.contains(plain)

  def test_wrong_labels_lie_beyond_a_boundary(self):
    model = multistate.MultiState(
      _TRANSITIONS,
      initial_probs={"well": 0.5, "ill": 0.5},
      misclassification={"well": {"ill": 0.1}},
    )
    known, _ = model.with_data(_data())
    plain, _ = multistate.MultiState(_TRANSITIONS).with_data(_data())
    self.assertIs(known.contains(plain), False)
    self.assertIs(known.contains(known), True)


if __name__ == "__main__":
  absltest.main()
