"""Reasons why the log likelihood of an observation is NaN."""

from __future__ import annotations

import math

import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import nan_reasons
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.math.model import value_rules


def warn(
  distribution: distribution_lib.Distribution,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
  terms: Array,
) -> None:
  """Warns of the first observation with a log likelihood of NaN.

  It does not warn of NaN that parameters or times had, nor of parameters that
  were warned of before.

  Args:
    distribution: the distribution.
    lower: (..., n), lower ends as `Observations` has them.
    upper: upper ends, or None where all are exact.
    entry: times of entry, or None.
    terms: their log likelihoods, (..., n).
  """
  if not user_warnings.warns_of_nan() or nan_reasons.has_bad_parameters(
    distribution
  ):
    return
  ends = [None if x is None else static.at_hand(x) for x in (upper, entry)]
  first, results = static.at_hand(lower), static.at_hand(terms)
  if first is None or results is None:
    return
  shape = onp.shape(results)
  missing = onp.isnan(results) & onp.logical_not(onp.isnan(first))
  for x in ends:
    missing = missing if x is None else missing & onp.logical_not(onp.isnan(x))
  if not onp.any(missing):
    return
  index, where = value_rules.first_place(missing)
  values = [
    None if x is None else float(onp.broadcast_to(x, shape)[index])
    for x in (first, *ends)
  ]
  low, high, since = values
  assert low is not None  # There is always a lower end.
  high = low if high is None else high
  why = onp.broadcast_to(_reason(distribution, low, high, since), shape[:-1])
  late = "" if since is None or since < 0 else f", entered at {since:g}"
  user_warnings.warn(
    f"the log likelihood of observation {where}, from {low:g} to {high:g}{late}, "
    f"is NaN: {why[index[:-1]]}"
  )


def reason(
  distribution: distribution_lib.Distribution,
  lower: float,
  upper: float,
  entry: float | None,
) -> str:
  """Returns why the log likelihood of one observation is NaN.

  Args:
    distribution: one without a batch.
    lower: its lower end, as `Observations` has it.
    upper: its upper end.
    entry: the time of entry, or None.
  """
  return str(_reason(distribution, lower, upper, entry))


def _reason(
  distribution: distribution_lib.Distribution,
  lower: float,
  upper: float,
  entry: float | None,
) -> onp.ndarray:
  """Returns the reason for each distribution of a batch."""
  if lower == upper:
    calls = [(lower, "log_prob")]
  elif upper == math.inf:
    calls = [(lower, "log_survival_function")]
  elif lower < 0:
    calls = [(upper, "log_cdf")]
  else:
    calls = [(x, "log_survival_function") for x in (lower, upper)]
  if entry is not None and entry >= 0:
    calls.append((entry, "log_survival_function"))
  reasons = onp.asarray("ok")
  for value, method in calls:
    try:
      why = nan_reasons.of_density(distribution, value, method)
    except NotImplementedError:
      continue
    reasons = onp.where(reasons == "ok", why, reasons)
  rest = (
    "too few digits would be left, memory did not suffice, or all observations "
    "together need more work than the work limit; "
    "config.set_work_limit(seconds) raises it, and diagnose(value, method) gives "
    "the reasons of probabilities"
  )
  return onp.where(reasons == "ok", rest, reasons)
