"""Discrete chains in the kernel against rational arithmetic."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as onp

from tests.accuracy import discrete_calls as calls
from tests.accuracy import kernel_calls
from tests.accuracy import sweeps
from tests.oracle import discrete_oracle as oracle

_COUNTS = onp.asarray([0, 1, 2, 3, 16, 17, 33])


def _random(seed: int, p: int = 3) -> oracle.Operands:
  """Rows of 64ths, some of their entries zero."""
  state = onp.random.RandomState(seed)
  rows = onp.floor(state.dirichlet(onp.full(p + 1, 0.7), p) * 64) / 64
  rows[:, -1] += 1 - onp.sum(rows, axis=1)
  alpha = onp.floor(state.dirichlet(onp.ones(p + 1)) * 64) / 64
  return oracle.Operands(alpha[:p], rows[:, :p])


def _with_exits(model: oracle.Operands) -> oracle.Operands:
  return model._replace(
    exit_probs=1 - onp.sum(model.transitions, axis=1),
    prob_zero=onp.asarray(1 - onp.sum(model.initial_probs)),
  )


def _periodic() -> oracle.Operands:
  """Two phases by turns: even counts are impossible."""
  return oracle.Operands(
    onp.asarray([1.0, 0.0]), onp.asarray([[0.0, 0.75], [1.0, 0.0]])
  )


def _no_digits_in_common() -> oracle.Operands:
  """Entries that are no short binary fractions, of many sizes."""
  matrix = onp.asarray([[0.1, 1e-9, 0.3], [1e-3, 0.7, 0.2], [1e-30, 0.6, 1e-5]])
  return oracle.Operands(onp.asarray([0.3, 0.1, 0.2]), matrix)


MODELS = {
  **{f"random{seed}": _random(seed) for seed in range(3)},
  **{f"exits{seed}": _with_exits(_random(seed)) for seed in range(3, 6)},
  "periodic": _periodic(),
  "spread": _no_digits_in_common(),
}


# Counts in far tails, log pmf below -700, and after very many steps.
_FAR = {
  "fast": (
    oracle.Operands(
      onp.asarray([0.5, 0.25]), onp.asarray([[0.25, 0.125], [0.5, 0.0]])
    ),
    [600, 2000, 9000],
  ),
  "rare": (
    oracle.Operands(
      onp.asarray([1.0, 0.0]),
      onp.asarray([[0.5, 2.0**-20], [0.0, 1 - 2.0**-10]]),
    ),
    [20, 500, 5000, 600_000],
  ),
  "geometric": (
    oracle.Operands(onp.ones(1), onp.asarray([[0.999]])),
    [10, 1000, 700_000, 3_000_000],
  ),
  "slow": (
    oracle.Operands(
      onp.asarray([0.3, 0.4, 0.3]),
      onp.asarray([[7, 37, 20], [29, 13, 22], [19, 45 - 2.0**-17, 0]]) / 64,
    ),
    [100, 10_000, 4_000_000],
  ),
  "very_slow": (
    oracle.Operands(
      onp.asarray([0.25, 0.75]),
      onp.asarray([[0.3, 0.7], [0.6, 0.4]]),
      onp.asarray([1e-20, 0.0]),
    ),
    [1, 1000, 10_000],
  ),
  "very_slow_geometric": (
    oracle.Operands(
      onp.ones(1), onp.asarray([[1 - 2.0**-40]]), onp.asarray([2.0**-40])
    ),
    [1, 10_000, 1_000_000, 4_000_000],
  ),
}


def _direction(model: oracle.Operands, state) -> oracle.Operands:
  return oracle.Operands(
    *(None if x is None else state.normal(size=onp.shape(x)) for x in model)
  )


class DiscreteTest(parameterized.TestCase):
  """Values, and derivatives to the third order."""

  def setUp(self):
    super().setUp()
    if not kernel_calls.available():
      self.skipTest(kernel_calls.UNAVAILABLE)

  def assert_within(self, actual, truth, scale, bound, message):
    if truth == scale == 0.0:
      self.assertEqual(actual, 0.0, message)
    else:
      self.assertLessEqual(abs(actual - truth), bound * scale, message)

  @parameterized.parameters(*itertools.product(MODELS, oracle.KINDS))
  def test_values(self, name, kind):
    values = calls.directional(kind, MODELS[name], _COUNTS)
    for count, value in zip(_COUNTS, values, strict=True):
      truth, _ = oracle.directional(kind, MODELS[name], count)
      if onp.isinf(truth):
        self.assertEqual(value, truth, count)
        continue
      bound = 1e-14 * abs(truth) if not kind.startswith("log_") else 1e-14
      bound = max(bound, 4 * onp.spacing(abs(truth)))
      self.assertLessEqual(abs(value - truth), bound, count)

  @parameterized.parameters(
    *sweeps.product(5, name=tuple(MODELS), kind=oracle.KINDS, order=(1, 2, 3))
  )
  def test_forward_derivatives(self, name, kind, order):
    model, state = MODELS[name], onp.random.RandomState(order)
    directions = tuple(_direction(model, state) for _ in range(order))
    values = calls.directional(kind, model, _COUNTS, directions)
    for count, value in zip(_COUNTS, values, strict=True):
      if onp.isinf(oracle.directional(kind, model, count)[0]):
        self.assertFalse(onp.isfinite(value), count)
        continue
      truth, scale = oracle.directional(kind, model, count, directions)
      self.assert_within(value, truth, scale, 1e-13, count)

  @parameterized.parameters(
    *sweeps.product(5, name=tuple(MODELS), kind=oracle.KINDS, order=(1, 2))
  )
  def test_gradients(self, name, kind, order):
    model, state = MODELS[name], onp.random.RandomState(order)
    directions = tuple(_direction(model, state) for _ in range(order - 1))
    counts = onp.asarray([1, 3, 17])
    weights = state.normal(size=3)
    bars = calls.gradient(kind, model, counts, weights, directions)
    if kind.startswith("log_"):
      possible = [
        onp.isfinite(oracle.directional(kind, model, k)[0]) for k in counts
      ]
      if not all(possible):
        self.assertTrue(onp.all(onp.isnan(bars[0])))
        return
    for operand, (bar, units) in enumerate(
      zip(bars[:4], oracle.basis(model), strict=True)
    ):
      for i, unit in enumerate(units or []):
        terms = [
          oracle.directional(kind, model, k, (*directions, unit))
          for k in counts
        ]
        truth = sum(w * x for w, (x, _) in zip(weights, terms, strict=True))
        scale = sum(
          abs(w) * c for w, (_, c) in zip(weights, terms, strict=True)
        )
        self.assert_within(bar[i], truth, scale, 1e-13, (operand, i))
    # At whole numbers nothing has a derivative in the count.
    self.assertTrue(onp.all(onp.isnan(bars[4])))

  @parameterized.parameters(*oracle.KINDS)
  def test_third_order_gradient(self, kind):
    model, state = _random(3, p=2), onp.random.RandomState(0)
    directions = tuple(_direction(model, state) for _ in range(2))
    bars = calls.gradient(kind, model, [4], [1.0], directions)
    for bar, units in zip(bars, oracle.basis(model), strict=False):
      for i, unit in enumerate(units or []):
        truth, scale = oracle.directional(kind, model, 4, (*directions, unit))
        self.assert_within(bar[i], truth, scale, 1e-13, i)

  @parameterized.parameters(
    *sweeps.product(5, name=tuple(_FAR), kind=oracle.KINDS)
  )
  def test_far_counts(self, name, kind):
    model, counts = _FAR[name]
    values = calls.directional(kind, model, counts)
    for count, value in zip(counts, values, strict=True):
      truth, _ = oracle.far_directional(kind, model, count)
      error = abs(float(flint.arb(float(value)) - truth))
      size = abs(float(truth))
      bound = 8 * float(onp.spacing(size))
      if kind.startswith("log_"):
        bound = max(bound, 1e-12)
      else:
        bound = max(bound, 1e-12 * size)
      self.assertLessEqual(error, bound, count)


if __name__ == "__main__":
  absltest.main()
