"""Answers of fitted multi-state models, against SciPy and closed forms.

Intervals are compared with the delta method, with central differences of those.
"""

import functools
import math
import statistics

from absl.testing import absltest
import numpy as onp
from scipy import integrate
from scipy import linalg

from phasic import inference
from phasic import multistate
from phasic.distributions import Erlang
from tests.helpers import panel_cases
from tests.helpers import test_case

_TRANSITIONS = {"well": ["ill", "dead"], "ill": ["well", "dead"]}
_NORMAL = statistics.NormalDist().inv_cdf(0.95)  # of intervals of 90 %
_LEVEL = {"confidence_level": 0.9}


@functools.cache
def _data():
  rows = panel_cases.table(120, 3, hazard_ratio=1.5)
  return panel_cases.panel_data(rows, covariates=["drug"])


@functools.cache
def _fit():
  """Returns a fit with an effect and a cut."""
  model = multistate.MultiState(_TRANSITIONS, effects=["drug"], cuts=[1.5])
  return inference.fit_mle(model, _data())


@functools.cache
def _phased():
  """Returns a fit in which illness has two phases."""
  intensities = multistate.Intensities(
    _TRANSITIONS, sojourns={"ill": Erlang(2, 1.0)}
  )
  return inference.fit_mle(multistate.MultiState(intensities), _data())


def _numbers(fit):
  """Returns the fitted numbers by name."""
  return {
    name: float(fit.confidence_interval(name).estimate)
    for name in fit.covariance()[0]
  }


def _matrix(numbers, drug, period):
  """Returns the generator of `_fit`, given its numbers."""
  matrix = onp.zeros((3, 3))
  for source, targets in _TRANSITIONS.items():
    for target in targets:
      name = f"{source} -> {target}"
      log = math.log(numbers[f"rates[{name}]"])
      log += drug * numbers[f"effects[drug, {name}]"]
      if period:
        log += numbers[f"effects[time [1.5, inf), {name}]"]
      place = panel_cases.STATES.index
      matrix[place(source), place(target)] = math.exp(log)
  return panel_cases.generator(matrix)


def _probs(numbers, drug, start, time):
  """Returns transition probabilities of `_fit`."""
  first = min(time, max(1.5 - start, 0.0))
  early = linalg.expm(_matrix(numbers, drug, 0) * first)
  return early @ linalg.expm(_matrix(numbers, drug, 1) * (time - first))


class AnswersTest(test_case.TestCase):
  def check(self, interval, function, fit, low, high, rtol=1e-10):
    """Compares an interval with a function of the fitted numbers."""
    numbers = _numbers(fit)
    expected = onp.asarray(function(numbers))
    onp.testing.assert_allclose(interval.estimate, expected, rtol, atol=1e-300)
    names, covariance = fit.covariance()
    slopes = []
    for name in names:
      step = 1e-5 * max(abs(numbers[name]), 1.0)
      ends = [
        onp.asarray(function({**numbers, name: numbers[name] + sign * step}))
        for sign in (1.0, -1.0)
      ]
      with onp.errstate(invalid="ignore"):
        slopes.append((ends[0] - ends[1]) / (2.0 * step))
    slopes = onp.nan_to_num(onp.stack(slopes, axis=-1))
    variance = onp.einsum("...i,ij,...j", slopes, covariance, slopes)
    spread = _NORMAL * onp.sqrt(variance)
    self.assertEqual(interval.confidence_level, 0.9)
    with onp.errstate(all="ignore"):
      scale = 1.0 / (expected - low) + (
        1.0 / (high - expected) if high < math.inf else 0.0
      )
      odds = (
        expected - low
        if high == math.inf
        else ((expected - low) / (high - expected))
      )
      for sign, end in ((-1.0, interval.low), (1.0, interval.high)):
        moved = odds * onp.exp(sign * spread * scale)
        wanted = low + (
          moved if high == math.inf else (high - low) * moved / (1.0 + moved)
        )
        wanted = onp.where(spread > 0.0, wanted, expected)
        onp.testing.assert_allclose(end, wanted, 1e-5, atol=1e-12)

  def test_transition_probabilities(self):
    times = onp.asarray([[0.0, 0.5], [2.0, 6.0]])
    interval = multistate.pmatrix(
      _fit(), times, {"drug": [0.0, 1.0, 1.0]}, start_time=0.75, **_LEVEL
    )
    self.assertEqual(interval.estimate.shape, (3, 2, 2, 3, 3))
    self.check(
      interval,
      lambda numbers: [
        [[_probs(numbers, drug, 0.75, t) for t in row] for row in times]
        for drug in (0.0, 1.0, 1.0)
      ],
      _fit(),
      0.0,
      1.0,
    )
    # An absorbing state is certain, and so is any state without time.
    unit = onp.eye(3)
    for end in (interval.estimate, interval.low, interval.high):
      onp.testing.assert_array_equal(end[:, 0, 0], onp.stack([unit] * 3))
      onp.testing.assert_array_equal(
        end[..., 2, :], unit[2] + 0.0 * end[..., 2, :]
      )

  def test_late_starts(self):
    # After the cut there is one period, and one row has no axis.
    interval = multistate.pmatrix(
      _fit(), 2.0, {"drug": 1.0}, start_time=9.0, **_LEVEL
    )
    self.assertEqual(interval.estimate.shape, (3, 3))
    numbers = _numbers(_fit())
    onp.testing.assert_allclose(
      interval.estimate, _probs(numbers, 1.0, 9.0, 2.0), 1e-10
    )
    split = multistate.pmatrix(_fit(), 1.0, {"drug": 1.0}, start_time=1.0)
    parts = [
      multistate.pmatrix(_fit(), 0.5, {"drug": 1.0}, start_time=start).estimate
      for start in (1.0, 1.5)
    ]
    onp.testing.assert_allclose(split.estimate, parts[0] @ parts[1], 1e-12)

  def test_intensities(self):
    interval = multistate.qmatrix(_fit(), {"drug": 1.0}, time=2.0, **_LEVEL)
    own = onp.eye(3, dtype=bool)

    def unsigned(x, other):
      return onp.where(own, -other, x)

    self.check(
      interval._replace(
        estimate=unsigned(interval.estimate, interval.estimate),
        low=unsigned(interval.low, interval.high),
        high=unsigned(interval.high, interval.low),
      ),
      lambda numbers: onp.abs(_matrix(numbers, 1.0, 1)),
      _fit(),
      0.0,
      math.inf,
    )

  def test_times_of_sojourns(self):
    def times(numbers):
      exits = -onp.diag(_matrix(numbers, 0.0, 0))
      return onp.append(1.0 / exits[:2], onp.inf)

    interval = multistate.sojourn_times(_fit(), {"drug": 0.0}, **_LEVEL)
    self.check(interval, times, _fit(), 0.0, math.inf)

  def test_next_states(self):
    def probs(numbers):
      matrix = _matrix(numbers, 1.0, 0)
      rates = onp.where(onp.eye(3, dtype=bool), 0.0, matrix)
      return rates / onp.asarray([*-onp.diag(matrix)[:2], 1.0])[:, None]

    interval = multistate.next_state_probs(_fit(), {"drug": [1.0]}, **_LEVEL)
    self.check(
      interval._replace(
        estimate=interval.estimate[0],
        low=interval.low[0],
        high=interval.high[0],
      ),
      probs,
      _fit(),
      0.0,
      1.0,
    )

  def test_first_passages(self):
    def to_death(numbers):
      inner = _matrix(numbers, 1.0, 0)[:2, :2]
      return onp.append(onp.linalg.solve(-inner, onp.ones(2)), 0.0)

    interval = multistate.passage_times(_fit(), "dead", {"drug": 1.0}, **_LEVEL)
    self.check(interval, to_death, _fit(), 0.0, math.inf)
    # Illness may never come, and one of two absorbing ends is certain.
    missed = multistate.passage_times(_fit(), "ill", {"drug": 1.0})
    for x in (missed.estimate, missed.low, missed.high):
      onp.testing.assert_array_equal(x, [math.inf, 0.0, math.inf])
    either = multistate.passage_times(_fit(), ["ill", "dead"], {"drug": 1.0})
    stay = multistate.sojourn_times(_fit(), {"drug": 1.0})
    onp.testing.assert_allclose(
      either.estimate, [stay.estimate[0], 0.0, 0.0], 1e-12
    )

  def test_lengths_of_stay(self):
    def until(numbers):
      return [
        [
          integrate.quad(
            lambda t, i=i, j=j: _probs(numbers, 1.0, 0.5, t)[i, j],
            0.0,
            4.0,
            points=[1.0],
            epsabs=1e-13,
          )[0]
          for j in range(3)
        ]
        for i in range(3)
      ]

    interval = multistate.length_of_stay(
      _fit(), 4.0, {"drug": 1.0}, start_time=0.5, **_LEVEL
    )
    self.check(interval, until, _fit(), 0.0, 4.0, rtol=1e-9)

  def test_lengths_of_stay_for_ever(self):
    def for_ever(numbers):
      early, late = (_matrix(numbers, 0.0, i)[:2, :2] for i in (0, 1))
      passed = linalg.expm(early)
      first = onp.linalg.solve(-early, onp.eye(2) - passed)
      rest = passed @ onp.linalg.inv(-late)
      return onp.append((first + rest)[0], math.inf)

    interval = multistate.length_of_stay(
      _fit(), covariates={"drug": 0.0}, start="well", start_time=0.5, **_LEVEL
    )
    self.check(interval, for_ever, _fit(), 0.0, math.inf)

  def test_several_phases(self):
    # Illness takes a time of Erlang's, whose mean is one over the rates' sum.
    fit = _phased()
    q = multistate.qmatrix(fit).estimate
    self.assertEqual(fit.model.phases, ("well", "ill[1]", "ill[2]", "dead"))
    numbers = _numbers(fit)
    a, b, c, d = (
      numbers[f"rates[{x}]"]
      for x in ("well -> ill", "well -> dead", "ill -> well", "ill -> dead")
    )
    expected = [
      [-a - b, a, 0.0, b],
      [0.0, -2.0 * (c + d), 2.0 * (c + d), 0.0],
      [2.0 * c, 0.0, -2.0 * (c + d), 2.0 * d],
      [0.0] * 4,
    ]
    onp.testing.assert_allclose(q, expected, 1e-12)
    start = onp.eye(4)[[0, 1, 3]]
    members = onp.eye(3)[[0, 1, 1, 2]]
    onp.testing.assert_allclose(
      multistate.pmatrix(fit, 1.7).estimate,
      start @ linalg.expm(1.7 * q) @ members,
      1e-10,
    )
    onp.testing.assert_allclose(
      multistate.sojourn_times(fit).estimate,
      [1.0 / (a + b), 1.0 / (c + d), math.inf],
      1e-10,
    )
    onp.testing.assert_allclose(
      multistate.next_state_probs(fit).estimate,
      [
        [0.0, a / (a + b), b / (a + b)],
        [c / (c + d), 0.0, d / (c + d)],
        [0.0, 0.0, 0.0],
      ],
      1e-10,
    )
    times = onp.linalg.solve(-q[:3, :3], onp.ones(3))
    onp.testing.assert_allclose(
      multistate.passage_times(fit, "dead").estimate,
      [times[0], times[1], 0.0],
      1e-10,
    )

  def test_hazard_ratios(self):
    ratios = multistate.hazard_ratios(_fit(), **_LEVEL)
    numbers = _numbers(_fit())
    _, covariance = _fit().covariance()
    self.assertLen(ratios.names, 8)
    for i, name in enumerate(ratios.names):
      place = list(numbers).index(f"effects[{name}]")
      beta, error = (
        numbers[f"effects[{name}]"],
        math.sqrt(covariance[place, place]),
      )
      onp.testing.assert_allclose(
        [ratios.interval.low[i], ratios.interval.high[i]],
        onp.exp([beta - _NORMAL * error, beta + _NORMAL * error]),
        1e-10,
      )
    self.assertStartsWith(str(ratios).split("\n")[1], "drug, well -> ill ")
    self.assertIn("90 % low", str(ratios))

  def test_refusals(self):
    cases = [
      (TypeError, "covariates is None", lambda: multistate.qmatrix(_fit())),
      (TypeError, "it must be the ModelFit", lambda: multistate.qmatrix(1)),
      (
        ValueError,
        "times has -1: it must be finite and >= 0",
        lambda: multistate.pmatrix(_phased(), [1.0, -1.0]),
      ),
      (
        ValueError,
        "until has -2: it must be >= 0",
        lambda: multistate.length_of_stay(_phased(), -2.0),
      ),
      (
        ValueError,
        "to is 'lost': it must be of the states well, ill, dead",
        lambda: multistate.passage_times(_phased(), "lost"),
      ),
      (
        ValueError,
        "columns have different numbers of rows",
        lambda: multistate.qmatrix(_fit(), {"drug": [1.0], "x": [1, 2]}),
      ),
      (
        ValueError,
        "rates without coefficients",
        lambda: multistate.hazard_ratios(_phased()),
      ),
      (
        ValueError,
        "labels that are never wrong",
        lambda: multistate.label_probs(_phased()),
      ),
      (
        ValueError,
        "first states that are known",
        lambda: multistate.initial_state_probs(_phased()),
      ),
    ]
    for kind, message, call in cases:
      with self.subTest(message), self.assertRaisesRegex(kind, message):
        call()


class HiddenAnswersTest(test_case.TestCase):
  def test_hidden(self):
    rows = panel_cases.table(120, 5)
    model = multistate.MultiState(
      _TRANSITIONS,
      initial_probs={"well": 0.6, "ill": 0.4},
      estimate_initial_probs=True,
      misclassification={"ill": {"well": 0.1}},
      misclassification_effects=["drug"],
    )
    data = panel_cases.panel_data(rows, covariates=["drug"])
    fit = inference.fit_mle(model, data)
    numbers = _numbers(fit)
    names, covariance = fit.covariance()
    odds = math.exp(numbers["initial_probs[ill]"])
    interval = multistate.initial_state_probs(fit, **_LEVEL)
    onp.testing.assert_allclose(
      interval.estimate, [1.0 / (1.0 + odds), odds / (1.0 + odds), 0.0], 1e-10
    )
    i = names.index("initial_probs[ill]")
    high = odds * math.exp(_NORMAL * math.sqrt(covariance[i, i]))
    onp.testing.assert_allclose(interval.high[1], high / (1.0 + high), 1e-8)
    onp.testing.assert_array_equal([interval.low[2], interval.high[2]], 0.0)
    probs = multistate.label_probs(fit, {"drug": [0.0, 1.0]}, **_LEVEL)
    for drug in (0, 1):
      log = numbers["misclassification[well | ill]"]
      log += drug * numbers["misclassification_effects[drug, well | ill]"]
      wrong = 1.0 / (1.0 + math.exp(-log))
      onp.testing.assert_allclose(
        probs.estimate[drug],
        [[1.0, 0.0, 0.0], [wrong, 1.0 - wrong, 0.0], [0.0, 0.0, 1.0]],
        1e-10,
      )


if __name__ == "__main__":
  absltest.main()
