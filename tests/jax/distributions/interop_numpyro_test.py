"""The adapter to NumPyro, with NumPyro's own distributions and samplers."""

import importlib
import sys
from unittest import mock

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as nd
from numpyro import infer
from numpyro.distributions import constraints

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import graphs
from phasic.substrates.jax.interop import numpyro as adapter

_RATES = (0.5, 2.0, 3.0)


def _rates():
  return jnp.asarray(_RATES)


class MethodsTest(absltest.TestCase):
  def test_values(self):
    wrapped = adapter.wrap(pd.Erlang(3, _rates()))
    expected = nd.Gamma(3.0, _rates())
    x = jnp.asarray(0.75)
    for actual, exact in (
      (wrapped.log_prob(x), expected.log_prob(x)),
      (wrapped.cdf(x), expected.cdf(x)),
      (wrapped.icdf(wrapped.cdf(x)), jnp.broadcast_to(x, (3,))),
      (wrapped.mean, expected.mean),
      (wrapped.variance, expected.variance),
    ):
      np.testing.assert_allclose(actual, exact, rtol=2e-6)
    self.assertEqual(wrapped.batch_shape, (3,))
    self.assertEqual(wrapped.event_shape, ())
    self.assertEqual(wrapped.sample(jax.random.key(0), (2,)).shape, (2, 3))

  def test_shapes_of_numpyro(self):
    wrapped = adapter.wrap(pd.Erlang(3, _rates()))
    x = jnp.asarray(0.75)
    self.assertEqual(
      wrapped.expand((4, 3)).sample(jax.random.PRNGKey(0)).shape, (4, 3)
    )
    np.testing.assert_allclose(
      wrapped.to_event(1).log_prob(x), jnp.sum(wrapped.log_prob(x)), rtol=1e-6
    )
    masked = wrapped.mask(jnp.asarray([True, False, True])).log_prob(x)
    np.testing.assert_array_equal(masked == 0, [False, True, False])

  def test_divergence(self):
    p, q = pd.Erlang(2, _rates()), pd.Hypoexponential([1.0, 3.0])
    found = nd.kl_divergence(adapter.wrap(p), adapter.wrap(q))
    np.testing.assert_allclose(found, p.kl_divergence(q), rtol=1e-6)

  def test_values_outside_the_support(self):
    wrapped = adapter.wrap(pd.Erlang(3, 2.0), validate_args=True)
    with self.assertWarnsRegex(UserWarning, "Out-of-support"):
      self.assertEqual(wrapped.log_prob(-1.0), -np.inf)

  def test_rates_that_are_equal(self):
    def dist(rates):
      law = pd.AcyclicPhaseType([0.5, 0.5], rates)
      return adapter.wrap(law, validate_args=True)

    self.assertEqual(dist([1.0, 1.0]).event_shape, ())
    with self.assertRaisesRegex(ValueError, "invalid rates parameter"):
      dist([2.0, 1.0])
    with (
      self.assertWarnsRegex(RuntimeWarning, r"rates\[0\] = 0.0"),
      self.assertRaisesRegex(ValueError, "invalid rates parameter"),
    ):
      dist([0.0, 1.0])
    constraint = type(dist([1.0, 2.0])).arg_constraints["rates"]
    found = nd.biject_to(constraint)(jnp.asarray([0.0, -1.0]))
    self.assertTrue(constraint(found))

  def test_wrap_takes_distributions(self):
    for other in (3, pd.Erlang, nd.Gamma(1.0, 1.0)):
      with self.assertRaisesRegex(
        TypeError, "it must be a distribution of phasic"
      ):
        adapter.wrap(other)

  def test_constraints(self):
    wrapped = adapter.wrap(pd.Erlang(3, 2.0))
    self.assertEqual(type(wrapped).arg_constraints["rate"].lower_bound, 0.0)
    self.assertEqual(list(wrapped.get_args()), ["rate"])
    with self.assertWarnsRegex(RuntimeWarning, "rate = -2.0"):
      bad = pd.Erlang(3, -2.0)
    with self.assertRaisesRegex(ValueError, "invalid rate parameter"):
      adapter.wrap(bad, validate_args=True)
    matrix = adapter.wrap(pd.PhaseType([1.0], [[-1.0]]), validate_args=True)
    self.assertEqual(list(matrix.get_args()), ["initial_probs", "subgenerator"])
    self.assertIs(matrix.support, constraints.nonnegative)
    counts = adapter.wrap(pd.DiscretePhaseType([1.0], [[0.5]]))
    self.assertTrue(counts.is_discrete)
    base = pd.Erlang(3, 2.0)
    bounded = adapter.wrap(pd.TruncatedPhaseType(base, 1.0, 3.0)).support
    self.assertEqual(
      bounded(jnp.asarray([0.5, 1.0, 3.0, 3.5])).tolist(), [0, 1, 1, 0]
    )
    for high in (None, jnp.inf):
      half = adapter.wrap(pd.TruncatedPhaseType(base, 1.0, high)).support
      self.assertEqual(half(jnp.asarray([0.5, 1.5, 9.0])).tolist(), [0, 1, 1])
    rewards = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]])
    self.assertEqual(adapter.wrap(rewards).support.event_dim, 1)
    self.assertEqual(adapter.wrap(rewards).event_dim, 1)

  def test_gradients_of_samples(self):
    def draw(rate):
      wrapped = adapter.wrap(pd.Erlang(3, rate))
      return wrapped.rsample(jax.random.key(2))

    value, slope = jax.value_and_grad(draw)(2.0)
    np.testing.assert_allclose(slope, -value / 2.0, rtol=1e-5)
    atom = adapter.wrap(pd.PhaseType([0.5], [[-1.0]], prob_zero=0.5))
    self.assertFalse(atom.has_rsample)
    with self.assertRaises(NotImplementedError):
      atom.rsample(jax.random.key(2))


class PytreeTest(absltest.TestCase):
  def test_round_trips(self):
    wrapped = adapter.wrap(pd.Erlang(3, _rates()))
    leaves, structure = jax.tree.flatten(wrapped)
    self.assertLen(leaves, 1)
    again = jax.tree.unflatten(structure, leaves)
    self.assertIs(type(again), type(wrapped))
    self.assertEqual(again.batch_shape, (3,))
    expected = wrapped.log_prob(1.0)
    np.testing.assert_array_equal(again.log_prob(1.0), expected)
    np.testing.assert_array_equal(
      jax.jit(lambda d: d.log_prob(1.0))(wrapped), expected
    )
    np.testing.assert_allclose(
      jax.vmap(lambda r: adapter.wrap(pd.Erlang(3, r)).log_prob(1.0))(_rates()),
      expected,
      rtol=1e-6,
    )


class ParametersByNameTest(absltest.TestCase):
  """Of two lineages: exponential times with the rate of coalescence."""

  def law(self, rate):
    graph = graphs.models.kingman(2)
    return adapter.wrap(pd.GraphPhaseType(graph, {"coalescence": rate}))

  def test_log_densities(self):
    expected = np.log(2.0) - 2.0 * 0.7
    for found in (
      self.law(2.0).log_prob(0.7),
      jax.jit(lambda r: self.law(r).log_prob(0.7))(2.0),
      jax.vmap(lambda r: self.law(r).log_prob(0.7))(jnp.full(3, 2.0)),
      self.law(jnp.full(3, 2.0)).log_prob(0.7),
      jax.tree.map(lambda x: x, self.law(2.0)).log_prob(0.7),
    ):
      np.testing.assert_allclose(found, expected, rtol=1e-6)

  def test_in_models(self):
    def model(times=None):
      rate = numpyro.sample("rate", nd.Gamma(2.0, 1.0))
      with numpyro.plate("n", 3):
        numpyro.sample("times", self.law(rate), obs=times)

    times = jnp.asarray([0.5, 1.0, 2.5])
    with numpyro.validation_enabled():
      density, _ = infer.util.log_density(model, (times,), {}, {"rate": 2.0})
    expected = nd.Gamma(2.0, 1.0).log_prob(2.0) + 3 * np.log(2.0) - 2.0 * 4.0
    np.testing.assert_allclose(density, expected, rtol=1e-6)
    predict = infer.Predictive(model, {"rate": jnp.full(2000, 4.0)})
    found = predict(jax.random.PRNGKey(2))["times"]
    self.assertEqual(found.shape, (2000, 3))
    np.testing.assert_allclose(found.mean(), 0.25, rtol=0.05)


class InferenceTest(absltest.TestCase):
  def test_nuts_finds_the_conjugate_posterior(self):
    times = jnp.asarray([1.0, 2.0, 1.5, 0.5])

    def model():
      with numpyro.plate("groups", 2):
        rate = numpyro.sample("rate", nd.Gamma(2.0, 1.0))
        wrapped = adapter.wrap(pd.Erlang(3, rate))
        with numpyro.plate("times", len(times)):
          numpyro.sample("obs", wrapped, obs=times[:, None])

    sampler = infer.MCMC(
      infer.NUTS(model),
      num_warmup=200,
      num_samples=600,
      progress_bar=False,
    )
    sampler.run(jax.random.PRNGKey(0))
    found = sampler.get_samples()["rate"]
    exact = nd.Gamma(2.0 + 12.0, 1.0 + 5.0)
    self.assertEqual(found.shape, (600, 2))
    np.testing.assert_allclose(found.mean(0), exact.mean, rtol=0.08)
    np.testing.assert_allclose(found.var(0), exact.variance, rtol=0.35)

  def test_latent_times(self):
    model = lambda: numpyro.sample("x", adapter.wrap(pd.Erlang(3, 2.0)))
    sampler = infer.MCMC(
      infer.NUTS(model), num_warmup=200, num_samples=600, progress_bar=False
    )
    sampler.run(jax.random.PRNGKey(1))
    found = sampler.get_samples()["x"]
    np.testing.assert_allclose(found.mean(), 1.5, rtol=0.12)
    self.assertGreater(float(found.min()), 0.0)


def _inflated(prob_zero=0.3, rate=1.0):
  return pd.ZeroInflated(pd.Erlang(2, rate), prob_zero)


class LatentAtomsTest(absltest.TestCase):
  """Laws with an atom at zero, which samplers of times would never visit."""

  def test_supports_with_an_atom_have_no_bijector(self):
    zero = _inflated()
    start = {0: 0.75, graphs.ABSORBED: 0.25}
    graph = graphs.Graph.from_edges([(0, graphs.ABSORBED, 1.0)], start)
    for law, mass in (
      (zero, 0.3),
      (_inflated([0.0, 0.25]), 0.25),
      (pd.MatrixWeibull(zero, 2.0), 0.3),
      (pd.TruncatedPhaseType(zero, high=50.0), 0.3),
      (pd.PhaseType([0.5], [[-1.0]]), 0.5),
      (pd.PhaseType([0.5], [[-1.0]], prob_zero=0.5), 0.5),
      (pd.AcyclicPhaseType([0.5, 0.25], [1.0, 2.0]), 0.25),
      (pd.convolution([zero, zero]), 0.09),
      (pd.minimum([zero, pd.Erlang(1, 1.0)]), 0.3),
      (pd.maximum([zero, zero]), 0.09),
      (pd.mixture([0.5, 0.5], [zero, pd.Erlang(1, 1.0)]), 0.15),
      (pd.PhaseType.from_graph(graph), 0.25),
      (pd.MultivariatePhaseType([0.5], [[-1.0]], [[1.0]]).marginal(0), 0.5),
    ):
      wrapped = adapter.wrap(law)
      for site in (wrapped, wrapped.expand((2, 2)), wrapped.mask(False)):
        with self.assertRaisesRegex(ValueError, f"an atom of {mass:.6g} at z"):
          nd.biject_to(site.support)
      with self.assertRaisesRegex(ValueError, "a latent time must not be zero"):
        nd.biject_to(wrapped.expand((2, 2)).to_event(1).support)
      # The support is that of times.
      self.assertEqual(
        wrapped.support(jnp.asarray([-1.0, 0.0, 2.0])).tolist(), [0, 1, 1]
      )

  def test_supports_without_an_atom_have_one(self):
    zero = _inflated()
    for law, low in (
      (pd.ResidualLife(zero, 1.0), 0.0),
      (pd.Equilibrium(zero), 0.0),
      (pd.TruncatedPhaseType(zero, 1.0), 1.0),
      (pd.convolution([zero, pd.Erlang(1, 1.0)]), 0.0),
      (pd.maximum([zero, pd.Erlang(1, 1.0)]), 0.0),
      (_inflated(0.0), 0.0),
      (pd.PhaseType([1.0], [[-1.0]], prob_zero=0.0), 0.0),
      (pd.MatrixPareto(pd.Erlang(2, 1.0), 1.0), 0.0),
      (pd.Epochs(graphs.models.kingman(2), [[1.0], [2.0]], [1.0]), 0.0),
    ):
      found = nd.biject_to(adapter.wrap(law).support)(jnp.asarray(0.5))
      np.testing.assert_allclose(found, low + np.exp(0.5), rtol=1e-6)
    for make, raises in (
      (lambda r: pd.ResidualLife(_inflated(0.3, r), 1.0), False),
      (lambda r: pd.TruncatedPhaseType(_inflated(0.3, r), 1.0), False),
      (lambda r: pd.PhaseType([1.0], [[-r]]), False),
      (lambda r: pd.convolution([pd.Erlang(1, r), pd.Erlang(1, 1.0)]), False),
      (lambda r: _inflated(0.0, r), True),
      (lambda r: _inflated(0.3, r), True),
      (lambda r: _inflated(r / 10.0), True),
      (lambda r: pd.MatrixWeibull(_inflated(r / 10.0), 2.0), True),
      (lambda r: pd.PhaseType([1.0], [[-1.0]], prob_zero=1.0 - r), True),
    ):

      def moved(rate, make=make):
        return nd.biject_to(adapter.wrap(make(rate)).support)(0.5)

      if raises:
        with self.assertRaisesRegex(ValueError, "prob_zero, which may be pos"):
          jax.jit(moved)(1.0)
      else:
        self.assertGreater(float(jax.jit(moved)(1.0)), 0.0)

  def test_inference_refuses_latent_sites(self):
    def model():
      numpyro.sample("x", adapter.wrap(_inflated()))

    def plates():
      rate = numpyro.sample("rate", nd.Gamma(2.0, 1.0))
      with numpyro.plate("n", 3):
        numpyro.sample("x", adapter.wrap(_inflated(0.3, rate)))

    key = jax.random.PRNGKey(0)
    optimizer = numpyro.optim.Adam(0.01)
    for own in (model, plates):
      for run in (
        lambda own=own: infer.MCMC(
          infer.NUTS(own), num_warmup=2, num_samples=2, progress_bar=False
        ).run(key),
        lambda own=own: infer.util.initialize_model(key, own),
        lambda own=own: infer.SVI(
          own, infer.autoguide.AutoNormal(own), optimizer, infer.Trace_ELBO()
        ).init(key),
        lambda own=own: infer.SVI(
          own, infer.autoguide.AutoDelta(own), optimizer, infer.Trace_ELBO()
        ).init(key),
      ):
        with self.assertRaisesRegex(ValueError, "latent time must not be zero"):
          run()

  def test_observed_sites(self):
    times = jnp.asarray([0.0, 1.5, 0.0, 2.0])

    def model(z):
      with numpyro.plate("n", 4):
        numpyro.sample("x", adapter.wrap(_inflated(z)), obs=times)

    # The density of two stages is t exp(-t).
    exact = 2.0 * np.log(0.3) + 2.0 * np.log(0.7) + np.log(3.0) - 3.5
    found, _ = infer.util.log_density(model, (0.3,), {}, {})
    np.testing.assert_allclose(found, exact, rtol=1e-6)
    found = infer.Predictive(
      lambda: numpyro.sample("x", adapter.wrap(_inflated())), num_samples=4000
    )(jax.random.PRNGKey(1))["x"]
    np.testing.assert_allclose(np.mean(found == 0.0), 0.3, atol=0.03)
    np.testing.assert_allclose(np.mean(found), 1.4, rtol=0.06)

  def test_the_mixture_with_a_discrete_site(self):
    # The way out: whether it is zero is a site, and the time another one.
    def model():
      is_zero = numpyro.sample("is_zero", nd.Bernoulli(0.3))
      time = numpyro.sample("time", adapter.wrap(pd.Erlang(2, 1.0)))
      numpyro.deterministic("x", jnp.where(is_zero == 1, 0.0, time))

    found = infer.Predictive(model, num_samples=4000)(jax.random.PRNGKey(2))
    np.testing.assert_allclose(np.mean(found["x"] == 0.0), 0.3, atol=0.03)


class ImportTest(absltest.TestCase):
  def test_missing_package_is_named(self):
    name = adapter.__name__
    with mock.patch.dict(sys.modules, {"numpyro.distributions": None}):
      del sys.modules[name]
      with self.assertRaisesRegex(ImportError, r"phasic-substrates\[numpyro\]"):
        importlib.import_module(name)


if __name__ == "__main__":
  absltest.main()
