"""Tests the results that distributions of graphs keep between calls."""

import copy

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic.math.calls import gradients
from tests.helpers import chain_cases
from tests.helpers import test_case


def stages(discrete=False):
  """Builds three stages in series, each left at the rate a."""
  return pg.Graph.from_transitions(
    lambda k: [(k + 1 if k < 2 else pg.ABSORBED, {"a": 1.0})],
    0,
    params=("a",),
    discrete=discrete,
  )


class KeptChainsTest(test_case.TestCase):
  """Calls methods again, in other orders, and after changes."""

  def test_any_order(self):
    graph = stages()
    for a in (0.5, 2.0, 8.0):
      for names in (("mean", "variance"), ("variance", "mean", "stddev")):
        dist = pd.PhaseType.from_graph(graph, {"a": a})
        want = {"mean": 3 / a, "variance": 3 / a**2, "stddev": 3**0.5 / a}
        for name in names + names:
          self.assert_close(getattr(dist, name)(), want[name])

  def test_any_order_in_steps(self):
    dist = pd.DiscretePhaseType.from_graph(stages(discrete=True), {"a": 0.25})
    for _ in range(2):
      self.assert_close(dist.variance(), 3 * 0.75 / 0.25**2)
      self.assert_close(dist.mean(), 12.0)
      self.assert_close(dist.prob(3.0), 0.25**3)

  def test_dense(self):
    dist = pd.PhaseType([1.0, 0.0], [[-2.0, 2.0], [0.0, -2.0]])
    for _ in range(2):
      self.assert_close(dist.mean(), 1.0)
      self.assert_close(dist.variance(), 0.5)
      self.assert_close(dist.stddev(), 0.5**0.5)

  def test_batches(self):
    dist = pd.PhaseType.from_graph(stages(), onp.asarray([[1.0], [2.0]]))
    for _ in range(2):
      self.assert_close(dist.mean(), [3.0, 1.5])
      self.assert_close(dist.variance(), [3.0, 0.75])
      self.assertEqual(dist.batch_shape, (2,))
      self.assert_close(dist[1].mean(), 1.5)

  def test_given_arrays_may_change(self):
    values = onp.asarray([2.0])
    params = {"a": values[0:1]}
    dist = pd.PhaseType.from_graph(stages(), params)
    self.assert_close(dist.mean(), [1.5])
    values[0] = 4.0
    params["a"] = onp.asarray([8.0])
    self.assert_close(dist.mean(), [1.5])
    self.assert_close(dist.params["a"], [2.0])

  def test_a_mapping_that_is_shown_may_change(self):
    dist = pd.PhaseType.from_graph(stages(), {"a": 2.0})
    self.assert_close(dist.mean(), 1.5)
    dist.params["a"] = np.asarray(4.0)
    self.assert_close(dist.mean(), 3 / float(dist.params["a"]))

  def test_copies(self):
    dist = pd.PhaseType.from_graph(chain_cases.repairs(), [1.5, 0.75, 0.5])
    mean, variance = dist.mean(), dist.variance()
    other = dist.copy(params=onp.asarray([3.0, 0.75, 0.5]))
    self.assertNotEqual(float(other.mean()), float(mean))
    self.assertEqual(float(copy.copy(dist).variance()), float(variance))

  def test_gradients_after_a_call(self):
    graph = stages()

    def mean(a):
      return pd.PhaseType.from_graph(graph, {"a": a}).mean()

    a = np.asarray(2.0)
    self.assert_close(mean(a), 1.5)
    _, slope = gradients.value_and_gradient(mean, a)
    self.assert_close(slope, -3 / 4)

  def test_bad_values_are_named(self):
    graph = stages()
    self.assert_close(pd.PhaseType.from_graph(graph, {"a": 2.0}).mean(), 1.5)
    with self.assertWarnsRegex(Warning, "edge_values"):
      bad = pd.PhaseType.from_graph(graph, {"a": -2.0})
    self.assertTrue(onp.isnan(bad.mean()))
    self.assertTrue(onp.isnan(bad.variance()))


if __name__ == "__main__":
  absltest.main()
