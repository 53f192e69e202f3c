"""Rows of PhaseGen for a population that changed in size.

Each call has sizes of its own, as in a fit. Fits are of the time of one change
and of the size before it, by PhaseGen's class for inference: it has exact
gradients of the loss, keeps the state space, and calls SciPy's L-BFGS-B. `fit`
has one start and logarithms of the parameters, which is what was fastest.
`fit_from_ten_starts` has the defaults: ten starts, no logarithms.
"""

import logging

import histories
import numpy as np
import phasegen

# Otherwise it reports each fit.
logging.getLogger("phasegen").setLevel(logging.ERROR)


def _population(changes, sizes):
  epochs = dict(zip((0.0, *changes), sizes, strict=True))
  return phasegen.Demography(pop_sizes={"pop_0": epochs})


def _coalescents(lineages):
  def make():
    scale = next(scales)
    sizes = [scale * size for size in histories.SIZES]
    return phasegen.Coalescent(
      n=lineages, demography=_population(histories.CHANGES, sizes)
    )

  scales = histories.scales()
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


def spectrum_covariance(lineages):
  make = _coalescents(lineages)
  return lambda: make().sfs.cov.data[1:-1, 1:-1]


def _fit(counts, **options):
  def call():
    first = next(scales)
    inference = phasegen.Inference(
      bounds=dict(
        zip(
          ("time", "size"),
          zip(histories.LOWER, histories.UPPER, strict=True),
          strict=True,
        )
      ),
      x0={"time": first, "size": first},
      observation=phasegen.SFS([0, *counts, 0]),
      coal=lambda time, size: phasegen.Coalescent(
        n=len(counts) + 1, demography=_population([time], [1.0, size])
      ),
      loss=lambda coalescent, observed: likelihood.compute(
        observed.polymorphic, coalescent.sfs.mean.polymorphic
      ),
      pbar=False,
      seed=1,
      **options,
    )
    inference.run()
    return inference.loss_inferred

  scales, likelihood = histories.scales(), phasegen.MultinomialLikelihood()
  return call


def fit(counts):
  return _fit(counts, n_runs=1, log_scale=True)


def fit_from_ten_starts(counts):
  return _fit(counts)
