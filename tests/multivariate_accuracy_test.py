"""Several rewards of one chain against rational numbers and known laws."""

import itertools
import math

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from phasic.internal import gradients
from phasic.internal import static
from tests import chains
from tests import models
from tests import test_case
from tests.oracle import reward_oracle as oracle

MODE = "numpy"


def _model(p, size, acyclic=False):
  """Masses, off-diagonals, exits, an atom and rewards, some of them zero."""
  state = onp.random.RandomState(10 * p + size)
  model = models.random_model(p, state)
  off = model.subgenerator * (1 - onp.eye(p))
  off = onp.triu(off) if acyclic else off
  alpha = onp.round(model.initial_probs * 2**20) / 2**20
  rewards = state.gamma(0.5, size=(p, size))
  rewards[state.uniform(size=(p, size)) < 0.3] = 0.0
  return alpha, off, rewards, model.exit_rates, 1 - onp.sum(alpha)


def _blocks():
  """Two phases that earn the first reward, then three that earn the second."""
  state = onp.random.RandomState(1)
  off = state.gamma(1.0, size=(5, 5)) * (1 - onp.eye(5))
  off[2:, :2] = 0.0
  exits = state.gamma(1.0, size=5)
  exits[1] = 0.0
  alpha = onp.asarray([0.25, 0.25, 0.125, 0.125, 0.125])
  rewards = onp.zeros((5, 2))
  rewards[:2, 0] = [1.0, 2.0]
  rewards[2:, 1] = [0.5, 1.0, 3.0]
  return alpha, off, rewards, exits, 0.125


def _block_density(model, y):
  """log f(y) for y > 0 of `_blocks`, by matrix exponentials in balls."""
  alpha, off, rewards, exits, _ = model
  units = onp.sum(rewards, axis=1)[:, None]
  total = onp.sum(off, axis=1) + exits
  rates = (off - onp.diag(total)) / units
  ends = (exits[:, None] / units).tolist()

  def ball(x):
    return flint.arb_mat(onp.asarray(x).tolist())

  parts = ball(alpha[None, :2])
  parts = parts * ball(rates[:2, :2] * y[0]).exp() * ball(rates[:2, 2:])
  parts = parts * ball(rates[2:, 2:] * y[1]).exp() * ball(ends[2:])
  return float(parts[0, 0].log())


class MomentsTest(test_case.TestCase):
  """Means, covariances, mixed moments and transforms."""

  @parameterized.product(p=(1, 4, 8), acyclic=(False, True))
  def test_covariance(self, p, acyclic):
    model = _model(p, 3, acyclic)
    alpha, off, rewards, exits, _ = model
    columns = list(rewards.T)
    means = [oracle.moment(alpha, off, exits, [r]) for r in columns]
    for path in self.paths():
      with pm.use_path(path):
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
    model = _model(p, 3)
    alpha, off, rewards, exits, _ = model
    factors = [rewards[:, r] for r in range(3) for _ in range(orders[r])]
    expected = float(flint.arb(oracle.moment(alpha, off, exits, factors)))
    if not factors:
      expected = 1.0
    found = pd.MultivariatePhaseType(*model).mixed_moment(orders)
    self.assert_close(found, expected, 1e-13)

  @parameterized.parameters(1e-70, 1e70)
  def test_scales(self, scale):
    alpha, off, rewards, exits, atom = _model(4, 2)
    base = pm.mixed_moment(alpha, off, rewards, exits, atom, orders=(2, 2))
    found = pm.mixed_moment(
      alpha, off * scale, rewards * scale, exits * scale, atom, orders=(2, 2)
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
      found = pm.mixed_moment(
        model.initial_probs,
        matrix,
        rewards,
        exits if matrix is off else None,
        orders=(1, 1),
      )
      self.assert_close(found, float(flint.arb(product)), 1e-12)

  @parameterized.product(p=(1, 5, 8), u=((0.0, 0.0), (0.5, 0.0), (3.0, 1e-3)))
  def test_laplace_transform(self, p, u):
    model = _model(p, 2)
    alpha, off, rewards, exits, atom = model
    expected = oracle.laplace(alpha, off, exits, rewards, onp.asarray(u))
    expected = float(flint.arb(expected + oracle.rational(atom)))
    found = pd.MultivariatePhaseType(*model).laplace_transform(u)
    self.assert_close(found, expected, 1e-13)

  def test_gradients(self):
    if MODE == "numpy":
      self.skipTest("NumPy has no autodiff")
    alpha, off, rewards, exits, _ = _model(4, 2)

    def moment(off, rewards, exits):
      return pm.mixed_moment(
        np.asarray(alpha), off, rewards, exits, orders=(1, 1)
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
  """Coalescent trees."""

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

    alpha, matrix, rewards = _block_counting(n)
    spectrum = pd.MultivariatePhaseType(alpha, matrix, rewards)
    sizes = range(1, n)
    self.assert_close(spectrum.mean(), [2 / i for i in sizes], 1e-13)
    expected = [[4 * sigma(i, j) for j in sizes] for i in sizes]
    self.assert_close(spectrum.covariance(), expected, 1e-11)


def _block_counting(n):
  """Numbers of lineages above 1, ..., n - 1 samples: masses, S, rewards."""
  states = [(n, *[0] * (n - 2))]
  edges = {}
  for state in states:
    for i, j in itertools.combinations_with_replacement(range(n - 1), 2):
      pairs = state[i] * (state[j] - 1) / 2 if i == j else state[i] * state[j]
      if pairs == 0:
        continue
      after = list(state)
      after[i] -= 1
      after[j] -= 1
      if i + j + 2 == n:
        edges[(state, None)] = edges.get((state, None), 0) + pairs
        continue
      after[i + j + 1] += 1
      after = tuple(after)
      if after not in states:
        states.append(after)
      edges[(state, after)] = edges.get((state, after), 0) + pairs
  p = len(states)
  matrix = onp.zeros((p, p))
  for (state, after), rate in edges.items():
    matrix[states.index(state), states.index(state)] -= rate
    if after is not None:
      matrix[states.index(state), states.index(after)] = rate
  return onp.eye(p)[0], matrix, onp.asarray(states, onp.float64)


class DensityTest(test_case.TestCase):
  """Chains whose rewards are earned one after the other."""

  @parameterized.parameters(
    (1.0, 2.0), (1e-3, 1e-9), (5.0, 0.1), (300.0, 4000.0)
  )
  def test_two_blocks(self, *y):
    model = _blocks()
    expected = _block_density(model, y)
    for path in self.paths():
      with pm.use_path(path):
        dist = pd.MultivariatePhaseType(*model)
        self.assert_close(dist.log_prob(y), expected, 1e-11)
    flipped = pd.MultivariatePhaseType(
      *model[:2], model[2][:, ::-1], *model[3:]
    )
    self.assert_close(flipped.log_prob(y[::-1]), expected, 1e-11)

  def test_blocks_left_out(self):
    alpha, off, rewards, exits, atom = model = _blocks()
    dist = pd.MultivariatePhaseType(*model)
    units = onp.sum(rewards, axis=1)
    values = onp.asarray(
      [[0.0, 2.0], [0.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [math.inf, 1.0]]
    )
    alone = pm.log_density(
      alpha[2:],
      off[2:, 2:] / units[2:, None],
      2.0,
      exits[2:] / units[2:],
      1 - onp.sum(alpha[2:]),
    )
    expected = [float(self.host(alone)), math.log(atom), *[-math.inf] * 3]
    self.assert_close(dist.log_prob(values), expected, 1e-13)
    self.assert_close(dist.log_prob([math.nan, 1.0]), math.nan)
    self.assert_close(dist.prob([0.0, 0.0]), atom, 1e-14)

  def test_three_stages(self):
    matrix = onp.asarray([[-1.0, 1.0, 0.0], [0.0, -2.0, 2.0], [0.0, 0.0, -4.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0, 0.0], matrix, onp.eye(3))
    y = onp.asarray([0.5, 1.0, 2.0])
    self.assert_close(dist.log_prob(y), math.log(8.0) - 0.5 - 2 - 8, 1e-14)

  def test_conditionally_independent(self):
    # Each first phase has phases of its own.
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
    # Phase 1 earns nothing: it is left for 2 or absorption.
    matrix = onp.asarray([[-1.0, 1.0, 0.0], [0.0, -4.0, 3.0], [0.0, 0.0, -2.0]])
    rewards = onp.asarray([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0, 0.0], matrix, rewards)
    self.assert_close(
      dist.log_prob([[1.0, 2.0], [1.0, 0.0]]),
      [math.log(0.75 * 2) - 1 - 4, math.log(0.25) - 1],
      1e-13,
    )

  def test_gradient(self):
    if MODE == "numpy":
      self.skipTest("NumPy has no autodiff")

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
    if MODE == "numpy":
      self.skipTest("NumPy has no autodiff")

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
    alpha, off, rewards, exits, atom = _blocks()
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

  @parameterized.parameters(
    (onp.ones((2, 2)), "phase 0 earns several"),
    (onp.eye(2), r"rewards \[0, 1\] are visited in turns"),
  )
  def test_no_density(self, rewards, message):
    matrix = onp.asarray([[-2.0, 1.0], [1.0, -2.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0], matrix, rewards)
    with self.assertRaisesRegex(NotImplementedError, message):
      dist.log_prob([1.0, 1.0])


class ProjectionTest(test_case.TestCase):
  """Single rewards and their sums."""

  def test_projection(self):
    model = _model(6, 3)
    alpha, off, rewards, exits, atom = model
    dist = pd.MultivariatePhaseType(*model)
    weights = onp.asarray([0.5, 0.0, 2.0])
    total = dist.projection(weights)
    self.assertIsInstance(total, pd.PhaseType)
    covariance = self.host(dist.covariance())
    self.assert_close(total.mean(), weights @ self.host(dist.mean()), 1e-13)
    self.assert_close(total.variance(), weights @ covariance @ weights, 1e-11)
    for r in (0, 1, 2, -1):
      expected = pd.PhaseType(
        *pm.reward_transform(alpha, off, rewards[:, r], exits, atom)
      )
      self.assert_close(
        dist.marginal(r).cdf([0.0, 0.5, 2.0]),
        expected.cdf([0.0, 0.5, 2.0]),
        1e-14,
      )
    with self.assertRaisesRegex(IndexError, "index is 3: there are 3 rewards"):
      dist.marginal(3)
    with self.assertRaisesRegex(ValueError, "number of rewards R"):
      dist.projection([1.0])

  def test_samples(self):
    dist = pd.MultivariatePhaseType(*_model(5, 2))
    n = 20_000
    x = self.host(dist.sample(n, seed=3))
    self.assertEqual(onp.shape(x), (n, 2))
    deviation = self.host(dist.stddev()) / math.sqrt(n)
    error = onp.abs(onp.mean(x, axis=0) - self.host(dist.mean()))
    self.assertTrue(onp.all(error < 5 * deviation))
    product = x[:, 0] * x[:, 1]
    error = onp.mean(product) - self.host(dist.mixed_moment((1, 1)))
    self.assertLess(abs(error), 5 * onp.std(product) / math.sqrt(n))
    # In distribution, for a sum of both.
    total = dist.projection([1.0, 1.0])
    u = self.host(total.cdf(onp.sum(x, axis=1)))
    atom = float(self.host(total.cdf(0.0)))
    self.assertLess(abs(onp.mean(u <= atom) - atom), 5 / math.sqrt(n))
    grid = onp.linspace(atom, 1.0, 20)
    share = onp.mean(u[:, None] <= grid, axis=0)
    self.assertLess(onp.max(onp.abs(share - grid)), 5 / math.sqrt(n))

  def test_samples_that_earn_for_ever(self):
    matrix = onp.asarray([[-2.0, 1.0], [0.0, 0.0]])
    rewards = onp.asarray([[1.0, 0.0], [0.0, 2.0]])
    dist = pd.MultivariatePhaseType([1.0, 0.0], matrix, rewards)
    x = self.host(dist.sample(2000, seed=5))
    self.assertTrue(onp.all(onp.isfinite(x[:, 0])))
    for_ever = onp.isinf(x[:, 1])
    self.assertTrue(onp.all(for_ever | (x[:, 1] == 0)))
    self.assertLess(abs(onp.mean(for_ever) - 0.5), 0.06)
    self.assert_close(dist.mean(), [0.5, math.inf], 1e-14)


class ContractTest(test_case.TestCase):
  """Shapes, checks and structure."""

  def test_shapes(self):
    alpha, off, rewards, exits, atom = _model(4, 2)
    scales = onp.asarray([1.0, 2.0, 4.0])
    dist = pd.MultivariatePhaseType(
      alpha, off, rewards * scales[:, None, None], exits, atom
    )
    self.assertEqual(dist.batch_shape, (3,))
    self.assertEqual(dist.event_shape, (2,))
    self.assertEqual(static.shape(dist.sample((5, 6), seed=1)), (5, 6, 3, 2))
    self.assertEqual(static.shape(dist.mean()), (3, 2))
    self.assertEqual(static.shape(dist.covariance()), (3, 2, 2))
    self.assertEqual(static.shape(dist.mixed_moment((1, 2))), (3,))
    self.assertEqual(static.shape(dist.laplace_transform([1.0, 2.0])), (3,))
    mean = self.host(dist.mean())
    self.assert_close(mean, mean[0] * scales[:, None], 1e-13)
    self.assert_close(dist[1].mean(), mean[1], 1e-14)
    self.assertEqual(dist[1:].batch_shape, (2,))
    self.assert_close(dist.copy(rewards=rewards).mean(), mean[0], 1e-14)

  def test_float32(self):
    arrays = [onp.asarray(x, onp.float32) for x in _blocks()]
    dist = pd.MultivariatePhaseType(*arrays)
    value = onp.asarray([1.0, 2.0], onp.float32)
    for x in (
      dist.mean(),
      dist.covariance(),
      dist.log_prob(value),
      dist.mixed_moment((1, 1)),
      dist.laplace_transform(value),
      dist.sample(3, seed=1),
    ):
      self.assertEqual(static.dtype_name(x), "float32")
    self.assert_close(
      dist.log_prob(value),
      onp.float32(_block_density(_blocks(), (1.0, 2.0))),
      1e-5,
    )

  @parameterized.parameters(
    (onp.ones((3, 2)), r"rewards have shape \(3, 2\).*p = 2"),
    (onp.ones(2), r"rewards have shape \(2,\)"),
    (onp.ones((4, 2, 1)), "do not broadcast"),
  )
  def test_bad_shapes(self, rewards, message):
    alpha = onp.asarray([[0.5, 0.5], [1.0, 0.0]])
    with self.assertRaisesRegex(ValueError, message):
      pd.MultivariatePhaseType(alpha, -onp.eye(2), rewards)

  def test_bad_values(self):
    arguments = ([1.0], [[-1.0]], [[1.0, -1.0]])
    with self.assertRaisesRegex(ValueError, "rewards.*must be >= 0 and finite"):
      pd.MultivariatePhaseType(*arguments, validate_args=True)
    dist = pd.MultivariatePhaseType(*arguments)
    self.assert_close(dist.mean(), [1.0, math.nan])
    self.assert_close(dist.laplace_transform([1.0, 1.0]), math.nan)
    self.assert_close(dist.mixed_moment((1, 1)), math.nan)
    good = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]])
    self.assert_close(good.laplace_transform([-0.5, 1.0]), math.nan)
    with self.assertRaisesRegex(ValueError, r"value has shape \(3,\).*R = 2"):
      good.log_prob([1.0, 2.0, 3.0])
    with self.assertRaisesRegex(TypeError, "sequence of integers"):
      good.mixed_moment((1.5, 1))
    with self.assertRaisesRegex(ValueError, "R = 2 integers"):
      good.mixed_moment((1,))
    checked = pd.MultivariatePhaseType(
      [1.0], [[-1.0]], [[1.0]], validate_args=True
    )
    with self.assertRaisesRegex(ValueError, "must be >= 0"):
      checked.log_prob([-1.0])


class GraphTest(test_case.TestCase):
  """Rewards of the chains of graphs."""

  def _tree(self, n=6):
    def transitions(k):
      yield (k - 1 if k > 2 else graphs.ABSORBED), {"coal": k * (k - 1) / 2}

    graph = graphs.Graph.from_transitions(transitions, n, params=("coal",))
    rewards = onp.asarray([[1.0, k] for k in graph.states])
    return graph, rewards

  def test_as_the_matrix(self):
    graph, rewards = self._tree()
    params = {"coal": onp.asarray([1.0, 0.5])}
    sparse = pd.MultivariatePhaseType.from_graph(graph, params, rewards)
    self.assertEqual(sparse.batch_shape, (2,))
    self.assertEqual(sparse.event_shape, (2,))
    dense = pd.MultivariatePhaseType(
      sparse.initial_probs, sparse.subgenerator, rewards, sparse.exit_rates
    )
    for name in ("mean", "covariance", "variance", "stddev"):
      self.assert_close(getattr(sparse, name)(), getattr(dense, name)(), 1e-12)
    self.assert_close(
      sparse.mixed_moment((1, 2)), dense.mixed_moment((1, 2)), 1e-13
    )
    u = onp.asarray([0.5, 0.25])
    self.assert_close(
      sparse.laplace_transform(u), dense.laplace_transform(u), 1e-13
    )
    length = sparse.marginal(1)
    self.assertIsInstance(length, pd.GraphPhaseType)
    self.assert_close(length.cdf(2.0), dense.marginal(1).cdf(2.0), 1e-13)
    part = sparse.copy(rewards=onp.eye(5))
    self.assert_close(
      part.marginal(1).mean(), dense.copy(rewards=onp.eye(5)).mean()[:, 1]
    )
    x = self.host(sparse.sample(4000, seed=2))
    error = onp.abs(onp.mean(x, axis=0) - self.host(sparse.mean()))
    limit = 5 * self.host(sparse.stddev()) / math.sqrt(4000)
    self.assertTrue(onp.all(error < limit))
    self.assert_close(sparse[1].mean(), sparse.mean()[1], 1e-14)

  def test_gradient(self):
    if MODE == "numpy":
      self.skipTest("NumPy has no autodiff")
    graph, rewards = self._tree()

    def mean(params, rewards):
      dist = pd.MultivariatePhaseType.from_graph(graph, params, rewards)
      return dist.mixed_moment((1, 1))

    value, found = gradients.value_and_gradient(
      mean, np.asarray(onp.asarray([0.5])), np.asarray(rewards)
    )
    # The moment is of degree -2 in the rate, and linear in each reward.
    value = float(self.host(value))
    self.assert_close(found[0], [-2 * value / 0.5], 1e-12)
    sums = onp.sum(self.host(found[1]) * rewards, axis=0)
    self.assert_close(sums, [value, value], 1e-12)

  def test_no_rewards(self):
    graph, _ = self._tree()
    with self.assertRaisesRegex(TypeError, "rewards is None"):
      pd.MultivariatePhaseType.from_graph(graph, [1.0])


if __name__ == "__main__":
  absltest.main()
