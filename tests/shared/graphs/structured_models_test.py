"""Structured populations and two loci, against closed forms and labels."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from tests.helpers import test_case
from tests.oracle import labeled_coalescent

models = graphs.models


def loci(graph):
  """Returns the rewards whose totals are the ages of both common ancestors."""
  return [[float(a + c > 0), float(b + c > 0)] for a, b, c in graph.states]


class TwoLociTest(test_case.TestCase):
  """Tests the coalescent with recombination."""

  @parameterized.parameters(0.0, 0.03125, 0.5, 3.0, 1024.0)
  def test_correlation_of_two_samples(self, rate):
    graph = models.two_locus_coalescent(2)
    ages = pd.MultivariatePhaseType.from_graph(graph, [1.0, rate], loci(graph))
    rho = 2 * rate
    expected = (rho + 18) / (rho**2 + 13 * rho + 18)
    self.assert_close(
      ages.covariance(), [[1.0, expected], [expected, 1.0]], 1e-12
    )

  @parameterized.parameters((2, 0.75), (3, 0.25), (3, 2.0))
  def test_labeled_samples(self, n, rate):
    graph = models.two_locus_coalescent(n)
    rewards = [
      [*ages, a + c, b + c]
      for ages, (a, b, c) in zip(loci(graph), graph.states)
    ]
    found = pd.MultivariatePhaseType.from_graph(graph, [1.0, rate], rewards)

    def lineages(state):
      counts = [
        len(labeled_coalescent.lineages_at(state, locus)) for locus in (0, 1)
      ]
      ages = [float(count > 1) for count in counts]
      return ages + [x * count for x, count in zip(ages, counts)]

    chain = labeled_coalescent.reached(
      labeled_coalescent.two_loci(n), labeled_coalescent.recombination(rate)
    )
    means, covariances = labeled_coalescent.moments(*chain, lineages)
    self.assert_close(found.mean(), means.real, 1e-12)
    self.assert_close(found.covariance(), covariances.real, 1e-11)

  def test_each_locus_is_kingman(self):
    graph = models.two_locus_coalescent(6)
    ages = pd.MultivariatePhaseType.from_graph(graph, [1.0, 0.5], loci(graph))
    expected = pd.PhaseType.from_graph(models.kingman(6), [1.0])
    self.assert_close(ages.mean(), [expected.mean()] * 2, 1e-12)
    self.assert_close(ages.variance(), [expected.variance()] * 2, 1e-12)


class DemesTest(test_case.TestCase):
  """Tests structured coalescents."""

  @parameterized.parameters(0.03125, 0.5, 8.0)
  def test_two_islands(self, m):
    # Strobeck 1987, and Hudson's F_ST.
    within, between = (
      float(
        pd.PhaseType.from_graph(
          models.island_coalescent(lineages), [1.0, m]
        ).mean()
      )
      for lineages in ([2, 0], [1, 1])
    )
    self.assert_close(within, 2.0, 1e-13)
    self.assert_close(between, 2.0 + 1 / (2 * m), 1e-13)
    self.assert_close(1 - within / between, 1 / (1 + 4 * m), 1e-12)
    self.assert_close(
      1 - within / ((within + between) / 2), 1 / (1 + 8 * m), 1e-12
    )

  def test_demes_of_one_size_are_islands(self):
    times = onp.asarray([0.25, 1.0, 5.0])
    demes = pd.PhaseType.from_graph(
      models.structured_coalescent([2, 1, 1]), [0.5] * 3 + [0.25] * 6
    )
    islands = pd.PhaseType.from_graph(
      models.island_coalescent([2, 1, 1]), [0.5, 0.25]
    )
    self.assert_close(demes.log_prob(times), islands.log_prob(times), 1e-13)

  def test_one_deme(self):
    graph = models.structured_coalescent([4])
    self.assertEqual(graph.states, ((4,), (3,), (2,)))
    age = pd.PhaseType.from_graph(graph, {"coalescence_1": 2.0})
    self.assert_close(age.mean(), 0.75, 1e-14)

  def test_conservative_migration(self):
    # Strobeck's invariance: with migration that keeps deme sizes, a pair of one
    # deme, drawn by size, takes as long as in a population of the total size.
    sizes = onp.asarray([1.0, 2.0])
    rates = [1.0, 0.5, 0.5, 0.25]
    means = [
      float(
        pd.PhaseType.from_graph(
          models.structured_coalescent(lineages), rates
        ).mean()
      )
      for lineages in ([2, 0], [0, 2])
    ]
    self.assert_close(onp.dot(sizes, means) / 3.0, 3.0, 1e-13)

  def test_split(self):
    # The lineages cannot meet before the demes are one, at time 0.75.
    recent = models.structured_coalescent([1, 0, 1])
    ancestral = models.structured_coalescent([2, 0])
    age = pd.Epochs(
      [recent, ancestral],
      [[1.0, 2.0, 3.0] + [0.0] * 6, [0.5, 1.0, 0.0, 0.0]],
      [0.75],
      [models.merge_demes(3, 1)],
    )
    self.assert_close(age.mean(), 2.75, 1e-13)
    self.assert_close(
      age.log_prob(onp.asarray([0.5, 1.75])),
      [-onp.inf, onp.log(0.5) - 0.5],
      1e-13,
    )

  def test_split_of_two(self):
    rates = [1.0, 0.5, 0.25, 2.0]
    recent, ancestral, merged = models.isolation_with_migration([3, 2])
    expected = pd.Epochs([recent, ancestral], [rates, [0.25]], [0.5], [merged])
    found = pd.Epochs(
      [models.structured_coalescent(x) for x in ([3, 2], [5])],
      [rates, [0.25]],
      [0.5],
      [models.merge_demes(1, 2)],
    )
    times = onp.asarray([0.25, 1.0, 5.0])
    self.assert_close(found.log_prob(times), expected.log_prob(times), 1e-12)

  def test_merged_states(self):
    self.assertEqual(models.merge_demes(1, 3)((1, 2, 4)), (2, 5))
    self.assertEqual(models.merge_demes(2, 1)((1, 2, 4)), (3, 4))


class SizesTest(test_case.TestCase):
  """Tests numbers of states before and after models are explored."""

  @parameterized.parameters(
    (models.kingman, 7),
    (models.block_counting, 9),
    (models.lambda_coalescent, 6),
    (models.lambda_block_counting, 8),
    (models.two_locus_coalescent, 2),
    (models.two_locus_coalescent, 5),
    (models.island_coalescent, (2, 0)),
    (models.island_coalescent, (1, 3, 2)),
    (models.structured_coalescent, (5,)),
    (models.structured_coalescent, (0, 4, 0, 1)),
  )
  def test_limits(self, make, num_samples):
    states = make(num_samples).num_phases
    self.assertEqual(make(num_samples, max_states=states).num_phases, states)
    with self.assertRaisesRegex(
      ValueError,
      rf"num_samples is .*: its model has {states} states, .* max_states = "
      rf"{states - 1}; .*max_states={states} ",
    ):
      make(num_samples, max_states=states - 1)

  def test_limits_of_both_epochs(self):
    states = models.isolation_with_migration([3, 2])[0].num_phases
    with self.assertRaisesRegex(ValueError, f"has {states} states"):
      models.isolation_with_migration([3, 2], max_states=states - 1)

  @parameterized.parameters(
    (lambda: models.kingman(10**9), "has 999999999 states"),
    # The numbers of partitions of 200 and of 1000 minus one.
    (lambda: models.block_counting(200), "has 3972999029387 states"),
    (
      lambda: models.lambda_block_counting(1000),
      "has 24061467864032622473692149727990 states",
    ),
    (lambda: models.block_counting(10**9), r"more than 10\^31 states"),
    (lambda: models.island_coalescent([10**6, 0]), "has 500001499998 states"),
    (lambda: models.two_locus_coalescent(10**4), "has 333483315000 states"),
    (lambda: models.kingman(3, max_states=0), "max_states is 0"),
    (lambda: models.structured_coalescent([1] * 10), "has 10 entries"),
    (lambda: models.merge_demes(2, 2), "source and target are 2"),
    (lambda: models.merge_demes(0, 2), "source is 0"),
    (lambda: models.merge_demes(3, 1)((1, 1)), r"state \(1, 1\) has 2 demes"),
  )
  def test_refused(self, make, message):
    with self.assertRaisesRegex(ValueError, message):
      make()

  def test_types(self):
    with self.assertRaisesRegex(TypeError, "max_states is 2.0"):
      models.kingman(3, max_states=2.0)
    with self.assertRaisesRegex(TypeError, "target is '1'"):
      models.merge_demes(2, "1")


if __name__ == "__main__":
  absltest.main()
