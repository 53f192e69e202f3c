"""Probabilities of intervals, from survival functions and cdfs at the ends."""

from __future__ import annotations

import numpy as np

from phasic.internal.arrays import Array
from phasic.math.numeric import special


def log_mass(
  counts: Array,
  at_zero: Array,
  log_survival: tuple[Array, Array],
  log_cdf: tuple[Array, Array],
  atom: Array,
) -> Array:
  """Computes log P(l < X <= u) from survival functions or cdfs.

  The result is log(P(X > l) - P(X > u)) or log(P(X <= u) - P(X <= l)): the
  smaller pair loses fewer digits. Masked entries are finite placeholders with
  zero derivatives.

  Args:
    counts: (...), whether the entry is used; all other entries are masked.
    at_zero: (...), whether l is zero; then log P(X <= l), which may be -inf, is
      not read.
    log_survival: log P(X > l) and log P(X > u), (...) each.
    log_cdf: log P(X <= l) and log P(X <= u), (...) each.
    atom: P(X <= 0), (...), read where l is zero.
  """
  early, late = log_survival
  before, until = log_cdf
  by_survival = counts & (early <= until)
  by_cdf = counts & np.logical_not(by_survival) & np.logical_not(at_zero)
  by_atom = counts & np.logical_not(by_survival) & at_zero
  survival_drop = np.where(by_survival, late - early, -1.0)
  cdf_drop = np.where(by_cdf, before - until, -1.0)
  share = np.where(by_atom, atom * np.exp(np.minimum(-until, 700.0)), 0.0)
  below = np.where(by_atom, np.log1p(-share), special.log1mexp(cdf_drop))
  above = early + special.log1mexp(survival_drop)
  return np.where(by_survival, above, until + below)
