"""Derivatives of functions by elimination: rational numbers, and two modes."""

import functools
from typing import Any

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.internal import static
from tests.helpers import chains
from tests.helpers import derivatives
from tests.helpers import test_case
from tests.oracle import case_products
from tests.oracle import rational_chain

MODE = "numpy"

# A subset of cases, as each is compiled, except in NumPy.
_EVERY = 1
if MODE != "numpy":
  _EVERY = 7


def _function(model, name):
  """Returns the function of `math` for the model's time."""
  if model.discrete and name == "laplace_transform":
    return pm.discrete_phase_type.probability_generating_function
  if model.discrete:
    name = name.replace("sojourn_times", "visits")
    return getattr(pm.discrete_phase_type, name)
  return getattr(pm.phase_type, name)


def _moments(model, moves, order, absolute=False):
  chain = rational_chain.Chain(
    model.phases, model.pairs, model.weights, moves[1], absolute
  )
  poly = functools.partial(rational_chain.poly, absolute=absolute)
  alpha = map(poly, model.initial_probs, moves[0])
  rewards = map(poly, model.rewards, moves[2])
  return rational_chain.raw_moments(
    chain, list(alpha), list(rewards), order, model.discrete
  )


class ExactTest(test_case.TestCase):
  """Tests derivatives of reward moments, against rational numbers."""

  @parameterized.product(model=chains.NAMES, path=("kernel", "portable"))
  def test_reward_moments(self, model, path):
    if path not in self.paths() or (path == "portable" and "queue" in model):
      self.skipTest("the portable path runs in NumPy, on small models")
    edges = chains.ALL[model]
    order, ct = 3, onp.asarray([0.5, -1.0, 2.0])
    arguments = (edges.rewards, edges.initial_probs, edges.structure())
    with config.use_path(path):
      _, bars = derivatives.vjp(
        _function(edges, "reward_moments"),
        order,
        *arguments,
        cotangent=ct,
      )
    self.assertIsNone(bars[3])
    bars = [self.host(bars[i]) for i in (1, 2, 0)]
    state = onp.random.RandomState(4)
    sizes = [edges.phases, len(edges.weights), edges.phases]
    for k, size in enumerate(sizes):
      for i in state.permutation(size)[:4]:
        moves = [onp.zeros(n) for n in sizes]
        moves[k][i] = 1.0
        truth = _moments(edges, moves, order)
        scale = _moments(edges, moves, order, True)
        exact = sum(rational_chain.exact(c) * f[1] for c, f in zip(ct, truth))
        size = sum(
          abs(rational_chain.exact(c)) * f[1] for c, f in zip(ct, scale)
        )
        error = rational_chain.error(float(bars[k][i]), exact, size)
        self.assertLess(error, 1e-12)
    moves = [onp.round(state.normal(size=n) * 64) / 64 for n in sizes]
    with config.use_path(path):
      _, found = derivatives.jvp(
        _function(edges, "reward_moments"),
        order,
        *arguments,
        tangents=(moves[2], *moves[:2], None, None),
      )
    truth, scale = (
      _moments(edges, moves, order),
      _moments(edges, moves, order, True),
    )
    for value, f, c in zip(self.host(found), truth, scale, strict=True):
      self.assertLess(rational_chain.error(float(value), f[1], c[1]), 1e-12)


# Functions with non-array arguments.
_CALLS: dict[str, tuple[Any, ...]] = {
  "raw_moments": (3,),
  "expected_sojourn_times": (),
  "laplace_transform": (),
  "reward_covariance": (),
  "variance": (),
  "expected_visits": (),
  "expected_jumps": (),
  "hitting_probs": (),
  "occupancy": (),
  "mixed_moment": ((2, 1),),
  "joint_mark_probs": ((2, 1),),
}
# Functions without discrete versions, or without dense ones.
_CONTINUOUS = ("mixed_moment", "joint_mark_probs")
_OF_EDGES = ("expected_jumps",)


def _arguments(model, dense, name, batch):
  """Returns arrays by position: others, alpha, matrix, exits, atom."""
  scale = onp.ones((*batch, 1))
  alpha = model.initial_probs * scale
  if dense:
    matrix, exits = model.dense()
    if dense == "derived":
      exits = None
  else:
    matrix, exits = model.weights, None
  rewards = onp.stack([model.rewards, 1 + model.rewards**2], axis=-1)
  other: tuple[onp.ndarray, ...] = {
    "laplace_transform": (onp.asarray(0.375),),
    "reward_covariance": (rewards,),
    "mixed_moment": (rewards,),
    "joint_mark_probs": (rewards, onp.asarray([[0.5, 0.125]])),
    "hitting_probs": (onp.asarray([1]),),
    "occupancy": (onp.asarray(3.0),),
  }.get(name, ())
  atom = onp.asarray(1 - onp.sum(model.initial_probs)) if dense else None
  return (*other, alpha, matrix, exits, atom)


def _filled(model, dense, arguments, given, arrays):
  """Returns the arguments, with some arrays replaced."""
  values = list(arguments)
  for i, x in zip(given, arrays, strict=True):
    values[i] = x
  if not dense:
    values[-3] = model.structure(values[-3])
  return values


class AgreementTest(test_case.TestCase):
  """Compares forward and reverse mode."""

  @parameterized.parameters(
    *case_products.product(
      _EVERY,
      name=sorted(_CALLS),
      model=("cyclic3", "discrete4"),
      dense=("", "given", "derived"),
      batch=((), (2,)),
    )
  )
  def test_all(self, name, model, dense, batch):
    model = chains.ALL[model]
    if model.discrete and name in _CONTINUOUS:
      self.skipTest("there is none in discrete time")
    if dense and name in _OF_EDGES:
      self.skipTest("it takes edges only")
    options = _CALLS[name]
    arguments = _arguments(model, dense, name, batch)
    fixed = [0] if name == "hitting_probs" else []
    if name == "occupancy":
      if MODE == "numpy":
        self.require_kernel()
      fixed = [0] if model.discrete else []
    given = [
      i for i, x in enumerate(arguments) if x is not None and i not in fixed
    ]

    arrays = [np.asarray(arguments[i]) for i in given]
    state = onp.random.RandomState(6)
    values = _filled(model, dense, arguments, given, arrays)
    value = _function(model, name)(*options, *values)
    ct = state.normal(size=static.shape(value))
    moves = [state.normal(size=onp.shape(arguments[i])) for i in given]
    tangents = [None] * len(arguments)
    for i, v in zip(given, moves, strict=True):
      tangents[i] = v
    again, bars = derivatives.vjp(
      _function(model, name), *options, *values, cotangent=ct
    )
    # The differentiated variance is summed in another order.
    self.assert_close(again, value, 4e-16)
    _, moved = derivatives.jvp(
      _function(model, name), *options, *values, tangents=tangents
    )
    left = onp.sum(ct * self.host(moved))
    right = sum(
      onp.sum(self.host(bars[i]) * v) for i, v in zip(given, moves, strict=True)
    )
    self.assert_close(left, right, 1e-10, 1e-12)
    for i, bar in enumerate(bars):
      if bar is None or i in given:
        self.assertEqual(bar is None, i not in given)
      else:  # Functions of numbers of steps.
        self.assertTrue(onp.all(onp.isnan(self.host(bar))))

  def test_edges(self):
    edges = pm.EdgeRates([0, 0], [1, 1], [1.0, 3.0])
    value, bars = derivatives.vjp(
      pm.phase_type.expected_jumps,
      [1.0],
      edges,
      cotangent=[1.0, 0.0],
      wanted=("subgenerator",),
    )
    self.assert_close(value, [0.25, 0.75])
    self.assertIsNone(bars[0])
    self.assert_close(bars[1], [3 / 16, -1 / 16], 1e-14)

  def test_moment_of_order_zero(self):
    value, bars = derivatives.vjp(
      pm.phase_type.mixed_moment,
      (0,),
      [[1.0]],
      [0.5],
      [[-1.0]],
      None,
      0.5,
      cotangent=1.0,
    )
    for x, expected in zip(
      (value, *bars[:3], bars[4]), (1.0, [[0.0]], [1.0], [[0.0]], 1.0)
    ):
      self.assert_close(x, expected, 0.0)

  def test_linear_parameters(self):
    edges = pm.EdgeRates([0, 1], [1, 2], [2.0], [[3.0], [1.0]], [0.5, 0.0])
    _, bars = derivatives.vjp(
      pm.phase_type.raw_moments,
      1,
      [1.0, 0.0],
      edges,
      cotangent=[1.0],
      wanted=["subgenerator"],
    )
    # The mean is 1 / (3 a + 1 / 2) + 1 / a.
    self.assert_close(bars[1], [-3 / 6.5**2 - 1 / 4], 1e-14)
    _, moved = derivatives.jvp(
      pm.phase_type.raw_moments,
      1,
      [1.0, 0.0],
      edges,
      tangents=(None, [2.0], None, None),
    )
    self.assert_close(moved, [2 * (-3 / 6.5**2 - 1 / 4)], 1e-14)

  @test_case.of_bad_values
  def test_infinite(self):
    for matrix, alpha in (
      ([[0.0]], [1.0]),
      ([[-1.0, 1.0], [0.0, 0.0]], [1, 0.0]),
    ):
      value, bars = derivatives.vjp(
        pm.phase_type.raw_moments, 1, alpha, matrix, cotangent=[1.0]
      )
      self.assert_close(value, [onp.inf])
      self.assertTrue(onp.all(onp.isnan(self.host(bars[1]))))


if __name__ == "__main__":
  absltest.main()
