"""Simulated subjects against probabilities from SciPy.

Counts of n subjects are within five standard errors, so that a right program
fails with probability 6e-7 for a number, and the seeds are fixed.
"""

import math

from absl.testing import absltest
import numpy as onp
from scipy import linalg
from scipy import stats

from phasic import inference
from phasic import multistate
from phasic.distributions import Erlang
from tests.helpers import panel_cases
from tests.helpers import test_case

_SIZE = 20_000
_TRANSITIONS = {"well": ["ill", "dead"], "ill": ["well", "dead"]}
_NAMES = ["well -> ill", "well -> dead", "ill -> well", "ill -> dead"]
_RATES = dict(zip(_NAMES, [0.5, 0.2, 0.3, 0.6], strict=True))


def _visits(times, size=_SIZE, **columns):
  """Returns a table in which all subjects have the same visits."""
  table = {
    "id": onp.repeat(onp.arange(size), len(times)),
    "year": onp.tile(times, size),
  }
  return {**table, **{k: onp.tile(x, size) for k, x in columns.items()}}


def _generator(factors):
  matrix = onp.zeros((3, 3))
  for name, rate, factor in zip(_NAMES, _RATES.values(), factors, strict=True):
    source, target = (panel_cases.STATES.index(x) for x in name.split(" -> "))
    matrix[source, target] = rate * factor
  return panel_cases.generator(matrix)


class SimulationTest(test_case.TestCase):
  def check_shares(self, counts, probs, size=_SIZE):
    error = onp.sqrt(onp.asarray(probs) * (1.0 - onp.asarray(probs)) / size)
    distance = onp.abs(onp.asarray(counts) / size - probs)
    self.assertTrue(onp.all(distance <= 5.0 * error + 1e-15), (counts, probs))

  def test_covariates_and_cuts(self):
    # The drug begins at the second visit, rates change between the others.
    times = [0.0, 1.0, 2.5]
    model = multistate.MultiState(
      _TRANSITIONS,
      effects={("well -> ill", "ill -> dead"): ["drug"]},
      cuts=[1.75],
    )
    periods = {f"time [1.75, inf), {x}": math.log(2.0) for x in _NAMES}
    rows = multistate.simulate(
      model,
      _visits(times, drug=[0.0, 1.0, 7.0]),
      subject="id",
      time="year",
      start="well",
      exact=["dead"],
      parameters={
        "rates": _RATES,
        "effects": {
          "drug, well -> ill & ill -> dead": math.log(0.25),
          **periods,
        },
      },
      seed=11,
    )
    drug = [0.25, 1.0, 1.0, 0.25]
    late = linalg.expm(_generator(onp.multiply(drug, 2.0)) * 0.75)
    first = linalg.expm(_generator(onp.ones(4)))
    last = first @ linalg.expm(_generator(drug) * 0.75) @ late
    for time, probs in ((1.0, first[0]), (2.5, last[0])):
      counts = [
        onp.sum((rows["year"] == time) & (rows["state"] == x))
        for x in ("well", "ill")
      ]
      counts.append(onp.sum((rows["year"] <= time) & (rows["state"] == "dead")))
      self.check_shares(counts, probs)
      self.assertEqual(sum(counts), _SIZE)
    # Deaths before the second visit have the covariates of the first one.
    dead = rows["state"] == "dead"
    self.assertFalse(onp.any(dead & onp.isin(rows["year"], times)))
    onp.testing.assert_array_equal(
      rows["drug"][dead], onp.where(rows["year"][dead] < 1.0, 0.0, 1.0)
    )
    data = panel_cases.panel_data(rows, exact=["dead"], covariates=["drug"])
    self.assertLen(data.times, len(rows["year"]))
    bound, layout = model.with_data(data)
    self.assertLen(bound.weights(layout), _SIZE)

  def test_times_of_death(self):
    model = multistate.MultiState(
      multistate.Intensities(
        {"ill": ["dead"]}, sojourns={"ill": Erlang(3, 1.0)}
      )
    )
    rows = multistate.simulate(
      model,
      _visits([0.0, 100.0]),
      subject="id",
      time="year",
      start="ill",
      exact=["dead"],
      parameters={"rates": [0.5]},
      seed=1,
    )
    times = rows["year"][rows["state"] == "dead"]
    self.assertLen(times, _SIZE)
    test = stats.kstest(times, stats.gamma(3.0, scale=2.0 / 3.0).cdf)
    self.assertGreater(test.pvalue, 1e-6)

  def test_deaths_at_visits(self):
    rows = multistate.simulate(
      multistate.MultiState(
        multistate.Intensities({"ill": ["dead"]}, rates={"ill -> dead": 0.7})
      ),
      _visits([0.0, 1.0, 2.0, 3.0]),
      subject="id",
      time="year",
      start="ill",
      seed=5,
    )
    dead = rows["state"] == "dead"
    _, counts = onp.unique(rows["id"][dead], return_counts=True)
    onp.testing.assert_array_equal(counts, 1)
    self.check_shares(
      [onp.sum(dead & (rows["year"] == t)) for t in (1.0, 2.0, 3.0)],
      -onp.diff(onp.exp(-0.7 * onp.arange(4.0))),
    )

  def test_labels(self):
    # A label is wrong with odds 1/9, of men with odds 1/3.
    model = multistate.MultiState(
      {"well": ["ill"], "ill": ["dead"]},
      initial_probs={"well": 0.25, "ill": 0.75},
      misclassification={"ill": {"well": 0.1}},
      misclassification_effects=["male"],
    )
    table = _visits([0.0, 1.0])
    table["male"] = onp.asarray(table["id"]) % 2
    rows = multistate.simulate(
      model,
      table,
      subject="id",
      time="year",
      parameters={
        "rates": [0.0, 0.0],
        "misclassification_effects": [math.log(3.0)],
      },
      seed=2,
    )
    ill = rows["true_state"] == "ill"
    self.check_shares([onp.sum(ill & (rows["year"] == 0.0))], [0.75])
    self.assertFalse(onp.any(~ill & (rows["state"] != "well")))
    for male, prob in ((0, 0.1), (1, 0.25)):
      among = ill & (rows["male"] == male)
      wrong = onp.sum(among & (rows["state"] == "well"))
      self.check_shares([wrong], [prob], onp.sum(among))

  def test_outcomes(self):
    half = multistate.truncated_normal(0.0, 1.0, 0.0, math.inf)
    model = multistate.MultiState(
      multistate.Intensities(
        {"well": ["ill"], "ill": ["dead"]},
        rates={"well -> ill": 0.5, "ill -> dead": 0.5},
      ),
      outcomes={
        "fev": {"well": multistate.normal(100.0, 16.0), "ill": half},
        "visits": {"well": Erlang(1, 2.0), "ill": multistate.poisson(3.0)},
      },
    )
    rows = multistate.simulate(
      model,
      _visits([0.0, 1.0, 2.0]),
      subject="id",
      time="year",
      start="well",
      exact=["dead"],
      parameters={"fev.well.mean": 90.0},
      seed=3,
    )
    truth = rows["true_state"]
    onp.testing.assert_array_equal(
      rows["state"], onp.where(truth == "dead", "dead", "")
    )
    self.assertTrue(onp.all(onp.isnan(rows["fev"]) == (truth == "dead")))
    for name, state, dist in (
      ("fev", "well", stats.norm(90.0, 16.0)),
      ("fev", "ill", stats.halfnorm()),
      ("visits", "well", stats.expon(scale=0.5)),
    ):
      values = rows[name][truth == state]
      self.assertGreater(stats.kstest(values, dist.cdf).pvalue, 1e-6)
    counts = rows["visits"][truth == "ill"]
    self.check_shares(
      [onp.sum(counts == k) for k in range(6)],
      stats.poisson(3.0).pmf(onp.arange(6)),
      len(counts),
    )

  def test_fits(self):
    # A fit gives its states with exact times, and its parameters.
    data = panel_cases.panel_data(
      {
        "id": [0, 0, 1, 1, 2, 2],
        "year": [0.0, 2.0, 0.0, 3.0, 0.0, 5.0],
        "state": ["ill", "dead", "ill", "dead", "ill", "ill"],
      },
      exact=["dead"],
    )
    fit = inference.fit_mle(multistate.MultiState({"ill": ["dead"]}), data)

    def draw(start="ill", *, seed, **options):
      return multistate.simulate(
        fit,
        _visits([0.0, 4.0]),
        subject="id",
        time="year",
        start=start,
        seed=seed,
        **options,
      )

    rows = draw(seed=1)
    onp.testing.assert_array_equal(rows["year"], draw(seed=1)["year"])
    self.assertFalse(onp.array_equal(rows["year"], draw(seed=2)["year"]))
    alive = onp.sum((rows["year"] == 4.0) & (rows["state"] == "ill"))
    self.check_shares([alive], [math.exp(-4.0 * 0.2)])
    mixed = draw(["ill", "dead"] * (_SIZE // 2), seed=1)
    self.assertEqual(onp.sum(mixed["id"] % 2), _SIZE // 2)
    for message, call in (
      ("start is None: it must name", lambda: draw(None, seed=1)),
      ("start has 'lost': it must be one of", lambda: draw("lost", seed=1)),
      (
        "start has 1 states: it must have one, or",
        lambda: draw(["ill"], seed=1),
      ),
      (
        "exact has 'ill': it must be one of the abs",
        lambda: draw(seed=1, exact=["ill"]),
      ),
      (
        "parameters has 'speed': it must be one of rates",
        lambda: draw(seed=1, parameters={"speed": 1.0}),
      ),
      (
        "rates has 'a -> b': it must be one of ill -> dead",
        lambda: draw(seed=1, parameters={"rates": {"a -> b": 1.0}}),
      ),
      (
        "parameters make a rate -1",
        lambda: draw(seed=1, parameters={"rates": [-1.0]}),
      ),
      (
        r"rates has shape \(2,\): it must be \(1,\)",
        lambda: draw(seed=1, parameters={"rates": [1.0, 2.0]}),
      ),
    ):
      with self.subTest(message), self.assertRaisesRegex(ValueError, message):
        call()
    with self.assertRaisesRegex(ValueError, "parameters has no 'rates'"):
      multistate.simulate(
        fit.model.__class__({"ill": ["dead"]}),
        _visits([0.0, 1.0], 1),
        subject="id",
        time="year",
        start="ill",
        seed=1,
      )


if __name__ == "__main__":
  absltest.main()
