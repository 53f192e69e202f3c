"""Joint site frequency spectra of several populations."""

import itertools
import math
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic.graphs.models import model_checks
from tests.helpers import test_case

models = graphs.models

# Rates of mergers in two demes, and of migration from each to the other.
_RATES = (1.5, 0.4, 0.3, 0.8)


def _spectrum(samples, rates, demes=None):
  graph = models.joint_block_counting(samples, demes)
  lengths = pd.MultivariatePhaseType.from_graph(
    graph, list(rates), models.joint_spectrum_rewards(graph)
  )
  return lengths.mean()


def _of_labels(samples, rates):
  """Computes expected lengths by sets of samples, each lineage by itself."""
  demes, sizes = range(len(samples)), [n + 1 for n in samples]
  merge, move = rates[: len(samples)], {}
  for k, pair in enumerate(itertools.permutations(demes, 2)):
    move[pair] = rates[len(samples) + k]
  labels = [(i, k) for i in demes for k in range(samples[i])]
  start = frozenset((frozenset([x]), x[0]) for x in labels)
  places, edges, todo = {start: 0}, [], [start]
  while todo:
    state = todo.pop()
    steps = []
    for one, other in itertools.combinations(state, 2):
      if one[1] == other[1]:
        both = (one[0] | other[0], one[1])
        steps.append(((state - {one, other}) | {both}, merge[one[1]]))
    for lineage in state:
      for j in demes:
        if j != lineage[1]:
          moved = (state - {lineage}) | {(lineage[0], j)}
          steps.append((moved, move[lineage[1], j]))
    for target, rate in steps:
      if len(target) > 1 and target not in places:
        places[target] = len(places)
        todo.append(target)
      edges.append((places[state], places.get(target), rate))
  system = onp.zeros((len(places), len(places)))
  for source, target, rate in edges:
    system[source, source] += rate
    if target is not None:
      system[source, target] -= rate
  times = onp.linalg.solve(system.T, onp.eye(len(places))[0])
  found = onp.zeros(sizes)
  for state, place in places.items():
    for below, _ in state:
      number = tuple(sum(x[0] == i for x in below) for i in demes)
      found[number] += times[place]
  return found


def _pairs(spectrum, samples):
  """Computes divergence and the first population's diversity."""
  i, j = onp.meshgrid(*(onp.arange(n + 1) / n for n in samples), indexing="ij")
  n = samples[0]
  between = i * (1.0 - j) + j * (1.0 - i)
  within = 2.0 * i * (1.0 - i) * n / (n - 1)
  return onp.sum(spectrum * between), onp.sum(spectrum * within)


class JointModelsTest(test_case.TestCase):
  """Tests joint spectra against labeled samples, and closed forms."""

  @parameterized.parameters((1, 1), (2, 1), (2, 2), (0, 3))
  def test_labeled_samples(self, *samples):
    found = self.host(_spectrum(samples, _RATES))
    exact = _of_labels(samples, _RATES)
    self.assert_close(found.reshape(exact.shape), exact, 1e-12, 1e-15)

  def test_three_populations(self):
    rates = [1.0, 2.0, 0.5, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    found = self.host(_spectrum([1, 1, 1], rates))
    exact = _of_labels([1, 1, 1], rates)
    self.assert_close(found.reshape(2, 2, 2), exact, 1e-12, 1e-15)

  def test_two_samples_on_islands(self):
    # The mean age of a pair on two islands is 2 + 1 / (2 m).
    found = _spectrum([1, 1], [1.0, 1.0, 0.25, 0.25])
    self.assert_close(found, [0.0, 4.0, 4.0, 0.0], 1e-14)

  @parameterized.parameters((3, 2), (1, 4))
  def test_one_deme(self, *samples):
    # The samples of one population are labeled at random.
    n = sum(samples)
    exact = onp.zeros([size + 1 for size in samples])
    for i, j in itertools.product(*map(range, exact.shape)):
      if 0 < i + j < n:
        ways = math.comb(samples[0], i) * math.comb(samples[1], j)
        exact[i, j] = 2.0 / (i + j) * ways / math.comb(n, i + j)
    found = self.host(_spectrum(samples, [1.0], 1)).reshape(exact.shape)
    self.assert_close(found, exact, 1e-13, 1e-16)
    # With fast migration two demes of half of the size are one population.
    fast = self.host(_spectrum(samples, [2.0, 2.0, 1e8, 1e8]))
    self.assert_close(fast.reshape(exact.shape), exact, 1e-6, 1e-12)

  def test_one_population(self):
    blocks = models.block_counting(5)
    rewards = [state[:-1] for state in blocks.states]
    one = pd.MultivariatePhaseType.from_graph(blocks, [0.5], rewards)
    found = self.host(_spectrum([5], [0.5]))
    self.assert_close(found[1:-1], one.mean(), 1e-13)
    self.assert_close(found[[0, -1]], onp.zeros(2))

  def test_split(self):
    # Diversity and divergence are twice the mean times of pairs.
    samples, time = [3, 2], 0.7
    parts = [models.joint_block_counting(samples, k) for k in (2, 1)]
    params, joined = [list(_RATES), [0.6]], models.merge_demes(2, 1)
    history = pd.Epochs(parts, params, [time], [joined])
    lengths = pd.MultivariateEpochs(
      history, [models.joint_spectrum_rewards(graph) for graph in parts]
    )
    spectrum = self.host(lengths.mean()).reshape(4, 3)
    pairs = []
    for start in ([1, 1], [2, 0], [3, 2]):
      ages = [
        models.structured_coalescent(start),
        models.structured_coalescent([sum(start)]),
      ]
      pairs.append(self.host(pd.Epochs(ages, params, [time], [joined]).mean()))
    between, within = _pairs(spectrum, samples)
    self.assert_close(between, 2.0 * pairs[0], 1e-12)
    self.assert_close(within, 2.0 * pairs[1], 1e-12)
    self.assert_close(history.mean(), pairs[2], 1e-12)

  @parameterized.parameters(
    ((1, 1), None), ((2, 2), None), ((3, 3), None), ((3, 2), 1), ((2, 1), 3)
  )
  def test_number_of_states(self, samples, demes):
    graph = models.joint_block_counting(samples, demes)
    self.assertEqual(graph.num_phases, len(set(graph.states)))
    states = graph.num_phases
    with self.assertRaisesRegex(ValueError, f"pass max_states={states}"):
      models.joint_block_counting(samples, demes, max_states=states - 1)
    with mock.patch.object(model_checks, "check_num_states") as check:
      models.joint_block_counting(samples, demes, max_states=states)
    # Edges are found one by one while the states are explored.
    self.assertEqual(check.call_args.args[1:3], (states, graph.num_edges))

  @parameterized.parameters(
    ((100, 100),), ((1000, 1000),), ((2,) * 8,), ((1, 1, 1, 40),)
  )
  def test_states_are_not_counted_far_beyond_the_limit(self, *samples):
    with self.assertRaisesRegex(ValueError, "has at least [0-9]+ states"):
      models.joint_block_counting(*samples)

  def test_mistakes(self):
    with self.assertRaisesRegex(ValueError, "num_samples is .1,."):
      models.joint_block_counting([1])
    with self.assertRaisesRegex(ValueError, "num_demes is 0"):
      models.joint_block_counting([1, 1], 0)
    with self.assertRaisesRegex(ValueError, "num_demes is 10: there must"):
      models.joint_block_counting([1] * 10)
    with self.assertRaisesRegex(ValueError, "made by joint_block_counting"):
      models.joint_spectrum_rewards(models.kingman(3))
    with self.assertRaisesRegex(ValueError, "made by joint_block_counting"):
      models.joint_spectrum_rewards(models.structured_coalescent([2, 1]))
    with self.assertRaisesRegex(TypeError, "graph is list"):
      models.joint_spectrum_rewards([1])


if __name__ == "__main__":
  absltest.main()
