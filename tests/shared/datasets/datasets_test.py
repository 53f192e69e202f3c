"""Data sets: the same numbers everywhere, and what their docstrings say."""

import hashlib
import json
import math
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import inference
from tests.helpers import test_case

datasets = inference.datasets

# SHA-256 of the columns as JSON.
_CHECKSUMS = {
  "trial": "b4516c008d28c93945926af1fe3de131d83ff8027c0c6a48ba5c55cced494681",
  "pumps": "da8fa982085612033c5eafeb4015f238d65e88f17088117d1a1ad0f934257e50",
  "claims": "b00b531e854bec20d1012807dbfd9dd8d4810a15a7581adcc12c46259e785326",
  "clinic_visits": "f0e6408f3d0777eb9d2a6b6a434f5ba865c595565d30bdab7998e1ce8ab909c0",
}


def _is(labels, *others):
  """Returns indicators, (n, k), of some labels."""
  return onp.stack([labels == x for x in others], axis=-1).astype(float)


def _z_scores(terms):
  """Returns sums over their standard errors; terms, (n, k), have mean zero."""
  return terms.sum(0) / onp.sqrt((terms**2).sum(0))


def _trial_z_scores(table, coefficients, x, until=math.inf):
  """Returns z scores of sums of x times martingale residuals, for x (n, k).

  A residual is the number of events until a time, 0 or 1, less the cumulative
  hazard until then. Its survival function is averaged over effects of centers,
  which are uniform on (-0.3, 0.3), hence with variance 0.03. To first order in
  them, the sum over a center changes by its slope. (Standard errors from sums
  over 12 centers would bound z scores by the root of 12.)
  """
  nodes, weights = onp.polynomial.legendre.leggauss(20)
  months = onp.minimum(table["months"], until)
  scaled = months * onp.exp(-_trial_covariates(table) @ coefficients)
  with_centers = scaled[:, None] * onp.exp(-0.3 * nodes)
  hazard = -onp.log(_two_stages(with_centers) @ weights / 2.0)
  residuals = table["died"] * (table["months"] <= until) - hazard
  density = (onp.exp(-scaled / 32.0) - onp.exp(-scaled / 8.0)) / 24.0
  slopes = x * (scaled * density / _two_stages(scaled))[:, None]
  center_slopes = _is(table["center"], *range(1, 13)).T @ slopes
  variance = hazard @ x**2 + 0.03 * (center_slopes**2).sum(0)
  return residuals @ x / onp.sqrt(variance)


def _two_stages(time):
  """Returns the survival function of stages of mean 8 and 32 months."""
  return (32.0 * onp.exp(-time / 32.0) - 8.0 * onp.exp(-time / 8.0)) / 24.0


def _trial_covariates(table):
  return onp.column_stack(
    [
      table["treatment"] == "drug",
      table["age"] - 60,
      table["sex"] == "m",
      _is(table["stage"], 2, 3),
    ]
  )


def _pump_scores(table, coefficients):
  """Returns derivatives of log P(lower < X <= upper), (n, 4)."""
  x = onp.column_stack(
    [onp.ones(200), table["load"] - 40, _is(table["maker"], "B", "C")]
  )
  scale = onp.exp(-x @ coefficients) / 2.0

  def survival_and_slope(ends):
    # At infinity both are zero.
    y = onp.where(ends < math.inf, ends * scale, 1e3)
    return (1 + y + y**2 / 2) * onp.exp(-y), y**3 / 2 * onp.exp(-y)

  lower, lower_slope = survival_and_slope(table["last_good"])
  upper, upper_slope = survival_and_slope(table["first_failed"])
  return x * ((lower_slope - upper_slope) / (lower - upper))[:, None]


def _claim_scores(table, coefficients):
  """Returns derivatives of the log density, (n, 6)."""
  size = table["size"]
  x = onp.column_stack(
    [
      onp.ones(500),
      table["vehicle_age"],
      _is(table["region"], "coast", "country"),
    ]
  )
  share = 1.0 / (1.0 + onp.exp(-x @ coefficients))
  large = share * size / 25.0 * onp.exp(-size / 5.0)
  small = (1 - share) * size / 0.25 * onp.exp(-size / 0.5)
  is_large = large / (large + small)
  return onp.column_stack(
    [
      x * (is_large - share)[:, None],
      is_large * (size / 5.0 - 2.0),
      (1 - is_large) * (size / 0.5 - 2.0),
    ]
  )


def _expm(matrices):
  """Returns exp(A) of small matrices by a series of A / 2^6, squared."""
  scaled = matrices / 64.0
  term = total = onp.broadcast_to(onp.eye(4), scaled.shape)
  for k in range(1, 15):
    term = term @ scaled / k
    total = total + term
  for _ in range(6):
    total = total @ total
  return total


def _clinic_scores(table, parameters):
  """Returns derivatives of the log likelihood, (300, 8), by complex steps.

  The parameters are logarithms of six rates and of two hazard ratios.
  """
  stages = ["well", "mild", "severe", "dead"]
  same = table["patient"][1:] == table["patient"][:-1]
  before = [stages.index(x) for x in table["stage"][:-1][same]]
  after = table["stage"][1:][same]
  lengths = onp.diff(table["years"])[same][:, None, None]
  is_drug = table["treatment"][:-1][same] == "drug"
  is_old = table["age"][:-1][same] == "60-79"
  sources, targets = [0, 0, 1, 1, 1, 2], [1, 3, 0, 2, 3, 3]
  scores = []
  for step in onp.eye(8) * 1e-30j:
    theta = parameters + step
    x = is_drug[:, None] * [1, 0, 0, 1, 0, 0] * theta[6]
    x = x + is_old[:, None] * [0, 1, 0, 0, 1, 1] * theta[7]
    rates = onp.zeros((len(x), 4, 4), complex)
    rates[:, sources, targets] = onp.exp(theta[:6] + x)
    rates -= onp.eye(4) * rates.sum(-1, keepdims=True)
    row = _expm(rates * lengths)[onp.arange(len(x)), before]
    alive = row[:, :3].sum(-1)
    dead = (row[:, :3] * rates[:, :3, 3]).sum(-1)
    prob = onp.select([after == y for y in stages[:3]], list(row.T[:3]), alive)
    log_prob = onp.log(onp.where(after == "dead", dead, prob))
    patient = table["patient"][:-1][same] - 1
    scores.append(onp.bincount(patient, log_prob.imag, 300) / 1e-30)
  return onp.stack(scores, axis=-1)


class DatasetsTest(test_case.TestCase):
  @parameterized.parameters(*_CHECKSUMS)
  def test_columns_are_the_same_everywhere(self, name):
    table = getattr(datasets, name)()
    text = json.dumps({name: x.tolist() for name, x in table.items()})
    self.assertEqual(
      hashlib.sha256(text.encode()).hexdigest(), _CHECKSUMS[name]
    )

  @parameterized.parameters(*_CHECKSUMS)
  def test_is_an_immutable_table(self, name):
    table = getattr(datasets, name)()
    self.assertIsInstance(table, datasets.Dataset)
    self.assertEqual(list(table.columns), list(table))
    again = pickle.loads(pickle.dumps(table))
    self.assertEqual(again.description, table.description)
    for column, values in table.items():
      self.assertIn(f"\n    {column} ", table.description)
      self.assertIn(values.dtype.kind, "ifU")
      with self.assertRaises(ValueError):
        again[column][0] = values[0]
      onp.testing.assert_array_equal(again[column], values)
    self.assertIn("CC0", table.description)
    self.assertNotIn(">>>", table.description)
    with self.assertRaisesRegex(AttributeError, "immutable"):
      table.columns = {}
    with self.assertRaisesRegex(AttributeError, "immutable"):
      del table.columns
    with self.assertRaises(TypeError):
      table.columns["other"] = values
    with self.assertRaisesRegex(KeyError, "column is 'weight': it must be one"):
      table["weight"]
    self.assertLen({table, again}, 2)

  def test_text(self):
    self.assertEqual(
      repr(datasets.claims()),
      "Dataset(columns=['size', 'region', 'vehicle_age'], num_rows=500)",
    )

  def test_dataframe(self):
    table = datasets.trial()
    frame = table.to_dataframe()
    self.assertEqual(list(frame.columns), list(table))
    for column, values in table.items():
      onp.testing.assert_array_equal(frame[column], values)
    frame.loc[0, "age"] = 1  # A copy.
    self.assertNotEqual(table["age"][0], 1)

  def test_observations(self):
    made = inference.Observations.from_table
    trial, pumps = datasets.trial(), datasets.pumps()
    data = made(trial, time="months", event="died")
    upper = onp.where(trial["died"] == 1, trial["months"], math.inf)
    onp.testing.assert_array_equal(self.host(data.upper), upper)
    data = made(pumps, lower="last_good", upper="first_failed")
    self.assertEqual(
      self.host(data.upper).tolist(), list(pumps["first_failed"])
    )
    self.assertGreater(made(datasets.claims(), time="size").lower[0], 0)

  def test_trial(self):
    table = datasets.trial()
    truth = onp.asarray([0.5, -0.02, -0.3, -0.4, -0.8])
    ones = onp.ones((400, 1))
    x = onp.concatenate([ones, _trial_covariates(table)], axis=1)
    z = _trial_z_scores(table, truth, x)
    self.assertLess(abs(z).max(), 4.0)
    wrong = _trial_z_scores(table, truth * [1, 1, 1, 1, 0], x)
    self.assertGreater(abs(wrong[5]), 4.0)
    for until in (3.0, 6.0, 12.0, 24.0):
      (z,) = _trial_z_scores(table, truth, ones, until)
      self.assertLess(abs(z), 4.0)
    # Censoring, by its own cumulative hazard.
    months = table["months"]
    rest = onp.minimum(1.0, (60.0 - months) / 36.0)
    hazard = months / 120.0 - onp.log(rest)
    z = _z_scores((1 - table["died"] - hazard)[:, None])
    self.assertLess(abs(z).max(), 4.0)
    self.assertBetween(1 - table["died"].mean(), 0.35, 0.45)

  def test_pumps(self):
    table = datasets.pumps()
    truth = onp.asarray([0.0, -0.03, 0.3, -0.4])
    scores = _pump_scores(table, truth)
    self.assertLess(abs(_z_scores(scores)).max(), 4.0)
    wrong = _pump_scores(table, truth * [1, 0, 1, 1])
    self.assertGreater(abs(_z_scores(wrong)[1]), 4.0)
    gaps = table["first_failed"] - table["last_good"]
    gaps = gaps[gaps < math.inf]
    self.assertBetween(gaps.min(), 0.79, 0.85)
    self.assertBetween(gaps.max(), 1.15, 1.21)

  def test_claims(self):
    table = datasets.claims()
    truth = onp.asarray([-1.5, 0.08, 0.4, 0.8])
    self.assertLess(abs(_z_scores(_claim_scores(table, truth))).max(), 4.0)
    wrong = _claim_scores(table, truth * [1, 1, 1, 0])
    self.assertGreater(abs(_z_scores(wrong)[3]), 4.0)

  def test_clinic_visits(self):
    table = datasets.clinic_visits()
    rates = onp.log([0.3, 0.02, 0.15, 0.25, 0.05, 0.3])
    truth = onp.concatenate([rates, [-0.6, 0.7]])
    scores = _clinic_scores(table, truth)
    self.assertLess(abs(_z_scores(scores)).max(), 4.0)
    wrong = _clinic_scores(table, truth * [1, 1, 1, 1, 1, 1, 0, 0])
    self.assertGreater(abs(_z_scores(wrong)[6:]).min(), 3.0)
    # The first rows, the share of missed visits, the test.
    first = table["stage"][table["years"] == 0.0]
    self.assertBetween((first == "mild").mean(), 0.22, 0.38)
    is_visit = ~onp.isin(table["stage"], ["dead", "alive"])
    due = onp.floor(table["years"][~is_visit])
    self.assertBetween((is_visit.sum() - 300) / due.sum(), 0.75, 0.85)
    for stage, label, prob in [
      ("well", "mild", 0.06),
      ("mild", "well", 0.1),
      ("mild", "severe", 0.05),
      ("severe", "mild", 0.1),
      ("dead", "dead", 1.0),
      ("alive", "alive", 1.0),
    ]:
      seen = table["test"][table["stage"] == stage] == label
      error = 4.0 * math.sqrt(prob * (1.0 - prob) / len(seen))
      self.assertBetween(seen.mean(), prob - error, prob + error)


if __name__ == "__main__":
  absltest.main()
