"""Distributions where 64-bit numbers are switched off."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp
from scipy import special

from phasic.substrates.jax import distributions
from phasic.substrates.jax import graphs


def _stages(discrete):
  """Three stages, each left at a rate a; once by a cause of its own."""

  def transitions(k):
    yield (k + 1 if k < 2 else graphs.ABSORBED), {"a": 0.75}
    if k == 0:
      yield graphs.ABSORBED("early"), {"a": 0.25}

  return graphs.Graph.from_transitions(
    transitions, 0, params=("a",), discrete=discrete
  )


class Float32Test(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertFalse(jax.config.jax_enable_x64)

  @parameterized.parameters(False, True)
  def test_methods(self, discrete):
    kind = (
      distributions.DiscretePhaseType if discrete else distributions.PhaseType
    )
    dist = kind.from_graph(_stages(discrete), {"a": 0.5})
    self.assertEqual(dist.dtype, "float32")
    matrix = dist.subtransition if discrete else dist.subgenerator
    exits = dist.exit_probs if discrete else dist.exit_rates
    dense = kind(dist.initial_probs, matrix, exits)
    for method in (
      lambda d: d.log_prob(2.0),
      lambda d: d.cdf(2.0),
      lambda d: d.mean(),
      lambda d: d.stddev(),
      lambda d: d.moment(3),
      lambda d: d.expected_visits(),
      lambda d: d.occupancy(2.0),
      lambda d: d.moment_generating_function(0.1),
      lambda d: d.hazard_function(2.0),
    ):
      found = method(dist)
      self.assertEqual(found.dtype, jnp.float32)
      onp.testing.assert_allclose(found, method(dense), rtol=1e-5)
    other = kind.from_graph(_stages(discrete), {"a": 0.25})
    found = dist.kl_divergence(other)
    self.assertEqual(found.dtype, jnp.float32)
    cross = dist.cross_entropy(other)
    onp.testing.assert_allclose(found, cross - dist.entropy(), rtol=1e-4)
    onp.testing.assert_allclose(dist.cause_probs(), [0.25, 0.75], rtol=1e-6)
    x = dist.sample(2000, seed=jax.random.key(1))
    self.assertEqual(x.dtype, jnp.float32)
    error = 5 * float(dist.stddev()) / 2000**0.5
    self.assertLess(abs(float(x.mean() - dist.mean())), error)

  def test_discrete_hazards_have_three_digits_or_are_not_there(self):
    dist = distributions.DiscretePhaseType([1.0], [[0.75]])  # 1 / 4 always.
    found = onp.asarray(dist.hazard_function(onp.geomspace(1.0, 1e7, 50) // 1))
    known = onp.isfinite(found)
    self.assertTrue(known[0])
    self.assertFalse(known[-1])
    onp.testing.assert_allclose(found[known], 0.25, rtol=1e-3)
    graph = _stages(True)
    dist = distributions.DiscretePhaseType.from_graph(graph, {"a": 0.5})
    for cause in ("early", None):
      near, far = onp.asarray(dist.cause_hazard(onp.array([2.0, 1e7]), cause))
      self.assertTrue(onp.isfinite(near))
      self.assertTrue(onp.isnan(far))

  def test_the_limit_of_steps_is_found(self):
    # The mean of a lifetime with the hazard 0.1 exp(t / 2).
    one = graphs.Graph.from_edges(
      [("alive", graphs.ABSORBED, [1.0])], "alive", 1
    )
    found = distributions.piecewise_constant_limit(
      one, lambda t: [0.1 * math.exp(t / 2)], 12.0, lambda dist: dist.mean()
    )
    exact = 2 * math.exp(0.2) * special.exp1(0.2)
    self.assertLess(abs(float(found.value) / exact - 1), 1e-5)
    self.assertEqual(found.value.dtype, jnp.float32)


if __name__ == "__main__":
  absltest.main()
