"""The ready models against closed forms, in rational arithmetic."""

import fractions
import itertools
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import graphs
from tests.helpers import test_case
from tests.oracle import rational_graph

Fraction = fractions.Fraction
models = graphs.models


def fraction(x):
  """Converts a rational number of the oracle to a Fraction."""
  return Fraction(int(x.p), int(x.q))


def mean(graph, *params):
  return fraction(rational_graph.read(graph, params).moment(1))


def rabbits(state):
  """Builds rabbits on two islands that jump, and drown in floods.

  The example of T. Roikjer, A. Hobolth, K. Munch, Graph-based algorithms for
  phase-type distributions, Statistics and Computing 32, 2022.
  """

  def found(left, right):
    return (left, right) if left + right > 0 else graphs.ABSORBED

  left, right = state
  if left > 0:
    yield found(left - 1, right + 1), 1
    yield found(0, right), 2
  if right > 0:
    yield found(left + 1, right - 1), 1
    yield found(left, 0), 4


def mergers(lineages):
  """Yields the merger of each pair of lineages, given by their descendants."""
  for i, j in itertools.combinations(range(len(lineages)), 2):
    rest = [x for k, x in enumerate(lineages) if k not in (i, j)]
    merged = tuple(sorted((*rest, lineages[i] + lineages[j])))
    yield merged if rest else graphs.ABSORBED, {"coalescence": 1.0}


class CoalescentTest(test_case.TestCase):
  """Tests models of lineages."""

  @parameterized.parameters(2, 3, 10, 40)
  def test_kingman(self, n):
    graph = models.kingman(n)
    self.assertEqual(graph.states, tuple(range(n, 1, -1)))
    exact = rational_graph.read(graph, [0.25])
    self.assertEqual(fraction(exact.moment(1)), 8 * (1 - Fraction(1, n)))
    variance = sum(Fraction(4, (k * (k - 1)) ** 2) for k in range(2, n + 1))
    self.assertEqual(fraction(exact.variance()), 16 * variance)

  @parameterized.parameters((2, 1), (3, 2), (10, 41), (20, 626))
  def test_block_counting(self, n, states):
    # The number of partitions of n, minus one.
    graph = models.block_counting(n)
    self.assertLen(graph.states, states)
    self.assertTrue(
      all(
        sum(i * a for i, a in enumerate(s, start=1)) == n for s in graph.states
      )
    )

  @parameterized.parameters(2, 3, 4, 7, 12)
  def test_block_counting_is_the_merging_of_pairs(self, n):
    graph = models.block_counting(n)
    pairs = graphs.Graph.from_transitions(mergers, (1,) * n, ("coalescence",))

    def edges(found, name):
      return {
        (name(e.source), e.target if e.target == ends else name(e.target)): (
          e.constant,
          e.coefficients,
        )
        for e in found.edges
      }

    ends = graphs.ABSORBED
    counts = lambda state: tuple(state.count(i + 1) for i in range(n))
    self.assertEqual(edges(graph, tuple), edges(pairs, counts))
    self.assertEqual(float(graph.initial_probs()[0]), 1.0)

  def test_states_whose_sums_agree_are_told_apart(self):
    # All sums of the first draw are zero; those of the second are random.
    draws = [
      onp.zeros(6, onp.int64),
      onp.random.default_rng(1).integers(2**62, size=6),
    ]
    with mock.patch.object(onp.random, "default_rng") as generator:
      generator.return_value.integers.side_effect = draws
      found = models.block_counting(6)
    self.assertEqual(generator.call_count, 2)
    self.assertEqual(
      found.content_hash(), models.block_counting(6).content_hash()
    )

  def test_branch_lengths(self):
    # Fu 1995: branches that i of the sample descend from are 2 / i long.
    n = 7
    graph = models.block_counting(n)
    exact = rational_graph.read(graph, [1.0])
    for i in range(n - 1):
      rewards = [state[i] for state in graph.states]
      self.assertEqual(
        fraction(exact.moment(1, rewards)), Fraction(2, i + 1), i
      )
    self.assertEqual(
      fraction(exact.moment(1)), mean(models.kingman(n), 1.0), "height"
    )

  @parameterized.parameters(2, 3, 5)
  def test_islands(self, demes):
    # Strobeck 1987: a pair on one island takes as long without structure.
    same = models.island_coalescent([2] + [0] * (demes - 1))
    apart = models.island_coalescent([1, 1] + [0] * (demes - 2))
    self.assertEqual(mean(same, 0.5, 0.125), 2 * demes)
    self.assertEqual(mean(apart, 0.5, 0.125), 2 * demes + 4)

  def test_islands_have_all_states(self):
    graph = models.island_coalescent([3, 2])
    expected = {(a, n - a) for n in range(2, 6) for a in range(n + 1)}
    self.assertEqual(set(graph.states), expected)
    self.assertEqual(graph.parameter_names, ("coalescence", "migration"))

  def test_isolation_with_migration(self):
    recent, ancestral, merge = models.isolation_with_migration([3, 1])
    self.assertEqual(recent.states[0], (3, 1))
    self.assertEqual(ancestral.states, (4, 3, 2))
    self.assertEqual([merge(s) for s in [(3, 1), (0, 2)]], [4, 2])
    pair = models.isolation_with_migration([1, 1])[0]
    one, two, out, back = 0.5, 0.25, 0.125, 2.0
    self.assertEqual(
      mean(pair, one, two, out, back), _pair(one, two, out, back)
    )


def _pair(one, two, out, back):
  """Computes the mean coalescence time of two lineages in two populations."""
  one, two, out, back = (Fraction(x) for x in (one, two, out, back))
  # a = (1, 1), b = (2, 0), c = (0, 2): a (out + back) = 1 + back b + out c,
  # b (one + 2 out) = 1 + 2 out a, c (two + 2 back) = 1 + 2 back a.
  b_one, b_a = 1 / (one + 2 * out), 2 * out / (one + 2 * out)
  c_one, c_a = 1 / (two + 2 * back), 2 * back / (two + 2 * back)
  rest = out + back - back * b_a - out * c_a
  return (1 + back * b_one + out * c_one) / rest


class QueueTest(test_case.TestCase):
  """Tests models of queues and machines."""

  @parameterized.parameters(1, 2, 7, 30)
  def test_busy_period(self, capacity):
    arrival, service = Fraction(3, 2), Fraction(1, 4)
    ratio = arrival / service
    expected = (1 - ratio**capacity) / (service * (1 - ratio))
    self.assertEqual(mean(models.busy_period(capacity), 1.5, 0.25), expected)

  @parameterized.parameters((1, 2), (5, 2), (6, 9))
  def test_busy_period_of_servers(self, capacity, servers):
    # The time from n customers to n - 1, from the full system down.
    time = Fraction(0)
    for n in range(capacity, 0, -1):
      leaves = Fraction(min(n, servers), 4)
      comes = Fraction(3, 2) if n < capacity else Fraction(0)
      time = (1 + comes * time) / leaves
    graph = models.busy_period(capacity, servers)
    self.assertEqual(mean(graph, 1.5, 0.25), time)

  @parameterized.parameters((1, 0), (3, 1), (6, 2), (4, 9))
  def test_machine_repair(self, machines, repairers):
    step, total = Fraction(0), Fraction(0)
    for down in range(machines):
      fails = Fraction(machines - down, 8)
      step = (1 + Fraction(3 * min(down, repairers), 2) * step) / fails
      total += step
    graph = models.machine_repair(machines, repairers)
    self.assertEqual(mean(graph, 0.125, 1.5), total)

  def test_tandem_of_one_each(self):
    arrival, first, second = Fraction(1, 2), Fraction(2), Fraction(4)
    # x = 1 / first + y, y (arrival + second) = 1 + arrival (1 / second + x).
    y = (1 + arrival / second + arrival / first) / second
    self.assertEqual(mean(models.tandem_queue(1), 0.5, 2.0, 4.0), 1 / first + y)

  @parameterized.parameters(1, 2, 5)
  def test_tandem_states(self, capacity):
    graph = models.tandem_queue(capacity)
    self.assertLen(graph.states, (capacity + 1) ** 2 - 1)
    # Without arrivals there is one customer, served twice.
    self.assertEqual(mean(graph, 0.0, 2.0, 4.0), Fraction(3, 4))


class SurvivalTest(test_case.TestCase):
  """Tests models of populations and patients."""

  @parameterized.parameters((1, 1), (1, 6), (4, 9))
  def test_birth_death(self, initial, maximum):
    steps, time = [], Fraction(0)
    for n in range(maximum, 0, -1):
      birth = Fraction(3 * n, 4) if n < maximum else Fraction(0)
      time = (1 + birth * time) / Fraction(n, 2)
      steps.append(time)
    graph = models.birth_death(initial, maximum)
    self.assertEqual(mean(graph, 0.75, 0.5), sum(steps[-initial:]))

  def test_illness_death(self):
    graph = models.illness_death()
    self.assertEqual(graph.states, ("healthy", "ill"))
    self.assertEqual(graph.causes, ("healthy", "ill"))
    illness, recovery, well, sick = (
      Fraction(x) for x in (0.5, 0.25, 0.125, 2.0)
    )
    exact = rational_graph.read(graph, [0.5, 0.25, 0.125, 2.0])
    common = (illness + well) * (recovery + sick) - illness * recovery
    self.assertEqual(
      fraction(exact.moment(1)), (recovery + sick + illness) / common
    )
    self.assertEqual(
      [fraction(x) for x in exact.cause_probs()],
      [well * (recovery + sick) / common, illness * sick / common],
    )

  def test_rabbits(self):
    graph = graphs.Graph.from_transitions(rabbits, (2, 0))
    self.assertEqual(graph.states, ((2, 0), (1, 1), (0, 2), (0, 1), (1, 0)))
    # One rabbit: 3 l = 1 + r, 5 r = 1 + l, so l = 3 / 7 and r = 2 / 7. Two:
    # 3 a = 1 + b, 8 b = 1 + c + a + 2 r + 4 l, 5 c = 1 + b.
    left, right = Fraction(3, 7), Fraction(2, 7)
    both = (1 + Fraction(1, 5) + Fraction(1, 3) + 2 * right + 4 * left) / (
      8 - Fraction(1, 5) - Fraction(1, 3)
    )
    self.assertEqual(mean(graph), (1 + both) / 3)


class ErrorsTest(test_case.TestCase):
  """Tests errors of invalid models."""

  @parameterized.parameters(
    (lambda: models.kingman(1), ValueError, "num_samples is 1: .* at least 2"),
    (lambda: models.kingman(2.0), TypeError, "num_samples is 2.0: .* integer"),
    (lambda: models.kingman(True), TypeError, "num_samples is True"),
    (lambda: models.block_counting(0), ValueError, "num_samples is 0"),
    (
      lambda: models.island_coalescent([1]),
      ValueError,
      r"num_samples is \(1,\): .* at least 2 entries",
    ),
    (
      lambda: models.island_coalescent([1, -1]),
      ValueError,
      r"num_samples\[1\] is -1",
    ),
    (lambda: models.island_coalescent(3), TypeError, "num_samples is 3"),
    (
      lambda: models.isolation_with_migration([1, 1, 1]),
      ValueError,
      "num_samples has 3 entries: it must have two",
    ),
    (lambda: models.busy_period(0), ValueError, "capacity is 0"),
    (lambda: models.busy_period(1, 0), ValueError, "servers is 0"),
    (lambda: models.tandem_queue("1"), TypeError, "capacity is '1'"),
    (lambda: models.machine_repair(1, -1), ValueError, "repairers is -1"),
    (lambda: models.birth_death(3, 2), ValueError, "maximum is 2: .* least 3"),
  )
  def test_refused(self, make, error, message):
    with self.assertRaisesRegex(error, message):
      make()


if __name__ == "__main__":
  absltest.main()
