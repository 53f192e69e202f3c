"""Most likely and smoothed states, by sums over all sequences of phases."""

import itertools
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import linalg
from scipy import stats

from phasic import inference
from phasic import multistate
from tests.helpers import test_case

_ILLNESS = {"well": ["ill", "dead"], "ill": ["well", "dead"]}


def _fit(model, data):
  """Returns the fit of a model whose parameters are all fixed."""
  bound, _ = model.with_data(data)
  return inference.fit_mle(model, data, fixed=list(bound.parameters))


def _generator(size, rates):
  q = onp.zeros((size, size))
  for (i, j), rate in rates.items():
    q[i, j] = rate
  return q - onp.diag(onp.sum(q, axis=1))


def _by_enumeration(first, steps, weights, state_of):
  """Sums over all sequences of phases at the rows of a subject.

  Args:
    first: of phases at the first row, (p,).
    steps: matrices between rows, (p, p) each.
    weights: of the observation at each row, (p,) each.
    state_of: the state of each phase.

  Returns:
    The states of the most likely sequence, and probabilities of states, (n, s).
  """
  p, n = len(first), len(weights)
  probs = onp.zeros((n, max(state_of) + 1))
  largest, best = 0.0, None
  for phases in itertools.product(range(p), repeat=n):
    value = first[phases[0]] * weights[0][phases[0]]
    for k in range(1, n):
      value *= steps[k - 1][phases[k - 1], phases[k]] * weights[k][phases[k]]
    for k, phase in enumerate(phases):
      probs[k, state_of[phase]] += value
    if value > largest:
      largest, best = value, phases
  return [state_of[x] for x in best], probs / onp.sum(probs[0])


def _table(rows, **columns):
  """Returns a table of rows of subject, time and state."""
  ids, times, states = zip(*rows, strict=True)
  return {"id": ids, "t": times, "state": states, **columns}


def _panel(rows, columns=None, **options):
  return multistate.PanelData.from_table(
    _table(rows, **(columns or {})),
    subject="id",
    time="t",
    state="state",
    **options,
  )


class DecodingTest(test_case.TestCase):
  """Tests both functions where sequences can be counted."""

  def _check(self, model, data, subjects, state_of):
    """Compares with enumeration for each subject."""
    fit = _fit(model, data)
    wanted = [_by_enumeration(*x, state_of) for x in subjects]
    states = onp.concatenate([x for x, _ in wanted])
    self.assertEqual(
      list(multistate.viterbi(fit)), [model.states[x] for x in states]
    )
    probs = onp.concatenate([x for _, x in wanted])
    onp.testing.assert_allclose(
      multistate.state_probs(fit), probs, rtol=1e-10, atol=1e-14
    )

  def test_misclassified(self):
    """Labels have errors, the time of death is exact, and one label is missing."""
    rates = {"well -> ill": 0.3, "well -> dead": 0.1}
    rates |= {"ill -> well": 0.2, "ill -> dead": 0.5}
    errors = {"well": {"ill": 0.2}, "ill": {"well": 0.3}}
    model = multistate.MultiState(
      multistate.Intensities(_ILLNESS, rates=rates),
      initial_probs={"well": 0.7, "ill": 0.3},
      misclassification=errors,
    )
    rows = [(1, 0.0, "well"), (1, 1.0, "ill"), (1, 1.7, "ill")]
    rows += [(1, 2.0, "well"), (1, 4.0, "dead"), (2, 0.0, "ill")]
    rows += [(2, 1.5, None), (2, 2.5, "well"), (3, 0.5, "ill")]
    data = _panel(rows, exact=["dead"])
    q = _generator(3, {(0, 1): 0.3, (0, 2): 0.1, (1, 0): 0.2, (1, 2): 0.5})
    seen = {
      "well": [0.8, 0.3, 0.0],
      "ill": [0.2, 0.7, 0.0],
      "dead": [0.0, 0.0, 1.0],
      None: [1.0, 1.0, 0.0],
    }
    deaths = onp.zeros((3, 3))
    deaths[:2, 2] = [0.1, 0.5]
    first = [0.7, 0.3, 0.0]
    one = [linalg.expm(q * t) for t in (1.0, 0.7, 0.3)]
    one.append(linalg.expm(q * 2.0) @ deaths)
    two = [linalg.expm(q * t) for t in (1.5, 1.0)]
    labels = [[x for i, _, x in rows if i == k] for k in (1, 2, 3)]
    weights = [[seen[x] for x in subject] for subject in labels]
    subjects = list(zip([first] * 3, [one, two, []], weights, strict=True))
    self._check(model, data, subjects, [0, 1, 2])

  def test_outcomes(self):
    """Measurements of two hidden states."""
    model = multistate.MultiState(
      multistate.Intensities(
        {"low": ["high"], "high": ["low"]},
        rates={"low -> high": 0.6, "high -> low": 0.9},
      ),
      initial_probs={"low": 0.5, "high": 0.5},
      outcomes={
        "y": {
          "low": multistate.normal(0.0, 1.0),
          "high": multistate.normal(1.5, 0.5),
        }
      },
    )
    times, values = [0.0, 0.5, 0.8, 2.0, 3.0], [0.2, 1.4, math.nan, 1.1, -0.5]
    rows = [(1, t, None) for t in times]
    data = _panel(rows, {"y": values}, outcomes=["y"])
    q = _generator(2, {(0, 1): 0.6, (1, 0): 0.9})
    steps = [linalg.expm(q * t) for t in onp.diff(times)]
    weights = [
      [1.0, 1.0]
      if math.isnan(y)
      else [stats.norm.pdf(y), stats.norm.pdf(y, 1.5, 0.5)]
      for y in values
    ]
    self._check(model, data, [([0.5, 0.5], steps, weights)], [0, 1])

  def test_cuts(self):
    """Labels stand for sets of states, and rates change between the rows."""
    model = multistate.MultiState(
      multistate.Intensities(
        _ILLNESS,
        rates={
          "well -> ill": 0.3,
          "well -> dead": 0.1,
          "ill -> well": 0.2,
          "ill -> dead": 0.5,
        },
      ),
      effects={"well -> ill": ["x"]},
      cuts=[1.2, 1.3],
    )
    times = [0.0, 0.5, 2.0, 3.0, 4.0]
    labels = ["well", "alive", "alive", "ill", "any"]
    rows = [(1, t, x) for t, x in zip(times, labels, strict=True)]
    rows += [(2, 0.0, "well"), (3, 1.0, "ill"), (3, 2.0, "alive")]
    data = _panel(
      rows,
      {"x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.0, 0.0, 0.0]},
      covariates=["x"],
      censored={"alive": ["well", "ill"], "any": ["well", "ill", "dead"]},
    )
    q = _generator(3, {(0, 1): 0.3, (0, 2): 0.1, (1, 0): 0.2, (1, 2): 0.5})
    seen = {"well": [1, 0, 0], "ill": [0, 1, 0], "alive": [1, 1, 0]}
    seen |= {"any": [1, 1, 1]}
    steps = [linalg.expm(q * t) for t in onp.diff(times)]
    subjects = [
      ([1, 0, 0], steps, [seen[x] for x in labels]),
      ([1, 0, 0], [], [seen["well"]]),
      ([0, 1, 0], [linalg.expm(q)], [seen["ill"], seen["alive"]]),
    ]
    self._check(model, data, subjects, [0, 1, 2])

  def test_phases(self):
    """A state of two hidden phases, which is seen, and a label that is not."""
    model = multistate.MultiState(
      multistate.Intensities(
        {"well": ["ill"], "ill": ["well", "dead"]},
        rates={
          "well -> ill": 0.7,
          "ill[1] -> ill[2]": 0.8,
          "ill[1] -> well": 0.3,
          "ill[1] -> dead": 0.1,
          "ill[2] -> well": 0.05,
          "ill[2] -> dead": 0.9,
        },
        sojourns={"ill": 2},
      )
    )
    times = [0.0, 1.0, 1.5, 2.5, 3.5]
    labels = ["ill", "ill", "alive", "ill", "dead"]
    rows = [(1, t, x) for t, x in zip(times, labels, strict=True)]
    data = _panel(rows, exact=["dead"], censored={"alive": ["well", "ill"]})
    rates = {(0, 1): 0.7, (1, 2): 0.8, (1, 0): 0.3, (1, 3): 0.1}
    q = _generator(4, {**rates, (2, 0): 0.05, (2, 3): 0.9})
    deaths = onp.zeros((4, 4))
    deaths[1:3, 3] = [0.1, 0.9]
    steps = [linalg.expm(q * t) for t in onp.diff(times)]
    steps[-1] = steps[-1] @ deaths
    seen = {"ill": [0, 1, 1, 0], "alive": [1, 1, 1, 0], "dead": [0, 0, 0, 1]}
    weights = [seen[x] for x in labels]
    self._check(model, data, [([0, 1, 0, 0], steps, weights)], [0, 1, 1, 2])

  def test_ties_and_tails(self):
    """The first of equal states; and probabilities that are near zero."""
    model = multistate.MultiState(
      multistate.Intensities(
        {"a": {"b": "flip"}, "b": {"a": "flip"}}, rates={"flip": 40.0}
      ),
      initial_probs={"a": 0.5, "b": 0.5},
      outcomes={
        "y": {
          "a": multistate.normal(0.0, 1.0),
          "b": multistate.normal(100.0, 1.0),
        }
      },
    )
    values = [math.nan, 100.0, math.nan, 0.0]
    rows = [(1, float(k), None) for k in range(4)]
    fit = _fit(model, _panel(rows, {"y": values}, outcomes=["y"]))
    self.assertEqual(list(multistate.viterbi(fit)), ["a", "b", "a", "a"])
    probs = multistate.state_probs(fit)
    # The densities differ by exp(-5000), and so do the probabilities.
    self.assertEqual(list(probs[1]), [0.0, 1.0])
    onp.testing.assert_allclose(probs[2], [0.5, 0.5], rtol=1e-12)

  @parameterized.named_parameters(
    ("viterbi", multistate.viterbi), ("state_probs", multistate.state_probs)
  )
  def test_refusals(self, function):
    """Both name what they need."""
    with self.assertRaisesRegex(TypeError, "fit of a MultiState model"):
      function(3)


if __name__ == "__main__":
  absltest.main()
