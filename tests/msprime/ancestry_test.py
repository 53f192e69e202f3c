"""Exact values against simulations of msprime, of 100,000 genealogies each.

`make test-msprime` runs it, on the wheel. Units are those of
docs/population-genetics.md: a pair of lineages merges at rate 1 / size, each
lineage migrates and recombines at the rates that are given. msprime has the same
units with `ploidy=1`, as its times are in generations and a pair in a population
of N haploids merges at rate 1 / N; two things are different:

- A `BetaCoalescent` of N haploids takes G = m^alpha N^(alpha-1) / (alpha
  B(2 - alpha, alpha)) generations until a pair merges, with m = 1 + 2^(1-alpha) /
  (alpha - 1), says its documentation. `beta_rates` has G as the unit of time.
- A `DiracCoalescent` has pairs that merge at rate 1, too, and events at rate c in
  which each lineage takes part with probability psi: c psi^2 times `psi_rates`,
  which give a pair that is alone the rate 1, are added to the rates of psi = 0.
  Its times are in units of N^2 generations; here N is 1.

Migration rates of msprime are those of lineages back in time, as ours. Two sites
of a sequence of length 2 recombine at the rate of one site, and only in lineages
that are ancestral to both. Statistics are of branches: tskit's diversity and
divergence are twice the mean time of a pair.
"""

from concurrent import futures
import math
import unittest

import msprime
import numpy as np

from phasic.substrates import numpy as ph

models = ph.graphs.models
_REPLICATES = 100_000
_PARTS = 20  # of the replicates, for several processes
_BOUND = 4.0  # standard errors


def _spectrum_and_age(trees):
  spectrum = trees.allele_frequency_spectrum(
    mode="branch",
    polarised=True,  # codespell:ignore polarised
  )
  # The last node is the oldest one.
  return [*spectrum[1:-1], trees.nodes_time[-1]]


def _of_pairs(trees):
  """Returns diversities of two populations, their divergence, and the age."""
  pairs = trees.divergence(
    [trees.samples(population=0), trees.samples(population=1)],
    indexes=[(0, 0), (1, 1), (0, 1)],
    mode="branch",
  )
  return [*pairs, trees.nodes_time[-1]]


def _joint_spectrum(trees):
  """Returns the joint spectrum of two populations, one row after the other."""
  found = trees.allele_frequency_spectrum(
    [trees.samples(population=0), trees.samples(population=1)],
    mode="branch",
    polarised=True,  # codespell:ignore polarised
  )
  # No branch is above none of the samples, or above all of them.
  return np.ravel(found)[1:-1]


def _of_sizes(trees):
  return [*_spectrum_and_age(trees), trees.diversity(mode="branch")]


def _of_two_loci(trees):
  ages = [tree.time(tree.root) for tree in (trees.at(0), trees.at(1))]
  return [*ages, ages[0] * ages[1]]


def _simulated(statistics, seed, options):
  """Returns the statistics of some replicates."""
  replicates = msprime.sim_ancestry(
    num_replicates=_REPLICATES // _PARTS,
    ploidy=1,
    random_seed=seed,
    record_provenance=False,
    **options,
  )
  return np.array([statistics(trees) for trees in replicates])


def _lengths_and_age(blocks):
  """Returns rewards of the states that count blocks of 1, ..., n samples."""
  rewards = np.asarray(blocks.states, float)
  rewards[:, -1] = 1.0  # Before the end there is no block of all samples.
  return rewards


def _two_populations(sizes, forth=0.0, back=0.0):
  demography = msprime.Demography()
  for name, size in zip("AB", sizes, strict=True):
    demography.add_population(name=name, initial_size=size)
  demography.set_migration_rate("A", "B", forth)
  demography.set_migration_rate("B", "A", back)
  return demography


class AncestryTest(unittest.TestCase):
  """Tests means of simulated statistics."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.pool = cls.enterClassContext(futures.ProcessPoolExecutor())

  def _check(self, exact, statistics, **options):
    parts = [
      self.pool.submit(_simulated, statistics, seed, options)
      for seed in range(1, _PARTS + 1)
    ]
    found = np.concatenate([part.result() for part in parts])
    self._check_means(exact, found)
    return found

  def _check_means(self, exact, found):
    error = found.std(axis=0) / math.sqrt(len(found))
    z = (found.mean(axis=0) - np.asarray(exact)) / error
    print(f"{self.id().split('.')[-1]}: {np.round(z, 2)} standard errors")
    self.assertLess(np.abs(z).max(), _BOUND)

  def _check_sizes(self, lineages, sizes, times):
    """Checks spectrum, age and diversity, and the products of the first two."""

    def history(graph):
      rates = [[1.0 / size] for size in sizes]
      return ph.distributions.Epochs(graph, rates, np.array(times))

    tree, blocks = models.kingman(lineages), models.block_counting(lineages)
    times_of_lineages = history(tree).expected_sojourn_times()
    demography = msprime.Demography.isolated_model([sizes[0]])
    for time, size in zip(times, sizes[1:], strict=True):
      demography.add_population_parameters_change(time, initial_size=size)
    found = self._check(
      [
        *models.kingman_spectrum(times_of_lineages),
        history(tree).mean(),
        2.0 * history(models.kingman(2)).mean(),
      ],
      _of_sizes,
      samples=lineages,
      demography=demography,
    )[:, :-1]
    joint = ph.distributions.MultivariateEpochs(
      history(blocks), _lengths_and_age(blocks)
    )
    products = joint.covariance() + np.multiply.outer(*[joint.mean()] * 2)
    some = np.triu_indices(lineages)
    self._check_means(products[some], found[:, some[0]] * found[:, some[1]])

  def test_constant_size(self):
    self._check_sizes(5, [2.0], [])

  def test_growth_by_epochs(self):
    self._check_sizes(5, [4.0, 2.0, 1.0, 0.5], [0.2, 0.7, 1.5])

  def test_bottleneck(self):
    self._check_sizes(4, [1.0, 0.05, 1.5], [0.3, 0.35])

  def _ages(self, history):
    """Returns expected values of `_of_pairs` for two samples of each."""
    pairs = [2.0 * history(start).mean() for start in ([2, 0], [0, 2], [1, 1])]
    return [*pairs, history([2, 2]).mean()]

  def _check_two_populations(self, sizes, forth, back):
    def history(start):
      rates = [*(1.0 / np.array(sizes)), forth, back]
      graph = models.structured_coalescent(start)
      return ph.distributions.PhaseType.from_graph(graph, rates)

    self._check(
      self._ages(history),
      _of_pairs,
      samples={"A": 2, "B": 2},
      demography=_two_populations(sizes, forth, back),
    )

  def test_two_sizes_with_migration(self):
    self._check_two_populations([0.5, 3.0], 0.4, 0.4)

  def test_asymmetric_migration(self):
    self._check_two_populations([1.0, 1.0], 0.2, 1.5)

  def test_split_of_two_populations(self):
    sizes, time = [1.0, 0.5, 2.0], 0.7

    def history(start):
      recent = models.structured_coalescent(start)
      ancestral = models.structured_coalescent([sum(start)])
      rates = [[1.0 / sizes[0], 1.0 / sizes[1], 0.0, 0.0], [1.0 / sizes[2]]]
      return ph.distributions.Epochs(
        [recent, ancestral], rates, [time], [models.merge_demes(2, 1)]
      )

    demography = _two_populations(sizes[:2])
    demography.add_population(name="C", initial_size=sizes[2])
    demography.add_population_split(time, derived=["A", "B"], ancestral="C")
    self._check(
      self._ages(history),
      _of_pairs,
      samples={"A": 2, "B": 2},
      demography=demography,
    )

  def test_joint_spectrum_of_a_split(self):
    sizes, time, samples = [1.0, 0.5, 2.0], 0.7, [3, 2]
    parts = [models.joint_block_counting(samples, k) for k in (2, 1)]
    rates = [[1.0 / sizes[0], 1.0 / sizes[1], 0.3, 0.6], [1.0 / sizes[2]]]
    history = ph.distributions.Epochs(
      parts, rates, [time], [models.merge_demes(2, 1)]
    )
    lengths = ph.distributions.MultivariateEpochs(
      history, [models.joint_spectrum_rewards(graph) for graph in parts]
    )
    demography = _two_populations(sizes[:2], 0.3, 0.6)
    demography.add_population(name="C", initial_size=sizes[2])
    demography.add_population_split(time, derived=["A", "B"], ancestral="C")
    self._check(
      lengths.mean()[1:-1],
      _joint_spectrum,
      samples=dict(zip("AB", samples, strict=True)),
      demography=demography,
    )

  def test_islands(self):
    islands, migration = 3, 0.3

    def age(start):
      graph = models.island_coalescent(start)
      return ph.distributions.PhaseType.from_graph(
        graph, {"coalescence": 1.0, "migration": migration}
      ).mean()

    self._check(
      [
        *(2.0 * age(pair) for pair in ([2, 0, 0], [0, 2, 0], [1, 1, 0])),
        age([2, 2, 0]),
      ],
      _of_pairs,
      samples={0: 2, 1: 2},
      demography=msprime.Demography.island_model([1.0] * islands, migration),
    )

  def _check_mergers(self, graph, rates, unit, **options):
    lengths = ph.distributions.MultivariatePhaseType.from_graph(
      graph, edge_values=rates, rewards=_lengths_and_age(graph)
    )
    self._check(unit * lengths.mean(), _spectrum_and_age, samples=5, **options)

  def test_beta_coalescent(self):
    graph, size = models.lambda_block_counting(5), 3.0
    for alpha in (1.25, 1.7):
      with self.subTest(alpha=alpha):
        log_beta = math.lgamma(2.0 - alpha) + math.lgamma(alpha)
        m = 1.0 + 2.0 ** (1.0 - alpha) / (alpha - 1.0)
        unit = m**alpha * size ** (alpha - 1.0) / alpha / math.exp(log_beta)
        rates = models.beta_rates(graph, alpha)
        self._check_mergers(
          graph,
          rates,
          unit,
          population_size=size,
          model=msprime.BetaCoalescent(alpha=alpha),
        )

  def test_dirac_coalescent(self):
    graph = models.lambda_block_counting(5)
    psi, c = 0.6, 5.0
    rates = models.psi_rates(graph, 0.0)
    rates = rates + c * psi**2 * models.psi_rates(graph, psi)
    self._check_mergers(
      graph,
      rates,
      1.0,
      population_size=1.0,
      model=msprime.DiracCoalescent(psi=psi, c=c),
    )

  def test_two_loci(self):
    graph = models.two_locus_coalescent(3)
    recombination = 0.8
    rewards = [[float(a + c > 0), float(b + c > 0)] for a, b, c in graph.states]
    joint = ph.distributions.MultivariatePhaseType.from_graph(
      graph, {"coalescence": 1.0, "recombination": recombination}, rewards
    )
    means = joint.mean()
    second = joint.covariance()[0, 1] + means[0] * means[1]
    self._check(
      [*means, second],
      _of_two_loci,
      samples=3,
      sequence_length=2,
      recombination_rate=recombination,
      population_size=1.0,
    )


if __name__ == "__main__":
  unittest.main()
