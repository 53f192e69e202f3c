"""Coalescents with multiple mergers against labeled samples and mpmath."""

import fractions
import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import test_case
from tests.oracle import labeled_coalescent

EAGER, MODES = conformance.EAGER, conformance.MODES
models = graphs.models
RATES = {"alpha": models.beta_rates, "psi": models.psi_rates}


def beta(b, k, alpha):
  """Computes the rate of one set of k among b lineages, from Beta functions."""
  return mpmath.beta(k - alpha, b - k + alpha) / mpmath.beta(2 - alpha, alpha)


def point(b, k, psi):
  return mpmath.mpmathify(psi) ** (k - 2) * (1 - mpmath.mpmathify(psi)) ** (
    b - k
  )


EXACT = {"alpha": beta, "psi": point}
# Derivatives are computed in all modes inside, and once at the boundaries.
DERIVATIVES = (
  *(
    (mode, *case) for mode in MODES for case in (("alpha", 1.25), ("psi", 0.75))
  ),
  *((EAGER, "alpha", 2.0), (EAGER, "psi", 0.0), (EAGER, "psi", 1.0)),
)
CASES = (("alpha", 1.25), ("alpha", 1.9375), ("psi", 0.125), ("psi", 0.75))


def exact_rates(n, kind, x):
  """Returns the exact rates of the edges b -> b - k + 1, in their order."""
  with mpmath.workdps(40):
    return [
      mpmath.binomial(b, k) * EXACT[kind](b, k, x)
      for b in range(n, 1, -1)
      for k in range(2, b + 1)
    ]


def blocks(n, kind, x):
  """Returns the labeled chain of n samples, and their spectrum as rewards."""

  def rate(b, k):
    return complex(EXACT[kind](b, k, x))

  def spectrum(state):
    sizes = [len(block) for block in labeled_coalescent.lineages_at(state, 0)]
    return [sizes.count(i) for i in range(1, n)]

  chain = labeled_coalescent.reached(
    labeled_coalescent.one_locus(n),
    labeled_coalescent.multiple_mergers(rate),
  )
  return *chain, spectrum


def spectrum_lengths(graph, rates):
  rewards = [state[:-1] for state in graph.states]
  return pd.MultivariatePhaseType.from_graph(
    graph, edge_values=rates, rewards=rewards
  )


class RatesTest(test_case.TestCase):
  """Tests the rates of edges and their derivatives."""

  @parameterized.product(n=(2, 3, 40), case=CASES)
  def test_values(self, n, case):
    kind, x = case
    graph = models.lambda_coalescent(n)
    expected = [float(rate) for rate in exact_rates(n, kind, x)]
    self.assert_close(RATES[kind](graph, x), expected, 2e-14)

  @parameterized.parameters(
    ("alpha", 1.0), ("alpha", 2.0 - 2**-40), ("alpha", 1.0 + 2**-40)
  )
  def test_values_near_limits(self, kind, x):
    graph = models.lambda_coalescent(20)
    expected = [float(rate) for rate in exact_rates(20, kind, x)]
    self.assert_close(RATES[kind](graph, x), expected, 2e-14)

  @parameterized.parameters(("alpha", 2.0), ("psi", 0.0))
  def test_kingman(self, kind, x):
    graph = models.lambda_coalescent(10)
    age = pd.PhaseType.from_graph(graph, edge_values=RATES[kind](graph, x))
    expected = pd.PhaseType.from_graph(models.kingman(10), [1.0])
    times = onp.asarray([0.125, 1.0, 4.0])
    self.assert_close(age.log_prob(times), expected.log_prob(times), 1e-13)

  def test_limits_of_one_merger_or_one_parameter(self):
    graph = models.lambda_coalescent(6)
    star = pd.PhaseType.from_graph(
      graph, edge_values=models.psi_rates(graph, 1.0)
    )
    self.assert_close(star.mean(), 1.0, 1e-14)
    self.assert_close(
      graph.edge_values([1.0]), models.beta_rates(graph, 1.0), 1e-14
    )

  def test_batches_and_dtypes(self):
    graph = models.lambda_coalescent(40)
    for kind, low, high in (("alpha", 1.25, 1.75), ("psi", 0.25, 0.75)):
      batch = RATES[kind](graph, onp.asarray([[low], [high]]))
      self.assertEqual(onp.shape(batch), (2, 1, graph.num_edges))
      self.assert_close(batch[1, 0], RATES[kind](graph, high), 1e-15)
      single = RATES[kind](graph, onp.asarray(low, "float32"))
      self.assertEqual(self.host(single).dtype, onp.float32)
      self.assert_close(single, self.host(batch[0, 0]), 1e-5)

  @parameterized.parameters(*DERIVATIVES)
  def test_derivatives_of_rates(self, mode, kind, x):
    graph = models.lambda_coalescent(5)

    def function(arrays):
      return RATES[kind](graph, arrays[kind])

    with mpmath.workdps(40):
      # Beta functions have poles at alpha = 2, where rates have none.
      place = x - mpmath.mpf(10) ** -20 if x == 2.0 else x
      direction = -1 if x in (1.0, 2.0) else 1
      slopes = [
        mpmath.binomial(b, k)
        * mpmath.diff(
          lambda y, b=b, k=k: EXACT[kind](b, k, y), place, direction=direction
        )
        for b in range(5, 1, -1)
        for k in range(2, b + 1)
      ]
    expected = onp.asarray([float(slope) for slope in slopes])
    for part in conformance_modes.jacobians(
      function, mode, {kind: onp.asarray(x)}
    ):
      self.assert_close(part[kind], expected, 1e-12, 1e-13)


class SpectraTest(test_case.TestCase):
  """Tests branch lengths by the number of descendants."""

  @parameterized.product(n=(2, 3, 5), case=CASES)
  def test_labeled_samples(self, n, case):
    kind, x = case
    graph = models.lambda_block_counting(n)
    lengths = spectrum_lengths(graph, RATES[kind](graph, x))
    means, covariances = labeled_coalescent.moments(*blocks(n, kind, x))
    self.assert_close(lengths.mean(), means.real, 1e-13)
    self.assert_close(lengths.covariance(), covariances.real, 1e-12, 1e-14)

  def test_same_ages(self):
    times = onp.asarray([0.25, 1.0, 5.0])
    for kind, x in CASES:
      ages = [
        pd.PhaseType.from_graph(graph, edge_values=RATES[kind](graph, x))
        for graph in (
          models.lambda_coalescent(9),
          models.lambda_block_counting(9),
        )
      ]
      self.assert_close(ages[0].log_prob(times), ages[1].log_prob(times), 1e-12)

  @parameterized.product(mode=MODES, case=(("alpha", 1.75), ("psi", 0.5)))
  def test_derivatives_of_means(self, mode, case):
    kind, x = case
    graph = models.lambda_block_counting(4)
    step = 2.0**-60
    means, _ = labeled_coalescent.moments(*blocks(4, kind, mpmath.mpc(x, step)))

    def function(arrays):
      return spectrum_lengths(graph, RATES[kind](graph, arrays[kind])).mean()

    for part in conformance_modes.jacobians(
      function, mode, {kind: onp.asarray(x)}
    ):
      self.assert_close(part[kind], means.imag / step, 1e-11)

  @parameterized.parameters(*MODES)
  def test_densities(self, mode):
    graph = models.lambda_coalescent(5)

    def function(arrays, value):
      rates = models.beta_rates(graph, arrays["alpha"])
      age = pd.PhaseType.from_graph(graph, edge_values=rates)
      return {"log_prob": age.log_prob(value)}

    values = [0.25, 1.0]
    found = conformance_modes.evaluate(
      function, mode, [{"alpha": 1.5}] * 2, values
    )
    # The rates of the edges as numbers that are exact.
    rates = onp.asarray([float(x) for x in exact_rates(5, "alpha", 1.5)])
    age = pd.PhaseType.from_graph(graph, edge_values=rates)
    self.assert_close(found["log_prob"], age.log_prob(onp.asarray(values)))


class ErrorsTest(test_case.TestCase):
  """Tests errors of invalid arguments."""

  @parameterized.parameters(
    (models.kingman(3), 1.5, r"^graph is <Graph 2 .*one of lambda_coalescent"),
    (models.block_counting(4), 1.5, "^graph is <Graph 4 phases"),
    (models.two_locus_coalescent(2), 1.5, "^graph is <Graph 5 phases"),
    (models.illness_death(), 1.5, "^graph is <Graph 2 phases"),
    (models.lambda_coalescent(3), 2.5, r"^alpha = 2.5: .* in \(0, 2\]"),
    (models.lambda_coalescent(3), [1.0, 0.0], r"^alpha\[1\] = 0.0"),
  )
  def test_refused(self, graph, alpha, message):
    with self.assertRaisesRegex(ValueError, message):
      models.beta_rates(graph, alpha)

  def test_a_number_of_samples(self):
    with self.assertRaisesRegex(TypeError, "^graph is int: it must be a Graph"):
      models.psi_rates(3, 0.5)

  def test_psi(self):
    graph = models.lambda_coalescent(3)
    for psi in (-0.125, 1.5):
      with self.assertRaisesRegex(ValueError, rf"^psi = {psi}: .* in \[0, 1\]"):
        models.psi_rates(graph, psi)

  @parameterized.parameters(2, 3, 60)
  def test_weights(self, n):
    graph = models.lambda_coalescent(n)
    exact = [
      fractions.Fraction(
        math.comb(b, k) * math.factorial(k - 2) * math.factorial(b - k),
        math.factorial(b - 1),
      )
      for b in range(n, 1, -1)
      for k in range(2, b + 1)
    ]
    targets = [n - b + k - 1 for b in range(n, 1, -1) for k in range(2, b + 1)]
    self.assertEqual(graph.targets.tolist(), targets)
    self.assertEqual(graph.coefficients[:, 0].tolist(), list(map(float, exact)))

  def test_many_lineages(self):
    graph = models.lambda_coalescent(2000)
    self.assertEqual(graph.num_edges, 1999000)
    # Of b lineages some merge at the rate b - 1.
    totals = onp.bincount(graph.sources, graph.coefficients[:, 0])
    onp.testing.assert_allclose(totals, onp.arange(1999, 0, -1), rtol=1e-12)

  def test_without_states(self):
    graph = models.lambda_coalescent(3)
    bare = graphs.Graph(
      graph.sources,
      graph.targets,
      graph.constants,
      graph.coefficients,
      graph.initial_constants,
      graph.initial_coefficients,
    )
    with self.assertRaisesRegex(ValueError, "the graph has no states"):
      models.beta_rates(bare, 1.5)


if __name__ == "__main__":
  absltest.main()
