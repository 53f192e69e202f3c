"""The adapter to TensorFlow Probability, inside its own machinery.

TensorFlow Probability does not ship its property tests; what they ask of a
class is asked here: parameter properties that fit, copies, slices, pytrees and
shapes. TensorFlow's test of the adapter, which need not compile, asks for more.
"""

import importlib
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as np
from tensorflow_probability.substrates import jax as tfp

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import graphs
from phasic.substrates.jax import math
from phasic.substrates.jax.interop import tfp as adapter

tfb = tfp.bijectors
tfd = tfp.distributions


def _graph():
  def transitions(n):
    yield (n - 1 if n > 2 else graphs.ABSORBED), {"coal": n * (n - 1) / 2}

  return graphs.Graph.from_transitions(transitions, 4, params=("coal",))


_MAKERS = {
  "PhaseType": lambda: pd.PhaseType(
    [[1.0, 0.0], [0.5, 0.25]], [[-2.0, 1.0], [0.5, -1.0]]
  ),
  "Erlang": lambda: pd.Erlang(3, [2.0, 3.0]),
  "Coxian": lambda: pd.Coxian([[1.5], [0.5]], [0.1, 2.0]),
  "DiscretePhaseType": lambda: pd.DiscretePhaseType(
    [[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.25], [0.0, 0.5]]
  ),
  "Edges": lambda: pd.PhaseType(
    [[1.0, 0.0], [0.5, 0.25]], math.EdgeRates([0, 1], [1, 2], [1.0, 0.5])
  ),
  "MatrixPareto": lambda: pd.MatrixPareto(pd.Erlang(2, [2.0, 3.0]), 1.0),
}
_TRAINABLE = ("PhaseType", "Erlang", "Coxian")


class MethodsTest(parameterized.TestCase):
  def test_values_of_a_gamma(self):
    wrapped = adapter.wrap(pd.Erlang(3, jnp.asarray([2.0, 3.0])))
    expected = tfd.Gamma(3.0, jnp.asarray([2.0, 3.0]))
    x = jnp.asarray(0.75)
    for name in ("log_prob", "survival_function"):
      with self.subTest(name):
        np.testing.assert_allclose(
          getattr(wrapped, name)(x), getattr(expected, name)(x), rtol=3e-6
        )
    for name in ("mean", "stddev"):
      with self.subTest(name):
        np.testing.assert_allclose(
          getattr(wrapped, name)(), getattr(expected, name)(), rtol=3e-6
        )
    np.testing.assert_allclose(
      wrapped.kl_divergence(adapter.wrap(pd.Erlang(3, 1.0))),
      expected.kl_divergence(tfd.Gamma(3.0, 1.0)),
      rtol=1e-5,
    )
    self.assertIs(wrapped.reparameterization_type, tfd.FULLY_REPARAMETERIZED)
    self.assertEqual(wrapped.wrapped.hazard_function(x).shape, (2,))

  @parameterized.parameters(
    *("PhaseType", "DiscretePhaseType", "MatrixPareto", "Edges")
  )
  def test_properties(self, name):
    dist = _MAKERS[name]()
    wrapped = adapter.wrap(dist)
    x = jnp.asarray(2.0)
    expected = dist.log_prob(x)
    self.assertEqual(tuple(wrapped.batch_shape), (2,))
    self.assertEqual(tuple(wrapped.batch_shape_tensor()), (2,))
    self.assertEqual(tuple(wrapped.event_shape), ())
    self.assertEqual(wrapped.dtype, jnp.float32)
    same = lambda d: np.testing.assert_array_equal(d.log_prob(x), expected)
    same(wrapped)
    same(wrapped.copy())
    same(jax.tree.unflatten(*jax.tree.flatten(wrapped)[::-1]))
    np.testing.assert_array_equal(
      jax.jit(lambda d: d.log_prob(x))(wrapped), expected
    )
    np.testing.assert_array_equal(wrapped[1].log_prob(x), expected[1])
    properties = wrapped.parameter_properties()
    self.assertContainsSubset(properties, wrapped.parameters)
    parts = [
      tfp.util.ParameterProperties.instance_event_ndims(
        prop, wrapped, require_static=True
      )
      for key, prop in properties.items()
      if key in dist.parameter_properties()
    ]
    own = [prop.event_ndims for prop in dist.parameter_properties().values()]
    if name != "Edges":
      self.assertEqual(parts, own)

  @parameterized.parameters(*_TRAINABLE)
  def test_bijectors_give_valid_parameters(self, name):
    wrapped = adapter.wrap(_MAKERS[name]())
    values, total = {}, 0.0
    for key, prop in wrapped.parameter_properties().items():
      if wrapped.parameters[key] is None:
        continue
      bijector = prop.default_constraining_bijector_fn()
      shape = bijector.inverse_event_shape(wrapped.parameters[key].shape)
      free = jax.random.normal(jax.random.key(len(key)), tuple(shape))
      values[key] = bijector.forward(free)
      np.testing.assert_allclose(
        bijector.inverse(bijector.forward(free)), free, rtol=1e-4, atol=1e-4
      )
      ndims = bijector.forward_min_event_ndims
      total = total + bijector.forward_log_det_jacobian(free, ndims)
    checked = wrapped.copy(**values, validate_args=True)
    self.assertTrue(np.all(np.isfinite(checked.log_prob(1.0))))
    self.assertTrue(np.all(np.isfinite(total)))

  def test_graphs(self):
    def log_prob(params):
      dist = pd.PhaseType.from_graph(_graph(), params)
      return jax.jit(lambda d: d.log_prob(0.5))(adapter.wrap(dist))

    expected = pd.PhaseType.from_graph(_graph(), [2.0]).log_prob(0.5)
    np.testing.assert_array_equal(log_prob(jnp.asarray([2.0])), expected)
    slope = jax.grad(log_prob)({"coal": 2.0})["coal"]
    self.assertTrue(np.isfinite(slope))

  def test_refuses_what_is_not_ours(self):
    with self.assertRaisesRegex(TypeError, "Gamma"):
      adapter.wrap(tfd.Gamma(1.0, 1.0))


class CompositionTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.base = adapter.wrap(pd.Erlang(3, jnp.asarray([2.0, 3.0])))
    self.x = jnp.asarray([0.5, 1.5])
    self.terms = self.base.log_prob(self.x)

  def test_independent_and_sample(self):
    joint = tfd.Independent(self.base, 1)
    np.testing.assert_allclose(joint.log_prob(self.x), self.terms.sum(), 1e-6)
    many = tfd.Sample(self.base, 4)
    self.assertEqual(many.sample(seed=jax.random.key(0)).shape, (2, 4))

  def test_mixture(self):
    weights = jnp.asarray([0.25, 0.75])
    mixture = tfd.MixtureSameFamily(tfd.Categorical(probs=weights), self.base)
    exact = jnp.log(jnp.sum(weights * self.base.prob(1.0)))
    np.testing.assert_allclose(mixture.log_prob(1.0), exact, 1e-6)

  def test_transformed(self):
    logs = tfd.TransformedDistribution(self.base, tfb.Log())
    np.testing.assert_allclose(
      logs.log_prob(jnp.log(self.x)), self.terms + jnp.log(self.x), 1e-6
    )

  def test_transformed_counts_keep_their_probabilities(self):
    counts = pd.DiscretePhaseType(jnp.asarray([1.0]), [[0.25]])
    doubled = tfd.TransformedDistribution(
      adapter.wrap(counts), tfb.Scale(jnp.asarray(2.0))
    )
    np.testing.assert_allclose(doubled.prob(jnp.asarray(4.0)), 0.1875, 1e-6)

  def test_joint(self):
    prior = tfd.Gamma(2.0, 1.0)
    model = tfd.JointDistributionNamed(
      {"r": prior, "x": lambda r: adapter.wrap(pd.Erlang(3, r))}
    )
    drawn = model.sample(seed=jax.random.key(0))
    exact = prior.log_prob(drawn["r"])
    exact = exact + tfd.Gamma(3.0, drawn["r"]).log_prob(drawn["x"])
    np.testing.assert_allclose(model.log_prob(drawn), exact, rtol=1e-5)


class InferenceTest(absltest.TestCase):
  def test_nuts_finds_the_conjugate_posterior(self):
    times = jnp.asarray([1.0, 2.0, 1.5, 0.5])
    model = tfd.JointDistributionSequential(
      [
        tfd.Gamma(2.0, 1.0),
        lambda r: tfd.Sample(adapter.wrap(pd.Erlang(3, r)), 4),
      ]
    )
    pinned = model.experimental_pin(None, times)
    bijector = pinned.experimental_default_event_space_bijector()
    kernel = tfp.mcmc.TransformedTransitionKernel(
      tfp.mcmc.NoUTurnSampler(
        pinned.unnormalized_log_prob, step_size=0.5, max_tree_depth=4
      ),
      bijector,
    )

    @jax.jit
    def run(key):
      return tfp.mcmc.sample_chain(
        400,
        current_state=[jnp.asarray(2.0)],
        kernel=kernel,
        num_burnin_steps=100,
        trace_fn=None,
        seed=key,
      )

    (found,) = run(jax.random.key(1))
    exact = tfd.Gamma(14.0, 6.0)
    np.testing.assert_allclose(found.mean(), exact.mean(), rtol=0.08)
    np.testing.assert_allclose(found.std(), exact.stddev(), rtol=0.25)


class ImportTest(absltest.TestCase):
  def test_missing_package_is_named(self):
    name = adapter.__name__
    missing = {"tensorflow_probability.substrates": None}
    with mock.patch.dict(sys.modules, missing):
      del sys.modules[name]
      with self.assertRaisesRegex(ImportError, r"phasic-substrates\[tfp\]"):
        importlib.import_module(name)


if __name__ == "__main__":
  absltest.main()
