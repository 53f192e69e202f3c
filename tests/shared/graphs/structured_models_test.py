"""Structured populations and two loci, against closed forms and labels."""

import collections
import itertools
import math
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic.graphs.construction import state_space
from phasic.graphs.models import model_checks
from tests.helpers import test_case
from tests.oracle import labeled_coalescent

models = graphs.models
# The numbers of partitions of 0, ..., 44, by parts of at most j.
PARTS = [1] + [0] * 44
for _part in range(1, 45):
  for _whole in range(_part, 45):
    PARTS[_whole] += PARTS[_whole - _part]


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


def neighbors(state):
  """Counts the mergers and moves that leave a state of some demes."""
  merging = sum(here >= 2 for here in state)
  return merging + (len(state) - 1) * sum(here >= 1 for here in state)


def both_sizes(n, demes):
  """Counts the states of 2, ..., n lineages in some demes, and their edges."""
  states = [
    state
    for state in itertools.product(range(n + 1), repeat=demes)
    if 2 <= sum(state) <= n
  ]
  return len(states), sum(map(neighbors, states))


def partitions(n, largest=None):
  """Lists the partitions of n, as counts of the parts by their sizes."""
  largest = n if largest is None else largest
  if n == 0:
    return [collections.Counter()]
  return [
    collections.Counter([i]) + rest
    for i in range(1, min(n, largest) + 1)
    for rest in partitions(n - i, i)
  ]


class SizesTest(test_case.TestCase):
  """Tests numbers of states before and after models are explored."""

  @parameterized.parameters((2, 1), (2, 2), (5, 1), (4, 3), (3, 4), (6, 2))
  def test_edges_of_demes(self, n, demes):
    found = (
      model_checks.deme_states(n, demes),
      model_checks.deme_edges(n, demes),
    )
    self.assertEqual(found, both_sizes(n, demes))

  @parameterized.parameters(2, 3, 6, 11)
  def test_edges_of_partitions(self, n):
    pairs, subsets = 0, 0
    for kinds in partitions(n):
      several = sum(count > 1 for count in kinds.values())
      pairs += math.comb(len(kinds), 2) + several
      # Subsets of at least two lineages, of which those of a kind are alike.
      subsets += math.prod(c + 1 for c in kinds.values()) - 1 - len(kinds)
    for all_mergers, edges in ((False, pairs), (True, subsets)):
      with mock.patch.object(model_checks, "check_num_states") as check:
        model_checks.check_block_counts(n, 10**6, all_mergers)
      self.assertEqual(
        check.call_args.args[1:3], (len(partitions(n)) - 1, edges)
      )

  @parameterized.parameters(
    (
      lambda: models.lambda_coalescent(10**5),
      r"is 100000: its model has 99999 states and 4999950000 edges, .* at most "
      r"10000000 edges; .* max_states=49999500, which takes up to 1.2e\+03 GB "
      r"and 1.7e\+03 minutes",
    ),
    (lambda: models.lambda_coalescent(4474), "4473 states and 10006101 edges"),
    (
      lambda: models.lambda_coalescent(4474, 4473),
      "max_states=100062, which takes up to 2.4 GB and 3.3 minutes",
    ),
    # p(44) - 1 states; C(p(k) p(44 - k)) - p(44) - sum of p(k) edges.
    (
      lambda: models.lambda_block_counting(44, 75174),
      f"75174 states and {sum(PARTS[k] * PARTS[44 - k] for k in range(45)) - sum(PARTS[:45])} edges",
    ),
    # 400 demes: C(402, 2) - 401 states, 400 C(401, 400) - 400 moves a way.
    (
      lambda: models.island_coalescent([2] + [0] * 399),
      f"80200 states and {400 * 399 * 400 + 400} edges",
    ),
    (
      lambda: models.structured_coalescent([9] + [0] * 8),
      "1853208 edges with 81 coefficients each",
    ),
    (
      lambda: models.busy_period(10**6 + 1),
      "capacity is 1000001: .* 1000001 st",
    ),
    (
      lambda: models.tandem_queue(1000),
      "capacity is 1000: .* has 1002000 states",
    ),
    (lambda: models.machine_repair(2**31 - 1), "has 2147483647 states"),
    (lambda: models.birth_death(1, 2 * 10**6), "maximum is 2000000: its model"),
    (lambda: models.busy_period(10**400), "capacity is .*: it must be at most"),
    (lambda: models.island_coalescent([10**400, 1]), r"num_samples\[0\] is"),
    (lambda: models.joint_block_counting([1, 1], 10**400), "num_demes is"),
  )
  def test_refused_before_anything_is_built(self, make, message):
    with (
      mock.patch.object(state_space, "EdgeList", None),
      self.assertRaisesRegex(ValueError, message),
    ):
      make()

  def test_edges_are_bounded_while_states_are_explored(self):
    def to_all(state):
      yield graphs.ABSORBED, 1.0
      for other in range(100):
        yield other, 1.0

    explore = graphs.Graph.from_transitions
    with (
      mock.patch.object(state_space, "_ALWAYS", 1000),
      mock.patch.object(state_space, "EDGES_PER_STATE", 1),
    ):
      self.assertEqual(explore(to_all, 0, max_states=10000).num_edges, 10000)
      with self.assertRaisesRegex(ValueError, "more than 1000 edges .* max_st"):
        explore(to_all, 0, max_states=100)
    with (
      mock.patch.object(state_space, "MAX_NUMBERS", 1000),
      self.assertRaisesRegex(ValueError, "have 1 coeff.* more than 500"),
    ):
      explore(lambda n: [(n + 1, [1.0]), (graphs.ABSORBED, [1.0])], 0, 1)

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
      rf"{states - 1}; .*max_states={states}, which takes up to .* GB and .* min",
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
