"""Quantiles of distributions with epochs: a search within each stage."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_values
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.numeric import special
from phasic.math.quantiles import quantiles

# The log of a placeholder probability, for quantiles in other stages.
_SOME = math.log(0.25)


def quantile(stages: Sequence[epoch_stages.Stage], u: Array) -> Array:
  """Computes the quantile of a probability, see `quantile_of_both`."""
  return quantile_of_both(stages, *special.log_both(u))


def quantile_log_survival(
  stages: Sequence[epoch_stages.Stage], log_survival: Array
) -> Array:
  """Computes the time t with log P(X > t) as given."""
  log_cdf = special.log1mexp(log_survival)
  return quantile_of_both(stages, log_cdf, log_survival)


def quantile_log_cdf(
  stages: Sequence[epoch_stages.Stage], log_cdf: Array
) -> Array:
  """Computes the time t with log P(X <= t) as given."""
  return quantile_of_both(stages, log_cdf, special.log1mexp(log_cdf))


def quantile_of_both(
  stages: Sequence[epoch_stages.Stage], log_cdf: Array, log_survival: Array
) -> Array:
  """Computes inf{t: F(t) >= u}; NaN where underflowed mass may change it.

  It is computed from the one of F and S = 1 - F that is below one half. In a
  stage they are

      F(t) = F(b) + m F_k(t - b),   S(t) = m S_k(t - b),

  with b its start and m the mass that reaches it.

  Args:
    stages: the stages.
    log_cdf: log u, (...).
    log_survival: log (1 - u), (...).
  """
  left = log_cdf < math.log(0.5)
  before = np.zeros_like(stages[0].log_mass) - float("inf")
  result = before
  for k, stage in enumerate(stages):
    below, above = log_cdf > before, log_survival < stage.log_mass
    later = (below & left) | (above & np.logical_not(left))
    if k == 0:
      later = later | True
    some = later & left & (before > -float("inf"))
    gone = np.where(some, before, -1.0) - np.where(some, log_cdf, 0.0)
    own = np.where(some, special.log1mexp(gone), 0.0)
    own = log_cdf + own - stage.log_mass
    own = np.where(later & left, own, _SOME)
    rest = np.where(
      later & np.logical_not(left), log_survival - stage.log_mass, _SOME
    )
    found = stage.start + np.where(
      left,
      epoch_values.of_stage(quantiles.quantile_log_cdf, stage, own),
      epoch_values.of_stage(quantiles.quantile_log_survival, stage, rest),
    )
    if k > 0:
      # Rounding must not move an earlier stage's quantile beyond the start of
      # this one. A quantile at this start is NaN if the stage's mass is NaN.
      unknown = np.isnan(stage.log_mass) & (result >= stage.start)
      early = np.where(unknown, math.nan, np.minimum(result, stage.start))
      found = np.where(later, found, early)
    if stage.log_lost is not None:
      p = static.shape(stage.initial)[-1]
      eps = static.finfo_eps(static.dtype_name(stage.log_mass))
      hidden = log_survival < stage.log_lost + math.log(p / eps)
      found = np.where(later & hidden & np.logical_not(left), math.nan, found)
    result = found
    if stage.length is not None:
      ended = epoch_values.of_kind("log_cdf", stage, stage.length)
      before = special.logaddexp(before, stage.log_mass + ended)
  return result
