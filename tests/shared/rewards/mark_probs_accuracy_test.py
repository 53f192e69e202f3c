"""Joint Poisson counts against rational numbers and known distributions."""

from fractions import Fraction
import itertools
import math

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import chains
from tests.helpers import models
from tests.helpers import test_case
from tests.oracle import reward_oracle as oracle


def _exact(alpha, off, exits, rewards, theta, counts, atom=0.0):
  """Computes the probabilities in rational numbers."""
  p, size = onp.shape(rewards)
  rates = [
    [
      oracle.rational(rewards[i][r]) * oracle.rational(theta[r])
      for r in range(size)
    ]
    for i in range(p)
  ]
  killing = flint.fmpq_mat(p, p)
  for i in range(p):
    killing[i, i] = sum(rates[i], flint.fmpq(0))
  v = oracle.green(off, exits, killing)
  x, found = {}, onp.zeros([n + 1 for n in counts])
  start = oracle.matrix(alpha).transpose()
  for n in itertools.product(*(range(c + 1) for c in counts)):
    b = oracle.matrix(exits) if not any(n) else flint.fmpq_mat(p, 1)
    for r in range(size):
      if n[r]:
        before = x[(*n[:r], n[r] - 1, *n[r + 1 :])]
        for i in range(p):
          b[i, 0] += rates[i][r] * before[i, 0]
    x[n] = v * b
    value = (start * x[n])[0, 0] + (0 if any(n) else oracle.rational(atom))
    found[n] = float(flint.arb(value))
  return found


def _tree(n):
  """Builds the coalescent of n lineages, with lineages as rewards."""
  lineages = onp.arange(n, 1, -1.0)
  model = models.hypoexponential(lineages * (lineages - 1) / 2)
  return model, lineages[:, None]


class JointMarkProbsTest(test_case.TestCase):
  """Tests values."""

  @parameterized.parameters(
    (1, (5, 3)), (3, (4,)), (4, (2, 3, 2)), (6, (3, 3)), (6, (0, 0, 0, 1))
  )
  def test_rational(self, p, counts):
    state = onp.random.RandomState(p)
    model = models.random_model(p, state)
    off = model.subgenerator * (1 - onp.eye(p))
    alpha = onp.round(model.initial_probs * 2**20) / 2**20
    atom = 1 - onp.sum(alpha)
    rewards = state.gamma(0.5, size=(p, len(counts)))
    rewards[state.uniform(size=rewards.shape) < 0.3] = 0.0
    theta = state.gamma(1.0, size=len(counts))
    expected = _exact(
      alpha, off, model.exit_rates, rewards, theta, counts, atom
    )
    for path in self.paths():
      with config.use_path(path):
        found = pm.phase_type.joint_mark_probs(
          counts,
          rewards,
          theta,
          alpha,
          off,
          model.exit_rates,
          atom,
        )
        self.assert_close(found, expected, 1e-13)

  def test_two_rewards_of_one_phase(self):
    # The total is geometric, and each event has a random kind.
    found = self.host(
      pm.phase_type.joint_mark_probs(
        (6, 5), [[1.0, 2.0]], [0.5, 0.25], [1.0], [[-1.0]]
      )
    )
    for a, b in itertools.product(range(7), range(6)):
      expected = math.comb(a + b, a) * 0.25 ** (a + b) * 0.5
      self.assert_close(found[a, b], expected, 1e-13)

  @parameterized.parameters(2, 3, 10)
  def test_segregating_sites(self, n):
    # Tavare 1984: P(S = k) for n samples and theta, here 0.75.
    theta = Fraction(3, 4)
    expected = [
      Fraction(n - 1)
      / theta
      * sum(
        (-1) ** (i - 1)
        * math.comb(n - 2, i - 1)
        * (theta / (theta + i)) ** (k + 1)
        for i in range(1, n)
      )
      for k in range(31)
    ]
    model, lineages = _tree(n)
    # Watterson's theta is per pair: theta / 2 mutations per branch and unit.
    found = pm.phase_type.joint_mark_probs((30,), lineages, [0.375], *model[:2])
    self.assert_close(found, [float(x) for x in expected], 1e-12)

  def test_marginals(self):
    # Unused counts do not change the others.
    model = models.random_model(4, onp.random.RandomState(2))
    rewards = onp.random.RandomState(3).gamma(1.0, size=(4, 2))
    both = pm.phase_type.joint_mark_probs((3, 12), rewards, [0.3, 0.01], *model)
    one = pm.phase_type.joint_mark_probs((3,), rewards[:, :1], [0.3], *model)
    self.assert_close(onp.sum(self.host(both), axis=1), one, 1e-10)

  def test_ends_where_nothing_more_happens(self):
    matrix = onp.asarray([[-2.0, 1.0], [0.0, 0.0]])
    found = pm.phase_type.joint_mark_probs(
      (3,), [[1.0], [0.0]], [1.0], [1.0, 0.0], matrix
    )
    self.assert_close(found, 2 / 3 ** onp.arange(1.0, 5.0), 1e-14)
    for_ever = pm.phase_type.joint_mark_probs(
      (3,), [[1.0], [1.0]], [1.0], [1.0, 0.0], matrix
    )
    self.assert_close(for_ever, 1 / 3 ** onp.arange(1.0, 5.0), 1e-14)

  def test_edges(self):
    model = chains.SMALL["cyclic6"]
    rewards = onp.stack([model.rewards, onp.ones(6)], axis=1)
    off, exits = model.dense()
    values = [
      pm.phase_type.joint_mark_probs(
        (3, 2), rewards, [0.5, 0.25], model.initial_probs, *rates
      )
      for rates in ((model.structure(),), (off, exits))
    ]
    self.assert_close(values[0], values[1], 1e-13)

  def test_scales(self):
    model, lineages = _tree(5)
    base = pm.phase_type.joint_mark_probs((4,), lineages, [0.5], *model[:2])
    for scale in (1e-200, 1e200):
      found = pm.phase_type.joint_mark_probs(
        (4,), lineages, [0.5 * scale], model[0], model[1] * scale
      )
      self.assert_close(found, base, 1e-13)

  def test_batch(self):
    model, lineages = _tree(4)
    theta = onp.asarray([[0.5], [2.0], [0.0]])
    scales = onp.asarray([1.0, 3.0])[:, None, None, None]
    found = pm.phase_type.joint_mark_probs(
      (3,), lineages, theta, model[0], model[1] * scales
    )
    self.assertEqual(static.shape(found), (2, 3, 4))
    for i, j in itertools.product(range(2), range(3)):
      one = pm.phase_type.joint_mark_probs(
        (3,),
        lineages,
        theta[j],
        model[0],
        model[1] * float(scales[i, 0, 0, 0]),
      )
      self.assert_close(found[i, j], one, 1e-14)
    self.assert_close(found[0, 2], [1.0, 0.0, 0.0, 0.0])

  def test_float32(self):
    arrays = [
      onp.asarray(x, onp.float32) for x in ([[2.0]], [0.5], [1.0], [[-1.0]])
    ]
    found = pm.phase_type.joint_mark_probs((2,), *arrays)
    self.assertEqual(static.dtype_name(found), "float32")
    self.assert_close(found, onp.asarray([0.5, 0.25, 0.125], onp.float32), 1e-6)


class DerivativesTest(test_case.TestCase):
  """Tests gradients in rates, rewards and mark rates."""

  def test_gradient(self):

    # Two stages: P(N = 1) = q1 q2 (p1 + p2), p = theta r / (theta r + rate).
    def prob(rates, rewards, theta):
      last = np.zeros_like(rates)[:1]
      matrix = np.stack(
        [np.concatenate([last, rates[:1]]), np.zeros_like(rates)]
      )
      exits = np.concatenate([last, rates[1:]])
      found = pm.phase_type.joint_mark_probs(
        (1,),
        rewards[:, None],
        theta,
        np.asarray(onp.asarray([1.0, 0.0])),
        matrix,
        exits,
      )
      return found[1]

    rates, rewards, theta = [2.0, 0.5], [1.5, 0.0], [0.7]
    value, found = gradients.value_and_gradient(
      prob, *(np.asarray(onp.asarray(x)) for x in (rates, rewards, theta))
    )
    a, b, r, t = 2.0, 0.5, 1.5, 0.7
    p1, q1 = t * r / (t * r + a), a / (t * r + a)
    self.assert_close(value, q1 * p1, 1e-13)
    size = (t * r + a) ** 2
    # d(q1 p1) = q1 dp1 + p1 dq1, dq1 = -dp1.
    in_p = q1 - p1
    self.assert_close(found[0], [-in_p * t * r / size, 0.0], 1e-12, 1e-15)
    # Also where the reward is zero: P = q1 q2 (p1 + p2), p2 = t r2 / b.
    second = t / b * (q1 - q1 * p1)
    self.assert_close(found[1], [in_p * t * a / size, second], 1e-12)
    self.assert_close(found[2], [in_p * r * a / size], 1e-12)


class ErrorsTest(test_case.TestCase):
  """Tests errors of bad arguments."""

  @parameterized.parameters(
    ([1.0], (1, 1), ValueError, r"\(\.\.\., p, R\)"),
    (onp.ones((2, 2)), (1,), ValueError, "max_counts is .*R = 2"),
    (onp.ones((2, 1)), (-1,), ValueError, "integers >= 0"),
    (onp.ones((2, 1)), (1.5,), TypeError, "sequence of integers"),
    (onp.ones((2, 1)), 3, TypeError, "sequence of integers"),
    (onp.ones((2, 1)), (2000,), ValueError, "the sum 2000"),
    (onp.ones((2, 2)), (300, 300), ValueError, "90601 probabilities"),
    (onp.ones((3, 2)), (1, 1), ValueError, "p = 2"),
  )
  def test_errors(self, rewards, counts, error, message):
    with self.assertRaisesRegex(error, message):
      pm.phase_type.joint_mark_probs(
        counts,
        rewards,
        onp.ones(onp.shape(rewards)[-1]),
        [1.0, 0.0],
        -onp.eye(2),
      )

  def test_mark_rates(self):
    with self.assertRaisesRegex(ValueError, "number of rewards R"):
      pm.phase_type.joint_mark_probs(
        (1, 1), [[1.0, 1.0]], [1.0], [1.0], [[-1.0]]
      )

  @parameterized.parameters(
    (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)
  )
  @test_case.of_bad_values
  def test_values(self, reward, rate):
    found = pm.phase_type.joint_mark_probs(
      (1,), [[reward]], [rate], [1.0], [[-1.0]]
    )
    self.assert_close(found, [math.nan, math.nan])


if __name__ == "__main__":
  absltest.main()
