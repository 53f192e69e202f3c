"""Rewards until a time, and discounted ones, against many digits."""

from fractions import Fraction
import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import test_case

_START = onp.asarray([0.5, 0.25, 0.125])
_RATES = onp.asarray(
  [[-3.0, 1.0, 0.5], [0.25, -2.0, 1.0], [0.0, 0.125, -0.375]]
)
_STEPS = onp.asarray(
  [[0.25, 0.25, 0.125], [0.125, 0.5, 0.25], [0.0, 0.125, 0.75]]
)
_REWARDS = onp.asarray([[1.0, 0.0], [2.0, 5.0], [0.0, 0.5]])


def _until(time, rewards=_REWARDS):
  """Integrates alpha exp(S u) r over u < t, by an exponential in mpmath."""
  p, size = rewards.shape
  with mpmath.workdps(60):
    # The last columns of the exponential of ((S, r), (0, 0)) t are the integral.
    whole = mpmath.zeros(p + size)
    whole[:p, :p] = mpmath.matrix(_RATES.tolist())
    whole[:p, p:] = mpmath.matrix(rewards.tolist())
    start = mpmath.matrix([_START.tolist()])
    x = start * mpmath.expm(whole * mpmath.mpf(time))[:p, p:]
    return onp.asarray([float(y) for y in x])


def _discounted(u):
  """Solves (u I - S) x = r by rationals."""
  matrix = [
    [Fraction(u) * (i == j) - Fraction(_RATES[i, j]) for j in range(3)]
    for i in range(3)
  ]
  return _solved(matrix, _REWARDS)


def _solved(matrix, rewards):
  """Returns alpha times the solution of a system of rationals."""
  rows = [
    [*row, *map(Fraction, r.tolist())]
    for row, r in zip(matrix, rewards, strict=True)
  ]
  p = len(rows)
  for i in range(p):
    pivot = next(j for j in range(i, p) if rows[j][i])
    rows[i], rows[pivot] = rows[pivot], rows[i]
    rows[i] = [x / rows[i][i] for x in rows[i]]
    for j in range(p):
      if j != i:
        rows[j] = [
          x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)
        ]
  starts = [Fraction(x) for x in _START.tolist()]
  return onp.asarray(
    [
      float(sum(a * row[k] for a, row in zip(starts, rows, strict=True)))
      for k in range(p, p + rewards.shape[1])
    ]
  )


class ContinuousTest(test_case.TestCase):
  """Tests chains in continuous time."""

  def test_until_times(self):
    times = (1e-9, 0.125, 1.0, 30.0)
    exact = onp.stack([_until(t) for t in times])
    found = pm.phase_type.accumulated_reward_means(
      times, _REWARDS, _START, _RATES
    )
    self.assert_close(found, exact, 1e-13)
    whole = pm.phase_type.reward_means(_REWARDS, _START, _RATES)
    late = pm.phase_type.accumulated_reward_means(
      [0.0, 1e6], _REWARDS, _START, _RATES
    )
    self.assert_close(late[1], whole, 1e-13)
    self.assert_close(late[0], onp.zeros(2), 0.0)

  @parameterized.parameters(2.0**-40, 2.0**40)
  def test_units_of_time(self, scale):
    found = pm.phase_type.accumulated_reward_means(
      1.5 / scale, _REWARDS, _START, _RATES * scale
    )
    self.assert_close(found, _until(1.5) / scale, 1e-13)

  def test_discounts(self):
    discounts = (0.0, 2.0**-40, 0.0625, 3.0, 2.0**40)
    exact = onp.stack([_discounted(u) for u in discounts])
    found = pm.phase_type.discounted_reward_means(
      discounts, _REWARDS, _START, _RATES
    )
    self.assert_close(found, exact, 1e-14)

  def test_a_chain_that_is_caught(self):
    edges = pm.EdgeRates([0, 0, 1], [1, 2, 1], [1.0, 1.0, 0.0])
    model = ([1.0, 0.0], edges)
    found = pm.phase_type.accumulated_reward_means(8.0, [[0.0], [1.0]], *model)
    # Half of all paths come to the trap, after exponential times of rate two.
    exact = 0.5 * (8.0 + math.expm1(-16.0) / 2.0)
    self.assert_close(found, onp.asarray([exact]), 1e-13)
    found = pm.phase_type.discounted_reward_means(
      [0.0, 0.5], [[0.0, 1.0], [1.0, 0.0]], *model
    )
    exact = onp.asarray([[math.inf, 0.5], [1.0 / 2.5 / 0.5, 1.0 / 2.5]])
    self.assert_close(found, exact, 1e-14)

  def test_derivatives(self):
    weights = onp.asarray([1.0, 0.5])

    def total(t, rewards, start):
      means = pm.phase_type.accumulated_reward_means(t, rewards, start, _RATES)
      return np.sum(means * weights)

    _, (in_time, in_rewards, in_start) = gradients.value_and_gradient(
      total, 1.5, _REWARDS, _START
    )
    dist = pd.PhaseType(_START, _RATES)
    probs = self.host(dist.occupancy(1.5))
    self.assert_close(in_time, probs @ _REWARDS @ weights, 1e-12)
    # Of unit rewards: expected times in the phases until then.
    eye = _until(1.5, rewards=onp.eye(3))
    self.assert_close(in_rewards, onp.outer(eye, weights), 1e-12)
    self.assert_close(
      onp.sum(self.host(in_start) * _START), _until(1.5) @ weights, 1e-12
    )

  def test_derivatives_of_discounts(self):
    # For an exponential time of rate a: r / (u + a).
    def worth(u, rate):
      edges = pm.EdgeRates([0], [1], rate)
      return pm.phase_type.discounted_reward_means(u, [[3.0]], [1.0], edges)[0]

    _, slopes = gradients.value_and_gradient(worth, 0.25, onp.asarray([0.5]))
    self.assert_close(slopes[0], -3.0 / 0.75**2, 1e-14)
    self.assert_close(slopes[1], onp.asarray([-3.0 / 0.75**2]), 1e-14)

  def test_methods(self):
    dist = pd.MultivariatePhaseType(_START, _RATES, _REWARDS)
    exact = onp.stack([_until(t) for t in (1.0, 2.5)])
    self.assert_close(dist.expected_totals([1.0, 2.5]), exact, 1e-13)
    later = dist.expected_totals([2.5, 1.0], since=[1.0, 2.0])
    self.assert_close(
      later, onp.stack([exact[1] - exact[0], [0.0, 0.0]]), 1e-12
    )
    self.assert_close(dist.discounted_totals(0.0), dist.mean(), 1e-15)
    self.assert_close(dist.discounted_totals(0.5), _discounted(0.5), 1e-14)
    batch = pd.MultivariatePhaseType(
      _START, _RATES, onp.stack([_REWARDS, 2.0 * _REWARDS])
    )
    found = batch.expected_totals(1.0)
    self.assert_close(found, onp.stack([exact[0], 2.0 * exact[0]]), 1e-13)

  def test_invalid_values(self):
    call = pm.phase_type.accumulated_reward_means
    found, caught = self.caught(lambda: call(-1.0, _REWARDS, _START, _RATES))
    self.assertTrue(onp.all(onp.isnan(self.host(found))))
    self.assertIn("value = -1.0: it must be finite", str(caught[0].message))
    worth = pm.phase_type.discounted_reward_means
    _, caught = self.caught(lambda: worth(-1.0, _REWARDS, _START, _RATES))
    self.assertIn("u = -1.0: it must be finite", str(caught[0].message))
    found, caught = self.caught(lambda: call(1.0, -_REWARDS, _START, _RATES))
    self.assertTrue(onp.all(onp.isnan(self.host(found))))
    self.assertIn("rewards must be >= 0", str(caught[0].message))
    with self.assertRaisesRegex(ValueError, "rewards has shape"):
      call(1.0, _REWARDS[:2], _START, _RATES)
    dist = pd.MultivariatePhaseType(_START, _RATES, _REWARDS)
    _, caught = self.caught(lambda: dist.expected_totals(-1.0))
    self.assertIn("until = -1.0", str(caught[0].message))
    _, caught = self.caught(lambda: dist.discounted_totals(-1.0))
    self.assertIn("u = -1.0", str(caught[0].message))


class DiscreteTest(test_case.TestCase):
  """Tests chains in discrete time, by rationals."""

  def test_until_steps(self):
    steps = [[Fraction(x) for x in row] for row in _STEPS.tolist()]
    counts = (0, 1, 2, 7, 60)
    exact = []
    for count in counts:
      masses = [Fraction(x) for x in _START.tolist()]
      total = [Fraction(0)] * 2
      for _ in range(count):
        for k in range(2):
          total[k] += sum(
            m * Fraction(r)
            for m, r in zip(masses, _REWARDS[:, k].tolist(), strict=True)
          )
        masses = [
          sum(masses[i] * steps[i][j] for i in range(3)) for j in range(3)
        ]
      exact.append([float(x) for x in total])
    found = pm.discrete_phase_type.accumulated_reward_means(
      onp.asarray(counts, float), _REWARDS, _START, _STEPS
    )
    self.assert_close(found, onp.asarray(exact), 1e-13)

  def test_discounts(self):
    factors = (0.0, 0.5, 0.9375, 1.0)
    exact = []
    for z in factors:
      matrix = [
        [(i == j) - Fraction(z) * Fraction(_STEPS[i, j]) for j in range(3)]
        for i in range(3)
      ]
      exact.append(_solved(matrix, _REWARDS))
    found = pm.discrete_phase_type.discounted_reward_means(
      factors, _REWARDS, _START, _STEPS
    )
    self.assert_close(found, onp.stack(exact), 1e-13)
    found, caught = self.caught(
      lambda: pm.discrete_phase_type.discounted_reward_means(
        1.5, _REWARDS, _START, _STEPS
      )
    )
    self.assertTrue(onp.all(onp.isnan(self.host(found))))
    self.assertIn("z = 1.5: the discount", str(caught[0].message))


if __name__ == "__main__":
  absltest.main()
