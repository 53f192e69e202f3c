"""bfloat16 and float16: computed in float32, and returned as they came."""

import pickle
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import graphs
from phasic.substrates.jax import inference
from phasic.substrates.jax import interop
from phasic.substrates.jax import math as pm
from tests.generated.jax.helpers import family_cases
from tests.generated.jax.helpers import test_case

_CASES = {
  k: x
  for k, x in family_cases.CASES.items()
  if k not in ("erlang_1000", "near_rates")
}
_HALVES = ("bfloat16", "float16")
_OF_VALUES = ("log_prob", "prob", "cdf", "log_survival_function")
_STATISTICS = ("mean", "variance")
_MASSES = ("mixture_probs", "initial_probs")


def _half(x, dtype):
  return jnp.asarray(onp.asarray(x), dtype)


def _pair(case, dtype):
  """Returns a distribution of half precision, and its float32 counterpart."""
  halves = {k: _half(v, dtype) for k, v in case.parameters.items()}
  singles = {k: v.astype("float32") for k, v in halves.items()}
  for name in set(singles).intersection(_MASSES):
    total = jnp.sum(singles[name])
    if abs(float(total) - 1.0) <= 2 * float(jnp.finfo(dtype).eps):
      singles[name] = singles[name] / total
  return case.build(**halves), case.build(**singles)


class HalfPrecisionTest(test_case.TestCase):
  def assert_cast(self, found, single, dtype):
    """Asserts that a result is the float32 one, converted."""
    self.assertEqual(single.dtype, "float32")
    self.assertEqual(found.dtype, dtype)
    onp.testing.assert_array_equal(found, single.astype(dtype))

  @parameterized.product(family=tuple(_CASES), dtype=_HALVES)
  def test_families(self, family, dtype):
    case = _CASES[family]
    dist, single = _pair(case, dtype)
    self.assertEqual(dist.dtype, dtype)
    values = _half(case.values[1:4], dtype)
    for name in _OF_VALUES:
      found = getattr(dist, name)(values)
      self.assert_cast(
        found, getattr(single, name)(values.astype("float32")), dtype
      )
    for name in _STATISTICS if case.moments else ():
      self.assert_cast(getattr(dist, name)(), getattr(single, name)(), dtype)

  @parameterized.parameters("hyperexponential", "truncated", "trials")
  def test_other_methods(self, family):
    case = _CASES[family]
    dist, single = _pair(case, "bfloat16")
    level = jnp.asarray([0.25, 0.5], "bfloat16")
    self.assert_cast(
      dist.quantile(level), single.quantile(level.astype("float32")), "bfloat16"
    )
    self.assert_cast(dist.median(), single.median(), "bfloat16")
    key = jax.random.key(1)
    self.assert_cast(
      dist.sample(5, seed=key), single.sample(5, seed=key), "bfloat16"
    )
    x, log_prob = dist.sample_and_log_prob(5, seed=key)
    onp.testing.assert_array_equal(log_prob, dist.log_prob(x))
    if family != "truncated":
      self.assert_cast(
        dist.cross_entropy(dist), single.cross_entropy(single), "bfloat16"
      )

  def test_mixed_dtypes(self):
    rate = jnp.asarray(0.75, "bfloat16")
    dist, value = pd.Erlang(2, rate), jnp.asarray(0.5, "bfloat16")
    for x in (1, 0.5, [0.5], onp.asarray([1, 2]), value):
      self.assertEqual(dist.log_prob(x).dtype, "bfloat16")
    for x in (onp.float32(0.5), jnp.float16(0.5)):
      self.assertEqual(dist.log_prob(x).dtype, "float32")
    for other in ("float32", "float64"):
      wide = pd.Erlang(2, jnp.asarray(0.75, other))
      self.assertEqual(wide.log_prob(value).dtype, other)
      self.assert_close(wide.log_prob(value), wide.log_prob(0.5), 0.0)
    with self.assertRaisesRegex(TypeError, "value is float64"):
      dist.log_prob(onp.asarray(0.5))
    mixed = pd.ZeroInflated(dist, onp.float32(0.1))
    self.assertEqual((mixed.dtype, mixed.distribution.dtype), ("float32",) * 2)
    mixed = pd.Hyperexponential(
      jnp.asarray([0.5, 0.5], "float16"), jnp.asarray([1.0, 2.0], "bfloat16")
    )
    self.assertEqual(mixed.mean().dtype, "float32")
    with self.assertRaisesRegex(TypeError, "float64"):
      pd.ZeroInflated(dist, onp.asarray(0.1))
    with self.assertRaisesRegex(TypeError, "float64"):
      pd.Hyperexponential(jnp.asarray([0.5, 0.5], "float16"), onp.ones(2))
    self.assertEqual(pd.ZeroInflated(dist, 0.25).dtype, "bfloat16")

  def test_numbers_that_a_half_dtype_does_not_hold(self):
    erlang = pd.Erlang(2, jnp.asarray(0.75, "bfloat16"))
    with self.assertRaisesRegex(ValueError, "high is 257 beside .* it 256"):
      pd.TruncatedPhaseType(erlang, 1, 257)
    with self.assertRaisesRegex(ValueError, "rates is 100000 .* it inf"):
      pd.Hyperexponential(jnp.asarray([0.5, 0.5], "float16"), [1.0, 1e5])

  def test_arrays_stay_as_given(self):
    probs = onp.asarray([[0.1, 0.9], [0.25, 0.75]]).astype(jnp.bfloat16)
    given, rates = probs.copy(), jnp.asarray([1.0, 2.0], "bfloat16")
    dist = pd.Hyperexponential(given, rates)
    given[...] = 0
    copies = (
      dist,
      dist.copy(validate_args=True),
      jax.tree.map(lambda x: x, dist),
      pickle.loads(pickle.dumps(dist)),
      jax.jit(lambda d: d)(dist),
      dist[:, None][:, 0],
    )
    for x in copies:
      onp.testing.assert_array_equal(x.mixture_probs, probs)
      self.assertEqual(
        [leaf.dtype for leaf in jax.tree.leaves(x)], ["bfloat16"] * 2
      )
      onp.testing.assert_array_equal(x.mean(), dist.mean())
    self.assertEqual(dist.copy(rates=onp.float32([1, 2])).dtype, "float32")

  def test_graphs_and_edges(self):
    def dists(dtype):
      pair = graphs.models.kingman(2)
      two = jnp.asarray([[1.0, 2.0], [0.5, 0.25]], dtype)[..., None]
      epochs = pd.Epochs(pair, two, jnp.asarray([1.5], dtype))
      yield epochs
      yield epochs[1]
      yield pd.GraphPhaseType(pair, jnp.asarray([1.5], dtype))
      edges = pm.EdgeRates([0, 1], [1, 2], jnp.asarray([2.0, 3.0], dtype))
      yield pd.PhaseType([1.0, 0.0], edges)
      yield pd.MultivariatePhaseType(
        [1.0, 0.0],
        jnp.asarray([[-2.0, 1.0], [0.0, -1.0]], dtype),
        jnp.eye(2, dtype=dtype),
      )

    for dist, single in zip(dists("bfloat16"), dists("float32"), strict=True):
      self.assertEqual(dist.dtype, "bfloat16")
      self.assert_cast(dist.mean(), single.mean(), "bfloat16")
    chains = [list(dists(dtype))[2] for dtype in ("bfloat16", "float32")]
    self.assert_cast(*(x.subgenerator for x in chains), "bfloat16")
    # Matrices that are computed would lose their row sums.
    self.assertEqual(chains[0].as_phase_type().dtype, "float32")

  def test_interop(self):
    rate, value = jnp.asarray(0.75, "bfloat16"), jnp.asarray(1.0, "bfloat16")
    dist = pd.Erlang(2, rate)
    wrapped = interop.numpyro.wrap(dist)
    onp.testing.assert_array_equal(
      wrapped.log_prob(value), dist.log_prob(value)
    )
    samples = wrapped.sample(jax.random.key(1), (3,))
    self.assertEqual(samples.dtype, "bfloat16")

  def test_masses(self):
    probs = jnp.asarray([0.1, 0.9], "bfloat16")
    matrix = -jnp.eye(2, dtype="bfloat16")
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      dist = pd.PhaseType(probs, matrix)
    self.assert_close(dist.prob_zero, 0.0, 0.0)
    self.assert_close(pm.phase_type.cdf(2.0, probs, matrix), dist.cdf(2.0), 0.0)
    self.assert_close(float(dist.cdf(2.0)), 1 - onp.exp(-2.0), 2.0**-8)
    given = pd.PhaseType(
      0.5 * probs, matrix, None, jnp.asarray(0.5, "bfloat16")
    )
    self.assertEqual(float(given.log_prob(0.0)), float(jnp.bfloat16(-0.691)))
    with self.assertWarnsRegex(RuntimeWarning, "sum"):
      bad = pd.Hyperexponential(jnp.asarray([0.1, 0.8], "bfloat16"), [1.0, 2.0])
    self.assertTrue(jnp.isnan(bad.cdf(1.0)))

  def test_functions_are_pickled_by_name(self):
    for module in (pm.phase_type, pm.discrete_phase_type):
      for name in module.__all__:
        function = getattr(module, name)
        self.assertIs(pickle.loads(pickle.dumps(function)), function)

  def test_functions(self):
    model = jnp.asarray([1.0], "bfloat16"), jnp.asarray([[-0.5]], "bfloat16")
    value = jnp.asarray(2.0, "bfloat16")
    for function in (pm.phase_type.log_prob, pm.phase_type.cdf):
      single = function(*(x.astype("float32") for x in (value, *model)))
      self.assert_cast(function(value, *model), single, "bfloat16")
      self.assertEqual(function(onp.float32(2), *model).dtype, "float32")
    dist = pd.PhaseType(*model)
    self.assertEqual(pd.kl_divergence(dist, dist).dtype, "bfloat16")
    # Matrices that are computed of others would lose their row sums.
    self.assertEqual(pd.convolution([dist, dist]).dtype, "float32")
    data = inference.Observations(jnp.asarray([0.5, 1.5], "bfloat16"))
    self.assert_close(data.log_likelihood(dist), 2 * onp.log(0.5) - 1.0, 1e-6)
    self.assertEqual(data.log_likelihood(dist).dtype, "float32")

  def test_derivatives(self):
    x = jnp.asarray([0.5, 1.0, 2.0], "bfloat16")

    def loss(rate):
      return -jnp.sum(pd.Erlang(2, rate).log_prob(x))

    rate = jnp.asarray(0.75, "bfloat16")
    exact = -(3 * 2 / 0.75 - 3.5)
    for found in (jax.grad(loss)(rate), jax.jit(jax.grad(loss))(rate)):
      self.assertEqual(found.dtype, "bfloat16")
      self.assert_close(float(found), exact, 2.0**-7)
    rates = jnp.asarray([0.5, 1.0, 2.0], "bfloat16")
    batch = pd.Erlang(2, rates)
    mapped = jax.vmap(lambda d, y: d.log_prob(y))(batch, x)
    onp.testing.assert_array_equal(mapped, batch.log_prob(x))

    def step(rate, _):
      return rate - jnp.bfloat16(0.1) * jax.grad(loss)(rate), loss(rate)

    rate, losses = jax.lax.scan(step, rate, length=30)
    self.assertEqual((rate.dtype, losses.dtype), ("bfloat16", "bfloat16"))
    self.assert_close(float(rate), 6 / 3.5, 0.02)


if __name__ == "__main__":
  absltest.main()
