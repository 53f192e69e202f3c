"""Densities of rewards that accumulate one after the other."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import distributions as pd
from phasic import math as pm
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import reward_models
from tests.helpers import test_case


class DensityTest(test_case.TestCase):
  """Tests densities of feed-forward chains."""

  @parameterized.parameters(
    (1.0, 2.0), (1e-3, 1e-9), (5.0, 0.1), (300.0, 4000.0)
  )
  def test_two_blocks(self, *y):
    model = reward_models.blocks()
    expected = reward_models.log_density_of_blocks(model, y)
    for path in self.paths():
      with config.use_path(path):
        dist = pd.MultivariatePhaseType(*model)
        self.assert_close(dist.log_prob(y), expected, 1e-11)
    flipped = pd.MultivariatePhaseType(
      *model[:2], model[2][:, ::-1], *model[3:]
    )
    self.assert_close(flipped.log_prob(y[::-1]), expected, 1e-11)

  def test_blocks_left_out(self):
    alpha, off, rewards, exits, atom = model = reward_models.blocks()
    dist = pd.MultivariatePhaseType(*model)
    units = onp.sum(rewards, axis=1)
    values = onp.asarray(
      [[0.0, 2.0], [0.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [math.inf, 1.0]]
    )
    alone = pm.phase_type.log_prob(
      2.0,
      alpha[2:],
      off[2:, 2:] / units[2:, None],
      exits[2:] / units[2:],
      1 - onp.sum(alpha[2:]),
    )
    expected = [float(self.host(alone)), math.log(atom), *[-math.inf] * 3]
    self.assert_close(dist.log_prob(values), expected, 1e-13)
    self.assert_close(dist.log_prob([math.nan, 1.0]), math.nan)
    self.assert_close(dist.prob([0.0, 0.0]), atom, 1e-14)

  def test_what_cannot_be_seen_is_not_zero(self):
    # The second phase is never entered, but its density is e^1400 times larger.
    matrix = onp.asarray([[0.0, 1.0, 0.0], [0.0] * 3, [0.0] * 3])
    rewards = onp.asarray([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    exits = onp.asarray([0.0, 3.0, 1.0])
    dist = pd.MultivariatePhaseType([1.0, 0.0, 0.0], matrix, rewards, exits)
    self.assert_close(
      dist.log_prob([1.0, 300.0]), -1 + math.log(3.0) - 900.0, 1e-12
    )
    self.assert_close(dist.log_prob([1.0, 700.0]), math.nan)

  def test_three_stages(self):
    matrix = onp.asarray([[-1.0, 1.0, 0.0], [0.0, -2.0, 2.0], [0.0, 0.0, -4.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0, 0.0], matrix, onp.eye(3))
    y = onp.asarray([0.5, 1.0, 2.0])
    self.assert_close(dist.log_prob(y), math.log(8.0) - 0.5 - 2 - 8, 1e-14)

  def test_conditionally_independent(self):
    # Each first phase has separate phases.
    rates = onp.asarray([[1.0, 3.0], [0.25, 2.0]])
    matrix = -onp.diag([1.0, 0.25, 3.0, 2.0])
    matrix[0, 2], matrix[1, 3] = 1.0, 0.25
    rewards = onp.asarray([[1.0, 0], [1.0, 0], [0, 1.0], [0, 1.0]])
    dist = pd.MultivariatePhaseType([0.5, 0.5, 0, 0], matrix, rewards)
    y = onp.asarray([0.75, 0.5])
    expected = onp.log(
      onp.sum(0.5 * onp.prod(rates * onp.exp(-rates * y), axis=1))
    )
    self.assert_close(dist.log_prob(y), expected, 1e-13)

  def test_phases_without_reward(self):
    # Phase 1 has no reward, and leads to phase 2 or absorption.
    matrix = onp.asarray([[-1.0, 1.0, 0.0], [0.0, -4.0, 3.0], [0.0, 0.0, -2.0]])
    rewards = onp.asarray([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0, 0.0], matrix, rewards)
    self.assert_close(
      dist.log_prob([[1.0, 2.0], [1.0, 0.0]]),
      [math.log(0.75 * 2) - 1 - 4, math.log(0.25) - 1],
      1e-13,
    )

  def test_gradient(self):

    # Phase 1 leads to phase 2 at rate w = 0 and is absorbed at rate c, phase 0
    # leads to it at rate a; b is the exit rate of phase 2.
    def log_prob(w, rates, y):
      a, b, c = (rates[i] for i in range(3))
      zero = np.zeros_like(w)
      matrix = np.stack(
        [
          np.stack([zero, zero, a]),
          np.stack([zero, zero, w]),
          np.stack([zero, zero, zero]),
        ]
      )
      dist = pd.MultivariatePhaseType(
        onp.asarray([0.5, 0.5, 0.0]),
        matrix,
        onp.asarray([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        np.stack([zero, c, b]),
      )
      return dist.log_prob(y)

    a, b, c, y = 1.5, 0.5, 2.0, [0.75, 1.25]
    _, found = gradients.value_and_gradient(
      log_prob,
      *(np.asarray(onp.asarray(x)) for x in (0.0, [a, b, c], y)),
    )
    # f = b exp(-b y_2) (a exp(-a y_1) + w exp(-(c + w) y_1)) / 2 at w = 0.
    in_w = math.exp(-c * y[0]) / (a * math.exp(-a * y[0]))
    self.assert_close(found[0], in_w, 1e-12)
    self.assert_close(found[1], [1 / a - y[0], 1 / b - y[1], 0.0], 1e-12, 1e-15)
    self.assert_close(found[2], [-a, -b], 1e-12)

  def test_gradient_in_rewards(self):

    def log_prob(rewards):
      matrix = onp.asarray([[-1.0, 1.0], [0.0, -2.0]])
      dist = pd.MultivariatePhaseType([1.0, 0.0], matrix, rewards)
      return dist.log_prob([0.5, 3.0])

    _, found = gradients.value_and_gradient(
      log_prob, np.asarray(onp.asarray([[2.0, 0.0], [0.0, 4.0]]))
    )
    # f = exp(-y_1 / r_1) / r_1 2 exp(-2 y_2 / r_2) / r_2.
    expected = [[-0.5 + 0.5 / 4, math.nan], [math.nan, -0.25 + 6.0 / 16]]
    self.assert_close(found, expected, 1e-12)

  def test_batch(self):
    alpha, off, rewards, exits, atom = reward_models.blocks()
    scales = onp.asarray([1.0, 2.0])
    dist = pd.MultivariatePhaseType(
      alpha,
      off * scales[:, None, None],
      rewards,
      exits * scales[:, None],
      onp.asarray(atom),
    )
    y = onp.asarray([[1.0, 2.0], [0.5, 0.25], [0.0, 1.0]])[:, None]
    found = dist.log_prob(y)
    self.assertEqual(static.shape(found), (3, 2))
    for i, scale in enumerate(scales):
      one = pd.MultivariatePhaseType(
        alpha, off * scale, rewards, exits * scale, atom
      )
      self.assert_close(found[:, i], one.log_prob(y[:, 0]), 1e-13)

  def test_what_is_far_too_small_to_matter_is_left_out(self):
    # From the second phase the density is e^-1998 of that from the first one.
    matrix = onp.asarray([[-1.0, 0.0, 1.0], [0.0, -2000.0, 2000.0], [0.0] * 3])
    matrix[2, 2] = -1.0
    rewards = onp.asarray([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    dist = pd.MultivariatePhaseType([0.5, 0.5, 0.0], matrix, rewards)
    self.assert_close(dist.log_prob([1.0, 1.0]), math.log(0.5) - 2.0, 1e-14)

  def test_blocks_that_are_linked_by_phases_without_reward(self):
    # A path earns the second reward at first, then none twice, then the first.
    rates = onp.asarray([0.5, 3.0, 4.0, 2.0])
    matrix = onp.diag(rates[:-1], 1) - onp.diag(rates)
    rewards = onp.zeros((4, 2))
    rewards[0, 1] = rewards[3, 0] = 1.0
    dist = pd.MultivariatePhaseType([1.0, 0.0, 0.0, 0.0], matrix, rewards)
    y = onp.asarray([[0.25, 3.0], [2.0, 0.5]])
    exact = math.log(0.5 * 2.0) - 2.0 * y[:, 0] - 0.5 * y[:, 1]
    self.assert_close(dist.log_prob(y), exact, 1e-13)
    back = onp.diag([0.5, 3.0], 1) - onp.diag([0.5, 3.0, 3.0])
    back[2, 0] = 1.0
    again = pd.MultivariatePhaseType(
      [1.0, 0.0, 0.0], back, onp.eye(3)[:, [2, 0]]
    )
    with self.assertRaisesRegex(NotImplementedError, "alternately"):
      again.log_prob([1.0, 1.0])

  @parameterized.parameters(
    (onp.ones((2, 2)), "phase 0 has several"),
    (onp.eye(2), r"rewards \[0, 1\] are visited alternately"),
  )
  def test_no_density(self, rewards, message):
    matrix = onp.asarray([[-2.0, 1.0], [1.0, -2.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0], matrix, rewards)
    with self.assertRaisesRegex(NotImplementedError, message):
      dist.log_prob([1.0, 1.0])


if __name__ == "__main__":
  absltest.main()
