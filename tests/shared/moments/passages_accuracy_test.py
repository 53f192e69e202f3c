"""Sojourns, visits, transforms and covariances against rational arithmetic."""

import functools
import itertools

from absl.testing import absltest
from absl.testing import parameterized
import flint
import mpmath
import numpy as np
import numpy as onp

from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import chains
from tests.helpers import test_case
from tests.oracle import rational_chain


def _function(model, name):
  """Returns the function of `math` for the model's time."""
  functions = pm.discrete_phase_type if model.discrete else pm.phase_type
  return getattr(functions, name)


def _poly(values, moves=None, absolute=False):
  moves = onp.zeros(len(values)) if moves is None else moves
  return [
    rational_chain.poly(x, v, absolute)
    for x, v in zip(values, moves, strict=True)
  ]


def _dot(alpha, x):
  terms = [rational_chain.times(a, b) for a, b in zip(alpha, x, strict=True)]
  return rational_chain.plus(*terms)


def _sojourns(model):
  chain = rational_chain.Chain(model.phases, model.pairs, model.weights)
  units = onp.eye(model.phases)
  alpha = _poly(model.initial_probs)
  return [_dot(alpha, chain.solve(_poly(unit)))[0] for unit in units]


def _transform(model, u, moves=None, absolute=False):
  """Computes E exp(-u X) or E u^N as a polynomial along a direction."""
  p, m = model.phases, len(model.weights)
  if moves is None:
    moves = onp.zeros(p), onp.zeros(m), 0.0
  of_alpha, of_weights, of_u = moves
  number = functools.partial(rational_chain.poly, absolute=absolute)
  weights = _poly(model.weights, of_weights, absolute)
  killing = number(u, of_u)
  if model.discrete:
    weights = [rational_chain.times(w, killing) for w in weights]
    slope = abs(of_u) if absolute else -of_u
    killing = rational_chain.poly(1 - u, slope)
  chain = rational_chain.Chain(
    p, model.pairs, weights, absolute=absolute, killing=killing
  )
  exits = [rational_chain.poly(0.0) for _ in range(p)]
  for (i, j), w in zip(model.pairs, weights, strict=True):
    if j == p:
      exits[i] = rational_chain.plus(exits[i], w)
  alpha = _poly(model.initial_probs, of_alpha, absolute)
  sign = 1 if absolute else -1
  atom = [1 - sum(a[0] for a in alpha)]
  atom += [sign * sum(a[k] for a in alpha) for k in (1, 2)]
  return rational_chain.plus(atom, _dot(alpha, chain.solve(exits)))


def _products(model, rewards):
  """Computes E[Y_a Y_b] and covariances."""
  chain = rational_chain.Chain(model.phases, model.pairs, model.weights)
  alpha = _poly(model.initial_probs)
  count = rewards.shape[1]

  def second(r):
    return rational_chain.raw_moments(chain, alpha, _poly(r), 2, model.discrete)

  own = [second(rewards[:, a]) for a in range(count)]
  cross, covariance = {}, {}
  for a, b in itertools.product(range(count), repeat=2):
    both = second(rewards[:, a] + rewards[:, b])[1][0]
    cross[a, b] = (both - own[a][1][0] - own[b][1][0]) / 2
    covariance[a, b] = cross[a, b] - own[a][0][0] * own[b][0][0]
  return cross, covariance


class ValueTest(test_case.TestCase):
  """Tests relative errors of values."""

  def _assert_exact(self, found, truth, scales=None, tolerance=1e-13):
    scales = truth if scales is None else scales
    for value, exact, scale in zip(found, truth, scales, strict=True):
      error = rational_chain.error(float(value), exact, scale)
      self.assertLess(error, tolerance)

  @parameterized.parameters(chains.NAMES)
  def test_sojourns_and_jumps(self, name):
    model = chains.ALL[name]
    arguments = (model.initial_probs, model.structure())
    exact = _sojourns(model)
    if not model.discrete:
      found = pm.phase_type.expected_sojourn_times(*arguments)
      self._assert_exact(self.host(found), exact)
    flows = [
      exact[i] * rational_chain.exact(w)
      for i, w in zip(model.sources, model.weights, strict=True)
    ]
    jumps = self.host(_function(model, "expected_jumps")(*arguments))
    self._assert_exact(jumps, flows)
    visits = exact
    if not model.discrete:
      visits = [
        sum(f for i, f in zip(model.sources, flows, strict=True) if i == phase)
        for phase in range(model.phases)
      ]
    found = self.host(_function(model, "expected_visits")(*arguments))
    self._assert_exact(found, visits)
    dense = self.host(
      _function(model, "expected_visits")(model.initial_probs, *model.dense())
    )
    self._assert_exact(dense, visits)

  @parameterized.parameters(chains.NAMES)
  @test_case.of_bad_values
  def test_transforms(self, name):
    model = chains.ALL[name]
    if model.discrete:
      function = pm.discrete_phase_type.probability_generating_function
      points = [2.0**-40, 0.25, 0.75, 1.0]
    else:
      function, points = (
        pm.phase_type.laplace_transform,
        [0.0, 1e-30, 0.25, 8.0, 1e12],
      )
    points = onp.asarray(points)
    truth = [_transform(model, u)[0] for u in points]
    structure = model.structure()
    found = self.host(function(points, model.initial_probs, structure))
    self._assert_exact(found, truth)
    wrong = self.host(function([-1.0, onp.inf], model.initial_probs, structure))
    self.assertTrue(onp.all(onp.isnan(wrong)))

  @parameterized.parameters(chains.NAMES)
  def test_products_of_rewards(self, name):
    model = chains.ALL[name]
    state = onp.random.RandomState(1)
    third = onp.floor(state.gamma(0.5, size=model.phases) * 64) / 64
    rewards = onp.stack([model.rewards, onp.ones(model.phases), third], -1)
    cross, covariance = _products(model, rewards)
    arguments = (rewards, model.initial_probs, model.structure())
    found = self.host(_function(model, "reward_cross_moments")(*arguments))
    self._assert_exact(found.ravel(), cross.values())
    found = self.host(_function(model, "reward_covariance")(*arguments))
    self._assert_exact(found.ravel(), covariance.values(), cross.values())

  @parameterized.parameters("cyclic6", "acyclic5", "discrete6", "queue")
  def test_hitting_probs(self, name):
    model = chains.ALL[name]
    targets, p = [1, model.phases - 1], model.phases
    matrix, ends = flint.fmpq_mat(p, p), flint.fmpq_mat(p, 1)
    for (i, j), w in zip(model.pairs, model.weights, strict=True):
      if i not in targets:
        matrix[i, i] += rational_chain.exact(w)
        if j < p:
          matrix[i, j] -= rational_chain.exact(w)
    for i in targets:
      matrix[i, i] = ends[i, 0] = flint.fmpq(1)
    hits = (matrix.inv() * ends).entries()
    alpha = map(rational_chain.exact, model.initial_probs)
    truth = sum(a * h for a, h in zip(alpha, hits, strict=True))
    function = _function(model, "hitting_probs")
    found = function(targets, model.initial_probs, model.structure())
    self._assert_exact([self.host(found)], [truth])
    dense = function(targets, model.initial_probs, model.dense()[0])
    self.assert_close(dense, found, 1e-9)

  def test_second_derivative_of_hitting_probs(self):

    def slope(weights):
      def hit(weights):
        edges = pm.EdgeRates([0, 0, 1], [1, 2, 2], weights)
        return pm.phase_type.hitting_probs([1], [1.0, 0.0], edges)

      move = np.asarray(onp.asarray([1.0, 0.0, 0.0]))
      return gradients.jvp(hit, [weights], [move])[1]

    # The probability is a / (a + b), its slope in a is b / (a + b)^2.
    weights = np.asarray(onp.asarray([1.0, 2.0, 3.0]))
    value, found = gradients.value_and_gradient(slope, weights)
    self.assert_close(value, 2 / 9)
    self.assert_close(found, [-4 / 27, -1 / 27, 0.0])

  @parameterized.parameters([n for n in chains.NAMES if n in chains.SMALL])
  def test_occupancy(self, name):
    self.require_kernel()
    model = chains.SMALL[name]
    p = model.phases
    times = [0.0, 1.0, 9.0, 300.0] if model.discrete else [0, 1e-3, 0.5, 60.0]
    with mpmath.workdps(50):
      matrix = mpmath.zeros(p, p)
      for (i, j), w in zip(model.pairs, model.weights, strict=True):
        matrix[i, i] -= mpmath.mpf(float(w))
        if j < p:
          matrix[i, j] += mpmath.mpf(float(w))
      alpha = mpmath.matrix([[float(a) for a in model.initial_probs]])
      truth = []
      for t in times:
        if model.discrete:
          moved = (matrix + mpmath.eye(p)) ** int(t)
        else:
          moved = mpmath.expm(matrix * mpmath.mpf(t), method="taylor")
        truth.append([float(x) for x in alpha * moved])
    found = _function(model, "occupancy")(
      onp.asarray(times), model.initial_probs, model.structure()
    )
    self.assert_close(found, truth, 1e-13)


class DerivativeTest(test_case.TestCase):
  """Tests first and second derivatives of transforms, in all arguments."""

  @parameterized.parameters("cyclic6", "acyclic5", "queue", "discrete6")
  def test_transform(self, name):
    model = chains.ALL[name]
    function = pm.phase_type.laplace_transform
    if model.discrete:
      function = pm.discrete_phase_type.probability_generating_function
    state = onp.random.RandomState(5)
    draw = lambda *n: onp.round(state.normal(size=n) * 64) / 64
    moves = draw(model.phases), draw(len(model.weights)), draw()
    moves = [onp.asarray(v) for v in moves]
    arrays = [model.initial_probs, model.weights, onp.asarray(0.375)]
    arrays = [np.asarray(x) for x in arrays]

    def value(alpha, weights, u):
      return function(u, alpha, model.structure(weights))

    def slope(*at):
      return gradients.jvp(value, at, [np.asarray(v) for v in moves])[1]

    first, found = gradients.value_and_gradient(slope, *arrays)
    second = sum(
      onp.sum(self.host(g) * v) for g, v in zip(found, moves, strict=True)
    )
    moves = (*moves[:2], float(moves[2]))
    truth = _transform(model, 0.375, moves)
    scale = _transform(model, 0.375, moves, absolute=True)
    for order, value_ in ((1, first), (2, second)):
      error = rational_chain.error(
        float(value_), order * truth[order], order * scale[order]
      )
      self.assertLess(error, 1e-12)

  @parameterized.parameters(("acyclic5", 0.5), ("discrete4", 3.0))
  def test_occupancy(self, name, time):
    model = chains.ALL[name]
    # The sum over phases is the survival function.
    arrays = [np.asarray(x) for x in (model.initial_probs, model.weights)]

    def total(alpha, weights):
      occupancy = _function(model, "occupancy")
      return np.sum(occupancy(time, alpha, model.structure(weights)))

    def survival(alpha, weights):
      function = pm.phase_type.survival_function
      if model.discrete:
        function = pm.discrete_phase_type.survival_function
      return function(time, alpha, model.structure(weights))

    value, found = gradients.value_and_gradient(total, *arrays)
    exact, truth = gradients.value_and_gradient(survival, *arrays)
    self.assert_close(value, exact, 1e-13)
    for x, y in zip(found, truth, strict=True):
      self.assert_close(x, y, 1e-11, 1e-13)


class ErrorTest(test_case.TestCase):
  def test_phases(self):
    with self.assertRaisesRegex(
      ValueError, r"phases has the entry 1: .* \[0, 1\)"
    ):
      pm.phase_type.hitting_probs([1], [1.0], [[-1.0]])
    with self.assertRaisesRegex(TypeError, "phases has dtype float64"):
      pm.phase_type.hitting_probs([0.0], [1.0], [[-1.0]])

  def test_edges(self):
    with self.assertRaisesRegex(
      TypeError, "^subgenerator is list: it must be EdgeRates$"
    ):
      pm.phase_type.expected_jumps([1.0], [[-1.0]])
    with self.assertRaisesRegex(
      TypeError, "^subtransition is EdgeRates: it must be EdgeProbs$"
    ):
      edges = pm.EdgeRates([0], [1], [1.0])
      pm.discrete_phase_type.expected_jumps([1.0], edges)

  def test_batch(self):
    with self.assertRaisesRegex(ValueError, "u has batch shape"):
      pm.phase_type.laplace_transform(
        [1.0, 2.0], [1.0], onp.full((3, 1, 1), -1.0)
      )


if __name__ == "__main__":
  absltest.main()
