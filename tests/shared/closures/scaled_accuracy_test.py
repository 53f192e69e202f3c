"""Values of dist * factor against those of dist, in all families."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import family_cases
from tests.helpers import graph_cases
from tests.helpers import own_family
from tests.helpers import test_case

MODE = "numpy"
_FACTORS = onp.asarray([0.375, 7.3])
_TIMES = (1e-3, 0.5, 2.0, 7.0)


def _kingman():
  return pg.models.kingman(3)


def _edges():
  return pm.EdgeRates(
    [0, 0, 1], [1, 2, 2], [2.0, 0.5], [[1, 0], [0, 1], [1, 1]]
  )


def _with_constants():
  edges = _edges()._replace(constants=onp.asarray([0.5, 0.0, 1.0]))
  return pd.PhaseType([0.75, 0.25], edges)


def _illness():
  """Returns a graph with constants and negative coefficients."""
  params = {"sick": 1.5, "heal": 0.25}
  return pd.PhaseType.from_graph(graph_cases.small(), params)


def _moved_start():
  """Returns a distribution whose initial masses depend on its parameters."""
  start = {0: {"q": 1.0}, 1: {1: 0.75, "q": -1.0}, pg.ABSORBED: {1: 0.25}}
  edges = [(0, 1, {"a": 1.0}), (1, pg.ABSORBED, {"a": 2.0})]
  graph = pg.Graph.from_edges(edges, start, params=("a", "q"))
  return pd.PhaseType.from_graph(graph, {"a": 0.75, "q": 0.5})


def _values_of_edges():
  return pd.PhaseType.from_graph(_kingman(), edge_values=[3.0, 0.5])


def _matrix():
  return pd.PhaseType([0.75, 0.25], [[-2.0, 1.5], [0.25, -1.0]])


# Distributions that are in no table of families.
OTHERS = {
  "matrix": _matrix,
  "exits": lambda: pd.PhaseType([0.5], [[0.0]], [2.0], 0.5),
  "edges": lambda: pd.PhaseType([0.75, 0.25], _edges()),
  "constants": _with_constants,
  "coalescent": lambda: pd.PhaseType.from_graph(_kingman(), [0.75]),
  "illness": _illness,
  "moved start": _moved_start,
  "edge values": _values_of_edges,
  "epochs": lambda: pd.Epochs(_kingman(), [[1.0], [0.25]], [0.5]),
  "epochs with edge values": lambda: pd.Epochs(
    graph_cases.small(), [{"sick": 1.5, "heal": 0.25}, [0.5, 0.125]], [1.0]
  ),
  "own family": lambda: own_family.Detour(0.75, 0.25, 1),
  "truncated below": lambda: pd.TruncatedPhaseType(
    pd.Erlang(2, 0.75), 0.25, [7.5, math.inf]
  ),
}
FAMILIES = {k: x for k, x in family_cases.CASES.items() if not x.discrete}
NAMES = [k for k in FAMILIES if k != "log_normal"]


class ScaledTest(test_case.TestCase):
  """Tests that the distribution of c X at c t is that of X at t."""

  def _check(self, dist, values, mean_error):
    """Checks a batch of factors, and in NumPy also one number."""
    times = onp.asarray(values)[:, None] + onp.zeros(2)
    factors = [_FACTORS]
    if MODE == "numpy":  # Others compile the same functions once more.
      factors.append(float(_FACTORS[1]))
    early = onp.concatenate([onp.zeros((1, 2)), times])
    log, share = self.host(dist.log_prob(times)), self.host(dist.cdf(early))
    for factor in factors:
      scaled = dist * factor if factor is _FACTORS else factor * dist
      self.assertIs(type(scaled), type(dist))
      self.assertEqual(scaled.dtype, dist.dtype)
      density = scaled.log_prob(times * factor)
      self.assert_close(density, log - onp.log(factor), 1e-12, 1e-12)
      self.assert_close(scaled.cdf(early * factor), share, 1e-12)
      if MODE != "jax":  # It would compile these for a minute.
        self._check_others(dist, scaled, factor, early, mean_error)

  def _check_others(self, dist, scaled, factor, times, mean_error):
    """Checks what follows from the same parameters."""
    survival = self.host(dist.survival_function(times))
    found = scaled.survival_function(times * factor)
    self.assert_close(found, survival, 1e-12)
    levels = onp.asarray([[0.125], [0.75]]) + onp.zeros(2)
    quantiles = self.host(dist.quantile(levels))
    self.assert_close(scaled.quantile(levels), quantiles * factor, 1e-12)
    mean = self.host(dist.mean())
    self.assert_close(scaled.mean(), mean * factor, mean_error)
    for bound in ("low", "high"):
      end = getattr(dist.support, bound)
      if end is not None:
        found = getattr(scaled.support, bound)
        self.assert_close(found, self.host(end) * factor, 1e-15)
    drawn = self.host(scaled.sample(20, seed=1))
    self.assertEqual(drawn.shape, (20, *scaled.batch_shape))
    self.assertTrue(onp.all(self.host(scaled.survival_function(drawn)) < 1.0))

  @parameterized.parameters(*NAMES)
  def test_families(self, name):
    case = FAMILIES[name]
    # A product rounds away how little a time is after a bound.
    values = case.values[name in ("shifted", "truncated") :]
    self._check(case.make(), values, 1e-12 if case.moments else 1e-9)

  @parameterized.named_parameters(*OTHERS.items())
  def test_others(self, make):
    self._check(make(), _TIMES, 1e-12)

  def test_derivatives_of_others(self):
    # With x = t / c the derivative of log(f(x) / c) in c is
    # -(1 + x f'(x) / f(x)) / c.
    factor, time = 1.75, 4.0
    for dist in (
      pd.MatrixWeibull(pd.Erlang(2, 0.8), 1.7),
      pd.TruncatedPhaseType(pd.Erlang(2, 0.8), 0.5, [math.inf, 9.0]),
      _illness(),
    ):
      _, slope = gradients.value_and_gradient(
        lambda c, dist=dist: np.sum((dist * c).log_prob(time)), factor
      )
      _, inner = gradients.value_and_gradient(
        lambda t, dist=dist: np.sum(dist.log_prob(t)), time / factor
      )
      count = math.prod(dist.batch_shape)
      expected = -(count + self.host(inner) * time / factor) / factor
      self.assert_close(slope, expected, 1e-12)


if __name__ == "__main__":
  absltest.main()
