"""Rows of PhaseGen.

A coalescent is made with a population size of its own in each call, as in a
fit. PhaseGen has no way to keep a state space when the size changes, so it
makes the state space again each time, compiled by Numba. Its settings are those
that it comes with; with them it takes closed forms and a smaller state space
where there are such. `by_blocks` switches the latter off.
"""

import itertools

import numpy as np
import phasegen


def _coalescents(lineages):
  def make():
    # Rates are divided by the population size.
    size = phasegen.Demography(pop_sizes=1.0 / next(rates))
    return phasegen.Coalescent(n=lineages, demography=size)

  rates = (1.0 + 1e-7 * k for k in itertools.count())
  return make


def age_mean(lineages):
  make = _coalescents(lineages)
  return lambda: make().tree_height.mean


def age_cdf(lineages, times):
  make, times = _coalescents(lineages), np.array(times)
  return lambda: make().tree_height.cdf(times)


def age_density(lineages, times):
  make, times = _coalescents(lineages), np.array(times)
  return lambda: make().tree_height.pdf(times)


def spectrum_mean(lineages):
  make = _coalescents(lineages)
  # The first and the last entry are those of no and of all samples.
  return lambda: make().sfs.mean.data[1:-1]


def spectrum_mean_by_blocks(lineages):
  make = _coalescents(lineages)

  def call():
    phasegen.Settings.flatten_block_counting = False
    try:
      return make().sfs.mean.data[1:-1]
    finally:
      phasegen.Settings.flatten_block_counting = True

  return call


def spectrum_covariance(lineages):
  make = _coalescents(lineages)
  return lambda: make().sfs.cov.data[1:-1, 1:-1]
