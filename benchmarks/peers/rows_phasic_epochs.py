"""Rows of phasic in NumPy for a population that changed in size.

Graphs are kept, and each call has sizes of its own, as in a fit. Ages and mean
spectra need the numbers of lineages alone, covariances the block counts. Fits are
of the time of one change and of the size before it, by SciPy's L-BFGS-B with exact
gradients in the logarithms of both.
"""

import histories
import numpy as np

from phasic.substrates import numpy as ph

_models = ph.graphs.models


def _epochs(graph):
  scales = histories.scales()
  rates, changes = 1.0 / np.array(histories.SIZES), np.array(histories.CHANGES)
  return lambda: ph.distributions.Epochs(
    graph, (rates / next(scales))[:, None], changes
  )


def age_mean(lineages):
  make = _epochs(_models.kingman(lineages))
  return lambda: make().mean()


def age_cdf(lineages, times):
  make, times = _epochs(_models.kingman(lineages)), np.array(times)
  return lambda: make().cdf(times)


def age_density(lineages, times):
  make, times = _epochs(_models.kingman(lineages)), np.array(times)
  return lambda: make().prob(times)


def spectrum_mean(lineages):
  make = _epochs(_models.kingman(lineages))
  return lambda: _models.kingman_spectrum(make().expected_sojourn_times())


def spectrum_covariance(lineages):
  graph = _models.block_counting(lineages)
  make = _epochs(graph)
  # Entry i counts the branches that i + 1 samples descend from.
  rewards = np.array(graph.states, float)[:, :-1]
  return lambda: ph.distributions.MultivariateEpochs(
    make(), rewards
  ).covariance()


def _fit(counts, starts):
  tree, observed = _models.kingman(len(counts) + 1), np.array(counts, float)

  def log_likelihood(logs):
    change, rate = np.exp(logs[:1]), np.exp(-logs[1:])
    history = ph.distributions.Epochs(tree, [np.ones(1), rate], change)
    lengths = _models.kingman_spectrum(history.expected_sojourn_times())
    return _models.spectrum_log_likelihood(observed, lengths)

  return histories.fits(
    lambda logs: ph.math.value_and_gradient(log_likelihood, logs),
    counts,
    starts,
  )


def fit(counts):
  return _fit(counts, 1)


def fit_from_ten_starts(counts):
  return _fit(counts, 10)
