"""Tests that a chain that is kept is never used for other parameters."""

import copy
import pickle
import threading

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic import graphs as pg
from phasic.math.calls import gradients
from phasic.math.model import edge_rates
from tests.helpers import test_case

# A distribution for a rate a, and its mean; all have the density of a gamma
# or exponential distribution, or of one that is made of these.
_STAGES = edge_rates.EdgeRates([0, 1], [1, 2], [1.0, 1.0])
CASES = {
  "erlang": (lambda a: pd.Erlang(3, a), lambda a: 3 / a),
  "coxian": (
    lambda a: pd.Coxian(a * onp.ones(2), a * onp.asarray([0.0, 0.0, 1.0])),
    lambda a: 3 / a,
  ),
  "hyperexponential": (
    lambda a: pd.Hyperexponential([0.25, 0.75], a * onp.asarray([1.0, 2.0])),
    lambda a: 0.625 / a,
  ),
  "hypoexponential": (
    lambda a: pd.Hypoexponential(a * onp.asarray([1.0, 2.0])),
    lambda a: 1.5 / a,
  ),
  "hyper_erlang": (
    lambda a: pd.HyperErlang([0.25, 0.75], [1, 2], a * onp.asarray([1.0, 2.0])),
    lambda a: 1.0 / a,
  ),
  "edges": (
    lambda a: pd.PhaseType(
      [1.0, 0.0], _STAGES._replace(parameters=a * onp.ones(2))
    ),
    lambda a: 2 / a,
  ),
  "dense": (
    lambda a: pd.PhaseType(
      [1.0, 0.0], a * onp.asarray([[-1.0, 1.0], [0.0, -1.0]])
    ),
    lambda a: 2 / a,
  ),
  "checked": (
    lambda a: pd.Erlang(3, a, validate_args=True),
    lambda a: 3 / a,
  ),
  "zero_inflated": (
    lambda a: pd.ZeroInflated(pd.Erlang(2, a), 0.25),
    lambda a: 1.5 / a,
  ),
  "residual_life": (
    lambda a: pd.ResidualLife(pd.Erlang(1, a), 2.0),
    lambda a: 1 / a,
  ),
  "equilibrium": (
    lambda a: pd.Equilibrium(pd.Erlang(1, a)),
    lambda a: 1 / a,
  ),
  "matrix_weibull": (
    lambda a: pd.MatrixWeibull(pd.Erlang(1, a), 0.5),
    lambda a: 2 / a**2,
  ),
  "truncated": (
    lambda a: pd.TruncatedPhaseType(pd.Erlang(1, a), 0.5, onp.inf),
    lambda a: 0.5 + 1 / a,
  ),
  "geometric": (
    lambda a: pd.NegativeBinomialTrials(2, a / 8),
    lambda a: 16 / a,
  ),
}


def each(test):
  return parameterized.named_parameters(
    (name, *case) for name, case in CASES.items()
  )(test)


class KeptChainsTest(test_case.TestCase):
  """Compares distributions that were used before with new ones."""

  def evaluate(self, dist):
    """Returns values of several methods, of which each may keep a chain."""
    found = [dist.mean(), dist.log_prob(1.0), dist.survival_function(2.0)]
    found += [dist.quantile(0.75), dist.variance(), dist.prob(1.0)]
    return [float(self.host(x)) for x in found]

  @each
  def test_calls_again(self, make, mean):
    for a in (0.5, 2.0):
      dist = make(a)
      first = self.evaluate(dist)
      onp.testing.assert_allclose(first[0], mean(a), rtol=1e-12)
      for other in (dist, make(a), copy.copy(dist), copy.deepcopy(dist)):
        self.assertEqual(self.evaluate(other), first)

  @each
  def test_copies_slices_and_pickles(self, make, mean):
    dist = make(0.5)
    before = self.evaluate(dist)
    changed = pickle.loads(pickle.dumps(dist))
    self.assertEqual(self.evaluate(changed), before)
    other = make(2.0)
    self.evaluate(other)
    arrays = {
      name: x
      for name, x in other.parameters.items()
      if name not in ("validate_args", "allow_nan_stats", "name")
    }
    replaced = dist.copy(**arrays)
    onp.testing.assert_allclose(self.host(replaced.mean()), mean(2.0))
    self.assertEqual(self.evaluate(dist), before)

  @each
  def test_parameters_put_in_place(self, make, mean):
    dist, other = make(0.5), make(2.0)
    self.evaluate(dist)
    dist._parameters.update(other._parameters)
    self.assertEqual(self.evaluate(dist), self.evaluate(other))

  @each
  def test_gradients_after_calls(self, make, mean):
    a = np.asarray(2.0)
    self.evaluate(make(a))
    _, slope = gradients.value_and_gradient(lambda a: make(a).mean(), a)
    step = 1e-5
    want = (mean(2.0 + step) - mean(2.0 - step)) / (2 * step)
    onp.testing.assert_allclose(self.host(slope), want, rtol=1e-8)
    self.evaluate(make(a))

  def test_batches(self):
    rates = onp.asarray([0.5, 2.0])
    dist = pd.Erlang(3, rates)
    for _ in range(2):
      self.assert_close(dist.mean(), 3 / rates)
      self.assert_close(
        dist.log_prob(1.5), stats.gamma.logpdf(1.5, 3, scale=1 / rates)
      )
      self.assert_close(dist[1].mean(), 1.5)
      self.assertEqual(dist.batch_shape, (2,))

  def test_given_arrays_may_change(self):
    rates = onp.asarray([1.0, 2.0])
    dist = pd.Hypoexponential(rates)
    self.assert_close(dist.mean(), 1.5)
    rates[0] = 4.0
    self.assert_close(dist.mean(), 1.5)
    self.assert_close(dist.variance(), 1.25)

  def test_names_of_epochs_may_change(self):
    graph = pg.Graph.from_transitions(
      lambda k: [(k + 1 if k < 1 else pg.ABSORBED, {"ab"[k]: 1.0})],
      0,
      params=("a", "b"),
    )
    dist = pd.Epochs(graph, [{"a": 2.0, "b": 3.0}, {"a": 1.0, "b": 1.0}], [0.5])
    dist.log_prob(0.25)
    params = dist.params[0]
    a, b = params["a"], params["b"]
    params["a"] = a + b
    swapped = pd.Epochs(
      graph, [{"a": 5.0, "b": 3.0}, {"a": 1.0, "b": 1.0}], [0.5]
    )
    self.assert_close(dist.log_prob(0.25), self.host(swapped.log_prob(0.25)))

  def test_wrapped_in_wrapped(self):
    inner = pd.ResidualLife(pd.Erlang(1, 2.0), 1.0)
    outer = pd.ZeroInflated(inner, 0.25)
    for _ in range(2):
      self.assert_close(outer.mean(), 0.375)
    inner.distribution._parameters["rate"] = np.asarray(4.0)
    self.assert_close(outer.mean(), 0.1875)

  def test_threads(self):
    shared = pd.Hypoexponential([1.0, 2.0])
    want = self.evaluate(pd.Hypoexponential([1.0, 2.0]))
    found = []

    def run():
      found.extend(self.evaluate(shared) for _ in range(20))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
      thread.start()
    for thread in threads:
      thread.join()
    self.assertEqual(found, [want] * 80)

  def test_bad_values_raise_in_each_call(self):
    dist = pd.Erlang(3, 2.0, validate_args=True)
    self.assert_close(dist.mean(), 1.5)
    dist._parameters["rate"] = np.asarray(-1.0)
    for _ in range(2):
      with self.assertRaisesRegex(ValueError, "rate"):
        dist.mean()


if __name__ == "__main__":
  absltest.main()
