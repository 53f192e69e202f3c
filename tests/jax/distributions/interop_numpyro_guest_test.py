"""What NumPyro's own code asks of a distribution, asked of every family."""

import copy
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as nd
from numpyro import handlers
from numpyro import infer
from numpyro.contrib import control_flow
from numpyro.distributions import batch_util

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import graphs
from phasic.substrates.jax.interop import numpyro as adapter
from tests.generated.jax.helpers import chain_cases
from tests.generated.jax.helpers import family_cases

_CASES = {
  **{f"family_{name}": case for name, case in family_cases.CASES.items()},
  **{f"chain_{name}": case for name, case in chain_cases.CASES.items()},
}
_DTYPE = "float64" if jax.config.jax_enable_x64 else "float32"


def _wrapped(name):
  return adapter.wrap(_CASES[name].make(_DTYPE))


def _stacked(wrapped, count=3):
  return jax.tree.map(lambda *x: jnp.stack(x), *[wrapped] * count)


class EveryFamilyTest(parameterized.TestCase):
  @parameterized.parameters(*_CASES)
  def test_parameters(self, name):
    wrapped = _wrapped(name)
    given = wrapped.distribution.parameters
    for parameter, constraint in wrapped.arg_constraints.items():
      value = getattr(wrapped, parameter)
      self.assertIsNotNone(value)
      jax.tree.map(np.testing.assert_array_equal, value, given[parameter])
      self.assertGreaterEqual(constraint.event_dim, 0)
    self.assertEqual(
      wrapped.reparametrized_params,
      list(wrapped.arg_constraints) if wrapped.has_rsample else [],
    )
    if wrapped.is_discrete:
      self.assertEqual(type(wrapped).reparametrized_params, [])

  @parameterized.parameters(*_CASES)
  def test_copies(self, name):
    wrapped = _wrapped(name)
    leaves, structure = jax.tree.flatten(wrapped)
    for other in (
      copy.copy(wrapped),
      copy.deepcopy(wrapped),
      pickle.loads(pickle.dumps(wrapped)),
      structure.unflatten(leaves),
    ):
      self.assertIs(type(other), type(wrapped))
      self.assertEqual(repr(other), repr(wrapped))
      self.assertEqual(jax.tree.structure(other), structure)
      jax.tree.map(np.testing.assert_array_equal, other, wrapped)
    self.assertEqual(repr(wrapped), f"wrap({wrapped.distribution!r})")

  @parameterized.parameters(*_CASES)
  def test_shapes(self, name):
    for batch in ((), (2, 3)):
      case = _CASES[name]
      wrapped = adapter.wrap(
        case.batched(batch) if batch else case.make(_DTYPE)
      )
      self.assertEqual(wrapped.batch_shape, batch)
      shapes = {
        one: np.shape(value) for one, value in wrapped.get_args().items()
      }
      parameters = wrapped.distribution.parameters
      if "distribution" in parameters:
        with self.assertRaisesRegex(NotImplementedError, "make an instance"):
          type(wrapped).infer_shapes(**shapes)
      elif len(shapes) == len(wrapped.arg_constraints):
        found = type(wrapped).infer_shapes(**shapes)
        self.assertEqual(found, (batch, ()))

  @parameterized.parameters(*_CASES)
  def test_new_dimensions(self, name):
    wrapped = _wrapped(name)
    stacked = _stacked(wrapped)
    self.assertEqual(stacked.batch_shape, ())
    promoted = batch_util.promote_batch_shape(stacked)
    self.assertEqual(promoted.batch_shape, (3,))
    self.assertEqual(stacked.batch_shape, ())
    for parameter in wrapped.arg_constraints:
      axes = batch_util.vmap_over(wrapped, **{parameter: 0})
      one = wrapped.distribution._parts()[parameter]
      several = jax.tree.map(lambda x: jnp.stack([x, x]), one)
      mapped = copy.copy(wrapped)
      distribution = wrapped.distribution
      mapped.distribution = type(distribution)._unflatten(
        {**distribution._parts(), parameter: several}
      )
      found = jax.vmap(
        lambda d, parameter=parameter: getattr(d, parameter), in_axes=(axes,)
      )(mapped)
      jax.tree.map(
        np.testing.assert_array_equal,
        jax.tree.leaves(found),
        jax.tree.leaves(several),
      )
    with self.assertRaisesRegex(TypeError, "is not an array parameter of"):
      batch_util.vmap_over(wrapped, nothing=0)


class ParametersTest(absltest.TestCase):
  def test_other_arguments(self):
    wrapped = adapter.wrap(pd.Erlang(3, 2.0))
    self.assertEqual(wrapped.concentration, 3)
    outer = adapter.wrap(pd.TruncatedPhaseType(pd.Erlang(3, 2.0), 1.0))
    self.assertIsInstance(outer.distribution, pd.TruncatedPhaseType)
    self.assertIsNone(outer.high)
    self.assertEqual(list(outer.arg_constraints), ["low"])

  def test_shapes_of_vectors_and_matrices(self):
    wrapped = adapter.wrap(pd.PhaseType([1.0], [[-1.0]]))
    infer_shapes = type(wrapped).infer_shapes
    self.assertEqual(infer_shapes((2,), (5, 2, 2)), ((5,), ()))
    self.assertEqual(infer_shapes((4, 1, 2), (5, 2, 2)), ((4, 5), ()))
    self.assertEqual(
      infer_shapes((2,), (2, 2), None, prob_zero=(3,)), ((3,), ())
    )
    with self.assertRaisesRegex(ValueError, "at least 2 dimensions"):
      infer_shapes((2,), (2,))
    with self.assertRaisesRegex(TypeError, "rate is given"):
      infer_shapes(rate=())
    with self.assertRaisesRegex(TypeError, "5 shapes are given"):
      infer_shapes((2,), (2, 2), (2,), (), ())
    rewards = pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]])
    vectors = type(adapter.wrap(rewards))
    self.assertEqual(vectors.reparametrized_params, [])
    with self.assertRaises(NotImplementedError):
      vectors.infer_shapes((1,), (1, 1), (1, 2))

  def test_batches_of_different_ranks(self):
    rates = jnp.asarray([1.0, 2.0, 4.0])
    start = jnp.asarray([1.0, 0.0])
    matrix = jnp.asarray([[-1.0, 1.0], [0.0, -1.0]]) * rates[:, None, None]
    wrapped = adapter.wrap(pd.PhaseType(start, matrix))
    self.assertEqual(wrapped.initial_probs.shape, (1, 2))
    # There are as many steps as members, which would broadcast wrongly.
    starts = jnp.asarray([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    one = jax.lax.map(lambda a: adapter.wrap(pd.PhaseType(a, matrix)), starts)
    found = batch_util.promote_batch_shape(one).log_prob(0.5)
    density = rates * np.exp(-0.5 * rates)
    twice = 0.5 * rates * density
    expected = np.log([twice, density, 0.5 * (twice + density)])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    outer = adapter.wrap(
      pd.MatrixWeibull(pd.PhaseType(start, matrix), jnp.asarray(2.0))
    )
    self.assertEqual(outer.concentration.shape, (1,))
    self.assertEqual(outer.distribution.distribution.initial_probs.ndim, 2)
    named = pd.GraphPhaseType(
      graphs.models.kingman(2), {"coalescence": jnp.ones((2, 1))}
    )
    self.assertEqual(adapter.wrap(named).params["coalescence"].shape, (2, 1))

  def test_axes_of_a_wrapped_one(self):
    rates = jnp.asarray([0.5, 2.0])
    outer = adapter.wrap(pd.MatrixWeibull(pd.Erlang(1, rates), 2.0))
    for axes in (0, {"rate": 0}):
      in_axes = batch_util.vmap_over(outer, distribution=axes)
      found = jax.vmap(
        lambda d: d.distribution.distribution.rate, in_axes=(in_axes,)
      )(outer)
      np.testing.assert_array_equal(found, rates)

  def test_methods(self):
    wrapped = adapter.wrap(pd.Erlang(3, 2.0))
    x = jnp.asarray([0.5, 2.0])
    np.testing.assert_allclose(
      wrapped.log_cdf(x), np.log(nd.Gamma(3.0, 2.0).cdf(x)), rtol=1e-5
    )
    np.testing.assert_allclose(wrapped.mode, 1.0, rtol=1e-6)
    with self.assertRaisesRegex(TypeError, "handlers.seed"):
      wrapped.sample(None)
    with self.assertRaisesRegex(TypeError, "handlers.seed"):
      numpyro.sample("x", wrapped)
    with self.assertRaisesRegex(TypeError, "must be a key"):
      wrapped.sample(3)

  def test_traced_bounds_and_values_of_numpy(self):
    def density(high):
      law = pd.TruncatedPhaseType(pd.Erlang(1, 1.0), 0.0, high)
      return adapter.wrap(law, validate_args=True).log_prob(
        np.asarray([1.0, 3.0], _DTYPE)
      )

    found = jax.jit(density)(2.0)
    expected = [-1.0 - np.log1p(-np.exp(-2.0)), -np.inf]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


class ModelsTest(absltest.TestCase):
  TIMES = (1.0, 2.0, 1.5, 0.5)

  def test_scan(self):
    matrix = jnp.asarray([[-1.0, 1.0], [0.0, -1.0]])

    def model(times):
      start = numpyro.sample("start", nd.Gamma(2.0, 1.0))

      def step(rate, time):
        numpyro.sample("one", adapter.wrap(pd.Erlang(3, rate)), obs=time)
        law = pd.PhaseType([1.0, 0.0], matrix * rate)
        with numpyro.plate("twice", 2):
          numpyro.sample("two", adapter.wrap(law), obs=jnp.full(2, time))
        return 2.0 * rate, None

      control_flow.scan(step, start, times)

    times = jnp.asarray(self.TIMES)
    found, trace = infer.util.log_density(model, (times,), {}, {"start": 1.5})
    rates = 1.5 * 2.0 ** jnp.arange(4)
    expected = (
      nd.Gamma(2.0, 1.0).log_prob(1.5)
      + jnp.sum(nd.Gamma(3.0, rates).log_prob(times))
      + 2.0 * jnp.sum(nd.Gamma(2.0, rates).log_prob(times))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    self.assertEqual(trace["one"]["fn"].batch_shape, (4,))
    self.assertEqual(trace["two"]["fn"].batch_shape, (4, 2))
    np.testing.assert_allclose(trace["one"]["fn"].rate, rates, rtol=1e-6)

  def test_parameters_that_a_latent_count_chooses(self):
    # Enumeration gives each value of a latent variable a dimension.
    times = jnp.asarray(self.TIMES)
    rates = jnp.asarray([0.5, 2.0])[jnp.arange(2)[:, None]]
    law = adapter.wrap(pd.Erlang(3, rates))
    with handlers.trace() as trace, numpyro.plate("times", 4):
      numpyro.sample("obs", law, obs=times)
    found = trace["obs"]["fn"].log_prob(times)
    np.testing.assert_allclose(
      found, nd.Gamma(3.0, rates).log_prob(times), rtol=1e-5
    )
    mixture = nd.MixtureSameFamily(
      nd.Categorical(jnp.asarray([0.25, 0.75])),
      adapter.wrap(pd.Erlang(3, rates[:, 0])),
    )
    weights = jnp.asarray([[0.25], [0.75]])
    np.testing.assert_allclose(
      mixture.log_prob(times),
      jnp.log(jnp.sum(weights * jnp.exp(found), axis=0)),
      rtol=1e-5,
    )

  def test_guides(self):
    times = jnp.asarray(self.TIMES)
    shape, rate = 2 + 3 * 4, 1.0 + sum(self.TIMES)

    def model():
      found = numpyro.sample("rate", adapter.wrap(pd.Erlang(2, 1.0)))
      with numpyro.plate("times", 4):
        numpyro.sample("obs", adapter.wrap(pd.Erlang(3, found)), obs=times)

    def guide():
      found = numpyro.param("r", 2.0, constraint=nd.constraints.positive)
      numpyro.sample("rate", adapter.wrap(pd.Erlang(shape, found)))

    optimizer = numpyro.optim.Adam(0.05)
    normal = infer.autoguide.AutoNormal(model)
    for own in (normal, guide):
      svi = infer.SVI(model, own, optimizer, infer.Trace_ELBO(8))
      result = svi.run(jax.random.key(1), 250, progress_bar=False)
      if own is guide:
        # The posterior is among the distributions of the guide.
        np.testing.assert_allclose(result.params["r"], rate, rtol=0.1)
      else:
        draws = normal.sample_posterior(
          jax.random.key(2), result.params, sample_shape=(2000,)
        )["rate"]
        np.testing.assert_allclose(draws.mean(), shape / rate, rtol=0.1)
        np.testing.assert_allclose(draws.std(), shape**0.5 / rate, rtol=0.2)


if __name__ == "__main__":
  absltest.main()
