"""Expected statistics: properties of any model."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.internal import static
from tests.helpers import models
from tests.helpers import test_case

_TIMES = onp.asarray([1e-12, 0.02, 0.7, 3.0, 40.0])
_LOG_KINDS = ("log_prob", "log_survival_function", "log_cdf")


class SumsTest(test_case.TestCase):
  """Tests properties of any model."""

  path = "kernel"
  weights = onp.asarray([2.0, 1.0, 0.5, 3.0])

  def setUp(self):
    super().setUp()
    if self.path not in self.paths():
      self.skipTest(f"the path {self.path} does not run here")
    self.enter_context(config.use_path(self.path))

  def _arguments(self, name):
    model = models.ALL[name]
    return (onp.asarray([0.01, 0.7, 3.0, 20.0]), *model)

  def _check_balance(self, given, survivors):
    """Checks the balance of entries and exits of phases."""
    jumps = self.host(given.jumps)
    left = self.host(given.starts) + onp.sum(jumps, axis=0)
    left = left - onp.sum(jumps, axis=1) - self.host(given.exits)
    self.assertAlmostEqual(onp.sum(left), survivors, places=11)
    if survivors == 0.0:
      self.assert_close(left, onp.zeros_like(left), atol=1e-11)
    else:
      self.assertTrue(onp.all(left > -1e-11))

  @parameterized.product(name=tuple(models.ALL), kind=_LOG_KINDS)
  def test_sums(self, name, kind):
    arguments = self._arguments(name)
    given = pm.phase_type.expected_statistics(
      *arguments, weights=self.weights, kind=kind
    )
    total = onp.sum(self.weights)
    starts = onp.sum(self.host(given.starts)) + self.host(given.atom)
    self.assert_close(starts, total)
    exits = onp.sum(self.host(given.exits))
    if kind == "log_survival_function":
      self.assert_close(exits, 0.0)
      self._check_balance(given, total)
    else:
      self.assert_close(exits + self.host(given.atom), total)
      self._check_balance(given, 0.0)
    if kind != "log_cdf":
      self.assert_close(
        onp.sum(self.host(given.sojourns)),
        onp.sum(self.weights * arguments[0]),
      )

  @parameterized.parameters(*models.ALL)
  def test_observations_of_all_kinds_are_one_call(self, name):
    model = models.ALL[name]
    lower = onp.asarray([0.5, 1.0, -1.0, 0.25, 0.0, 2.0])
    upper = onp.asarray([0.5, math.inf, 2.0, 0.375, 1.0, 2.0])
    weights = onp.asarray([1.0, 2.0, 0.5, 3.0, 0.25, 1.5])
    given = pm.phase_type.expected_statistics(
      lower, *model, weights=weights, upper=upper
    )
    parts = []
    for kind, chosen, times in (
      ("log_prob", [0, 5], lower),
      ("log_survival_function", [1], lower),
      ("log_cdf", [2], upper),
    ):
      parts.append(
        pm.phase_type.expected_statistics(
          times[chosen],
          *model,
          weights=weights[chosen],
          kind=kind,
        )
      )
    for i in (3, 4):
      ends = onp.asarray([lower[i], upper[i]])
      below = self.host(pm.phase_type.cdf(ends, *model))
      share = onp.asarray([-1.0, 1.0]) / (below[1] - below[0])
      parts.append(
        pm.phase_type.expected_statistics(
          ends, *model, weights=weights[i] * share, kind="cdf"
        )
      )
    for x, each in zip(given, zip(*parts, strict=True), strict=True):
      expected = sum(self.host(part) for part in each)
      self.assert_close(x, expected, 1e-12, 1e-12)

  def test_zeros(self):
    # The atom's part of the data: values that are zero.
    model = models.cyclic()
    given = pm.phase_type.expected_statistics(
      onp.asarray([0.0, 1.0, 0.0]), *model[:2], weights=[1.0, 2.0, 4.0]
    )
    self.assert_close(given.atom, 5.0)
    self.assert_close(onp.sum(self.host(given.starts)), 2.0)
    self.assert_close(onp.sum(self.host(given.exits)), 2.0)
    self.assert_close(onp.sum(self.host(given.sojourns)), 2.0)

  def test_values_that_say_nothing(self):
    model = models.cyclic()
    alpha = model.initial_probs
    given = pm.phase_type.expected_statistics(
      -1.0, *model[:2], kind="log_survival_function"
    )
    self.assert_close(given.starts, alpha)
    self.assert_close(given.atom, 1.0 - onp.sum(alpha))
    self.assert_close(given.sojourns, onp.zeros(3))
    given = pm.phase_type.expected_statistics(
      math.inf, *model[:2], kind="log_cdf"
    )
    self.assert_close(given.starts, alpha)
    self.assert_close(given.atom, 1.0 - onp.sum(alpha))
    self.assertTrue(onp.all(onp.isnan(self.host(given.sojourns))))
    self.assertTrue(onp.all(onp.isnan(self.host(given.exits)[[0, 2]])))

  def test_impossible_values(self):
    model = models.cyclic()
    for t, kind in (
      (-1.0, "log_prob"),
      (-1.0, "log_cdf"),
      (math.nan, "cdf"),
    ):
      given = pm.phase_type.expected_statistics([t, 1.0], *model[:2], kind=kind)
      for x in given:
        self.assertTrue(onp.all(onp.isnan(self.host(x))))
      # Values of weight zero do not count.
      given = pm.phase_type.expected_statistics(
        [t, 1.0], *model[:2], weights=[0.0, 1.0], kind=kind
      )
      alone = pm.phase_type.expected_statistics(1.0, *model[:2], kind=kind)
      for x, y in zip(given, alone, strict=True):
        self.assert_close(x, y)

  def test_a_way_that_is_hardly_ever_taken(self):
    # One of two paths to absorption has weight 1e-30 of the other.
    rare = 1e-30
    rates = onp.asarray([[0.0, rare, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    exits = onp.asarray([1.0, 0.0, 3.0])
    alpha, t = onp.asarray([1.0, 0.0, 0.0]), 1e-3
    given = pm.phase_type.expected_statistics(t, alpha, rates, exits)
    # A hypoexponential density of rates 1, 2, 3 over one of rate 1.
    rare *= (
      6.0
      * (math.exp(-t) / 2 - math.exp(-2 * t) + math.exp(-3 * t) / 2)
      / math.exp(-t)
    )
    self.assert_close(self.host(given.jumps)[0, 1], rare, 1e-9)
    self.assert_close(self.host(given.jumps)[1, 2], rare, 1e-9)
    self.assert_close(self.host(given.exits), [1.0, 0.0, rare], 1e-9)


class PortableSumsTest(SumsTest):
  """Tests the same properties on the portable path."""

  path = "portable"


class EdgesTest(test_case.TestCase):
  """Tests passages of edges."""

  @parameterized.parameters(*_LOG_KINDS)
  def test_parallel_edges_and_loops(self, kind):
    alpha = onp.asarray([0.75, 0.25])
    # Two edges each from 0 to 1 and from 1 to absorption; a loop.
    edges = pm.EdgeRates(
      [0, 1, 0, 1, 1, 0],
      [1, 2, 1, 0, 2, 0],
      onp.asarray([2.0, 0.5]),
      onp.asarray(
        [[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.5, 0.5], [1.0, 1.0], [1.0, 0.0]]
      ),
      onp.asarray([0.0, 0.0, 0.0, 0.25, 0.0, 0.0]),
    )
    rates = onp.asarray([[0.0, 3.0], [1.5, 0.0]])
    times = onp.asarray([0.2, 1.0, 6.0])
    given = pm.phase_type.expected_statistics(times, alpha, edges, kind=kind)
    dense = pm.phase_type.expected_statistics(
      times, alpha, rates, onp.asarray([0.0, 3.0]), kind=kind
    )
    for name in ("starts", "sojourns", "exits", "atom"):
      self.assert_close(getattr(given, name), getattr(dense, name))
    jumps, exits = self.host(dense.jumps), self.host(dense.exits)
    shares = onp.asarray([2 / 3, 0.5 / 3, 1 / 3, 1.0, 2.5 / 3, 0.0])
    totals = [jumps[0, 1], exits[1], jumps[0, 1], jumps[1, 0], exits[1], 0.0]
    self.assert_close(given.jumps, shares * onp.asarray(totals))


class ShapeTest(test_case.TestCase):
  """Tests batches, dtypes and errors."""

  def test_batch(self):
    model = models.cyclic()
    alpha = onp.stack([model.initial_probs, model.initial_probs[::-1]])
    matrix = onp.stack([k * model.subgenerator for k in (1.0, 2.0, 3.0)])
    times = onp.asarray([0.3, 1.0, 2.0, 5.0])[:, None, None, None]
    weights = onp.asarray([[1.0], [2.0]])
    given = pm.phase_type.expected_statistics(
      times, alpha[:, None, None], matrix[:, None], weights=weights[:, None]
    )
    shapes = [onp.shape(self.host(x)) for x in given]
    batch = (2, 3, 1)
    self.assertEqual(
      shapes,
      [(*batch, 3), (*batch, 3), (*batch, 3, 3), (*batch, 3), batch],
    )
    for i in range(2):
      for j in range(3):
        alone = pm.phase_type.expected_statistics(
          onp.ravel(times), alpha[i], matrix[j], weights=weights[i]
        )
        for x, y in zip(given, alone, strict=True):
          onp.testing.assert_array_equal(self.host(x)[i, j, 0], self.host(y))

  def test_order_of_times(self):
    model = models.random_model(5, onp.random.RandomState(3))
    state = onp.random.RandomState(4)
    times, weights = state.gamma(1.0, size=40), state.uniform(size=40)
    order = state.permutation(40)
    one = pm.phase_type.expected_statistics(times, *model, weights=weights)
    other = pm.phase_type.expected_statistics(
      times[order], *model, weights=weights[order]
    )
    rtol = 0.0 if config.path() == "kernel" else 1e-14
    for x, y in zip(one, other, strict=True):
      self.assert_close(x, y, rtol)

  def test_float32(self):
    alpha = onp.asarray([0.5, 0.25, 0.25], onp.float32)
    matrix = onp.asarray(models.cyclic().subgenerator, onp.float32)
    given = pm.phase_type.expected_statistics([0.5, 2.0], alpha, matrix)
    exact = pm.phase_type.expected_statistics(
      onp.asarray([0.5, 2.0]),
      onp.asarray(alpha, onp.float64),
      onp.asarray(matrix, onp.float64),
    )
    for x, y in zip(given, exact, strict=True):
      self.assertEqual(static.dtype_name(x), "float32")
      self.assert_close(x, onp.asarray(self.host(y), onp.float32), 0.0)

  def test_errors(self):
    with self.assertRaisesRegex(ValueError, "kind is 'hazard'"):
      pm.phase_type.expected_statistics(1.0, [1.0], [[-1.0]], kind="hazard")
    with self.assertRaisesRegex(ValueError, "do not broadcast"):
      pm.phase_type.expected_statistics(
        [1.0, 2.0], [1.0], [[-1.0]], upper=onp.ones(3)
      )
    with self.assertRaisesRegex(ValueError, "weights has shape"):
      pm.phase_type.expected_statistics(
        [1.0, 2.0], [1.0], [[-1.0]], weights=[1, 2, 3]
      )
    single = onp.ones((1, 1), onp.float32)
    with self.assertRaisesRegex(TypeError, "float32 and weights is float64"):
      pm.phase_type.expected_statistics(
        single[0], single[0], -single, weights=onp.ones(1)
      )
    with self.assertRaisesRegex(TypeError, "weights"):
      pm.phase_type.expected_statistics(1.0, [1.0], [[-1.0]], weights=1j)


if __name__ == "__main__":
  absltest.main()
