"""Moments and their derivatives against rational arithmetic."""

import functools

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import chains
from tests.helpers import derivatives
from tests.helpers import test_case
from tests.oracle import rational_chain


def _moment(kind, model, alpha, weights, rewards):
  """Computes a moment of edges with these arrays."""
  functions = pm.discrete_phase_type if model.discrete else pm.phase_type
  edges = model.structure(weights)
  if kind == "variance":
    covariance = functions.reward_covariance
    return covariance(rewards[..., None], alpha, edges)[..., 0, 0]
  order = {"mean": 1, "second": 2, "fourth": 4}[kind]
  found = functions.reward_moments(order, rewards, alpha, edges)
  return found[..., order - 1]


def _truth(kind, model, moves=None, absolute=False):
  """Computes the exact moment as a polynomial along a direction."""
  p = model.phases
  of_alpha, of_weights, of_rewards = moves or (
    onp.zeros(p),
    onp.zeros(len(model.weights)),
    onp.zeros(p),
  )
  chain = rational_chain.Chain(
    p, model.pairs, model.weights, of_weights, absolute
  )
  number = functools.partial(rational_chain.poly, absolute=absolute)
  alpha = [
    number(a, v) for a, v in zip(model.initial_probs, of_alpha, strict=True)
  ]
  rewards = [
    number(r, v) for r, v in zip(model.rewards, of_rewards, strict=True)
  ]
  order = {"mean": 1, "fourth": 4}.get(kind, 2)
  moments = rational_chain.raw_moments(
    chain, alpha, rewards, order, model.discrete
  )
  if kind == "variance":
    return rational_chain.variance(moments, absolute)
  return moments[order - 1]


def _moves(model, seed):
  state = onp.random.RandomState(seed)
  p, m = model.phases, len(model.weights)
  draw = lambda n: onp.round(state.normal(size=n) * 64) / 64
  return draw(p), draw(m) * model.weights, draw(p)


# JAX compiles each model.
_CASES = (
  ("cyclic1", "variance"),
  ("cyclic6", "fourth"),
  ("cyclic6", "variance"),
  ("acyclic5", "variance"),
  ("discrete6", "fourth"),
  ("discrete6", "variance"),
  ("queue", "mean"),
  ("queue", "second"),
  ("queue", "variance"),
  ("discrete_queue", "second"),
  ("discrete_queue", "variance"),
)


class ValueTest(test_case.TestCase):
  """Tests relative errors of values."""

  @parameterized.product(model=chains.NAMES, path=("kernel", "portable"))
  def test_moments(self, model, path):
    if path not in self.paths():
      self.skipTest("the portable path runs in NumPy")
    edges = chains.ALL[model]
    for kind in ("mean", "second", "fourth", "variance"):
      with config.use_path(path):
        value = _moment(kind, edges, *edges[:1], edges.weights, edges.rewards)
      truth = _truth(kind, edges)[0]
      self.assertLess(rational_chain.error(float(value), truth), 1e-13, kind)

  @parameterized.parameters(chains.NAMES)
  def test_dense(self, name):
    edges = chains.ALL[name]
    edges = edges._replace(rewards=onp.ones(edges.phases))
    matrix, exits = edges.dense()
    functions = pm.discrete_phase_type if edges.discrete else pm.phase_type
    truth = [_truth(kind, edges)[0] for kind in ("mean", "second", "fourth")]
    found = self.host(
      functions.raw_moments(4, edges.initial_probs, matrix, exits)
    )
    for value, exact in zip(found[[0, 1, 3]], truth, strict=True):
      self.assertLess(rational_chain.error(value, exact), 1e-13)
    value = self.host(functions.variance(edges.initial_probs, matrix, exits))
    exact = _truth("variance", edges)[0]
    self.assertLess(rational_chain.error(value, exact), 1e-13)

  def test_variance_beside_a_large_mean(self):
    # 4000 stages: the difference of moments would lose four digits.
    stages = onp.arange(4000)
    edges = pm.EdgeRates(stages, stages + 1, onp.full(4000, 0.75))
    alpha = onp.eye(1, 4000)[0]
    self.assert_close(
      pm.phase_type.variance(alpha, edges), 4000 / 0.75**2, 1e-14
    )
    probs = pm.EdgeProbs(stages, stages + 1, onp.full(4000, 1 - 2.0**-20))
    value = pm.discrete_phase_type.variance(alpha, probs)
    exact = 4000 * 2.0**-20 / (1 - 2.0**-20) ** 2
    self.assert_close(value, exact, 1e-13)


class DerivativeTest(test_case.TestCase):
  """Tests errors of derivatives, relative to sums of sizes."""

  def setUp(self):
    super().setUp()

  def _arrays(self, model):
    return [
      np.asarray(x) for x in (model.initial_probs, model.weights, model.rewards)
    ]

  def _assert_along(self, value, truth, scale, order, tolerance):
    factor = order  # of e^order / order!, for orders 1 and 2
    error = rational_chain.error(
      float(value), factor * truth[order], factor * scale[order]
    )
    self.assertLess(error, tolerance)

  @parameterized.parameters(*_CASES)
  def test_forward(self, model, kind):
    edges = chains.ALL[model]
    moves = _moves(edges, 1)
    _, slope = gradients.jvp(
      functools.partial(_moment, kind, edges),
      self._arrays(edges),
      [np.asarray(x) for x in moves],
    )
    truth = _truth(kind, edges, moves)
    scale = _truth(kind, edges, moves, absolute=True)
    self._assert_along(slope, truth, scale, 1, 1e-12)

  @parameterized.parameters(*_CASES)
  def test_reverse(self, model, kind):
    edges = chains.ALL[model]
    _, found = gradients.value_and_gradient(
      functools.partial(_moment, kind, edges), *self._arrays(edges)
    )
    state = onp.random.RandomState(2)
    for k, gradient in enumerate(map(self.host, found)):
      for i in state.permutation(len(gradient))[:8]:
        moves = [onp.zeros_like(self.host(g)) for g in found]
        moves[k][i] = 1.0
        truth = _truth(kind, edges, moves)
        scale = _truth(kind, edges, moves, absolute=True)
        self._assert_along(gradient[i], truth, scale, 1, 1e-12)

  @parameterized.parameters(*_CASES)
  def test_second_order(self, model, kind):
    edges = chains.ALL[model]
    moves = [np.asarray(x) for x in _moves(edges, 3)]
    function = functools.partial(_moment, kind, edges)

    def slope(*arrays):
      return gradients.jvp(function, arrays, moves)[1]

    _, found = gradients.value_and_gradient(slope, *self._arrays(edges))
    curvature = sum(
      onp.sum(self.host(g) * self.host(v))
      for g, v in zip(found, moves, strict=True)
    )
    moves = [self.host(v) for v in moves]
    truth = _truth(kind, edges, moves)
    scale = _truth(kind, edges, moves, absolute=True)
    self._assert_along(curvature, truth, scale, 2, 1e-11)

  def test_one_model_of_many_starts(self):
    edges = chains.ALL["cyclic3"]
    alpha = onp.stack([edges.initial_probs, onp.eye(edges.phases)[0]])
    structure = edges.structure()

    def function(rewards):
      return pm.phase_type.reward_moments(2, rewards, alpha, structure)[..., 1]

    _, gradient = gradients.value_and_gradient(
      function, np.asarray(edges.rewards)
    )
    _, bars = derivatives.vjp(
      pm.phase_type.reward_moments,
      2,
      edges.rewards,
      alpha,
      structure,
      cotangent=[0.0, 1.0],
    )
    self.assert_close(gradient, bars[0], 1e-12)


if __name__ == "__main__":
  absltest.main()
