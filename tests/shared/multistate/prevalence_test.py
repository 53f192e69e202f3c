"""Observed and expected numbers in states, counts of transitions, pictures."""

import functools
import math
from unittest import mock

from absl.testing import absltest
import numpy as onp
from scipy import linalg

from phasic import inference
from phasic import multistate
from tests.helpers import panel_cases
from tests.helpers import test_case

_TRANSITIONS = {"well": ["ill", "dead"], "ill": ["well", "dead"]}


@functools.cache
def _fit():
  """Returns a fit to five subjects, to whom covariates change, with a cut."""
  rows = {
    "id": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4],
    "year": [0, 1, 4, 0.5, 2, 3, 0, 1.5, 2.5, 0, 3.5, 0, 1.2, 2],
    "state": [
      *("well", "ill", "dead", "ill", "well", "well", "well", "well", "ill"),
      *("well", "dead", "ill", "well", "ill"),
    ],
    "drug": [0, 1, math.nan, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1],
  }
  model = multistate.MultiState(
    multistate.Intensities(
      _TRANSITIONS,
      rates={
        "well -> ill": 0.5,
        "well -> dead": 0.2,
        "ill -> well": 0.6,
        "ill -> dead": 0.3,
      },
    ),
    effects={("well -> ill", "ill -> dead"): ["drug"]},
    cuts=[1.8],
  )
  data = panel_cases.panel_data(rows, exact=["dead"], covariates=["drug"])
  bound, _ = model.with_data(data)
  periods = [x for x in bound.labels["effects"] if x.startswith("time")]
  fixed = [f"effects[{x}]" for x in periods[1:]]
  return inference.fit_mle(model, data, fixed=["rates", *fixed])


def _expected(fit, moves):
  """Returns probabilities after moves (drug, late, length) of a start."""
  effects = dict(
    zip(
      fit.model.labels["effects"],
      onp.asarray(fit.parameters["effects"]),
      strict=True,
    )
  )
  rates = dict(
    zip(
      fit.model.labels["rates"],
      onp.asarray(fit.parameters["rates"]),
      strict=True,
    )
  )
  start, moves = moves[0], moves[1:]
  row = onp.eye(3)[panel_cases.STATES.index(start)]
  for drug, late, length in moves:
    matrix = onp.zeros((3, 3))
    for name, rate in rates.items():
      log = math.log(rate) + late * effects[f"time [1.8, inf), {name}"]
      if name in ("well -> ill", "ill -> dead"):
        log += drug * effects["drug, well -> ill & ill -> dead"]
      i, j = (panel_cases.STATES.index(x) for x in name.split(" -> "))
      matrix[i, j] = math.exp(log)
    row = row @ linalg.expm(panel_cases.generator(matrix) * length)
  return row


class PrevalenceTest(test_case.TestCase):
  def test_against_paths(self):
    # Subject 2 leaves after 2.5, 4 after 2, 1 comes at 0.5 and leaves after 3;
    # the dead stay.
    fit = _fit()
    known = multistate.prevalence(fit, [0.0, 1.5, 3.0, 9.0])
    onp.testing.assert_array_equal(known.totals, [4, 5, 3, 2])
    onp.testing.assert_array_equal(
      known.observed, [[3, 1, 0], [3, 2, 0], [2, 1, 0], [0, 0, 2]]
    )
    paths = [
      [["well"], ["well"], ["well"], ["ill"]],
      [
        ["well", (0, 0, 1.0), (1, 0, 0.5)],
        ["ill", (1, 0, 1.0)],
        ["well", (0, 0, 1.5)],
        ["well", (1, 0, 1.5)],
        ["ill", (0, 0, 1.5)],
      ],
      [
        ["well", (0, 0, 1.0), (1, 0, 0.8), (1, 1, 1.2)],
        ["ill", (1, 0, 1.3), (1, 1, 0.2), (0, 1, 1.0)],
        ["well", (1, 0, 1.8), (1, 1, 1.2)],
      ],
      [
        ["well", (0, 0, 1.0), (1, 0, 0.8), (1, 1, 7.2)],
        ["well", (1, 0, 1.8), (1, 1, 7.2)],
      ],
    ]
    expected = [sum(_expected(fit, x) for x in group) for group in paths]
    onp.testing.assert_allclose(known.expected.estimate, expected, 1e-10)
    onp.testing.assert_allclose(
      known.expected_percent.estimate,
      100.0 * onp.asarray(expected) / known.totals[:, None],
      1e-10,
    )
    low, high = known.expected.low, known.expected.high
    onp.testing.assert_array_equal(low[0], expected[0])
    inner = slice(1, None)
    self.assertTrue(onp.all(low[inner] < known.expected.estimate[inner]))
    self.assertTrue(onp.all(high[inner] > known.expected.estimate[inner]))
    self.assertTrue(onp.all(high <= known.totals[:, None]))
    self.assertEqual(
      str(known).split("\n")[0],
      "time  total  well  expected  ill  expected  dead  expected",
    )

  def test_before_all_rows(self):
    known = multistate.prevalence(_fit(), [-1.0])
    onp.testing.assert_array_equal(known.totals, 0)
    self.assertTrue(onp.all(onp.isnan(known.observed_percent)))
    with self.assertRaisesRegex(ValueError, "times has nan: it must be finite"):
      multistate.prevalence(_fit(), [math.nan])

  def test_labels(self):
    # Labels are wrong with probabilities 0.2 and, in late rows, 0.5.
    rows = {
      "id": [0, 0, 0, 1, 1, 1],
      "year": [0.0, 1.0, 2.0] * 2,
      "state": ["well", "ill", "well", "well", "well", "ill"],
      "late": [0, 1, 1, 0, 0, 1],
    }
    model = multistate.MultiState(
      multistate.Intensities(
        {"well": ["ill"], "ill": ["dead"]},
        rates={"well -> ill": 0.5, "ill -> dead": 0.1},
      ),
      initial_probs={"well": 0.7, "ill": 0.3},
      misclassification={"ill": {"well": 0.2}},
      misclassification_effects=["late"],
    )
    fit = inference.fit_mle(
      model,
      panel_cases.panel_data(rows, covariates=["late"]),
      fixed=["rates", "misclassification"],
    )
    a, b = onp.asarray(fit.parameters["rates"])
    effect = float(onp.asarray(fit.parameters["misclassification_effects"])[0])
    late = 1.0 / (1.0 + 4.0 * math.exp(-effect))
    matrix = panel_cases.generator([[0, a, 0], [0, 0, b], [0, 0, 0]])
    row = onp.asarray([0.7, 0.3, 0.0]) @ linalg.expm(matrix * 1.5)
    labels = sum(
      row @ [[1, 0, 0], [wrong, 1 - wrong, 0], [0, 0, 1]]
      for wrong in (late, 0.2)
    )
    known = multistate.prevalence(fit, [1.5])
    onp.testing.assert_allclose(known.expected.estimate, [labels], 1e-10)
    onp.testing.assert_array_equal(known.observed, [[1, 1, 0]])


class TransitionCountsTest(test_case.TestCase):
  def test_counts(self):
    data = panel_cases.panel_data(
      {
        "id": ["a", "a", "a", "a", "b", "b", "b", "c"],
        "year": [0, 1, 2, 3, 0, 1, 2, 5],
        "state": ["well", None, "ill", "ill", "well", "alive", "ill", "well"],
      },
      censored={"alive": ["well", "ill"]},
    )
    counts = data.transitions()
    self.assertEqual(counts.states, ("well", "ill", "alive"))
    onp.testing.assert_array_equal(
      counts.counts, [[0, 1, 1], [0, 1, 0], [0, 1, 0]]
    )
    self.assertEqual(
      str(counts).split("\n"),
      [
        "from, to  well  ill  alive",
        "well         0    1      1",
        "ill          0    1      0",
        "alive        0    1      0",
      ],
    )


class PicturesTest(test_case.TestCase):
  def test_prevalence(self):
    times = [3.0, 1.5]
    axes = multistate.plot_prevalence(_fit(), times)
    known = multistate.prevalence(_fit(), sorted(times))
    lines = axes.get_lines()
    self.assertLen(lines, 6)
    for j in range(3):
      curve, dots = lines[2 * j], lines[2 * j + 1]
      onp.testing.assert_array_equal(curve.get_xdata(), sorted(times))
      onp.testing.assert_allclose(
        curve.get_ydata(), known.expected_percent.estimate[:, j]
      )
      onp.testing.assert_allclose(
        dots.get_ydata(), known.observed_percent[:, j]
      )
      self.assertEqual(curve.get_color(), dots.get_color())
    self.assertIs(multistate.plot_prevalence(_fit(), times, axes), axes)
    with self.assertRaisesRegex(TypeError, "axes is 1: it must be axes"):
      multistate.plot_prevalence(_fit(), times, 1)

  def test_transitions(self):
    fit = _fit()
    axes = multistate.plot_transitions(fit, {"drug": 0.0})
    labels = [x.get_text() for x in axes.texts]
    self.assertContainsSubset(["well", "ill", "dead", "0.5", "0.2"], labels)
    with self.assertRaisesRegex(ValueError, "covariates has 2 rows"):
      multistate.plot_transitions(fit, {"drug": [0.0, 1.0]})
    with (
      mock.patch.dict("sys.modules", {"matplotlib.axes": None}),
      self.assertRaisesRegex(ImportError, "matplotlib"),
    ):
      multistate.plot_transitions(fit, {"drug": 0.0})


if __name__ == "__main__":
  absltest.main()
