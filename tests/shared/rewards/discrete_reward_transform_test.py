"""Sums of integer rewards of discrete chains, against enumeration."""

from fractions import Fraction
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.internal import static
from phasic.math.calls import gradients
from phasic.math.rewards import stochastic_complement
from tests.helpers import test_case


def _chain(p, seed=0, cyclic=True):
  """Draws masses, probabilities and an atom with 10 binary digits."""
  state = onp.random.RandomState(seed)
  rows = state.multinomial(1024, onp.ones(p + 1) / (p + 1), p) / 1024
  alpha = state.multinomial(1024, onp.ones(p + 1) / (p + 1))[:p] / 1024
  if not cyclic:
    rows[:, :p] = onp.triu(rows[:, :p], 1)
    rows[:, p] = 1 - onp.sum(rows[:, :p], axis=1)
  return alpha, rows[:, :p]


def _probs(alpha, matrix, visits, jumps, largest):
  """Computes P(Y = k) for all k, by enumeration of paths.

  In rational numbers; steps that earn nothing are a linear system, which is
  solved by iteration of its Neumann series until nothing is left to see.
  """
  p = len(alpha)
  leave = 1 - onp.sum(matrix, axis=1)
  whole = [
    [Fraction(float(x)) for x in (*row, last)]
    for row, last in zip(matrix, leave, strict=True)
  ]
  found = [Fraction(0)] * (largest + 1)
  found[0] = 1 - sum(Fraction(float(x)) for x in alpha)
  here = [[Fraction(0)] * (largest + 1) for _ in range(p)]
  for i in range(p):
    if visits[i] <= largest:
      here[i][visits[i]] = Fraction(float(alpha[i]))
  while any(x for row in here for x in row):
    there = [[Fraction(0)] * (largest + 1) for _ in range(p)]
    for i in range(p):
      for j in range(p + 1):
        earned = jumps[i][j] + (visits[j] if j < p else 0)
        for k in range(largest + 1 - earned):
          moved = here[i][k] * whole[i][j]
          if j < p:
            there[j][k + earned] += moved
          else:
            found[k + earned] += moved
    # Terms below 2^-90 are negligible.
    here = [
      [Fraction(math.floor(x * 2**90), 2**90) for x in row] for row in there
    ]
  return onp.asarray([float(x) for x in found])


def _found(model, counts):
  alpha, matrix, exits, atom = model
  return pm.discrete_phase_type.prob(counts, alpha, matrix, exits, atom)


class DiscreteRewardTransformTest(test_case.TestCase):
  """Tests distributions of Y."""

  @parameterized.product(
    visits=((1, 0, 1), (0, 1, 0), (0, 0, 0), (1, 1, 1), (2, 0, 3)),
    cyclic=(True, False),
  )
  def test_visits(self, visits, cyclic):
    alpha, matrix = _chain(3, 1, cyclic)
    expected = _probs(alpha, matrix, visits, onp.zeros((3, 4), int), 8)
    for path in self.paths():
      with config.use_path(path):
        model = pm.discrete_phase_type.reward_transform(visits, alpha, matrix)
        self.assert_close(_found(model, onp.arange(9.0)), expected, 1e-12)
    phases = sum(max(1, r) for r in visits)
    self.assertEqual(static.shape(model[1]), (phases, phases))
    sums = onp.sum(self.host(model[1]), axis=1) + self.host(model[2])
    self.assert_close(sums, onp.ones(phases), 1e-14)

  @parameterized.parameters(0, 1, 2)
  def test_jumps(self, seed):
    state = onp.random.RandomState(seed)
    alpha, matrix = _chain(3, seed)
    visits = state.randint(0, 2, 3) * (seed > 0)
    jumps = state.randint(0, 3, (3, 4))
    expected = _probs(alpha, matrix, visits, jumps, 8)
    model = pm.discrete_phase_type.reward_transform(
      visits, alpha, matrix, impulse_rewards=jumps
    )
    self.assert_close(_found(model, onp.arange(9.0)), expected, 1e-12)

  def test_rewards_may_be_traced(self):
    # Between calls only the values differ, so that one program serves both.
    alpha, matrix = _chain(4)
    rewards = onp.asarray([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0]])
    both = pm.discrete_phase_type.reward_transform(rewards, alpha, matrix)
    for i, row in enumerate(rewards):
      one = pm.discrete_phase_type.reward_transform(row, alpha, matrix)
      for x, y in zip(both, one, strict=True):
        self.assert_close(x[i], y, 1e-14)

  def test_batch_of_different_rewards(self):
    alpha, matrix = _chain(3, 4)
    visits = onp.asarray([[2, 0, 1], [0, 3, 0]])
    model = pm.discrete_phase_type.reward_transform(visits, alpha, matrix)
    for i, row in enumerate(visits):
      expected = _probs(alpha, matrix, row, onp.zeros((3, 4), int), 6)
      part = [x[i] for x in model]
      self.assert_close(_found(part, onp.arange(7.0)), expected, 1e-12)

  def test_edges(self):
    alpha, matrix = _chain(3, 5)
    sources, targets = onp.nonzero(matrix)
    leave = 1 - onp.sum(matrix, axis=1)
    edges = pm.EdgeProbs(
      [*sources, 0, 1, 2],
      [*targets, 3, 3, 3],
      onp.concatenate([matrix[sources, targets], leave]),
    )
    for rewards in ([1, 0, 1], [0, 2, 1]):
      found = pm.discrete_phase_type.reward_transform(rewards, alpha, edges)
      expected = pm.discrete_phase_type.reward_transform(rewards, alpha, matrix)
      for x, y in zip(found, expected, strict=True):
        self.assert_close(x, y, 1e-13, 1e-16)

  def test_ends_where_nothing_more_is_earned(self):
    matrix = onp.asarray([[0.0, 0.5], [0.0, 1.0]])
    model = pm.discrete_phase_type.reward_transform([1, 0], [1.0, 0.0], matrix)
    self.assert_close(_found(model, onp.asarray([0.0, 1.0, 2.0])), [0.0, 1, 0])

  def test_gradient(self):

    # Phase 1 is left for phase 0 with c; Y counts visits to phase 0, each the
    # last one with probability 1 - b: geometric, whatever c is.
    def prob(b, c):
      zero = np.zeros_like(b)
      matrix = np.stack([np.stack([zero, b]), np.stack([c, 1.0 - c])])
      exits = np.stack([1.0 - b, zero])
      model = pm.discrete_phase_type.reward_transform(
        [1, 0], np.asarray(onp.asarray([1.0, 0.0])), matrix, exits
      )
      return _found(model, 3.0)

    value, slopes = gradients.value_and_gradient(
      prob, np.asarray(onp.asarray(0.25)), np.asarray(onp.asarray(0.5))
    )
    self.assert_close(value, 0.25**2 * 0.75, 1e-13)
    self.assert_close(slopes[0], 2 * 0.25 * 0.75 - 0.25**2, 1e-12)
    self.assert_close(slopes[1], 0.0, atol=1e-14)

  @parameterized.parameters(
    ([-1, 0], None, "rewards has an entry -1"),
    ([0.5, 0], None, "rewards has an entry 0.5"),
    ([math.nan, 0], None, "rewards has an entry nan"),
    ([1], None, r"rewards has shape \(1,\)"),
    ([0, 0], onp.ones((2, 2)), r"impulse_rewards have shape \(2, 2\)"),
    ([0, 0], -onp.ones((2, 3)), "impulse_rewards has an entry -1"),
    ([5000, 0], None, "5001 stages.*at most 4096"),
  )
  def test_errors(self, rewards, jumps, message):
    matrix = onp.asarray([[0.5, 0.25], [0.0, 0.5]])
    with self.assertRaisesRegex(ValueError, message):
      pm.discrete_phase_type.reward_transform(
        rewards, [1.0, 0.0], matrix, impulse_rewards=jumps
      )

  @test_case.of_bad_values
  def test_bad_model(self):
    model = pm.discrete_phase_type.reward_transform([1], [1.0], [[1.5]])
    for x in model:
      self.assertTrue(onp.all(onp.isnan(self.host(x))))


class ZerosTest(test_case.TestCase):
  def test_no_derivatives_of_a_batch(self):
    rewards = np.asarray(onp.asarray([[1.0, 0.0, 2.0], [2.0, 3.0, 1.0]]))
    ones = np.ones_like(rewards)
    _, slope = gradients.jvp(
      stochastic_complement.no_derivative_at_zero, (rewards,), (ones,)
    )
    self.assert_close(slope, [math.nan, 0.0])


if __name__ == "__main__":
  absltest.main()
