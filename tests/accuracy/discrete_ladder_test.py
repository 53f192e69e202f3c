"""Counts of discrete chains far beyond what steps can do."""

import itertools
import math

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as onp

from tests.accuracy import discrete_calls as calls
from tests.accuracy import kernel_calls
from tests.oracle import discrete_oracle as oracle

_LOGS = ("log_density", "log_survival", "log_cdf")
_LOG_INTERVAL = 6
_NOTHING = 7


def _chain(alpha, matrix) -> oracle.Operands:
  return oracle.Operands(onp.asarray(alpha, float), onp.asarray(matrix, float))


def _given(alpha, matrix, exits) -> oracle.Operands:
  """Rows whose sums are one with their exits, in doubles too."""
  matrix, exits = onp.array(matrix, float), onp.array(exits, float)
  return oracle.Operands(onp.asarray(alpha, float), matrix, exits)


def _metastable() -> oracle.Operands:
  """Two lumps of phases that hardly communicate."""
  e = 2.0**-30
  return _chain(
    [0.0, 0.5, 0.25, 0.0],
    [
      [0.5 - e, 0.5, 0, 0],
      [0.75, 0.25 - e, e, 0],
      [0, e, 0.125 - 2 * e, 0.875],
      [0, 0, 1 - 2.0**-26, 0],
    ],
  )


def _negative_binomial(stages: int, prob: float) -> oracle.Operands:
  matrix = onp.diag(onp.full(stages, 1 - prob))
  matrix += onp.diag(onp.full(stages - 1, prob), 1)
  return _chain(onp.eye(stages)[0], matrix)


_MODELS = {
  "geometric": _chain([1.0], [[0.999999]]),
  "metastable": _metastable(),
  "periodic": _chain([1.0, 0.0], [[0.0, 1 - 2.0**-20], [1.0, 0.0]]),
  "decimals": _chain([0.3, 0.7], [[0.1, 0.7], [1e-9, 0.999]]),
  "fast_and_slow": _chain([0.5, 0.25], [[0.5, 2.0**-20], [0, 1 - 2.0**-40]]),
  "stages": _negative_binomial(5, 2.0**-24),
  "rare_exit": _given(
    [0.25, 0.75], [[0.25, 0.75], [0.5, 0.5 - 2.0**-50]], [0.0, 2.0**-50]
  ),
  # Rows are one only to the last digit; exits are far below that.
  "ring": _given(
    onp.eye(3)[0],
    onp.roll(onp.diag([1.0, 1.0, 1 - 2.0**-45]), 1, axis=1),
    [0.0, 0.0, 2.0**-45],
  ),
}


def _possible(name: str, count: float) -> int:
  """A count near the given one at which the chain may be absorbed."""
  period, rest = {"periodic": (2, 1), "ring": (3, 0)}.get(name, (1, 0))
  return int(count) // period * period + rest


def _direction(model: oracle.Operands, rng) -> oracle.Operands:
  return oracle.Operands(
    *(None if x is None else rng.normal(size=onp.shape(x)) for x in model)
  )


class DiscreteLadderTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    if not kernel_calls.available():
      self.skipTest(kernel_calls.UNAVAILABLE)

  def _check_value(self, kind, model, count, truth=None):
    actual = calls.directional(kind, model, [count])[0]
    if truth is None:
      truth, _ = oracle.far_directional(kind, model, count)
    size = abs(float(truth))
    if kind.startswith("log_"):
      bound = max(1e-12, 8 * float(onp.spacing(size)))
    else:
      bound = 1e-12 * size
    error = abs(float(flint.arb(float(actual)) - truth))
    self.assertLessEqual(error, bound, (kind, count, actual, truth))

  def _check_within(self, actual, exact, scale, bound, message):
    error = abs(float(flint.arb(float(actual)) - exact))
    self.assertLessEqual(error, bound * float(scale), (message, actual, exact))

  @parameterized.parameters(
    *itertools.product(_MODELS, (5e3, 3e5, 1e7, 1e9, 1e12, 2e15))
  )
  def test_logs(self, name, count):
    for kind in _LOGS:
      self._check_value(kind, _MODELS[name], _possible(name, count))

  @parameterized.parameters(
    ("periodic", 1e7), ("periodic", 1e12), ("ring", 1e9)
  )
  def test_impossible_counts(self, name, count):
    for kind, expected in (("log_density", -onp.inf), ("density", 0.0)):
      count = _possible(name, count) + 1
      value = calls.directional(kind, _MODELS[name], [count])[0]
      self.assertEqual(value, expected)

  @parameterized.parameters(*itertools.product(oracle.KINDS, (1e5, 1e7, 1e10)))
  def test_all_kinds(self, kind, count):
    # Not so far out that doubles cannot hold it.
    self._check_value(kind, _MODELS["metastable"], int(count))

  @parameterized.parameters(
    *itertools.product((1, 2, 7), (10**7, 10**9, 10**12))
  )
  def test_negative_binomial(self, stages, count):
    # count - 1 failures and successes, of which stages - 1 are successes.
    prob = 2.0**-22
    with flint.ctx.workprec(400):
      ways = flint.arb(flint.fmpz(math.comb(count - 1, stages - 1)))
      truth = (
        ways.log()
        + stages * flint.arb(prob).log()
        + (count - stages) * (1 - flint.arb(prob)).log()
      )
    model = _negative_binomial(stages, prob)
    self._check_value("log_density", model, count, truth)

  def test_fast_decay(self):
    # Far below the range of doubles after the first squaring.
    model = _chain([0.5, 0.5], [[1e-200, 1e-250], [1e-180, 1e-201]])
    for count in (10_000, 10**7, 10**12):
      self._check_value("log_survival", model, count)
      self._check_value("log_density", model, count)

  def test_many_phases(self):
    rng = onp.random.default_rng(0)
    rows = onp.round(rng.dirichlet(onp.full(40, 0.2), 40) * 2**30) / 2**30
    rows[:, -1] += 1 - onp.sum(rows, axis=1) - 2.0**-20
    model = _chain(onp.eye(40)[3], onp.maximum(rows, 0.0))
    for count in (10**6, 10**9):
      for kind in _LOGS:
        self._check_value(kind, model, count)

  @parameterized.parameters(
    *itertools.product(_MODELS, _LOGS, (1e5, 1e7, 1e12))
  )
  def test_gradients(self, name, kind, count):
    count = _possible(name, count)
    self._check_gradient(kind, _MODELS[name], count, (), 1e-12)

  def _check_gradient(self, kind, model, count, directions, bound):
    bars = calls.gradient(kind, model, [count], [1.0], directions)
    units = oracle.basis(model)
    for bar, along in zip(bars[:4], units, strict=True):
      for i, unit in enumerate(along or []):
        truth, scale = oracle.far_directional(
          kind, model, count, (*directions, unit)
        )
        self._check_within(bar[i], truth, scale, bound, (kind, i))
    self.assertTrue(onp.all(onp.isnan(bars[4])))

  @parameterized.parameters(
    *itertools.product(("decimals", "rare_exit"), oracle.KINDS, (1, 2, 3))
  )
  def test_higher_derivatives(self, name, kind, order):
    model, rng = _MODELS[name], onp.random.default_rng(order)
    count = 10_000 if name == "decimals" else 10**8
    directions = tuple(_direction(model, rng) for _ in range(order))
    value = calls.directional(kind, model, [count], directions)[0]
    truth, scale = oracle.far_directional(kind, model, count, directions)
    self._check_within(value, truth, scale, 1e-10, kind)
    self._check_gradient(kind, model, count, directions[1:], 1e-10)

  @parameterized.parameters(
    ("decimals", 10_000, 20_000),
    ("metastable", 100, 10**8),
    ("metastable", 10**9, 10**9 + 1),
    ("geometric", 10**7, 10**12),
    ("rare_exit", 0, 10**13),
    ("periodic", 10**7, 10**7 + 2),
  )
  def test_intervals(self, name, lower, upper):
    model, ends = _MODELS[name], [lower, upper]
    kinds = [_LOG_INTERVAL, _NOTHING]
    actual = calls.directional("density", model, ends, kinds=kinds)[0]
    truth, _ = oracle.far_directional("log_interval", model, ends)
    bound = max(1e-12, 8 * onp.spacing(abs(float(truth))))
    self._check_within(actual, truth, 1.0, bound, ends)
    bars = calls.gradient("density", model, ends, [1.0, 0.0], kinds=kinds)
    for bar, along in zip(bars[:4], oracle.basis(model), strict=True):
      for i, unit in enumerate(along or []):
        truth, scale = oracle.far_directional(
          "log_interval", model, ends, (unit,)
        )
        self._check_within(bar[i], truth, scale, 1e-12, i)
    along = _direction(model, onp.random.default_rng(0))
    value = calls.directional("density", model, ends, (along,), kinds)[0]
    truth, scale = oracle.far_directional("log_interval", model, ends, (along,))
    self._check_within(value, truth, scale, 1e-12, "forward")

  @parameterized.parameters(*oracle.KINDS)
  def test_what_else_is_asked_for_does_not_matter(self, kind):
    model = _MODELS["metastable"]
    counts = onp.floor(onp.logspace(0, 15, 31))
    together = calls.directional(kind, model, counts)
    alone = [calls.directional(kind, model, [k])[0] for k in counts]
    onp.testing.assert_array_equal(together, alone)
    order = onp.random.default_rng(0).permutation(len(counts))
    mixed = calls.directional(kind, model, counts[order])
    onp.testing.assert_array_equal(mixed, together[order])

  @parameterized.parameters("log_density", "log_survival", "log_cdf")
  def test_gradients_of_small_and_huge_counts_add_up(self, kind):
    model, counts = _MODELS["metastable"], onp.asarray([3.0, 1e4, 1e7, 1e10])
    weights = onp.asarray([0.5, 2.0, 1.0, 0.25])
    together = calls.gradient(kind, model, counts, weights)
    alone = [
      calls.gradient(kind, model, [k], [w])
      for k, w in zip(counts, weights, strict=True)
    ]
    for k in (0, 1):
      parts = onp.stack([bars[k] for bars in alone])
      difference = onp.abs(together[k] - onp.sum(parts, axis=0))
      bound = 1e-13 * onp.sum(onp.abs(parts), axis=0)
      self.assertTrue(onp.all(difference <= bound), (difference, bound))

  @parameterized.parameters(*_LOGS)
  def test_edges(self, kind):
    # Loops are left out; in the dense model they are the rest of a row.
    model = _MODELS["metastable"]
    p = len(model.initial_probs)
    matrix = model.transitions - onp.diag(onp.diag(model.transitions))
    exits = 1 - onp.sum(model.transitions, axis=1)
    sources, targets = onp.nonzero(matrix)
    leaving = onp.flatnonzero(exits)
    indices = onp.asarray(
      [[*sources, *leaving], [*targets, *[p] * len(leaving)]], onp.int32
    )
    theta = onp.asarray([*matrix[sources, targets], *exits[leaving]])
    arrays = calls.inputs(model, [1e5, 1e9, 1e14])
    arrays[1] = theta
    edges = (indices, onp.zeros(0), onp.zeros((len(theta), 0)))
    actual = kernel_calls.module().forward(
      oracle.KINDS.index(kind), 0, arrays, edges, discrete=True
    )
    expected = calls.directional(kind, model, [1e5, 1e9, 1e14])
    onp.testing.assert_allclose(actual, expected, rtol=1e-14)

  def test_rows_that_are_one_but_for_rounding(self):
    # Decimals whose sum is off by a digit: what the exits say holds. 6/13 of
    # the time is spent in the first phase.
    exit_prob = 1e-18
    model = _given([0.25, 0.75], [[0.3, 0.7], [0.6, 0.4]], [exit_prob, 0.0])
    logarithm = -1e15 * exit_prob * 6 / 13
    actual = calls.directional("log_survival", model, [1e15])[0]
    self.assertAlmostEqual(actual / logarithm, 1.0, delta=1e-9)
    actual = calls.directional("cdf", model, [1e15])[0]
    self.assertAlmostEqual(actual / -onp.expm1(logarithm), 1.0, delta=1e-9)

  @parameterized.parameters((2, 2.0**60), (1500, 1e8))
  def test_the_limits_have_a_reason(self, phases, count):
    model = _negative_binomial(phases, 2.0**-40)
    value = calls.directional("log_survival", model, [count])[0]
    self.assertTrue(onp.isnan(value))
    message = calls.status("log_survival", model, [count])[0]
    self.assertIn("work limit", message)


if __name__ == "__main__":
  absltest.main()
