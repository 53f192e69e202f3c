"""Rows of phasic in JAX for a population that changed in size.

What a call computes is compiled once, by `jit`; sizes and times are arguments.
Fits are those of `rows_phasic_epochs.py`.
"""

import histories
import jax
import jax.numpy as jnp
import numpy as np

from phasic.substrates import jax as ph

_models = ph.graphs.models


def _lengths(tree, rates, changes):
  history = ph.distributions.Epochs(tree, rates, changes)
  return _models.kingman_spectrum(history.expected_sojourn_times())


def spectrum_mean(lineages):
  tree, scales = _models.kingman(lineages), histories.scales()
  rates, changes = 1.0 / np.array(histories.SIZES), np.array(histories.CHANGES)

  @jax.jit
  def compiled(rates, changes):
    return _lengths(tree, rates[:, None], changes)

  return lambda: jax.block_until_ready(compiled(rates / next(scales), changes))


def _fit(counts, starts):
  tree, observed = _models.kingman(len(counts) + 1), np.array(counts, float)

  @jax.jit
  @jax.value_and_grad
  def compiled(logs):
    change, rate = jnp.exp(logs[:1]), jnp.exp(-logs[1:])
    lengths = _lengths(tree, [jnp.ones(1), rate], change)
    return _models.spectrum_log_likelihood(observed, lengths)

  return histories.fits(compiled, counts, starts)


def fit(counts):
  return _fit(counts, 1)


def fit_from_ten_starts(counts):
  return _fit(counts, 10)
