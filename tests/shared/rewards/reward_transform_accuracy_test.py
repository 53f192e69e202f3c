"""The reward transform against rational arithmetic."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import models
from tests.helpers import test_case
from tests.oracle import reward_oracle as oracle


def _model(p, acyclic=False):
  """Draws representable masses, off-diagonals, exits and an atom."""
  state = onp.random.RandomState(p)
  model = models.random_model(p, state)
  off = model.subgenerator * (1 - onp.eye(p))
  off = onp.triu(off) if acyclic else off
  alpha = onp.round(model.initial_probs * 2**20) / 2**20
  return alpha, off, model.exit_rates, 1 - onp.sum(alpha)


def _rewards(p, zeros):
  rewards = onp.random.RandomState(p + 50).gamma(2.0, size=p)
  rewards[list(zeros)] = 0.0
  return rewards


_CASES = (
  (1, ()),
  (1, (0,)),
  (3, (1,)),
  (6, (0, 2, 5)),
  (6, (1, 2, 3, 4, 5)),
  (9, (3, 4, 5)),
  (9, ()),
)


class RewardTransformTest(test_case.TestCase):
  """Tests entrywise relative errors of the model of Y."""

  @parameterized.product(case=_CASES, acyclic=(False, True))
  def test_model(self, case, acyclic):
    p, zeros = case
    alpha, off, exits, atom = _model(p, acyclic)
    rewards = _rewards(p, zeros)
    expected = oracle.transform(alpha, off, exits, rewards, atom)
    plus = onp.flatnonzero(rewards)
    for path in self.paths():
      with config.use_path(path):
        found = [
          self.host(x)
          for x in pm.phase_type.reward_transform(
            rewards, alpha, off, exits, atom
          )
        ]
      shapes = [onp.shape(x) for x in found]
      self.assertEqual(shapes, [(p,), (p, p), (p,), ()])
      self.assert_close(found[0][plus], expected[0], 1e-13)
      between = found[1] * (1 - onp.eye(p))
      self.assert_close(between[plus][:, plus], expected[1], 1e-13)
      self.assert_close(found[2][plus], expected[2], 1e-13)
      self.assert_close(found[3], expected[3], 1e-13)
      # Phases without reward are never entered, and are left at once.
      self.assert_close(found[0][list(zeros)], onp.zeros(len(zeros)))
      self.assertFalse(onp.any(between[:, list(zeros)]))
      self.assertTrue(onp.all(found[2][list(zeros)] > 0))
      sums = onp.sum(found[1], axis=1) + found[2]
      self.assertLess(
        onp.max(onp.abs(sums) / onp.diag(-found[1])), 4 * p * 1e-16
      )

  @parameterized.parameters(*_CASES)
  def test_moments(self, p, zeros):
    alpha, off, exits, atom = _model(p)
    rewards = _rewards(p, zeros)
    found = pm.phase_type.reward_transform(rewards, alpha, off, exits, atom)
    mean = oracle.moment(alpha, off, exits, [rewards])
    second = oracle.moment(alpha, off, exits, [rewards, rewards])
    self.assert_close(pm.phase_type.mean(*found), float(mean), 1e-13)
    self.assert_close(pm.phase_type.second_moment(*found), float(second), 1e-13)

  def test_nearly_singular(self):
    # The queue drifts up, and is idle with reward above 1e40 times.
    p = 61
    off = onp.diag(onp.full(p - 1, 5.0), 1) + onp.diag(onp.ones(p - 1), -1)
    exits = onp.zeros(p)
    exits[0] = 1.0
    rewards = onp.zeros(p)
    rewards[30] = 1.0
    alpha = onp.eye(p)[0]
    found = pm.phase_type.reward_transform(rewards, alpha, off, exits)
    mean = oracle.moment(alpha, off, exits, [rewards])
    self.assertGreater(float(mean), 1e18)
    self.assert_close(pm.phase_type.mean(*found), float(mean), 1e-12)

  @parameterized.parameters((), (1,), (0, 3))
  def test_gradient_of_mean(self, *zeros):
    p = 5
    alpha, off, exits, _ = _model(p)
    rewards = _rewards(p, zeros)

    def mean(alpha, off, exits, rewards):
      return pm.phase_type.mean(
        *pm.phase_type.reward_transform(rewards, alpha, off, exits)
      )

    value, found = gradients.value_and_gradient(
      mean, *(np.asarray(x) for x in (alpha, off, exits, rewards))
    )
    u = oracle.green(off, exits)
    y = oracle.floats(oracle.matrix(alpha).transpose() * u)[0]
    x = oracle.floats(u * oracle.matrix(rewards))[:, 0]
    self.assert_close(value, alpha @ x, 1e-13)
    slope = y.copy()
    slope[list(zeros)] = math.nan
    self.assert_close(found[0], x, 1e-12)
    self.assert_close(found[3], slope, 1e-12)
    # -y_i (x_i - x_j), measured against y_i (x_i + x_j).
    expected = -y[:, None] * (x[:, None] - x) * (1 - onp.eye(p))
    scale = y[:, None] * (x[:, None] + x)
    error = onp.abs(self.host(found[1]) - expected) / scale
    self.assertLess(onp.max(error), 1e-12)
    self.assert_close(found[2], -y * x, 1e-12)

  def test_exits_may_be_derived(self):
    alpha, off, exits, atom = _model(4)
    matrix = off - onp.diag(onp.sum(off, axis=1) + exits)
    rewards = _rewards(4, (2,))
    derived = pm.phase_type.reward_transform(rewards, alpha, matrix)
    given = pm.phase_type.reward_transform(rewards, alpha, off, exits, atom)
    for x, y in zip(derived, given, strict=True):
      self.assert_close(x, y, 1e-12)

  def test_float32(self):
    arrays = [onp.asarray(x, onp.float32) for x in _model(4)[:3]]
    rewards = onp.asarray(_rewards(4, (0,)), onp.float32)
    narrow = pm.phase_type.reward_transform(
      rewards, arrays[0], arrays[1], arrays[2]
    )
    wide = [onp.asarray(x, onp.float64) for x in (*arrays, rewards)]
    full = pm.phase_type.reward_transform(wide[3], wide[0], wide[1], wide[2])
    for x, y in zip(narrow[:3], full[:3], strict=True):
      self.assertEqual(static.dtype_name(x), "float32")
      self.assert_close(x, self.host(y).astype(onp.float32), 1e-6)

  def test_batch(self):
    alpha, off, exits, atom = _model(4)
    rewards = onp.stack([_rewards(4, z) for z in ((), (1,), (0, 1, 2, 3))])
    scales = onp.asarray([1.0, 4.0])[:, None, None, None]
    found = pm.phase_type.reward_transform(
      rewards, alpha, off * scales, exits * scales[..., 0], atom
    )
    self.assertEqual(static.shape(found[1]), (2, 3, 4, 4))
    for i, scale in enumerate((1.0, 4.0)):
      for j in range(3):
        one = pm.phase_type.reward_transform(
          rewards[j], alpha, scale * off, scale * exits, atom
        )
        for x, y in zip(found, one, strict=True):
          part = onp.broadcast_to(
            self.host(x), (2, 3, *onp.shape(self.host(x))[2:])
          )
          self.assert_close(part[i, j], y, 1e-14)


class MeaningTest(test_case.TestCase):
  """Tests reward transforms of extreme models."""

  def test_ends_where_nothing_more_is_earned(self):
    # Half of the paths from phase 0 stay in phase 1 for ever.
    matrix = onp.asarray([[-2.0, 1.0], [0.0, 0.0]])
    found = pm.phase_type.reward_transform([3.0, 0.0], [1.0, 0.0], matrix)
    self.assert_close(pm.phase_type.mean(*found), 1.5)
    self.assert_close(
      pm.phase_type.survival_function(1.0, *found), math.exp(-2 / 3), 1e-13
    )

  def test_earns_for_ever(self):
    matrix = onp.asarray([[-2.0, 1.0], [0.0, 0.0]])
    found = pm.phase_type.reward_transform([0.0, 1.0], [1.0, 0.0], matrix)
    self.assert_close(found[3], 0.5)
    self.assert_close(pm.phase_type.mean(*found), math.inf)

  def test_earns_nothing(self):
    found = pm.phase_type.reward_transform([0.0, 0.0], [0.5, 0.25], -onp.eye(2))
    self.assert_close(found[3], 1.0)
    self.assert_close(pm.phase_type.mean(*found), 0.0)
    self.assert_close(pm.phase_type.cdf(0.0, *found), 1.0)

  @parameterized.parameters(-1.0, math.nan, math.inf)
  @test_case.of_bad_values
  def test_bad_rewards(self, wrong):
    for rewards in ([1.0, wrong], [0.0, wrong]):
      found = pm.phase_type.reward_transform(rewards, [1.0, 0.0], -onp.eye(2))
      for x in found:
        self.assertTrue(onp.all(onp.isnan(self.host(x))))

  @parameterized.parameters(
    ([1.0], r"rewards has shape \(1,\).*p = 2"),
    (1.0, r"rewards has shape \(\)"),
    (onp.ones((3, 2)), "do not broadcast"),
  )
  def test_bad_shapes(self, rewards, message):
    alpha = onp.asarray([[0.5, 0.5], [1.0, 0.0]])
    with self.assertRaisesRegex(ValueError, message):
      pm.phase_type.reward_transform(rewards, alpha, -onp.eye(2))


class EdgesTest(test_case.TestCase):
  """Tests sparse models."""

  def _model(self):
    edges = pm.EdgeRates(
      [0, 1, 2, 1, 0],
      [1, 2, 3, 0, 3],
      [2.0, 0.5],
      [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.25, 0.0], [0.0, 3.0]],
      [0.0, 1.0, 0.0, 0.0, 0.5],
    )
    rates = [2.0, 1.5, 2.5, 0.5, 2.0]
    off, exits = onp.zeros((3, 3)), onp.zeros(3)
    for i, j, rate in zip(edges.sources, edges.targets, rates, strict=True):
      if j < 3:
        off[i, j] = rate
      else:
        exits[i] = rate
    return onp.asarray([0.5, 0.25, 0.25]), edges, off, exits

  def test_positive_rewards_keep_edges(self):
    alpha, edges, off, exits = self._model()
    rewards = onp.asarray([2.0, 1.0, 0.5])
    found = pm.phase_type.reward_transform(rewards, alpha, edges)
    self.assertIsInstance(found[1], pm.EdgeRates)
    expected = pm.phase_type.reward_transform(rewards, alpha, off, exits)
    times = onp.asarray([0.1, 1.0, 4.0])
    self.assert_close(
      pm.phase_type.prob(times, *found),
      pm.phase_type.prob(times, *expected),
      1e-13,
    )

  def test_zero_rewards_give_a_matrix(self):
    alpha, edges, off, exits = self._model()
    rewards = onp.asarray([2.0, 0.0, 0.5])
    found = pm.phase_type.reward_transform(rewards, alpha, edges)
    expected = pm.phase_type.reward_transform(rewards, alpha, off, exits)
    for x, y in zip(found, expected, strict=True):
      self.assert_close(x, y, 1e-13)

  @test_case.of_bad_values
  def test_negative_rewards(self):
    alpha, edges, _, _ = self._model()
    found = pm.phase_type.reward_transform([1.0, -1.0, 1.0], alpha, edges)
    self.assert_close(pm.phase_type.prob(1.0, *found[:2]), math.nan)

  def test_too_large_for_a_matrix(self):
    p = 5000
    edges = pm.EdgeRates(onp.arange(p), onp.arange(p) + 1, onp.ones(p))
    alpha = onp.eye(1, p)[0]
    with self.assertRaisesRegex(ValueError, "5000 phases.*at most 4096"):
      pm.phase_type.reward_transform(onp.eye(1, p)[0], alpha, edges)

  def test_gradient(self):
    alpha, edges, _, _ = self._model()

    coefficients = onp.asarray(edges.coefficients)
    constants = onp.asarray(edges.constants)
    places = onp.zeros((len(edges.sources), 3, 4))
    places[onp.arange(5), edges.sources, edges.targets] = 1.0

    def sparse(theta, rewards):
      moved = edges._replace(parameters=theta)
      model = pm.phase_type.reward_transform(rewards, alpha, moved)
      return pm.phase_type.prob(1.5, *model)

    def dense(theta, rewards):
      rates = np.sum(coefficients * theta, axis=-1) + constants
      rates = np.sum(rates[:, None, None] * places, axis=0)
      model = pm.phase_type.reward_transform(
        rewards, alpha, rates[:, :3], rates[:, 3]
      )
      return pm.phase_type.prob(1.5, *model)

    arrays = [np.asarray(onp.asarray(edges.parameters))]
    arrays.append(np.asarray(onp.asarray([2.0, 1.0, 0.5])))
    value, found = gradients.value_and_gradient(sparse, *arrays)
    again, expected = gradients.value_and_gradient(dense, *arrays)
    self.assert_close(value, again, 1e-13)
    for x, y in zip(found, expected, strict=True):
      self.assert_close(x, y, 1e-11)


if __name__ == "__main__":
  absltest.main()
