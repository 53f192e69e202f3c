"""Pearson-type tests of fit, against msm and against counts in loops."""

import functools

from absl.testing import absltest
import numpy as onp
from scipy import linalg
from scipy import stats

from phasic import inference
from phasic import multistate
from phasic.distributions import Erlang
from tests.helpers import panel_cases
from tests.helpers import test_case
from tests.oracle.panel import from_msm
from tests.oracle.panel import tables

_TRANSITIONS = {"well": ["ill", "dead"], "ill": ["well", "dead"]}
_GROUPS = ("num_time_groups", "num_interval_groups", "num_covariate_groups")


def _rows(num_subjects, seed, rates=panel_cases.RATES, late=1.0):
  """Returns visits and times of death; rates are multiplied after 1.5 years."""
  rng = onp.random.default_rng(seed)
  rows = {"id": [], "year": [], "state": [], "drug": []}

  def add(*row):
    for name, x in zip(rows, row, strict=True):
      rows[name].append(x)

  for i in range(num_subjects):
    drug = float(rng.integers(0, 2))
    now, state = 0.0, int(rng.integers(0, 2))
    add(i, now, panel_cases.STATES[state], drug)
    visits = onp.cumsum(rng.choice([0.4, 0.5, 0.7, 1.0], size=6))
    for visit in visits:
      while state != 2:
        factor, end = (1.0, 1.5) if now < 1.5 else (late, onp.inf)
        exits = rates[state] * factor * 1.5**drug
        wait = rng.exponential(1.0 / sum(exits))
        if now + wait > min(visit, end):
          now = min(visit, end)
          if now == visit:
            break
          continue
        now += wait
        state = int(rng.choice(3, p=exits / sum(exits)))
      add(i, now, panel_cases.STATES[state], drug)
      if state == 2:
        break
  return rows


@functools.cache
def _data():
  rows = _rows(100, 1)
  return panel_cases.panel_data(rows, covariates=["drug"], exact=["dead"])


@functools.cache
def _fit():
  model = multistate.MultiState(_TRANSITIONS, effects=["drug"], cuts=[1.2])
  return inference.fit_mle(model, _data())


def _shares(lengths, dead):
  """Returns planned lengths and probabilities of each interval, by Efron.

  Each interval has the mass one; from left to right, that of a death goes in
  equal parts to all that are longer.
  """
  order = sorted(range(len(lengths)), key=lambda i: (lengths[i], dead[i]))
  shares = {i: {} for i in order if dead[i]}
  for place, i in enumerate(order):
    if dead[i]:
      # Where a death goes, in turn.
      mass = {k: 0.0 for k in order}
      mass[i] = 1.0
      for at, j in enumerate(order[place:], place):
        longer = [k for k in order[at + 1 :] if lengths[k] >= lengths[j]]
        if dead[j] and mass[j] and longer:
          for k in longer:
            mass[k] += mass[j] / len(longer)
          mass[j] = 0.0
      for k, x in mass.items():
        if x and not dead[k]:
          shares[i][lengths[k]] = shares[i].get(lengths[k], 0.0) + x
      total = sum(shares[i].values())
      shares[i] = (
        {k: x / total for k, x in shares[i].items()}
        if total
        else {lengths[i]: 1.0}
      )
  return shares


def _generators(fit, drug):
  """Returns the generators before and after the cut."""
  rates = onp.asarray(fit.parameters["rates"])
  logs = dict(
    zip(
      fit.model.labels["effects"],
      onp.asarray(fit.parameters["effects"]),
      strict=True,
    )
  )
  matrices = []
  for period in (0, 1):
    matrix = onp.zeros((3, 3))
    for name, rate in zip(fit.model.labels["rates"], rates, strict=True):
      place = tuple(map(panel_cases.STATES.index, name.split(" -> ")))
      log = drug * logs[f"drug, {name}"]
      log += period * logs[f"time [1.2, inf), {name}"]
      matrix[place] = rate * onp.exp(log)
    matrices.append(panel_cases.generator(matrix))
  return matrices


class GoodnessOfFitTest(test_case.TestCase):
  def test_agrees_with_msm(self):
    clinic = tables.clinic()
    rows = {"id": [], "year": [], "state": [], "treated": []}
    ended = set()
    for subject, year, state, treated in zip(
      *(clinic[x] for x in ("subject", "time", "state", "treated")), strict=True
    ):
      if state < 4 and subject not in ended:
        for name, x in zip(rows, (subject, year, state, treated), strict=True):
          rows[name].append(int(x) if name == "state" else x)
      if state == 3:
        ended.add(subject)
    data = panel_cases.panel_data(rows, covariates=["treated"])
    model = multistate.MultiState({1: [2], 2: [1, 3]}, effects=["treated"])
    fit = inference.fit_mle(model, data)
    test = multistate.pearson(fit, **dict.fromkeys(_GROUPS, 2))
    statistic, _, low, low_p, high, high_p = from_msm.PEARSON[0]
    onp.testing.assert_allclose(test.statistic, statistic, 1e-5)
    self.assertEqual(test.degrees_of_freedom, (low, high))
    onp.testing.assert_allclose(test.p_value, (low_p, high_p), 1e-4)
    # There rows are by covariates, then intervals, then times, the largest
    # rates first.
    order = onp.reshape(onp.arange(8), (2, 2, 2)).T[::-1].ravel()
    for table, reference in (
      (test.observed, from_msm.PEARSON_OBSERVED),
      (test.expected, from_msm.PEARSON_EXPECTED),
    ):
      onp.testing.assert_allclose(
        onp.reshape(table[order, :2], (8, 6)), reference, 1e-4
      )
    self.assertEqual(
      test.groups[0], "time < 3.245, interval < 1.02, rates < 0.5744"
    )

  def test_exact_deaths_count_in_parts(self):
    data, fit = _data(), _fit()
    test = multistate.pearson(
      fit, num_time_groups=1, num_interval_groups=2, num_covariate_groups=1
    )
    ends = onp.flatnonzero(~data.is_first)
    dead = data.states[ends] == "dead"
    self.assertGreater(sum(dead), 20)
    lengths = data.times[ends] - data.times[ends - 1]
    shares = _shares(list(lengths), list(dead))
    split = onp.median(lengths[~dead])
    observed, expected = onp.zeros((2, 3, 3)), onp.zeros((2, 3, 3))
    variance = onp.zeros((2, 3, 3))
    generators = {x: _generators(fit, x) for x in (0.0, 1.0)}
    for i, row in enumerate(ends):
      start, drug = data.times[row - 1], data.covariates["drug"][row - 1]
      a, b = (panel_cases.STATES.index(data.states[r]) for r in (row - 1, row))
      differences = onp.zeros((2, 3))
      squares = onp.zeros((2, 3))
      for length, share in shares.get(i, {lengths[i]: 1.0}).items():
        early = float(onp.clip(1.2 - start, 0.0, length))
        first, second = generators[drug]
        probs = linalg.expm(first * early) @ linalg.expm(
          second * (length - early)
        )
        group = int(length >= split)
        observed[group, a, b] += share
        expected[group, a] += share * probs[a]
        # What the cells of a row would get, if this length were drawn.
        got = onp.eye(3)[b] - probs[a]
        differences[group] += share * got
        squares[group] += share * got**2
      variance[:, a] += squares - differences**2
    onp.testing.assert_allclose(test.observed, observed, 1e-9, atol=1e-9)
    onp.testing.assert_allclose(test.expected, expected, 1e-9, atol=1e-9)
    cells = expected > 0
    squares = (observed - expected) ** 2 + variance
    statistic = onp.sum(squares[cells] / expected[cells])
    onp.testing.assert_allclose(test.statistic, statistic, 1e-9)
    # Two groups, two states, three columns each.
    self.assertEqual(test.degrees_of_freedom, (0, 8))
    onp.testing.assert_allclose(
      test.p_value, (0.0, stats.chi2.sf(statistic, 8)), 1e-9
    )

  def test_groups(self):
    test = multistate.pearson(_fit())
    # Rates have four values: with and without the drug, before and after.
    self.assertLessEqual(len(test.groups), 27)
    num_transitions = onp.sum(~_data().is_first)
    onp.testing.assert_allclose(onp.sum(test.observed), num_transitions, 1e-9)
    onp.testing.assert_allclose(
      onp.sum(test.observed, axis=-1), onp.sum(test.expected, axis=-1), 1e-9
    )
    one = multistate.pearson(_fit(), **dict.fromkeys(_GROUPS, 1))
    self.assertEqual(one.groups, ("all",))
    onp.testing.assert_allclose(
      onp.sum(test.expected, axis=0), one.expected[0], 1e-9
    )

  def test_a_wrong_model_does_not_fit(self):
    data = panel_cases.panel_data(_rows(300, 2, late=4.0), exact=["dead"])
    tests = [
      multistate.pearson(
        inference.fit_mle(multistate.MultiState(_TRANSITIONS, cuts=cuts), data),
        num_interval_groups=1,
      )
      for cuts in ((), (1.5,))
    ]
    self.assertLess(tests[0].p_value[1], 1e-4)
    self.assertGreater(tests[1].p_value[1], 0.01)

  def test_sets_of_states_count_in_parts(self):
    rows = {
      "id": [1, 1, 1, 2, 2],
      "year": [0.0, 1.0, 2.0, 0.0, 1.0],
      "state": ["well", "alive", "ill", "well", "ill"],
    }
    data = panel_cases.panel_data(rows, censored={"alive": ["well", "ill"]})
    model = multistate.MultiState({"well": ["ill"], "ill": ["dead"]})
    fit = inference.fit_mle(model, data, fixed=["rates"])
    test = multistate.pearson(fit)
    first, second = onp.asarray(fit.parameters["rates"])
    probs = linalg.expm(
      panel_cases.generator([[0, first, 0], [0, 0, second], [0, 0, 0]])
    )[0]
    onp.testing.assert_allclose(test.expected[0, 0], 2.0 * probs, 1e-9)
    alive = probs[:2] / sum(probs[:2])
    onp.testing.assert_allclose(
      test.observed[0, 0], [alive[0], 1.0 + alive[1], 0.0], 1e-9
    )
    # What follows the set does not count.
    self.assertEqual(test.num_left_out, 1)

  def test_small_expected_numbers_are_said(self):
    with self.assertWarnsRegex(
      RuntimeWarning, r"\d+ of \d+ expected numbers are below 5: .* rough"
    ):
      multistate.pearson(_fit(), **dict.fromkeys(_GROUPS, 4))

  def test_prints(self):
    test = multistate.pearson(_fit(), **dict.fromkeys(_GROUPS, 1))
    lines = str(test).splitlines()
    self.assertStartsWith(lines[0], "Pearson-type test: statistic ")
    self.assertEqual(
      lines[1].split(),
      ["observed", "(expected)", "to", "well", "to", "ill", "to", "dead"],
    )
    self.assertStartsWith(lines[2], "all, well")
    self.assertLen(lines, 4)
    self.assertStartsWith(repr(test), "<PearsonTest statistic ")

  def test_errors(self):
    fit = _fit()
    for wrong, error in ((0, ValueError), (1.5, TypeError), (True, TypeError)):
      for name in _GROUPS:
        with self.assertRaisesRegex(error, name):
          multistate.pearson(fit, **{name: wrong})
    with self.assertRaisesRegex(TypeError, "fit is str"):
      multistate.pearson("fit")
    rows = _rows(10, 3)
    fixed = {"fixed": ["rates"]}
    held = panel_cases.panel_data(rows, exact_times=True)
    hidden = multistate.MultiState(
      _TRANSITIONS,
      initial_probs={"well": 0.5, "ill": 0.5},
      misclassification={"well": {"ill": 0.1}},
    )
    phased = multistate.MultiState(
      multistate.Intensities(_TRANSITIONS, sojourns={"ill": Erlang(2, 1.0)})
    )
    plain = multistate.MultiState(_TRANSITIONS)
    for model, data, message in (
      (plain, held, "known time of transition"),
      (plain, panel_cases.panel_data(rows, exact=["ill"]), "known time"),
      (hidden, panel_cases.panel_data(rows), "hidden states"),
      (phased, panel_cases.panel_data(rows), "several phases"),
    ):
      with self.assertRaisesRegex(ValueError, message):
        multistate.pearson(inference.fit_mle(model, data, **fixed))


if __name__ == "__main__":
  absltest.main()
