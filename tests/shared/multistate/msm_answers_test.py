"""Answers of fits are those of R's package msm.

The fit is at the maximum that msm found, too; estimates are compared in standard
errors. These are msm's to 1e-3, as it takes the Hessian by differences.
"""

import dataclasses
import functools
import math
import statistics

from absl.testing import absltest
import numpy as onp

from phasic import inference
from phasic import multistate
from tests.helpers import test_case
from tests.oracle.panel import from_msm
from tests.oracle.panel import given
from tests.oracle.panel import tables

_TARGETS = {
  "well": ["mild", "dead"],
  "mild": ["well", "severe", "dead"],
  "severe": ["dead"],
}
_PAIRS = tuple(onp.transpose(given.TRANSITIONS))
_BOTH = {"treated": [0.0, 1.0]}
_QUANTILE = statistics.NormalDist().inv_cdf(0.975)


def _data(column="state", exact=("dead",), subjects=500):
  names = dict(enumerate(tables.STATES, start=1))
  table = tables.clinic()
  first = table["subject"] <= subjects
  table = {name: column[first] for name, column in table.items()}
  table["state"] = [names[int(x)] for x in table[column]]
  return multistate.PanelData.from_table(
    table,
    subject="subject",
    time="time",
    state="state",
    exact=list(exact),
    covariates=["treated"],
  )


@functools.cache
def _fit():
  """Returns the fit whose figures are BASE."""
  model = multistate.MultiState(_TARGETS, effects=["treated"])
  return inference.fit_mle(model, _data())


def _at(data, effects, **options):
  """Returns a fit whose rates and effects are given."""
  names = [
    f"{tables.STATES[i]} -> {tables.STATES[j]}" for i, j in given.TRANSITIONS
  ]
  rates = dict(zip(names, given.START.tolist(), strict=True))
  model = multistate.MultiState(
    multistate.Intensities(_TARGETS, rates=rates),
    effects=["treated"],
    **options,
  )
  bound, _ = model.with_data(data)
  values = [
    effects[label.rsplit(", ", 1)[0]][names.index(label.rsplit(", ", 1)[1])]
    for label in bound.labels["effects"]
  ]
  others = [x for x in bound.parameters if x != "effects"]
  # It ends where it begins.
  fit = inference.fit_mle(model, data, fixed=others, tolerance=1e9)
  parameters = {**fit.parameters, "effects": onp.asarray(values)}
  return dataclasses.replace(fit, parameters=parameters)


def _figures(name):
  """Returns the figures of the untreated and the treated."""
  both = [getattr(from_msm, f"{name}_{i}") for i in (0, 1)]
  return onp.stack([x[0] if len(x) == 1 else x for x in both])


def _log_errors(interval):
  """Returns standard errors of logarithms, by intervals on this scale."""
  return onp.log(interval.high / interval.low) / (2.0 * _QUANTILE)


def _log_odds(x):
  return onp.log(x) - onp.log1p(-onp.asarray(x))


class MsmAnswersTest(test_case.TestCase):
  """Tests what msm answers, of the untreated and the treated."""

  def check(self, interval, expected):
    """Compares estimates; equally infinite or certain ones must be equal."""
    x, expected = onp.asarray(interval.estimate), onp.asarray(expected)
    with onp.errstate(invalid="ignore"):
      width = onp.asarray(interval.high) - onp.asarray(interval.low)
      error = width / (2.0 * _QUANTILE)
    known = onp.isfinite(error) & (error > 0.0)
    self.assertTrue(onp.any(known))
    scaled = (x[known] - expected[known]) / error[known]
    onp.testing.assert_allclose(scaled, 0.0, atol=1e-3)
    onp.testing.assert_allclose(x[~known], expected[~known], 1e-12)

  def test_intensities(self):
    interval = multistate.qmatrix(_fit(), _BOTH)
    self.check(interval, _figures("INTENSITIES_ESTIMATES"))
    errors = _figures("INTENSITIES_SE")
    scale = onp.where(errors > 0.0, errors, 1.0)
    for x, name in ((interval.low, "L"), (interval.high, "U")):
      ends = (onp.asarray(x) - _figures(f"INTENSITIES_{name}")) / scale
      onp.testing.assert_allclose(ends, 0.0, atol=5e-3)
    # Of those that are not zero.
    some = errors > 0.0
    with onp.errstate(invalid="ignore"):
      logs = onp.abs(_log_errors(interval))[some]
    ours = logs * onp.abs(interval.estimate[some])
    onp.testing.assert_allclose(ours, errors[some], 1e-3)

  def test_sojourn_times(self):
    interval = multistate.sojourn_times(_fit(), _BOTH)
    figures = _figures("SOJOURNS")
    alive = interval._replace(
      **{x: getattr(interval, x)[:, :3] for x in ("estimate", "low", "high")}
    )
    self.check(alive, figures[..., 0])
    errors = _log_errors(alive) * alive.estimate
    onp.testing.assert_allclose(errors, figures[..., 1], 1e-3)
    onp.testing.assert_allclose(alive.low, figures[..., 2], 1e-3)
    onp.testing.assert_allclose(alive.high, figures[..., 3], 1e-3)
    onp.testing.assert_array_equal(interval.estimate[:, 3], math.inf)

  def test_next_states(self):
    interval = multistate.next_state_probs(_fit(), _BOTH)
    self.check(interval, _figures("NEXT_STATES_ESTIMATES"))
    low, high = _figures("NEXT_STATES_L"), _figures("NEXT_STATES_U")
    some = high > low
    # Ours are symmetric in log odds, msm's in logarithms.
    odds = _log_odds(interval.high[some]) - _log_odds(interval.low[some])
    logs = odds * (1.0 - interval.estimate[some])
    onp.testing.assert_allclose(logs, onp.log(high[some] / low[some]), 1e-3)

  def test_transition_probabilities(self):
    interval = multistate.pmatrix(_fit(), 5.0, _BOTH)
    self.check(interval, _figures("TRANSITION_PROBS"))

  def test_lengths_of_stay(self):
    # Between one year and five, by the difference.
    late, early = (
      multistate.length_of_stay(_fit(), end, _BOTH, start="well")
      for end in (5.0, 1.0)
    )
    difference = late._replace(estimate=late.estimate - early.estimate)
    self.check(difference, _figures("STAYS"))
    forever = multistate.length_of_stay(_fit(), covariates=_BOTH, start="well")
    dead = onp.full((2, 1), math.inf)
    expected = onp.concatenate([_figures("STAYS_FOREVER"), dead], axis=1)
    self.check(forever, expected)

  def test_passage_times(self):
    interval = multistate.passage_times(_fit(), "dead", _BOTH)
    self.check(interval, _figures("PASSAGES_TO_DEAD"))
    # Severe illness may be missed.
    interval = multistate.passage_times(_fit(), "severe", _BOTH)
    expected = _figures("PASSAGES_TO_SEVERE")
    onp.testing.assert_array_equal(interval.estimate, expected)

  def test_hazard_ratios(self):
    interval = multistate.hazard_ratios(_fit()).interval
    self.check(interval, from_msm.HAZARD_RATIOS[:, 0])
    onp.testing.assert_allclose(
      interval.low, from_msm.HAZARD_RATIOS[:, 1], 2e-3
    )
    onp.testing.assert_allclose(
      interval.high, from_msm.HAZARD_RATIOS[:, 2], 2e-3
    )

  def test_prevalence(self):
    times = onp.asarray(from_msm.PREVALENCE_TIMES)
    counted = multistate.prevalence(_fit(), times)
    numbers = onp.append(counted.observed, counted.totals[:, None], axis=1)
    onp.testing.assert_array_equal(numbers, from_msm.OBSERVED_START)
    # msm expects that all start in the same shares, whoever is still followed,
    # ours are of each subject's first state.
    shares = counted.observed[0] / counted.totals[0]
    probs = onp.matmul(
      shares, multistate.pmatrix(_fit(), times, _BOTH).estimate
    )
    treated = counted.totals[:, None] * probs[1]
    onp.testing.assert_allclose(
      treated, from_msm.EXPECTED_TREATED[:, :4], 1e-5, atol=1e-12
    )
    # So they are equal at the start and near each other later.
    expected = counted.expected.estimate
    onp.testing.assert_allclose(expected[0], counted.observed[0], atol=1e-9)
    onp.testing.assert_allclose(
      onp.sum(expected, axis=-1), counted.totals, 1e-9
    )
    onp.testing.assert_allclose(
      expected, from_msm.EXPECTED_START[:, :4], atol=6.0
    )

  def test_crude_rates(self):
    bound, _ = multistate.MultiState(_TARGETS).with_data(_data())
    onp.testing.assert_allclose(
      bound.parameters["rates"], from_msm.CRUDE_INTENSITIES[_PAIRS], 1e-12
    )

  def test_periods(self):
    effects = {
      "treated": given.EFFECTS,
      "time [2, 5)": given.PERIOD_EFFECTS[0],
      "time [5, inf)": given.PERIOD_EFFECTS[1],
    }
    # Probabilities at given parameters need few data.
    fit = _at(_data(subjects=20), effects, cuts=given.CUTS)
    interval = multistate.pmatrix(fit, 5.0, {"treated": 1.0}, start_time=1.0)
    onp.testing.assert_allclose(
      interval.estimate, from_msm.PERIODS_TRANSITION_PROBS, 1e-11
    )

  def test_smoothed_states(self):
    wrong = {}
    for (i, label), prob in zip(
      given.MISLABELS, given.MISLABEL_PROBS.tolist(), strict=True
    ):
      wrong.setdefault(tables.STATES[i], {})[tables.STATES[label]] = prob
    data = _data("label", exact=(), subjects=20)
    fit = _at(
      data,
      {"treated": given.EFFECTS},
      initial_probs=dict(zip(tables.STATES, given.FIRST, strict=False)),
      misclassification=wrong,
    )
    probs = multistate.state_probs(fit)
    onp.testing.assert_allclose(probs, from_msm.SMOOTHED, atol=1e-12)


if __name__ == "__main__":
  absltest.main()
