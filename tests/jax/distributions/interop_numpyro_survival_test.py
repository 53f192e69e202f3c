"""Censored times in NumPyro: its censored distributions, and masked sites."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as nd
from numpyro import infer

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import graphs
from phasic.substrates.jax import inference
from phasic.substrates.jax.interop import numpyro as adapter

jax.config.update("jax_enable_x64", True)

_EPS = np.finfo(np.float64).eps
_TIMES = np.asarray([0.01, 0.5, 1.0, 4.0, 9.0])
_IS_CENSORED = np.asarray([1, 1, 0, 1, 0], bool)


def _numbers_only():
  """Distributions whose parameters have no event dimensions."""
  erlang = pd.Erlang(3, 0.8)
  return (
    erlang,
    pd.Erlang(2, jnp.linspace(0.5, 1.0, 5)),
    pd.MatrixWeibull(erlang, 1.25),
    pd.ZeroInflated(erlang, 0.3),
    pd.TruncatedPhaseType(erlang, 0.005, 30.0),
  )


def _log_survival(rate, times):
  """The closed form of three stages: exp(-x) (1 + x + x^2 / 2), x = rate t."""
  x = rate * times
  return -x + np.log1p(x + x**2 / 2)


class DensitiesTest(absltest.TestCase):
  def check(self, dist, censored, value, low, high):
    data = inference.Observations(low, high)
    found = censored.log_prob(jnp.asarray(value))
    np.testing.assert_allclose(
      found, _terms(data, dist), rtol=1e-12, atol=1e-12
    )
    self.assertEqual(censored.sample(jax.random.key(0), (2,)).shape, (2, 5))

  def test_left(self):
    for dist in _numbers_only():
      censored = nd.LeftCensoredDistribution(
        adapter.wrap(dist), _IS_CENSORED, validate_args=True
      )
      low = np.where(_IS_CENSORED, -np.inf, _TIMES)
      self.check(dist, censored, _TIMES, low, _TIMES)

  def test_right(self):
    for dist in _numbers_only():
      censored = nd.RightCensoredDistribution(
        adapter.wrap(dist), _IS_CENSORED, validate_args=True
      )
      high = np.where(_IS_CENSORED, np.inf, _TIMES)
      self.check(dist, censored, _TIMES, _TIMES, high)

  def test_intervals(self):
    is_left = np.asarray([1, 0, 0, 0, 0])
    is_right = np.asarray([0, 0, 0, 1, 0])
    low = np.asarray([-np.inf, 0.5, 1.0, 4.0, 2.0])
    high = np.asarray([0.01, 0.7, 1.0, np.inf, 9.0])
    value = np.stack([np.maximum(low, 0.0), high], axis=-1)
    for dist in _numbers_only()[:3]:
      censored = nd.IntervalCensoredDistribution(
        adapter.wrap(dist), is_left, is_right, validate_args=True
      )
      self.check(dist, censored, value, low, high)

  def test_compiled(self):
    censored = nd.RightCensoredDistribution(
      adapter.wrap(pd.Erlang(3, 0.8)), _IS_CENSORED, validate_args=True
    )
    times = jnp.asarray(_TIMES)
    found = jax.jit(lambda d: d.log_prob(times))(censored)
    np.testing.assert_allclose(found, censored.log_prob(times), rtol=1e-14)

  def test_tails(self):
    dist = pd.Erlang(3, 1.0)
    # F(t) is t^3 / 6 up to a relative error of t; the least is 1.7e-301.
    early = np.geomspace(1e-100, 1e-13, 30)
    left = nd.LeftCensoredDistribution(adapter.wrap(dist), np.ones(30, bool))
    np.testing.assert_allclose(
      left.log_prob(early), np.log(early**3 / 6), rtol=1e-13
    )
    # NumPyro computes log1p(-F), so that the error is some eps / S.
    late = np.linspace(1.0, 30.0, 30)
    right = nd.RightCensoredDistribution(adapter.wrap(dist), np.ones(30, bool))
    exact = _log_survival(1.0, late)
    error = np.abs(right.log_prob(late) - exact)
    self.assertTrue(np.all(error <= 1e-13 + 10 * _EPS / np.exp(exact)))

  def test_vectors_are_refused_as_numpyros_own_are(self):
    own = nd.MixtureSameFamily(
      nd.Categorical(jnp.ones(3) / 3), nd.Exponential(jnp.ones(3))
    )
    for base in (own, adapter.wrap(pd.Hypoexponential([1.0, 2.0, 3.0]))):
      with self.assertRaisesRegex(ValueError, "Incompatible shapes"):
        nd.RightCensoredDistribution(base, _IS_CENSORED)


def _terms(data, dist):
  """The log likelihood of each observation, also where each has its own rate."""
  if not dist.batch_shape:
    return data.log_likelihood_terms(dist)
  each = inference.Observations(data.lower[:, None], data.upper[:, None])
  return each.log_likelihood_terms(dist)[:, 0]


def _masked(make, is_censored, times=None):
  """The recipe of docs/bayes.md for any family."""
  rate = numpyro.sample("rate", nd.Gamma(2.0, 1.0))
  dist = make(rate)
  with numpyro.plate("n", len(is_censored)):
    numpyro.sample("time", adapter.wrap(dist).mask(~is_censored), obs=times)
    if times is not None:
      log_alive = dist.log_survival_function(times)
      numpyro.factor("alive", jnp.where(is_censored, log_alive, 0.0))


def _censored(make, is_censored, times=None):
  rate = numpyro.sample("rate", nd.Gamma(2.0, 1.0))
  base = adapter.wrap(make(rate))
  with numpyro.plate("n", len(is_censored)):
    dist = nd.RightCensoredDistribution(base, is_censored)
    numpyro.sample("time", dist, obs=times)


def _erlang(rate):
  return pd.Erlang(3, rate)


class ModelsTest(parameterized.TestCase):
  def test_masked_sites_of_any_family(self):
    kingman = graphs.models.kingman(3)
    # In the tail of Erlang the survival is 1e-3000.
    times = np.asarray([0.5, 1.0, 7000.0])
    is_censored = np.asarray([False, True, True])
    for make in (
      _erlang,
      lambda r: pd.Hypoexponential(jnp.stack([r, 2.0 * r])),
      lambda r: pd.GraphPhaseType(kingman, {"coalescence": r}),
      lambda r: pd.PhaseType(
        [1.0, 0.0], jnp.asarray([[-2.0, 1.0], [1, -3]]) * r
      ),
      lambda r: pd.convolution([pd.Erlang(2, r), pd.Erlang(1, 1.0)]),
    ):
      data = inference.Observations.right_censored(times, ~is_censored)

      def density(rate, make=make):
        found, _ = infer.util.log_density(
          _masked, (make, is_censored, times), {}, {"rate": rate}
        )
        return found

      def expected(rate, make=make, data=data):
        prior = nd.Gamma(2.0, 1.0).log_prob(rate)
        return prior + data.log_likelihood(make(rate))

      found = jax.value_and_grad(density)(1.5)
      exact = jax.value_and_grad(expected)(1.5)
      np.testing.assert_allclose(found, exact, rtol=1e-12)

  @parameterized.parameters(_masked, _censored)
  def test_nuts_finds_the_posterior(self, model):
    rng = np.random.default_rng(5)
    rate, end = 1.5, 2.5
    times = rng.gamma(3.0, 1.0 / rate, 300)
    is_censored = times > end
    times = np.minimum(times, end)
    sampler = infer.MCMC(
      infer.NUTS(model),
      num_warmup=150,
      num_samples=400,
      progress_bar=False,
    )
    sampler.run(jax.random.key(0), _erlang, is_censored, times)
    found = sampler.get_samples()["rate"]
    # The posterior on a grid, from closed forms.
    grid = np.linspace(0.5, 3.0, 2001)
    died = ~is_censored
    log_density = (
      np.log(grid)
      - grid
      + 3 * died.sum() * np.log(grid)
      - grid * times[died].sum()
      + is_censored.sum() * _log_survival(grid, end)
    )
    weights = np.exp(log_density - log_density.max())
    mean = np.average(grid, weights=weights)
    sd = np.sqrt(np.average((grid - mean) ** 2, weights=weights))
    np.testing.assert_allclose(found.mean(), mean, atol=0.4 * sd)
    np.testing.assert_allclose(found.std(), sd, rtol=0.25)
    np.testing.assert_allclose(mean, rate, atol=4 * sd)
    # Predicted times are not censored.
    predict = infer.Predictive(model, {"rate": found})
    drawn = predict(jax.random.key(1), _erlang, is_censored)["time"]
    self.assertEqual(drawn.shape, (400, 300))
    np.testing.assert_allclose(drawn.mean(), 3.0 / mean, rtol=0.02)
    self.assertGreater(float(drawn.max()), end)


if __name__ == "__main__":
  absltest.main()
