"""Closures as distributions: atoms, structure, and errors."""

import itertools
import math

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import config
from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from phasic.math.calls import gradients
from phasic.math.closures import order_steps
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
if MODE == "tf":
  import tensorflow as tf


def _steps(prob_zero=0.25, **options):
  matrix = [[0.3, 0.2], [0.1, 0.4]]
  return pd.DiscretePhaseType(
    [0.5, 0.25], matrix, prob_zero=prob_zero, **options
  )


class ManyTimesTest(test_case.TestCase):
  """Tests closures of many times, and limits."""

  def test_order_statistics_of_many(self):
    # The k-th of n exponential times is a sum of n - i + 1 times slower ones.
    for n, k in ((30000, 10000), (30000, 1), (2000, 2000)):
      found = pd.order_statistic(pd.Erlang(1, 0.5), n, k)
      self.assertEqual(found.num_phases, k)
      exact = math.fsum(2.0 / (n - i) for i in range(k))
      self.assert_close(found.mean(), exact, 1e-12)

  def test_sums_of_many(self):
    rates = [1.0 + i for i in range(300)]
    times = [pd.Erlang(1, rate) for rate in rates]
    found = pd.convolution(times)
    self.assertEqual(found.num_phases, 300)
    self.assert_close(found.mean(), math.fsum(1 / r for r in rates), 1e-13)
    # A sum with atoms: each of them is passed by with its probability.
    some = pd.convolution([pd.ZeroInflated(x, 0.25) for x in times[:5]])
    self.assert_close(some.prob_zero, 0.25**5, 1e-14)
    means = math.fsum(0.75 / r for r in rates[:5])
    self.assert_close(some.mean(), means, 1e-13)
    first = pd.minimum(times[:100])
    self.assert_close(first.mean(), 1 / sum(rates[:100]), 1e-13)

  def test_multisets(self):
    for p, m in ((1, 7), (2, 5), (3, 4), (5, 3), (12, 2), (4, 0)):
      found = order_steps.multisets(p, m)
      counts = [
        [phases.count(i) for i in range(p)]
        for phases in itertools.combinations_with_replacement(range(p), m)
      ]
      self.assertCountEqual(found.tolist(), counts)
      onp.testing.assert_array_equal(
        order_steps.multiset_indices(found), onp.arange(len(counts))
      )

  def test_limits(self):
    time, steps = pd.Erlang(1, 1.0), pd.NegativeBinomialTrials(1, 0.5)
    with self.assertRaisesRegex(ValueError, "has 100001 phases: there must"):
      pd.order_statistic(time, 200000, 100001)
    with self.assertRaisesRegex(ValueError, "each with 4000 counts of times"):
      pd.order_statistic(pd.Erlang(4000, 1.0), 1, 1)
    with self.assertRaisesRegex(ValueError, "has at least [0-9]+ edges"):
      pd.order_statistic(steps, 6000, 5000)
    for k in (1, 25000):
      with self.assertRaisesRegex(ValueError, "at least [0-9]+ joint steps"):
        pd.order_statistic(steps, 50000, k)
    atom = pd.ZeroInflated(time, 0.5)
    with self.assertRaisesRegex(ValueError, "n = 3000: n must be smaller"):
      pd.order_statistic(atom, 3000, 1)
    with self.assertRaisesRegex(ValueError, "has 160000000000 edges|has .* ph"):
      pd.minimum([pd.Erlang(400000, 1.0), pd.Erlang(400000, 1.0)])


class ClosureTest(test_case.TestCase):
  """Tests the results of functions."""

  @test_case.of_bad_values
  def test_reparameterization(self):
    law = pd.Erlang(2, 1.0)
    smooth = pd.convolution([law, pd.maximum([law, law])])
    full, not_full = pd.FULLY_REPARAMETERIZED, pd.NOT_REPARAMETERIZED
    self.assertIs(smooth.reparameterization_type, full)
    with_atom = pd.convolution([pd.ZeroInflated(law, 0.25)] * 2)
    self.assertIs(with_atom.reparameterization_type, not_full)
    # One of the times has no atom.
    mixed = pd.maximum([pd.ZeroInflated(law, 0.25), law])
    self.assertIs(mixed.reparameterization_type, full)
    self.assert_close(mixed.prob_zero, 0.0)
    steps = pd.convolution([_steps(), _steps()])
    self.assertIs(steps.reparameterization_type, not_full)

  def test_samples_have_derivatives(self):

    def draw(rate):
      law = pd.convolution([pd.Erlang(1, rate), pd.Erlang(1, 2.0 * rate)])
      return law.sample(seed=4)

    # A time of rate r is one of rate one, divided by r.
    x, slope = gradients.value_and_gradient(draw, np.asarray(1.5))
    self.assert_close(slope, -self.host(x) / 1.5, 1e-11)

  def test_atoms_keep_their_digits(self):
    tiny = pd.ZeroInflated(pd.Erlang(1, 1.0), 1e-100)
    for dist in (pd.convolution([tiny] * 3), pd.maximum([tiny] * 3)):
      self.assert_close(dist.cdf(0.0), 1e-300, 1e-14)
    third = pd.order_statistic(tiny, 3, 2)
    self.assert_close(third.cdf(0.0), 3e-200, 1e-14)

  def test_paths(self):
    if MODE == "jax":
      self.skipTest("compiles for seconds")
    law = pd.ZeroInflated(pd.Erlang(2, 1.5), 0.25)
    steps = _steps()
    results = []
    for path in self.paths():
      with config.use_path(path):
        values = [
          pd.random_sum(steps, law).log_prob(1.0),
          pd.maximum([law, law]).log_prob(1.0),
          pd.order_statistic(steps, 3, 2).log_prob(2.0),
          law.renewal_density(1.0),
          steps.limited_expected_value(3.0),
          law.mean_residual_life(2.0),
        ]
      results.append(onp.asarray([float(x) for x in values]))
    self.assertFalse(onp.any(onp.isnan(results[0])))
    self.assert_close(results[-1], results[0], 1e-12)

  def test_many_stages(self):
    # Spacings of exponential times are independent.
    last = pd.order_statistic(pd.Erlang(1, 1.0), 1000, 1000)
    exact = onp.sum(1.0 / onp.arange(1.0, 1001.0))
    self.assert_close(last.mean(), exact, 1e-13)
    least = pd.minimum([pd.Erlang(60, 1.0), pd.Erlang(60, 2.0)])
    both = sum(
      self.host(pd.Erlang(60, rate).log_survival_function(45.0))
      for rate in (1.0, 2.0)
    )
    self.assert_close(least.log_survival_function(45.0), both, 1e-12)

  def test_derived_atoms(self):
    # Neither mass at zero nor exits are given.
    law = pd.PhaseType([0.75], [[-2.0]])
    dist = pd.convolution([law, law])
    self.assert_close(dist.prob(0.0), 0.0625, 1e-15)
    self.assert_close(dist.mean(), 0.75, 1e-15)

  def test_compilations_are_shared(self):
    if MODE == "numpy":
      self.skipTest("NumPy does not compile")
    if MODE == "tf":
      spec = tf.TensorSpec([None], tf.float64)

      @tf.function(input_signature=[spec])
      def log_prob(rates):
        law = pd.Erlang(1, rates)
        return pd.maximum([law, pd.convolution([law, law])]).log_prob(0.5)

      found = log_prob(tf.constant([1.0, 2.0], tf.float64))
      law = pd.Erlang(1, 2.0)
      alone = pd.maximum([law, pd.convolution([law, law])]).log_prob(0.5)
      self.assert_close(found[1], alone, 1e-13)
    else:
      traces = []

      @jax.jit
      def mean(dist):
        traces.append(dist.num_phases)
        return dist.mean()

      mean(pd.convolution([pd.Erlang(2, 1.0), pd.Erlang(1, 1.0)]))
      mean(pd.convolution([pd.Erlang(2, 3.0), pd.Erlang(1, 4.0)]))
      self.assertEqual(traces, [3])

  def test_graphs(self):
    graph = graphs.Graph.from_edges(
      [(0, 1, [1.0]), (1, graphs.ABSORBED, [1.0])], 0, 1
    )
    dist = pd.convolution([pd.GraphPhaseType(graph, [2.0]), pd.Erlang(1, 2.0)])
    self.assert_close(
      dist.log_prob(1.0), pd.Erlang(3, 2.0).log_prob(1.0), 1e-13
    )
    if MODE == "jax":
      with self.assertRaisesRegex(ValueError, "close over the graph"):
        jax.jit(lambda x: pd.convolution([x, x]).mean())(
          pd.GraphPhaseType(graph, [2.0])
        )


class ErrorsTest(test_case.TestCase):
  """Tests that messages have the argument, the value and the rule."""

  def test_children(self):
    law, steps = pd.Erlang(2, 1.0), _steps()
    for function in (pd.convolution, pd.minimum, pd.maximum):
      with self.assertRaisesRegex(TypeError, r"distributions is Erlang"):
        function(law)
      with self.assertRaisesRegex(ValueError, "distributions is empty"):
        function([])
      with self.assertRaisesRegex(TypeError, r"distributions\[1\] is float"):
        function([law, 1.0])
      with self.assertRaisesRegex(TypeError, r"\[1\] in discrete time"):
        function([law, steps])
      with self.assertRaisesRegex(TypeError, r"\[0\] is float64 .* float32"):
        function([law, pd.Erlang(1, onp.float32(1.0))])
      with self.assertRaisesRegex(ValueError, r"do not broadcast.*\(2,\)"):
        function([pd.Erlang(1, onp.ones(2)), pd.Erlang(1, onp.ones(3))])
    with self.assertRaisesRegex(TypeError, "must be a phase-type"):
      pd.order_statistic(pd.MatrixWeibull(law, 2.0), 2, 1)
    with self.assertRaisesRegex(TypeError, r"convolution\(\[a, b\]\) \+ delay"):
      pd.convolution([law, law + 1.0])
    with self.assertRaisesRegex(TypeError, "count is Erlang, in continuous"):
      pd.random_sum(law, law)
    with self.assertRaisesRegex(ValueError, r"probs have shape \(3,\)"):
      pd.mixture([0.5, 0.25, 0.25], [law, law])
    with self.assertRaisesRegex(ValueError, r"probs \(2,\).*\(3,\)"):
      pd.mixture(onp.ones((2, 1)), [pd.Erlang(1, onp.ones(3))])

  def test_counts(self):
    law = pd.Erlang(2, 1.0)
    with self.assertRaisesRegex(TypeError, "n is float"):
      pd.order_statistic(law, 3.0, 1)
    with self.assertRaisesRegex(ValueError, "k is 4: it must be at most n = 3"):
      pd.order_statistic(law, 3, 4)
    with self.assertRaisesRegex(ValueError, "k is 0"):
      pd.order_statistic(law, 3, 0)

  def test_sizes(self):
    law = pd.Erlang(400, 1.0)
    with self.assertRaisesRegex(
      ValueError, "160000 phases: there must be at most 100000"
    ):
      pd.minimum([law, law])
    with self.assertRaisesRegex(ValueError, "160800 phases"):
      pd.maximum([law, law])
    part, parts = pd.Erlang(3, 1.0), "take fewer parts, or parts with fewer "
    for function, size, k in (
      (pd.minimum, 3**11, 1),
      (pd.maximum, 4**11 - 1, "n"),
    ):
      with self.assertRaisesRegex(
        ValueError,
        f"has {size} phases: .* {parts}.* same distribution .*n, k={k}\\)$",
      ):
        function([part] * 11)
    self.assertEqual(pd.order_statistic(part, 11, 11).num_phases, 363)
    with self.assertRaisesRegex(ValueError, f"; {parts}phases$"):
      pd.mixture([0.5, 0.5], [pd.Erlang(60000, 1.0)] * 2)
    with self.assertRaisesRegex(ValueError, "order statistic has 10827400"):
      pd.order_statistic(law, 3, 3)
    with self.assertRaisesRegex(ValueError, "120000 phases"):
      pd.random_sum(pd.NegativeBinomialTrials(300, 0.5), law)
    with self.assertRaisesRegex(ValueError, "sum has 120000 phases"):
      pd.convolution([law] * 300)
    with self.assertRaisesRegex(
      ValueError, "multinomial coefficient overflows"
    ):
      pd.order_statistic(pd.Erlang(2, 1.0), 1100, 1)

  def test_indices(self):
    def sparse(sources, targets, rates=(1.0, 1.0)):
      return pd.PhaseType([1.0, 0.0], pm.EdgeRates(sources, targets, rates))

    with self.assertRaisesRegex(ValueError, r"sources\[1\] = 2: .* \[0, 2\)"):
      sparse([0, 2], [1, 2])
    with self.assertRaisesRegex(ValueError, r"targets\[0\] = -1"):
      sparse([0, 1], [-1, 2])
    with self.assertRaisesRegex(TypeError, "must be integers"):
      sparse([0.0, 1.0], [1, 2])
    with self.assertRaisesRegex(ValueError, r"both must be \(m,\)"):
      sparse([0, 1], [1])
    with self.assertRaisesRegex(ValueError, r"parameters have shape \(3,\)"):
      sparse([0, 1], [1, 2], [1.0, 1.0, 1.0])
    with self.assertRaisesRegex(ValueError, r"sources have shape \(0,\)"):
      sparse(onp.arange(0), onp.arange(0), onp.ones(0))
    edges = pm.EdgeRates([0], [1], [1.0])
    with self.assertRaisesRegex(ValueError, "initial_probs is a scalar"):
      pd.PhaseType(1.0, edges)
    with self.assertRaisesRegex(ValueError, "sum"):
      pd.PhaseType([0.5], edges, prob_zero=0.0, validate_args=True)
    with self.assertRaisesRegex(
      ValueError, "exit_rates is given: it must be None"
    ):
      pd.PhaseType([1.0], edges, [1.0])
    with self.assertRaisesRegex(TypeError, "subtransition is EdgeRates"):
      pd.DiscretePhaseType([1.0], edges)
    with self.assertRaisesRegex(TypeError, "initial_probs is EdgeRates"):
      pd.PhaseType(edges, edges)
    with self.assertRaisesRegex(ValueError, "probabilities"):
      pd.DiscretePhaseType(
        [1.0],
        pm.EdgeProbs([0, 0], [0, 1], [0.75, 0.75]),
        validate_args=True,
      )
    if MODE == "jax":
      with self.assertRaisesRegex(TypeError, "sources are traced"):
        jax.jit(lambda i: sparse(i, [1, 2]).mean())(onp.asarray([0, 1]))


if __name__ == "__main__":
  absltest.main()
