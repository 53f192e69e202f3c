"""Divergences of wrapped distributions and Gamma distributions; pickling."""

import copy
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
from scipy import integrate
from scipy import stats
import tensorflow as tf
import tensorflow_probability as tfp

from phasic.substrates.tf import distributions as pd
from phasic.substrates.tf import graphs
from phasic.substrates.tf.interop import tfp as adapter

tfd = tfp.distributions

_PROBS, _RATES = np.array([0.25, 0.75]), np.array([3.0, 0.5])


def _constant(x):
  return tf.constant(x, tf.float64)


def _hyper(scale=1.0):
  rates = _constant(_RATES) * scale
  return adapter.wrap(pd.Hyperexponential(_constant(_PROBS), rates))


def _log_hyper(t):
  return np.log(np.sum(_PROBS * _RATES * np.exp(-_RATES * t)))


def _divergence(log_p, log_q):
  def term(u):
    t = np.exp(u)
    return np.exp(log_p(t) + u) * (log_p(t) - log_q(t))

  found, _ = integrate.quad(term, -60.0, 6.0, epsabs=1e-13, limit=400)
  return found


class DivergencesTest(parameterized.TestCase):
  @parameterized.parameters((1.0, 1.3), (0.5, 3.0), (2.5, 0.7), (30.0, 10.0))
  def test_by_quadrature(self, shape, rate):
    gamma = tfd.Gamma(_constant(shape), _constant(rate))
    others = [gamma]
    if shape == 1.0:
      others.append(tfd.Exponential(_constant(rate)))
    log_gamma = stats.gamma(shape, scale=1.0 / rate).logpdf
    for other in others:
      np.testing.assert_allclose(
        tfd.kl_divergence(_hyper(), other),
        _divergence(_log_hyper, log_gamma),
        rtol=1e-9,
      )
      np.testing.assert_allclose(
        other.kl_divergence(_hyper()),
        _divergence(log_gamma, _log_hyper),
        rtol=1e-9,
      )

  def test_closed_forms(self):
    erlang, exact = (
      pd.Erlang(3, _constant([1.0, 2.0])),
      tfd.Gamma(_constant(3.0), _constant([1.0, 2.0])),
    )
    other = tfd.Gamma(_constant([[0.7], [4.0]]), _constant(1.5))
    for p, q in ((erlang, other), (other, erlang)):
      found = tfd.kl_divergence(*map(_wrapped, (p, q)))
      pair = [exact if x is erlang else x for x in (p, q)]
      np.testing.assert_allclose(found, tfd.kl_divergence(*pair), rtol=1e-12)

  def test_log_rates(self):
    log_rate = tfd.Gamma(_constant(2.5), log_rate=_constant(0.25))
    plain = tfd.Gamma(_constant(2.5), tf.exp(_constant(0.25)))
    for f in (lambda x: x.kl_divergence(_hyper()), _hyper().kl_divergence):
      np.testing.assert_allclose(f(log_rate), f(plain), rtol=1e-12)

  def test_derivatives(self):
    def both(shape, scale):
      gamma = tfd.Gamma(shape, _constant(1.25))
      dist = _hyper(scale)
      return dist.kl_divergence(gamma) + 2.0 * gamma.kl_divergence(dist)

    at = [_constant(2.5), _constant(1.5)]
    with tf.GradientTape() as tape:
      tape.watch(at)
      value = both(*at)
    found = tape.gradient(value, at)
    h = 1e-4
    for i in range(2):
      low, high = (
        [x + s * h * (j == i) for j, x in enumerate(at)] for s in (-1, 1)
      )
      slope = (both(*high) - both(*low)) / (2 * h)
      np.testing.assert_allclose(found[i], slope, rtol=1e-6)

  def test_infinite_and_unknown(self):
    gamma = tfd.Gamma(_constant(2.0), _constant(1.0))
    base = pd.Erlang(2, _constant(1.0))
    inflated = adapter.wrap(pd.ZeroInflated(base, _constant(0.25)))
    # There is mass at zero, or above 3, where the other one has none.
    self.assertEqual(inflated.kl_divergence(gamma), np.inf)
    np.testing.assert_allclose(
      gamma.kl_divergence(inflated), -np.log(0.75), rtol=1e-9
    )
    cut = adapter.wrap(pd.TruncatedPhaseType(base, _constant(0.0), 3.0))
    self.assertEqual(gamma.kl_divergence(cut), np.inf)
    np.testing.assert_allclose(
      cut.kl_divergence(gamma), -np.log(1.0 - 4.0 * np.exp(-3.0)), rtol=1e-9
    )
    # Most of its mass is below the smallest floating-point number.
    tiny = tfd.Gamma(_constant(1e-3), _constant(1.0))
    self.assertTrue(np.isnan(tiny.kl_divergence(_hyper())))

  def test_refusals(self):
    gamma = tfd.Gamma(_constant(2.0), _constant(1.0))
    counts = adapter.wrap(pd.DiscretePhaseType(_constant([1.0]), [[0.5]]))
    totals = adapter.wrap(
      pd.MultivariatePhaseType(_constant([1.0]), [[-1.0]], [[1.0]])
    )
    pair = graphs.models.kingman(2)
    epochs = adapter.wrap(pd.Epochs(pair, _constant([[1.0], [2.0]]), [1.0]))
    for p, q, words in (
      (counts, gamma, "Gamma: both must be times"),
      (gamma, counts, "Discrete.*: both must be times"),
      (gamma, totals, "Multivariate.* has no quadrature points"),
      (gamma, epochs, "Epochs: the second density has jumps"),
    ):
      with self.assertRaisesRegex(NotImplementedError, words):
        tfd.kl_divergence(p, q)
    self.assertGreater(epochs.kl_divergence(gamma), 0.0)
    with self.assertRaisesRegex(TypeError, "float64.*float32"):
      _hyper().kl_divergence(tfd.Gamma(2.0, 1.0))
    with self.assertRaisesRegex(ValueError, "batch shapes are"):
      many = adapter.wrap(pd.Hypoexponential(_constant(np.ones((3, 2)))))
      many.kl_divergence(tfd.Gamma(_constant([1.0, 2.0]), _constant(1.0)))


def _wrapped(x):
  return adapter.wrap(x) if isinstance(x, pd.Distribution) else x


class Named(adapter.class_of(pd.Erlang)):
  """A user's subclass, in a module."""


def _of_graph(x=1.5):
  edges = [(0, 1, {"a": 2.0}), (1, graphs.ABSORBED, 0.5)]
  graph = graphs.Graph.from_edges(edges, 0, params=("a",))
  return pd.PhaseType.from_graph(graph, {"a": x})


class ReadsTest(parameterized.TestCase):
  @parameterized.parameters(
    lambda x: pd.Erlang(3, x),
    lambda x: pd.MatrixWeibull(pd.Erlang(2, x), 1.5),
    lambda x: pd.MatrixWeibull(pd.Erlang(2, 1.0), x),
    lambda x: _of_graph(x),
  )
  def test_divergences_read_variables_once(self, make):
    reads = []
    variable = tf.Variable(2.0, dtype=tf.float64)

    def read(x):
      reads.append(None)
      return x * 1.0

    deferred = tfp.util.DeferredTensor(variable, read)
    gamma = tfd.Gamma(_constant(2.0), _constant(1.0))
    other = adapter.wrap(make(_constant(1.0)))
    dist = adapter.wrap(make(deferred))
    for p, q in ((dist, gamma), (gamma, dist), (dist, other), (other, dist)):
      reads.clear()
      with tf.GradientTape() as tape:
        value = tfd.kl_divergence(p, q)
      self.assertLessEqual(len(reads), 1)
      self.assertGreater(abs(tape.gradient(value, variable)), 0.0)


class PicklingTest(parameterized.TestCase):
  @parameterized.product(
    make=(
      lambda: pd.Erlang(3, _constant([1.0, 2.0]), name="mine"),
      lambda: pd.Erlang(3, tf.Variable(2.0, dtype=tf.float64)),
      lambda: pd.Erlang(
        3, tfp.util.TransformedVariable(2.0, tfp.bijectors.Exp())
      ),
      lambda: pd.MatrixPareto(pd.Erlang(2, _constant([2.0, 3.0])), 1.0),
      lambda: _of_graph(),
    ),
    duplicate=(lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy),
  )
  def test_copies(self, make, duplicate):
    dist = adapter.wrap(make())
    found = duplicate(dist)
    self.assertIs(type(found), type(dist))
    self.assertEqual(found.name, dist.name)
    value = tf.cast(1.5, dist.dtype)
    np.testing.assert_array_equal(found.log_prob(value), dist.log_prob(value))
    for own, other in zip(found.variables, dist.variables, strict=True):
      self.assertIsNot(own, other)

  def test_subclasses(self):
    found = pickle.loads(pickle.dumps(Named(3, _constant(2.0))))
    self.assertIs(type(found), Named)
    np.testing.assert_allclose(found.mean(), 1.5)


if __name__ == "__main__":
  absltest.main()
