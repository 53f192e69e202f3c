"""EM steps of multi-state models, against integrals of products of matrices."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import linalg

from phasic import inference
from phasic import multistate
from tests.helpers import test_case

_RATES = {
  "well -> ill": 0.3,
  "well -> dead": 0.1,
  "ill -> well": 0.2,
  "ill -> dead": 0.5,
}
_Q = onp.asarray([[-0.4, 0.3, 0.1], [0.2, -0.7, 0.5], [0.0, 0.0, 0.0]])
_OFF = _Q - onp.diag(onp.diag(_Q))
_TARGETS = {"well": ["ill", "dead"], "ill": ["well", "dead"]}
_DEATHS = onp.where(onp.arange(3) == 2, _OFF, 0.0)


def _panel(rows, columns=None, **options):
  ids, times, states = zip(*rows, strict=True)
  table = {"id": ids, "t": times, "state": states, **(columns or {})}
  return multistate.PanelData.from_table(
    table, subject="id", time="t", state="state", **options
  )


def _step(model, data):
  """Returns the parameters after a step from the start of a model."""
  model, layout = model.with_data(data)
  updated = model.em_step(model.parameters, layout)
  return {k: onp.asarray(x, onp.float64) for k, x in updated.items()}


class _Expected:
  """Expected numbers given the observations, by Van Loan's integrals."""

  def __init__(self, p, num_designs=1):
    self.jumps = onp.zeros((num_designs, p, p))
    self.times = onp.zeros((num_designs, p))

  def add(self, first, moves):
    """Adds a path; returns probabilities of phases, before and after moves.

    Args:
      first: weights of phases at the start.
      moves: a generator and a time, or a matrix and None; a weight of each
        phase afterwards; the number of the set of rates.
    """
    matrices = [m if t is None else linalg.expm(m * t) for m, t, *_ in moves]
    forward = [onp.asarray(first, float)]
    for matrix, (_, _, weight, _) in zip(matrices, moves, strict=True):
      forward.append(forward[-1] @ matrix * weight)
    backward = [onp.ones(len(first))]
    for matrix, move in zip(matrices[::-1], moves[::-1], strict=True):
      backward.append(matrix @ (move[2] * backward[-1]))
    backward = backward[::-1]
    total = float(onp.sum(forward[-1]))
    for k, (m, t, weight, design) in enumerate(moves):
      start, end = forward[k], weight * backward[k + 1]
      if t is None:
        self.jumps[design] += start[:, None] * m * end / total
        continue
      p = len(start)
      block = onp.block([[m, onp.outer(end, start)], [onp.zeros((p, p)), m]])
      inner = linalg.expm(block * t)[:p, p:].T / total
      self.times[design] += onp.diag(inner)
      self.jumps[design] += (m - onp.diag(onp.diag(m))) * inner
    return [a * b / total for a, b in zip(forward, backward, strict=True)]

  def rates(self, pairs, design=0):
    """Returns jumps over times."""
    jumps, times = self.jumps[design], self.times[design]
    return [jumps[i, j] / times[i] for i, j in pairs]


class StepsTest(test_case.TestCase):
  """Tests the parameters after one step."""

  def test_intervals(self):
    """States are seen, entered at known times, held, or one of several."""
    rows = [(1, 0.0, "well"), (1, 1.0, "ill"), (1, 3.0, "dead")]
    rows += [(2, 0.0, "ill"), (2, 2.0, "ill"), (2, 2.5, "well")]
    rows += [(3, 0.0, "well"), (3, 1.0, "ill"), (3, 4.0, "alive")]
    rows += [(4, 0.0, "well"), (4, 1.0, "alive"), (4, 2.0, "ill")]
    held = [False] * 4 + [True] * 2 + [False] * 6
    data = _panel(
      rows,
      {"held": held},
      exact=["dead"],
      exact_times="held",
      censored={"alive": ["well", "ill"]},
    )
    well, ill, dead = onp.eye(3)
    alive, every = well + ill, onp.ones(3)
    expected = _Expected(3)
    expected.add(well, [(_Q, 1.0, ill, 0)])
    expected.add(ill, [(_Q, 2.0, every, 0), (_DEATHS, None, dead, 0)])
    stays = onp.diag(onp.diag(_Q))
    expected.add(ill, [(stays, 2.0, ill, 0)])
    expected.add(ill, [(stays, 0.5, ill, 0), (_OFF, None, well, 0)])
    expected.add(well, [(_Q, 1.0, ill, 0)])
    expected.add(ill, [(_Q, 3.0, alive, 0)])
    expected.add(well, [(_Q, 1.0, alive, 0), (_Q, 1.0, ill, 0)])
    model = multistate.MultiState(
      multistate.Intensities(_TARGETS, rates=_RATES)
    )
    wanted = expected.rates([(0, 1), (0, 2), (1, 0), (1, 2)])
    self.assert_close(_step(model, data)["rates"], wanted, rtol=1e-12)

  def test_hidden(self):
    """Labels have errors, and the first state is random."""
    model = multistate.MultiState(
      multistate.Intensities(_TARGETS, rates=_RATES),
      initial_probs={"well": 0.7, "ill": 0.3},
      estimate_initial_probs=True,
      misclassification={"well": {"ill": 0.2}, "ill": {"well": 0.3}},
    )
    rows = [(1, 0.0, "well"), (1, 1.0, "ill"), (1, 3.0, "dead")]
    rows += [(2, 0.0, "ill"), (2, 1.5, "alive"), (2, 2.0, "well")]
    rows += [(3, 1.0, "ill"), (3, 1.2, None)]
    labels = {"well": [0.8, 0.3, 0.0], "ill": [0.2, 0.7, 0.0]}
    labels = {k: onp.asarray(x) for k, x in labels.items()}
    first = onp.asarray([0.7, 0.3, 0.0])
    alive, dead = onp.asarray([1.0, 1.0, 0.0]), onp.eye(3)[2]
    expected = _Expected(3)
    one = expected.add(
      first * labels["well"],
      [
        (_Q, 1.0, labels["ill"], 0),
        (_Q, 2.0, onp.ones(3), 0),
        (_DEATHS, None, dead, 0),
      ],
    )
    two = expected.add(
      first * labels["ill"],
      [(_Q, 1.5, alive, 0), (_Q, 0.5, labels["well"], 0)],
    )
    three = expected.add(first * labels["ill"], [(_Q, 0.2, alive, 0)])
    as_well, as_ill = one[0] + two[2], one[1] + two[0] + three[0]
    starts = one[0] + two[0] + three[0]
    # A label of a set stands for each of them; a row without a label for none.
    missing = onp.asarray([[0.8, 0.2], [0.3, 0.7]]) * two[1][:2, None]
    counts = onp.stack([as_well[:2], as_ill[:2]], axis=1) + missing
    sets = {"alive": ["well", "ill"]}
    updated = _step(model, _panel(rows, exact=["dead"], censored=sets))
    self.assert_close(
      updated["rates"],
      expected.rates([(0, 1), (0, 2), (1, 0), (1, 2)]),
      rtol=1e-12,
    )
    self.assert_close(
      updated["initial_probs"], [math.log(starts[1] / starts[0])], rtol=1e-12
    )
    odds = [counts[0, 1] / counts[0, 0], counts[1, 0] / counts[1, 1]]
    self.assert_close(updated["misclassification"], onp.log(odds), rtol=1e-11)

  def test_phases_and_cuts(self):
    """Two hidden phases of a state; rates of two periods are ratios in each."""
    rates = {"well -> ill": 0.7, "ill[1] -> ill[2]": 0.8}
    rates |= {"ill[1] -> dead": 0.1, "ill[2] -> dead": 0.9}
    model = multistate.MultiState(
      multistate.Intensities(
        {"well": ["ill"], "ill": ["dead"]}, rates=rates, sojourns={"ill": 2}
      ),
      cuts=[2.0],
    )
    rows = [(1, 0.0, "well"), (1, 1.0, "ill"), (1, 3.0, "ill")]
    rows += [(1, 4.0, "dead"), (2, 0.5, "ill"), (2, 4.0, "dead")]
    rows += [(3, 0.0, "well"), (3, 3.0, "ill"), (3, 5.0, "dead")]
    q = onp.zeros((4, 4))
    pairs = [(0, 1), (1, 2), (1, 3), (2, 3)]
    for (i, j), rate in zip(pairs, rates.values(), strict=True):
      q[i, j] = rate
    deaths = onp.where(onp.arange(4) == 3, q, 0.0)
    q = q - onp.diag(onp.sum(q, axis=1))
    every, ill = onp.ones(4), onp.asarray([0.0, 1.0, 1.0, 0.0])
    dead = onp.eye(4)[3]
    expected = _Expected(4, 2)
    expected.add(
      onp.eye(4)[0],
      [(q, 1.0, ill, 0), (q, 1.0, every, 0), (q, 1.0, ill, 1)]
      + [(q, 1.0, every, 1), (deaths, None, dead, 1)],
    )
    expected.add(
      onp.eye(4)[1],
      [(q, 1.5, every, 0), (q, 2.0, every, 1), (deaths, None, dead, 1)],
    )
    expected.add(
      onp.eye(4)[0],
      [(q, 2.0, every, 0), (q, 1.0, ill, 1)]
      + [(q, 2.0, every, 1), (deaths, None, dead, 1)],
    )
    rows += [(4, 0.0, "ill"), (4, 1.5, "dead")]
    expected.add(onp.eye(4)[1], [(q, 1.5, every, 0), (deaths, None, dead, 0)])
    updated = _step(model, _panel(rows, exact=["dead"]))
    self.assert_close(updated["rates"], expected.rates(pairs), rtol=1e-9)
    later = updated["rates"] * onp.exp(updated["effects"])
    self.assert_close(later, expected.rates(pairs, 1), rtol=1e-9)

  def test_refusals(self):
    """Names the parameters that have no step."""
    model = multistate.MultiState(
      {"well": ["ill"]},
      initial_probs={"well": 1.0},
      outcomes={
        "y": {
          "well": multistate.normal(0.0, 1.0),
          "ill": multistate.normal(1.0, 1.0),
        }
      },
    )
    rows = [(1, 0.0, None), (1, 1.0, None)]
    data = _panel(rows, {"y": [0.1, 0.9]}, outcomes=["y"])
    with self.assertRaisesRegex(NotImplementedError, "y.well.mean.*fit_mle"):
      inference.fit_em(model, data)
    plain = multistate.MultiState(_TARGETS)
    with self.assertRaisesRegex(ValueError, "fit_mle takes fixed"):
      inference.fit_em(plain, data, fixed=["rates"])


def _clinic(size=80):
  """Simulates visits, misclassified, with a covariate."""
  random = onp.random.default_rng(5)
  rows, sexes = [], []
  for subject in range(size):
    sex = float(random.integers(0, 2))
    time, state, visits = 0.0, 0, onp.arange(0.0, 4.1, 0.4)
    for visit in visits:
      while state < 2:
        rates = _OFF[state] * onp.where(sex > 0, [1.0, 1.6, 1.0], 1.0)
        wait = random.exponential(1.0 / onp.sum(rates))
        if time + wait > visit:
          break
        time = time + wait
        state = int(random.choice(3, p=rates / onp.sum(rates)))
      sexes.append(sex)
      if state == 2:
        rows.append((subject, time, "dead"))
        break
      time = visit
      wrong = random.uniform() < 0.1
      label = state if visit == 0 or not wrong else 1 - state
      rows.append((subject, visit, ["well", "ill"][label]))
  return _panel(rows, {"sex": sexes}, exact=["dead"], covariates=["sex"])


class FitsTest(test_case.TestCase):
  """Tests that the log likelihood never falls, and where fits end."""

  @parameterized.named_parameters(
    (
      "effects",
      lambda: multistate.MultiState(
        {
          "well": {"ill": "onset", "dead": "death"},
          "ill": {"well": "cure", "dead": "death"},
        },
        effects={"onset": ["sex"], ("cure", "death"): ["sex"]},
      ),
    ),
    (
      "shape",
      lambda: multistate.MultiState(
        multistate.Intensities(
          _TARGETS, sojourns={"ill": multistate.weibull(1.5)}
        )
      ),
    ),
    (
      "errors",
      lambda: multistate.MultiState(
        _TARGETS,
        initial_probs={"well": 1.0},
        misclassification={"well": {"ill": 0.1}, "ill": {"well": 0.1}},
      ),
    ),
  )
  def test_optimum(self, make):
    """Steps lead to the optimum that fit_mle finds."""
    data = _clinic()
    steps = inference.fit_em(
      make(), data, second_order=False, tolerance=1e-12, max_steps=600
    )
    rises = onp.diff(steps.record.log_likelihoods)
    self.assertGreaterEqual(float(onp.min(rises)), -1e-11)
    self.assertEqual(steps.record.method, "EM")
    best = inference.fit_mle(make(), data)
    self.assertLess(abs(steps.log_likelihood - best.log_likelihood), 1e-6)

  def test_second_order(self):
    """The fit goes on by fit_mle, and has the record of both."""
    model = multistate.MultiState(
      multistate.Intensities(_TARGETS, rates=_RATES)
    )
    fit = inference.fit_em(model, _clinic(20), max_steps=3)
    self.assertStartsWith(fit.record.method, "EM, then")
    self.assertTrue(fit.record.converged)
    best = inference.fit_mle(model, _clinic(20))
    self.assert_close(fit.log_likelihood, best.log_likelihood, rtol=1e-11)
    self.assert_close(
      fit.parameters["rates"], self.host(best.parameters["rates"]), rtol=1e-5
    )


class _Groups(inference.LikelihoodModel):
  """Exponential times of two groups, whose rates one step finds."""

  @property
  def parameters(self):
    return {"rate": onp.ones(2)}

  def log_likelihood_terms(self, parameters, data):
    rate = np.take(parameters["rate"], data["group"], axis=0)
    return np.log(rate) - rate * data["time"]

  def em_step(self, parameters, data):
    group, time = onp.asarray(data["group"]), onp.asarray(data["time"])
    return {"rate": onp.bincount(group) / onp.bincount(group, time)}


class OwnModelsTest(test_case.TestCase):
  """Tests models of one's own, with an EM step and without."""

  def test_a_step(self):
    """The fit has the record of its steps, and standard errors."""
    data = {
      "group": onp.asarray([0, 0, 1, 1], onp.int32),
      "time": onp.asarray([1.0, 3.0, 0.2, 0.8]),
    }
    fit = inference.fit_em(_Groups(), data, second_order=False)
    self.assert_close(fit.parameters["rate"], [0.5, 2.0], rtol=1e-12)
    self.assertTrue(fit.record.converged)
    self.assert_close(fit.record.log_likelihoods[0], -5.0, rtol=1e-12)
    self.assert_close(
      fit.log_likelihood, 2.0 * math.log(0.5) + 2.0 * math.log(2.0) - 4.0
    )
    errors = self.host(fit.standard_errors["rate"])
    self.assert_close(errors, onp.asarray([0.5, 2.0]) / math.sqrt(2.0))

  def test_refusals(self):
    """A model without a step is refused before anything is computed."""

    class Plain(inference.LikelihoodModel):
      """A model that cannot be evaluated."""

    with self.assertRaisesRegex(TypeError, "fit_mle fits it"):
      inference.fit_em(Plain(), [1.0])
    with self.assertRaisesRegex(NotImplementedError, "fit it by fit_mle"):
      Plain().em_step({}, [1.0])


if __name__ == "__main__":
  absltest.main()
