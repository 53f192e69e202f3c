"""Rows of phasic in NumPy.

A graph is kept, and a distribution is made of it with a rate of its own in each
call, as in a fit; rows that end in `built` make the graph, too. `moments` calls
the methods of a distribution, `moments_by_functions` functions of `math`. Mean
spectra need the numbers of lineages alone; `by_blocks` goes by block counts.
"""

import itertools

import kingman
import numpy as np

from phasic.substrates import numpy as ph

_ABSORBED = ph.graphs.ABSORBED
# A general model of three phases: that of a gamma distribution.
_START = np.array([1.0, 0.0, 0.0])
_SUBGENERATOR = np.array([[-2.0, 2.0, 0.0], [0.0, -2.0, 2.0], [0.0, 0.0, -2.0]])


def _graph(lineages):
  def transitions(counts):
    for merged, pairs in kingman.transitions(counts):
      target = _ABSORBED if sum(merged) == 1 else merged
      yield target, {"coalescence": pairs}

  return ph.graphs.Graph.from_transitions(
    transitions, kingman.initial(lineages), params=("coalescence",)
  )


def _rates():
  return ({"coalescence": 1.0 + 1e-7 * k} for k in itertools.count())


def _distributions(graph):
  rates = _rates()
  return lambda: ph.distributions.PhaseType.from_graph(
    graph, params=next(rates)
  )


def build(lineages):
  return lambda: _graph(lineages), lambda: [_graph(lineages).num_phases]


def density(lineages, times):
  make, times = _distributions(_graph(lineages)), np.array(times)
  return lambda: make().prob(times)


def cdf(lineages, times):
  make, times = _distributions(_graph(lineages)), np.array(times)
  return lambda: make().cdf(times)


def density_again(lineages, times):
  dist, times = _distributions(_graph(lineages))(), np.array(times)
  return lambda: dist.prob(times)


def moments(lineages):
  make = _distributions(_graph(lineages))

  def call():
    dist = make()
    return [dist.mean(), dist.variance()]

  return call


def moments_by_functions(lineages):
  graph, rates = _graph(lineages), _rates()
  initial_probs = graph.initial_probs()

  def call():
    edges = graph.edge_weights(next(rates))
    return [
      ph.math.phase_type.mean(initial_probs, edges),
      ph.math.phase_type.variance(initial_probs, edges),
    ]

  return call


def samples(lineages):
  dist = _distributions(_graph(lineages))()
  seeds = itertools.count()

  def values():
    drawn = dist.sample(20_000, seed=next(seeds))
    return [np.mean(drawn), np.std(drawn)]

  return lambda: dist.sample(1000, seed=next(seeds)), values


def age_mean(lineages):
  make = _distributions(ph.graphs.models.kingman(lineages))
  return lambda: make().mean()


def age_cdf(lineages, times):
  make = _distributions(ph.graphs.models.kingman(lineages))
  times = np.array(times)
  return lambda: make().cdf(times)


def age_density(lineages, times):
  make = _distributions(ph.graphs.models.kingman(lineages))
  times = np.array(times)
  return lambda: make().prob(times)


def _spectra(lineages):
  graph = ph.graphs.models.block_counting(lineages)
  # Entry i counts the branches that i + 1 samples descend from.
  rewards = np.array(graph.states, float)[:, :-1]
  rates = _rates()
  return lambda: ph.distributions.MultivariatePhaseType.from_graph(
    graph, rewards=rewards, params=next(rates)
  )


def _mean_spectra(lineages):
  make = _distributions(ph.graphs.models.kingman(lineages))
  return lambda: ph.graphs.models.kingman_spectrum(
    make().expected_sojourn_times()
  )


def spectrum_mean(lineages):
  return _mean_spectra(lineages)


def spectrum_mean_built(lineages):
  return lambda: _mean_spectra(lineages)()


def spectrum_mean_by_blocks(lineages):
  make = _spectra(lineages)
  return lambda: make().mean()


def spectrum_mean_by_blocks_built(lineages):
  return lambda: _spectra(lineages)().mean()


def spectrum_covariance(lineages):
  make = _spectra(lineages)
  return lambda: make().covariance()


def spectrum_covariance_built(lineages):
  return lambda: _spectra(lineages)().covariance()


def small_log_prob(times):
  times = np.array(times)
  return lambda: ph.distributions.PhaseType(_START, _SUBGENERATOR).log_prob(
    times
  )


def small_mean():
  return lambda: ph.distributions.PhaseType(_START, _SUBGENERATOR).mean()


def small_quantile():
  return lambda: ph.distributions.PhaseType(_START, _SUBGENERATOR).quantile(0.9)


def many_quantiles(lineages, count):
  dist = _distributions(_graph(lineages))()
  probs = (np.arange(count) + 0.5) / count
  return lambda: dist.quantile(probs), lambda: probs


def many_cdf_values(lineages, count):
  dist = _distributions(_graph(lineages))()
  times = dist.quantile((np.arange(count) + 0.5) / count)
  return lambda: dist.cdf(times)
