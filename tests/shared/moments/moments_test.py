"""Moments of any size, and of batches."""

import itertools
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
from tests.helpers import models
from tests.helpers import test_case

MODE = "numpy"


class BatchesTest(test_case.TestCase):
  """Any of the arguments may have batch dimensions."""

  @parameterized.parameters(
    (pm.phase_type.reward_means, False),
    (pm.phase_type.reward_covariance, False),
    (pm.phase_type.reward_cross_moments, False),
    (pm.discrete_phase_type.reward_covariance, True),
    (pm.discrete_phase_type.reward_cross_moments, True),
  )
  def test_as_one_by_one(self, function, discrete):
    rng = onp.random.default_rng(4)
    batched = {
      "rewards": rng.uniform(0.5, 2.0, (2, 3, 2)),
      "initial": rng.dirichlet(onp.ones(3), 2),
      "matrix": rng.uniform(0.1, 0.25, (2, 3, 3)),
    }
    if not discrete:
      batched["matrix"] -= 2.0 * onp.eye(3)
    choices = list(itertools.product([False, True], repeat=3))
    if MODE != "numpy":
      # Each is compiled: none, each alone, and all of them.
      choices = [x for x in choices if sum(x) != 2]
    for chosen in choices:
      arguments = [
        x if is_batched else x[0]
        for x, is_batched in zip(batched.values(), chosen, strict=True)
      ]
      found = self.host(function(*arguments))
      for i in range(2):
        one = [
          x[i if is_batched else 0]
          for x, is_batched in zip(batched.values(), chosen, strict=True)
        ]
        own = found[i] if any(chosen) else found
        self.assert_close(own, function(*one), 1e-13)


class StandardDeviationTest(test_case.TestCase):
  """Tests standard deviations whose squares are out of range."""

  @parameterized.product(
    rate=(1e-306, 1e-200, 1e-155, 0.7, 1e155, 1e200, 1e300), p=(1, 4)
  )
  def test_erlang(self, rate, p):
    dist = pd.PhaseType(*models.erlang(p, rate))
    self.assert_close(dist.stddev(), math.sqrt(p) / rate, 1e-14)
    self.assert_close(
      pm.phase_type.stddev(*models.erlang(p, rate)), math.sqrt(p) / rate
    )

  @parameterized.parameters(1e-37, 1e-25, 1e-19, 1e19, 1e25, 1e36)
  def test_float32(self, rate):
    arrays = [onp.asarray(x, onp.float32) for x in models.erlang(4, rate)[:2]]
    deviation = pd.PhaseType(*arrays).stddev()
    self.assertEqual(static.dtype_name(deviation), "float32")
    self.assert_close(deviation, onp.float32(2 / rate), 1e-6)

  @parameterized.parameters(
    # The rare phase dominates the moment.
    ([1.0, 1e-200], [1.0, 1e-200], math.sqrt(2) * 1e100),
    ([0.5, 0.5], [1e-300, 1e300], math.sqrt(0.75) * 1e300),
    # Var X = 2 (a / r^2 + b / s^2) - (a / r + b / s)^2.
    ([0.5, 0.5], [1e200, 2e200], math.sqrt(1.25 - 0.5625) * 1e-200),
    ([1e-250], [1e200], math.sqrt(2e-250) * 1e-200),
  )
  def test_hyperexponential(self, probs, rates, expected):
    dist = pd.PhaseType(*models.hyperexponential(probs, onp.asarray(rates)))
    self.assert_close(dist.stddev(), expected, 1e-13)

  def test_batch_of_all_scales(self):
    scales = 10.0 ** onp.arange(-300.0, 301.0, 50.0)
    model = models.cyclic()
    one = self.host(pm.phase_type.stddev(*model))
    matrix = model.subgenerator * scales[:, None, None]
    deviation = self.host(pm.phase_type.stddev(model.initial_probs, matrix))
    self.assert_close(deviation * scales, onp.full(len(scales), one), 1e-13)

  def test_variance_overflows_honestly(self):
    wide, narrow = models.exponential(1e-200), models.exponential(1e200)
    self.assert_close(pm.phase_type.variance(*wide), math.inf)
    self.assert_close(pm.phase_type.variance(*narrow), 0.0)
    self.assert_close(pm.phase_type.second_moment(*wide), math.inf)
    self.assert_close(
      pm.phase_type.variance(*models.exponential(1e-150)), 1e300
    )
    self.assert_close(
      pm.phase_type.variance(*models.exponential(1e150)), 1e-300
    )

  @test_case.of_bad_values
  def test_edges(self):
    never = pd.PhaseType([1.0, 0.0], [[-1.0, 1.0], [0.0, 0.0]])
    self.assert_close(never.stddev(), math.inf)
    self.assert_close(pd.PhaseType([0.0], [[-1.0]]).stddev(), 0.0)
    self.assert_close(pd.PhaseType([1.5], [[-1.0]]).stddev(), math.nan)

  @test_case.of_bad_values
  def test_traps_that_are_reached(self):
    one = ([1.0], [[0.0]])
    last = ([1.0, 0.0], [[-1.0, 1.0], [0.0, 0.0]])
    pair = (
      [0.5, 0.0, 0.0],
      [[-2.0, 1.0, 0.0], [0.0, -3.0, 3.0], [0.0, 2.0, -2.0]],
    )
    for path in self.paths():
      with config.use_path(path):
        for model in (one, last, pair):
          self.assert_close(pm.phase_type.mean(*model), math.inf)
          self.assert_close(pm.phase_type.stddev(*model), math.inf)
        # Without initial mass nothing enters the trap.
        self.assert_close(pm.phase_type.mean([0.0, 0.0], last[1]), 0.0)
        self.assert_close(pm.phase_type.variance([0.0], [[0.0]]), 0.0)

  @parameterized.parameters(
    ([0.0, 1.0, 0.0],), ([0.0, 1.0, 2.0, 3.0],), ([0.0, 1.0, 2.0, 0.0],)
  )
  def test_trap_that_is_not_reached(self, weights):
    # The edge into the trap may have a parameter of zero.
    m, p = len(weights), len(weights) - 1
    edges = [[0, 0, *range(1, m - 1)], [1, p, *([p] if m == 3 else [2, 1])]]
    alpha = onp.eye(1, p)[0]
    rewards = onp.arange(1.0, 2 * p + 1).reshape(p, 2)
    rates = pm.EdgeRates(*edges, weights)
    self.assert_close(pm.phase_type.variance(alpha, rates), 1.0)
    self.assert_close(pm.phase_type.stddev(alpha, rates), 1.0)
    found = pm.phase_type.reward_covariance(rewards, alpha, rates)
    self.assert_close(found, [[1.0, 2.0], [2.0, 4.0]])
    probs = pm.EdgeProbs(*edges, onp.asarray(weights) / 4)
    self.assert_close(pm.discrete_phase_type.variance(alpha, probs), 12.0)
    found = pm.discrete_phase_type.reward_covariance(rewards, alpha, probs)
    self.assert_close(found, [[12.0, 24.0], [24.0, 48.0]])

  def test_cross_moments_of_scales_far_apart(self):
    edges = pm.EdgeRates([0, 1], [1, 2], [1e80, 1e-80])
    found = pm.phase_type.reward_cross_moments(onp.eye(2), [0.5, 0.5], edges)
    self.assert_close(found, [[1e-160, 0.5], [0.5, 2e160]])

  def test_lost_is_not_zero(self):
    # A phase that is never entered has 1e180 times longer stays.
    matrix = onp.asarray([[-1e90, 0.0], [0.0, -1e-90]])
    deviation = self.host(pm.phase_type.stddev([1.0, 0.0], matrix))
    if not math.isnan(deviation):
      self.assert_close(deviation, 1e-90)

  def test_derivatives_in_what_rates_are_made_of(self):
    def mean(coefficient, constant):
      unit = np.asarray(onp.eye(2))
      edges = pm.EdgeRates(
        [0, 1], [1, 2], [1.0, 2.0], coefficient * unit, constant * unit[0]
      )
      return pm.phase_type.mean([1.0, 0.0], edges) + pm.phase_type.variance(
        [1.0, 0.0], edges
      )

    # Of 1 / (c + b) + 1 / 2 c, and of their squares.
    one, none = np.asarray(1.0), np.asarray(0.0)
    value, found = gradients.value_and_gradient(mean, one, none)
    self.assert_close(value, 2.75, 1e-14)
    self.assert_close(found[0], -1.5 - 2.0 - 0.5, 1e-13)
    self.assert_close(found[1], -1.0 - 2.0, 1e-13)
    _, moved = gradients.jvp(mean, (one, none), (one, none))
    self.assert_close(moved, -4.0, 1e-13)

  @parameterized.parameters(1e-150, 0.5, 1e150)
  def test_derivative(self, rate):
    _, gradient = gradients.value_and_gradient(
      lambda s: pm.phase_type.stddev([1.0], s),
      np.asarray(onp.asarray([[-rate]])),
    )
    # The deviation is -1/S.
    self.assert_close(gradient, [[rate**-2.0]], 1e-12)


if __name__ == "__main__":
  absltest.main()
