"""Figures of msm, and the reference likelihood of panel data, agree."""

import functools
import itertools

from absl.testing import absltest
from absl.testing import parameterized
import jax
from jax import flatten_util
import numpy as np

from tests.oracle.panel import from_msm
from tests.oracle.panel import given
from tests.oracle.panel import likelihood
from tests.oracle.panel import paths
from tests.oracle.panel import random_cases
from tests.oracle.panel import records
from tests.oracle.panel import settings
from tests.oracle.panel import tables

# Of all settings with four states and no outcome.
_SIZES = records.Sizes(
  parameters=40,
  transitions=6,
  covariates=2,
  cuts=2,
  mislabels=4,
  subjects=500,
  rows=12,
)


def _at(estimates):
  """Returns the setting GIVEN with other parameters, of treated alone."""
  setting = settings.SETTINGS["GIVEN"]()
  log_intensities, effects = np.split(estimates, 2)
  parameters = {"log_intensities": log_intensities, "effects": effects[:, None]}
  return parameters, setting.model, setting.subjects


@functools.cache
def _random_cases():
  rng = np.random.default_rng(66)
  return [random_cases.random_case(rng) for _ in range(40)]


class MsmTest(parameterized.TestCase):
  """Tests stored figures against the reference likelihood."""

  @parameterized.parameters(*settings.SETTINGS)
  def test_log_likelihood(self, name):
    setting = settings.SETTINGS[name]()
    value = likelihood.log_likelihood(
      setting.parameters, setting.model, setting.subjects, _SIZES
    )
    expected = from_msm.LOG_LIKELIHOODS[name]
    np.testing.assert_allclose(value, expected, rtol=1e-13)

  def test_all_settings_are_stored(self):
    self.assertEqual(list(from_msm.LOG_LIKELIHOODS), list(settings.SETTINGS))

  @parameterized.parameters(
    ("BASE", range(12)), ("TIED", (0, 1, 2, 3, 1, 4, 5, 6, 7, 5, 6, 6))
  )
  def test_maximum(self, name, places):
    estimates, errors = getattr(from_msm, name).T
    value, gradient, hessian = likelihood.derivatives(*_at(estimates))
    expected = getattr(from_msm, f"{name}_MAXIMUM")
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    order = [*range(6, 12), *range(6)]  # Effects come first by the alphabet.
    sums = np.eye(max(places) + 1)[list(places)]
    gradient = gradient[order] @ sums
    information = -sums.T @ hessian[np.ix_(order, order)] @ sums
    covariance = np.linalg.inv(information)
    step = np.abs(covariance @ gradient)
    self.assertLess(np.max(step / np.sqrt(np.diag(covariance))), 1e-7)
    computed = np.sqrt(np.diag(covariance))[list(places)]
    np.testing.assert_allclose(computed, errors, rtol=1e-5)

  def test_crude_intensities(self):
    table = tables.clinic()
    for name, column in (("INTENSITIES", "state"), ("CODES", "code")):
      rows = table[column] < 90
      state, time, subject = (
        table[x][rows] for x in (column, "time", "subject")
      )
      same = np.diff(subject) == 0
      origins, ends = (x[same].astype(int) - 1 for x in (state[:-1], state[1:]))
      years = np.bincount(origins, np.diff(time)[same], minlength=4)
      crude = getattr(from_msm, f"CRUDE_{name}")
      for i, j in given.TRANSITIONS:
        count = np.sum((origins == i) & (ends == j))
        self.assertAlmostEqual(crude[i, j], count / years[i], delta=1e-14)

  def test_smoothed(self):
    setting = settings.SETTINGS["LABELS_AT_VISIT"]()
    steps = likelihood.steps(
      setting.parameters, setting.model, setting.subjects, _SIZES
    )
    probs = np.concatenate([paths.smoothed(*x) for x in steps[:20]])
    np.testing.assert_allclose(probs, from_msm.SMOOTHED, atol=1e-13)
    start, matrices = next(x for x in steps if len(x[1]) == 5)
    weights = {
      path: start[path[0]]
      * np.prod([m[i] for m, i in zip(matrices, itertools.pairwise(path))])
      for path in itertools.product(range(4), repeat=6)
    }
    best = max(weights, key=weights.get)
    self.assertEqual(paths.most_likely(start, matrices), list(best))


class RandomCasesTest(absltest.TestCase):
  """Tests random models and data of all kinds."""

  def test_kinds(self):
    cases = _random_cases()
    states = {case.model.num_states for case in cases}
    self.assertEqual(states, set(range(2, 9)))
    rows = [row for case in cases for x in case.subjects for row in x[1:]]
    kinds = {
      (
        row.motion,
        len(row.states or ()) == 1,
        bool(row.labels),
        bool(row.outcome),
      )
      for row in rows
    }
    self.assertContainsSubset(
      {
        (records.VISIT, True, False, False),
        (records.VISIT, False, False, False),
        (records.VISIT, False, True, False),
        (records.VISIT, False, False, True),
        (records.VISIT, False, True, True),
        (records.EXACT, True, False, False),
        (records.ENTRY, True, False, False),
      },
      kinds,
    )

  def test_sizes(self):
    """Derivatives in common sizes are those of the case alone."""
    cases = [x for x in _random_cases() if x.model.cuts and x.model.mislabels]
    case = min(cases, key=lambda x: x.model.num_states)
    arguments = (case.model, case.subjects)
    value, gradient, hessian = likelihood.derivatives(
      case.parameters, *arguments, random_cases.SIZES
    )
    function = likelihood.log_likelihood
    expected = function(case.parameters, *arguments)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    slopes = jax.grad(function)(case.parameters, *arguments)
    slopes, _ = flatten_util.ravel_pytree(slopes)
    np.testing.assert_allclose(gradient, slopes, atol=1e-11)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-11)
    self.assertGreater(np.linalg.matrix_rank(hessian), 3)


if __name__ == "__main__":
  absltest.main()
