"""Deferred tensors, divergences and copies of TensorFlow Probability, in JAX."""

import copy
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as np
from scipy import integrate
from scipy import stats
from tensorflow_probability.substrates import jax as tfp

from phasic.substrates.jax import distributions as pd
from phasic.substrates.jax import graphs
from phasic.substrates.jax import math
from phasic.substrates.jax.interop import tfp as adapter
from tests.generated.jax.helpers import conformance

tfb = tfp.bijectors
tfd = tfp.distributions


def _graph():
  edges = [(0, 1, {"coal": 3.0}), (1, graphs.ABSORBED, {"coal": 1.0})]
  return graphs.Graph.from_edges(edges, 0, params=("coal",))


class DeferredTest(parameterized.TestCase):
  """Deferred tensors, which TensorFlow Probability computes at each use."""

  @parameterized.parameters(
    lambda x: adapter.wrap(pd.Erlang(3, x)),
    lambda x: pd.Erlang(3, x),
    lambda x: pd.ZeroInflated(pd.Erlang(3, x), 0.0),
    lambda x: pd.PhaseType.from_graph(_graph(), {"coal": x}),
    lambda x: pd.MatrixWeibull(pd.Erlang(2, 1.0), x),
  )
  def test_functions_of_arrays(self, make):
    deferred = lambda x: tfp.util.DeferredTensor(x, jnp.exp)
    loss = lambda read: lambda x: make(read(x)).log_prob(0.75)
    found = jax.jit(jax.value_and_grad(loss(deferred)))(0.5)
    expected = jax.value_and_grad(loss(jnp.exp))(0.5)
    np.testing.assert_allclose(found, expected, rtol=1e-6)

  def test_functions_of_arrays_in_structures(self):
    values = jnp.asarray([1.0, 0.5])
    deferred = tfp.util.DeferredTensor(values, lambda x: 2.0 * x)
    for make in (
      lambda x: pd.PhaseType([1.0, 0.0], math.EdgeRates([0, 1], [1, 2], x)),
      lambda x: pd.Epochs(_graph(), [x[:1], x[1:]], x[1:]),
      lambda x: pd.Epochs(_graph(), x[:, None], x[1:]),
    ):
      np.testing.assert_array_equal(
        make(deferred).log_prob(0.75), make(2.0 * values).log_prob(0.75)
      )
    whole = tfp.util.DeferredTensor(values[:, None], lambda x: 2.0 * x)
    np.testing.assert_array_equal(
      pd.Epochs(_graph(), whole, [1.0]).mean(),
      pd.Epochs(_graph(), 2.0 * values[:, None], [1.0]).mean(),
    )

  def test_variables_are_refused(self):
    variable = tfp.util.TransformedVariable(2.0, tfb.Exp())
    message = r"rate is a \w+, which is computed from a variable.*forward\(x\)"
    for x in (
      variable,
      tfp.util.DeferredTensor(variable.pretransformed_input, jnp.exp),
      tfp.util.DeferredTensor(variable, jnp.exp),
      tfp.util.DeferredTensor(1.0, jnp.exp, also_track=variable),
    ):
      with self.assertRaisesRegex(TypeError, message):
        pd.Erlang(3, x)
    with self.assertRaisesRegex(TypeError, r"params\['coal'\] is a Trans"):
      pd.PhaseType.from_graph(_graph(), {"coal": variable})
    # The way out that the message names.
    value = pd.Erlang(3, variable[...]).mean()
    np.testing.assert_allclose(value, 1.5, rtol=1e-6)


class SlicesTest(parameterized.TestCase):
  """Slices of distributions of TensorFlow Probability that contain others."""

  @parameterized.parameters(*conformance.CASES)
  def test_slices_of_independent(self, family):
    first, *others = conformance.CASES[family].parameters
    varied = [conformance.varied(family, i) for i in range(6)]
    arrays = {k: np.asarray([x[k] for x in varied[:2]]) for k in others}
    if others:
      arrays[first] = np.asarray([[x[first]] for x in varied[:3]])
    else:
      whole = np.asarray([x[first] for x in varied])
      arrays[first] = np.stack(np.split(whole, 3))
    dist = conformance.CASES[family].build(
      **{k: jnp.asarray(x, "float32") for k, x in arrays.items()}
    )
    x = conformance.CASES[family].values[2]
    terms = np.asarray(dist.log_prob(x))
    joint = tfd.Independent(adapter.wrap(dist), 1)[None, 1:]
    self.assertEqual(tuple(joint.batch_shape), (1, 2))
    np.testing.assert_allclose(
      joint.log_prob(jnp.asarray([x, x], "float32")), [terms[1:].sum(-1)], 1e-5
    )

  def test_automatic_parameters_leave_derived_ones_out(self):
    properties = adapter.class_of(pd.DiscretePhaseType).parameter_properties()
    self.assertCountEqual(
      [name for name, prop in properties.items() if prop.is_preferred],
      ["initial_probs", "subtransition"],
    )

  def test_shape_functions_have_a_named_argument(self):
    for family, expected in (
      ("ZeroInflated", (4, 3)),
      # One sample is a vector of three rewards.
      ("MultivariatePhaseType", (4,)),
    ):
      cls = adapter.class_of(getattr(pd, family))
      shape_fn = cls.parameter_properties()["prob_zero"].shape_fn
      self.assertEqual(shape_fn(sample_shape=(4, 3)), expected)
    cls = adapter.class_of(pd.Hypoexponential)
    with self.assertRaisesRegex(NotImplementedError, "number of phases"):
      cls.parameter_properties()["rates"].shape_fn(sample_shape=(2,))


class DivergencesTest(absltest.TestCase):
  def test_of_gamma_distributions(self):
    probs, rates = np.array([0.25, 0.75]), np.array([3.0, 0.5])
    dist = adapter.wrap(pd.Hyperexponential(probs, rates))
    log_prob = lambda t: np.log(np.sum(probs * rates * np.exp(-rates * t)))

    def divergence(log_p, log_q):
      def term(u):
        t = np.exp(u)
        return np.exp(log_p(t) + u) * (log_p(t) - log_q(t))

      return integrate.quad(term, -60.0, 6.0, limit=400)[0]

    for other, shape, rate in (
      (tfd.Gamma(2.5, 0.7), 2.5, 0.7),
      (tfd.Exponential(1.5), 1.0, 1.5),
    ):
      exact = stats.gamma(shape, scale=1.0 / rate).logpdf
      first, second = jax.jit(
        lambda p, q: (tfd.kl_divergence(p, q), tfd.kl_divergence(q, p))
      )(dist, other)
      np.testing.assert_allclose(first, divergence(log_prob, exact), rtol=1e-4)
      np.testing.assert_allclose(second, divergence(exact, log_prob), rtol=1e-4)
    erlang = adapter.wrap(pd.Erlang(3, 2.0))
    gamma, other = tfd.Gamma(3.0, 2.0), tfd.Gamma(0.7, 1.5)
    for p, q, exact in (
      (erlang, other, gamma.kl_divergence(other)),
      (other, erlang, other.kl_divergence(gamma)),
    ):
      np.testing.assert_allclose(tfd.kl_divergence(p, q), exact, rtol=1e-5)
    slope = jax.grad(lambda a: tfd.Gamma(a, 0.7).kl_divergence(dist))(2.5)
    self.assertTrue(np.isfinite(slope))


class PicklingTest(parameterized.TestCase):
  @parameterized.parameters(
    lambda: pd.Erlang(3, [2.0, 3.0]),
    lambda: pd.PhaseType(
      [1.0, 0.0], math.EdgeRates([0, 1], [1, 2], [1.0, 2.0])
    ),
    lambda: pd.MatrixPareto(pd.Erlang(2, [2.0, 3.0]), 1.0),
    lambda: pd.PhaseType.from_graph(_graph(), {"coal": 2.0}),
  )
  def test_copies(self, make):
    wrapped = adapter.wrap(make())
    for found in (
      pickle.loads(pickle.dumps(wrapped)),
      copy.deepcopy(wrapped),
    ):
      self.assertIs(type(found), type(wrapped))
      np.testing.assert_array_equal(found.log_prob(2.0), wrapped.log_prob(2.0))


if __name__ == "__main__":
  absltest.main()
