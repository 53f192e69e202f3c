"""Derivatives and rules that take another way on some path or for some size."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic import inference
from phasic import math as pm
from phasic.internal import kernel_ops
from phasic.math.calls import gradients
from tests.helpers import test_case

_STEPS = onp.arange(1100)


class PathsTest(test_case.TestCase):
  """Tests that both paths give the closed forms."""

  def test_hazards(self):
    # Two stages of rate r: h(t) = r^2 t / (1 + r t).
    r, times = 2.0, onp.asarray([0.25, 3.0])
    model = [1.0, 0.0], [[-r, r], [0.0, -r]]
    for path in self.paths():
      with kernel_ops.use_path(path):
        for t in times:
          value, slope = gradients.jvp(
            lambda t: pm.phase_type.hazard_function(t, *model),
            (np.asarray(t),),
            (np.asarray(1.0),),
          )
          self.assert_close(value, r * r * t / (1 + r * t), 1e-13)
          self.assert_close(slope, r * r / (1 + r * t) ** 2, 1e-12)

  def test_quantiles(self):
    # q = -log(1 - u) / r.
    u = onp.asarray([0.125, 0.75])

    def quantile(r):
      return pm.phase_type.quantile(u, [1.0], -np.reshape(r, (1, 1)))

    r, q = np.asarray(2.0), -onp.log1p(-u) / 2.0
    for path in self.paths():
      with kernel_ops.use_path(path):
        value, moved = gradients.jvp(quantile, (r,), (np.asarray(3.0),))
        self.assert_close(value, q, 1e-12)
        self.assert_close(moved, -q / 2.0 * 3.0, 1e-12)
        _, pull = gradients.vjp(quantile, r)
        (slope,) = pull(np.asarray([1.0, 10.0]))
        self.assert_close(slope, -(q[0] + 10.0 * q[1]) / 2.0, 1e-12)

  @parameterized.parameters(False, True)
  def test_quantiles_of_edges(self, discrete):
    u = onp.asarray([0.125, 0.75, 0.999])
    for path in self.paths():
      with kernel_ops.use_path(path):
        if discrete:
          # The rate is 0.125 + 2 * 0.0625.
          edges = pm.EdgeProbs([0], [1], [0.0625], [[2.0]], [0.125])
          q = pm.discrete_phase_type.quantile(u, [1.0], edges)
          self.assert_close(q, onp.ceil(onp.log1p(-u) / math.log(0.75)))
        else:
          edges = pm.EdgeRates([0], [1], [0.75], [[2.0]], [0.5])
          q = pm.phase_type.quantile(u, [1.0], edges)
          self.assert_close(q, -onp.log1p(-u) / 2.0, 1e-12)

  def test_occupancy(self):
    # Stages of rate 2: exp(-2 t) and 2 t exp(-2 t).
    t = onp.asarray([0.25, 2.0])
    for path in self.paths():
      with kernel_ops.use_path(path):
        found = pm.phase_type.occupancy(
          t, [1.0, 0.0], [[-2.0, 2.0], [0.0, -2.0]]
        )
        left = onp.exp(-2.0 * t)
        self.assert_close(
          found, onp.stack([left, 2.0 * t * left], axis=-1), 1e-13
        )

  @test_case.of_bad_values
  def test_counts(self):
    # A density of counts has no derivative at counts, and is zero between.
    model = [1.0], [[0.5]]
    for path in self.paths():
      with kernel_ops.use_path(path):
        value, moved = gradients.jvp(
          lambda k: pm.discrete_phase_type.cdf(k, *model),
          (np.asarray([2.0, 2.5]),),
          (np.asarray([1.0, 1.0]),),
        )
        self.assert_close(value, [0.75, 0.75])
        self.assert_close(moved, [onp.nan, 0.0])

  def test_observations_of_counts(self):
    # Geometric counts from 1 on: P(X = k) = 2^-k, P(X > k) = 2^-k.
    dist = pd.DiscretePhaseType([1.0], [[0.5]])
    data = inference.Observations(
      [3.0, 2.0, -1.0, 1.0, 4.0, 3.0],
      [3.0, onp.inf, 2.0, 4.0, 4.0, onp.inf],
      entry=[-1.0, -1.0, -1.0, -1.0, 2.0, 1.0],
    )
    expected = [2**-3, 2**-2, 3 / 4, 2**-1 - 2**-4, 2**-2, 2**-2]
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(
          data.log_likelihood(dist), math.fsum(map(math.log, expected)), 1e-13
        )


class SizesTest(test_case.TestCase):
  """Tests chains that are too large for phases of entry."""

  def test_visits_and_jumps(self):
    self.require_kernel()
    # Each phase is left for the next with probability 3/4, else absorbed.
    p = len(_STEPS)
    sources = onp.concatenate([_STEPS, _STEPS])
    targets = onp.concatenate([_STEPS + 1, onp.full(p, p)])
    rates = onp.concatenate([onp.full(p, 3.0), onp.full(p, 1.0)])
    keep = targets[:p] < p
    keep = onp.concatenate([keep, onp.ones(p, bool)])
    edges = pm.EdgeRates(sources[keep], targets[keep], rates[keep])
    start = onp.where(_STEPS == 0, 1.0, 0.0)
    visits = 0.75 ** onp.asarray(_STEPS, float)
    self.assert_close(
      pm.phase_type.expected_visits(start, edges), visits, 1e-12
    )
    jumps = self.host(pm.phase_type.expected_jumps(start, edges))
    self.assert_close(jumps[: p - 1], 0.75 * visits[:-1], 1e-12)
    self.assert_close(jumps[p - 1 : -1], 0.25 * visits[:-1], 1e-12)
    self.assert_close(jumps[-1], visits[-1], 1e-12)


class ZeroRewardsTest(test_case.TestCase):
  @test_case.of_bad_values
  def test_no_derivative_at_zero(self):
    # Of Erlang phases with rewards r the mean is r_0 + r_1; the transform is
    # not smooth where a reward is zero.
    def mean(rewards):
      model = pm.phase_type.reward_transform(
        rewards, [1.0, 0.0], [[-1.0, 1.0], [0.0, -1.0]]
      )
      return pm.phase_type.mean(*model)

    ones = np.asarray([1.0, 1.0])
    value, slopes = gradients.value_and_gradient(mean, np.asarray([2.0, 3.0]))
    self.assert_close(value, 5.0, 1e-13)
    self.assert_close(slopes, [1.0, 1.0], 1e-13)
    at = np.asarray([2.0, 0.0])
    value, slopes = gradients.value_and_gradient(mean, at)
    self.assert_close(value, 2.0, 1e-13)
    self.assertTrue(onp.isnan(self.host(slopes)[1]))

    def second(rewards):
      return np.sum(gradients.value_and_gradient(mean, rewards)[1])

    for derivative in (
      gradients.hessian_vector_product(mean, (at,), (ones,)),
      gradients.value_and_gradient(second, at)[1],
    ):
      self.assertTrue(onp.isnan(self.host(derivative)[1]))


class PathsOfEdgesTest(test_case.TestCase):
  def test_steps(self):
    # Phase 0 is left with certainty, phase 1 with probability 1/4 in a step.
    edges = pm.EdgeProbs([0, 1], [1, 2], [1.0, 0.25])
    found = pd.DiscretePhaseType([1.0, 0.0], edges).sample_paths(
      3, 4000, seed=3
    )
    phases, times = self.host(found.phases), self.host(found.times)
    self.assertTrue(onp.all(phases[:, :3] == [0, 1, 2]))
    self.assertTrue(onp.all(times[:, 1] == 1.0))
    stays = times[:, 2] - 1.0
    self.assertTrue(onp.all(stays >= 1.0))
    counts = onp.bincount(onp.minimum(stays, 9.0).astype(int))[1:]
    probs = 0.25 * 0.75 ** onp.arange(9.0)
    probs[-1] = 0.75**8
    self.assertGreater(stats.chisquare(counts, 4000 * probs).pvalue, 1e-3)


if __name__ == "__main__":
  absltest.main()
