"""The E-step: expected sufficient statistics of a chain's paths, given data.

An observation that is made only where X is in (a, b] also stands for unseen
ones: for each seen observation P(X <= a) / P(a < X <= b) unseen values below a
are expected, and P(X > b) / P(a < X <= b) above b. They complete the data, and
EM maximizes the likelihood of X given a < X <= b.

References:
  S. Asmussen, O. Nerman, M. Olsson, Fitting phase-type distributions via the
    EM algorithm, Scand. J. Statist. 23, 1996.
  M. Olsson, Estimation of phase-type distributions from censored data, Scand.
    J. Statist. 23, 1996.
  A. P. Dempster, N. M. Laird, D. B. Rubin, Maximum likelihood from incomplete
    data via the EM algorithm, J. R. Statist. Soc. B 39, 1977, sec. 4.2.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.distributions.absorption import competing_risks
from phasic.distributions.base import inferring
from phasic.distributions.base import observed_events
from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import chain_statistics
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.m_step import rate_updates


def sufficient_statistics(
  distribution: Distribution, observations: observations_lib.Observations
) -> rate_updates.SufficientStatistics:
  """Computes expected sufficient statistics of a chain, given observations.

  A right-censored path counts up to its censoring. The statistics are NaN where
  an observation with a positive weight is impossible.

  Args:
    distribution: (batch...), a distribution that is made of a chain.
    observations: `Observations`, whose leading axes broadcast with the batch.

  Raises:
    NotImplementedError: the native kernel does not run.
  """
  lower, upper, weights, entry, cause = observations.counting()
  if cause is not None and upper is None:
    upper = lower
  if weights is None:
    weights = np.ones_like(lower)
  own_batch = inferring.batch_shape(distribution)
  batch = static.broadcast_shapes(own_batch, static.shape(lower)[:-1])
  if own_batch:
    distribution = inferring.beside_values(distribution)
  events = inferring.chain_events(distribution, lower, upper, entry)
  assert events is not None  # A family with an M-step has a chain.
  events = _linear(events)
  if events.offset is not None:
    possible = (weights == 0) | (events.offset > -math.inf)
    weights = np.where(possible, weights, math.nan)
  statistics, other_weights = _statistics_by_cause(
    events, weights, cause, batch
  )
  other_weights = np.broadcast_to(
    other_weights, (*batch, static.shape(other_weights)[-1])
  )
  parts = [
    (events.lower, events.upper, other_weights),
    *_unseen(events, weights, batch),
  ]
  lower, upper, weights = (
    _joined(list(arrays), batch) for arrays in zip(*parts, strict=True)
  )
  statistics.append(
    chain_statistics.statistics_of_chain(
      events.model, (lower, upper, weights), batch, events.is_discrete
    )
  )
  return rate_updates.SufficientStatistics._make(
    sum(parts[1:], parts[0]) for parts in zip(*statistics, strict=True)
  )


def _linear(events: observed_events.ChainEvents) -> observed_events.ChainEvents:
  """Replaces the chain by one whose weights are linear in the parameters.

  The negative binomial distribution of failures uses the chain of all trials.
  """
  chain, later = inferring.linear_chain(events.chain)
  if chain is events.chain:
    return events
  given = events.given
  return events._replace(
    chain=chain,
    lower=events.lower + later,
    upper=None if events.upper is None else events.upper + later,
    given=None if given is None else (given[0] + later, given[1] + later),
  )


def _statistics_by_cause(
  events: observed_events.ChainEvents,
  weights: Array,
  cause: Array | None,
  batch: static.Shape,
) -> tuple[list[rate_updates.SufficientStatistics], Array]:
  """Computes statistics for each cause, and weights of other observations."""
  if cause is None:
    return [], weights
  models = competing_risks.models_by_cause(events.chain)
  statistics = []
  for number, model in enumerate(models):
    cause_weights = np.where(cause == number, weights, 0.0)
    data = (events.lower, events.upper, cause_weights)
    given = chain_statistics.statistics_of_chain(
      model, data, batch, events.is_discrete
    )
    # The last phase of the model collects the paths to other causes. It is not
    # a phase of the chain, and is left out.
    statistics.append(
      given._replace(
        starts=given.starts[..., :-1],
        visits=given.visits[..., :-1],
        exits=given.exits[..., :-1],
        stays=given.stays[..., :-1],
      )
    )
  return statistics, np.where(cause < 0, weights, 0.0)


def _unseen(
  events: observed_events.ChainEvents, weights: Array, batch: static.Shape
) -> list[tuple[Array, Array, Array]]:
  """Returns ends of unseen intervals, and expected numbers of values in them.

  Unseen values are below the interval that observations are conditional on or,
  if the support is truncated, above it. Paths to values above count up to the
  end of the interval.
  """
  if events.given is None:
    return []
  low, high = events.given
  before, after = low < 0, high == math.inf
  low_or_one, high_or_one = (
    np.where(before, 1.0, low),
    np.where(after, 1.0, high),
  )
  least, most = np.zeros_like(low) - 1.0, np.zeros_like(high) + math.inf
  parts: list[tuple[tuple[Array, Array], Array]] = [
    ((least, low_or_one), before)
  ]
  if events.is_cut:
    parts.append(((high_or_one, most), after))
  terms = [
    chain_statistics.log_likelihood_terms(
      events.model, *ends, batch, events.is_discrete
    )
    for ends in [(low, high), *(ends for ends, _ in parts)]
  ]
  unseen = []
  for (ends, none), term in zip(parts, terms[1:], strict=True):
    with onp.errstate(over="ignore"):  # At last the parameters are NaN.
      odds = np.exp(term - terms[0])
    odds = np.where(odds < math.inf, odds, math.nan)
    number = np.where(none | (weights == 0), 0.0, weights * odds)
    # An end that all observations share has size one, and is broadcast.
    start, end = (np.broadcast_to(x, static.shape(number)) for x in ends)
    unseen.append((start, end, number))
  return unseen


def _joined(parts: list[Array], batch: static.Shape) -> Array:
  """Concatenates arrays on the last axis, broadcast to a batch."""
  if len(parts) == 1:
    return parts[0]
  wide = [np.broadcast_to(x, (*batch, static.shape(x)[-1])) for x in parts]
  return np.concatenate(wide, axis=-1)
