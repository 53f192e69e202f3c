"""Moments and transforms of rewards, against exact results."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as np
import numpy as onp

from phasic import config
from phasic import distributions as pd
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import chains
from tests.helpers import models
from tests.helpers import reward_models
from tests.helpers import test_case
from tests.oracle import reward_oracle as oracle


class MomentsTest(test_case.TestCase):
  """Tests means, covariances, mixed moments and transforms."""

  @parameterized.product(p=(1, 4, 8), acyclic=(False, True))
  def test_covariance(self, p, acyclic):
    model = reward_models.random(p, 3, acyclic)
    alpha, off, rewards, exits, _ = model
    columns = list(rewards.T)
    means = [oracle.moment(alpha, off, exits, [r]) for r in columns]
    for path in self.paths():
      with config.use_path(path):
        dist = pd.MultivariatePhaseType(*model)
        self.assert_close(
          dist.mean(), [float(flint.arb(m)) for m in means], 1e-13
        )
        found = self.host(dist.covariance())
      for a, b in itertools.product(range(3), repeat=2):
        product = oracle.moment(alpha, off, exits, [columns[a], columns[b]])
        error = float(
          flint.arb(
            oracle.rational(found[a, b]) - product + means[a] * means[b]
          )
        )
        self.assertLessEqual(abs(error), 1e-12 * float(flint.arb(product)))
    self.assert_close(dist.variance(), onp.diag(found), 0.0)
    self.assert_close(dist.stddev(), onp.sqrt(onp.diag(found)), 1e-15)

  @parameterized.product(
    p=(1, 5),
    orders=((0, 0, 0), (1, 1, 1), (2, 0, 1), (0, 0, 4), (2, 2, 0)),
  )
  def test_mixed_moments(self, p, orders):
    model = reward_models.random(p, 3)
    alpha, off, rewards, exits, _ = model
    factors = [rewards[:, r] for r in range(3) for _ in range(orders[r])]
    expected = float(flint.arb(oracle.moment(alpha, off, exits, factors)))
    if not factors:
      expected = 1.0
    found = pd.MultivariatePhaseType(*model).mixed_moment(orders)
    self.assert_close(found, expected, 1e-13)

  @parameterized.parameters(1e-70, 1e70)
  def test_scales(self, scale):
    alpha, off, rewards, exits, atom = reward_models.random(4, 2)
    base = pm.phase_type.mixed_moment((2, 2), rewards, alpha, off, exits, atom)
    found = pm.phase_type.mixed_moment(
      (2, 2), rewards * scale, alpha, off * scale, exits * scale, atom
    )
    self.assert_close(found, base, 1e-13)

  def test_queue(self):
    # The mean busy period is above 1e40.
    model = chains.queue()
    full, exits = model.dense()
    off = full * (1 - onp.eye(60))
    rewards = onp.stack([model.rewards, onp.eye(60)[30]], axis=1)
    product = oracle.moment(model.initial_probs, off, exits, list(rewards.T))
    self.assertGreater(float(flint.arb(product)), 1e60)
    for matrix in (off, model.structure()):
      found = pm.phase_type.mixed_moment(
        (1, 1),
        rewards,
        model.initial_probs,
        matrix,
        exits if matrix is off else None,
      )
      self.assert_close(found, float(flint.arb(product)), 1e-12)

  @parameterized.product(p=(1, 5, 8), u=((0.0, 0.0), (0.5, 0.0), (3.0, 1e-3)))
  def test_laplace_transform(self, p, u):
    model = reward_models.random(p, 2)
    alpha, off, rewards, exits, atom = model
    expected = oracle.laplace(alpha, off, exits, rewards, onp.asarray(u))
    expected = float(flint.arb(expected + oracle.rational(atom)))
    found = pd.MultivariatePhaseType(*model).laplace_transform(u)
    self.assert_close(found, expected, 1e-13)

  def test_gradients(self):
    alpha, off, rewards, exits, _ = reward_models.random(4, 2)

    def moment(off, rewards, exits):
      return pm.phase_type.mixed_moment(
        (1, 1), rewards, np.asarray(alpha), off, exits
      )

    _, found = gradients.value_and_gradient(
      moment, *(np.asarray(x) for x in (off, rewards, exits))
    )
    # E[Y_a Y_b] = y (r_a x_b + r_b x_a), x = U r, y = U^T alpha.
    u = oracle.green(off, exits)
    x = oracle.floats(u * oracle.matrix(rewards))
    y = oracle.floats(oracle.matrix(alpha).transpose() * u)[0]
    w = (
      oracle.floats(
        oracle.matrix(y).transpose() * oracle.diagonal(rewards[:, 0]) * u
      )[0],
      oracle.floats(
        oracle.matrix(y).transpose() * oracle.diagonal(rewards[:, 1]) * u
      )[0],
    )
    slopes = onp.stack([y * x[:, 1] + w[1], y * x[:, 0] + w[0]], axis=1)
    # Also where a reward is zero.
    self.assertTrue(onp.any(rewards == 0))
    self.assert_close(found[1], slopes, 1e-12)
    second = oracle.floats(
      u
      * (
        oracle.diagonal(rewards[:, 0]) * u * oracle.matrix(rewards[:, 1])
        + oracle.diagonal(rewards[:, 1]) * u * oracle.matrix(rewards[:, 0])
      )
    )[:, 0]
    in_exits = -(y * second + w[0] * x[:, 1] + w[1] * x[:, 0])
    self.assert_close(found[2], in_exits, 1e-12)


class KnownTablesTest(test_case.TestCase):
  """Tests coalescent trees."""

  @parameterized.parameters(2, 5, 20, 60)
  def test_watterson(self, n):
    # Watterson 1975: E L = 2 sum 1/k, Var L = 4 sum 1/k^2, k < n.
    lineages = onp.arange(n, 1, -1.0)
    model = models.hypoexponential(lineages * (lineages - 1) / 2)
    length = pd.MultivariatePhaseType(*model[:2], lineages[:, None])
    k = onp.arange(1.0, n)
    self.assert_close(length.mean(), [2 * onp.sum(1 / k)], 1e-13)
    self.assert_close(length.variance(), [4 * onp.sum(1 / k**2)], 1e-12)

  @parameterized.parameters(4, 5, 6)
  def test_site_frequencies(self, n):
    # Fu 1995, equations 1 to 5, for lengths of branches above i samples.
    a = onp.concatenate([[0.0, 0.0], onp.cumsum(1 / onp.arange(1.0, n + 1))])

    def beta(i):
      ratio = 2 * n / ((n - i + 1) * (n - i))
      return ratio * (a[n + 1] - a[i]) - 2 / (n - i)

    def sigma(i, j):
      i, j = max(i, j), min(i, j)
      if i == j:
        if 2 * i < n:
          return beta(i + 1)
        if 2 * i == n:
          return 2 * (a[n] - a[i]) / (n - i) - 1 / i**2
        return beta(i) - 1 / i**2
      if i + j < n:
        return (beta(i + 1) - beta(i)) / 2
      if i + j == n:
        value = (a[n] - a[i]) / (n - i) + (a[n] - a[j]) / (n - j)
        return value - (beta(i) + beta(j + 1)) / 2 - 1 / (i * j)
      return (beta(j) - beta(j + 1)) / 2 - 1 / (i * j)

    alpha, matrix, rewards = reward_models.block_counting(n)
    spectrum = pd.MultivariatePhaseType(alpha, matrix, rewards)
    sizes = range(1, n)
    self.assert_close(spectrum.mean(), [2 / i for i in sizes], 1e-13)
    expected = [[4 * sigma(i, j) for j in sizes] for i in sizes]
    self.assert_close(spectrum.covariance(), expected, 1e-11)


if __name__ == "__main__":
  absltest.main()
