"""Observations: as events of a chain, or by the methods of a distribution."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from phasic.internal.arrays import Array, Tree
from phasic.math.model.model_types import Model
from phasic.math.numeric import special


class HasModel(Protocol):
  """A distribution of the time until a chain's absorption."""

  @property
  def _DISCRETE(self) -> bool:
    """Whether time is discrete."""
    ...

  def _model(self) -> Model:
    """Returns the chain's checked initial masses, rates, exits, mass at zero."""
    ...

  def _model_of_data(self) -> Model:
    """Returns the chain, with NaN for masses that do not sum to one."""
    ...

  def _linear_chain(self) -> tuple[Tree, float]:
    """Returns the chain for the E-step, and its absorption time minus X."""
    ...


class ChainEvents(NamedTuple):
  """Observations of a distribution, as events of a chain's absorption time Y.

  The log likelihood of an observation is

      log P(lower < Y <= upper) - log P(given_lower < Y <= given_upper) + offset

  where pairs of ends are as those of `Observations`: equal ones are an exact
  time, and stand for the density.

  Attributes:
    chain: the distribution of Y, with a batch of shape (..., 1) or ().
    lower: (..., n).
    upper: (..., n); None where all are exact, and nothing is given.
    given: the ends of what the observations are conditional on, (..., n) or
      (..., 1); None where that is certain.
    offset: (..., n), what does not depend on the chain: logarithms of slopes,
      -inf of what cannot be, NaN of what is not known; or None.
    is_cut: whether values above `given` are outside the support, and were not
      only not seen yet.
  """

  chain: HasModel
  lower: Array
  upper: Tree
  given: tuple[Array, Array] | None
  offset: Array | None
  is_cut: bool = False

  @property
  def model(self) -> Model:
    """The chain's initial masses, rates, exits and mass at zero, for data."""
    return self.chain._model_of_data()

  @property
  def is_discrete(self) -> bool:
    """Whether the chain is in discrete time."""
    return self.chain._DISCRETE


def entered(
  chain: HasModel, lower: Array, upper: Array | None, entry: Array | None
) -> ChainEvents:
  """Returns a chain's events for observations with delayed entry."""
  if entry is None:
    return ChainEvents(chain, lower, upper, None, None)
  upper = lower if upper is None else upper
  forever = np.zeros_like(entry) + math.inf
  within, upper, offset = cut(lower, upper, entry, upper)
  return ChainEvents(chain, within, upper, (entry, forever), offset)


def cut(
  lower: Array, upper: Array, after: Array, until: Array
) -> tuple[Array, Array, Array]:
  """Intersects observations with (after, until]; empty ones have offset -inf.

  Where a bound is NaN the ends are NaN, and so are derivatives.
  """
  exact = lower == upper
  start, end = np.maximum(lower, after), np.minimum(upper, until)
  possible = np.where(exact, (lower > after) & (upper <= until), start < end)
  unknown = np.isnan(start) | np.isnan(end)
  # An empty intersection gets placeholder ends, and the offset -inf.
  start = np.where(exact, lower, start)
  end = np.where(exact, upper, end)
  start = np.where(possible, start, -1.0)
  end = np.where(possible, end, math.inf)
  offset = np.where(possible | unknown, np.zeros_like(start), -math.inf)
  start = np.where(unknown, math.nan, start)
  return start, np.where(unknown, math.nan, end), offset


def log_likelihood_terms(
  distribution: Any,
  lower: Array,
  upper: Array,
  entry: Array | None,
) -> Array:
  """Computes log P(observation | X > entry), (..., n), from cdf and density.

  Unless the distribution computes it itself, the mass of an interval is a
  difference, P(X > l) - P(X > u) or P(X <= u) - P(X <= l), whichever is the
  smaller pair: its relative error is some eps times min(P(X > l), P(X <= u)) /
  P(l < X <= u).
  """
  if entry is None:
    return _unconditional(distribution, lower, upper)
  lower, upper, offset = cut(lower, upper, entry, upper)
  found = _unconditional(distribution, lower, upper) + offset
  return special.log_conditional(
    found, distribution._log_survival_function(entry)
  )


def with_causes(
  distribution: Any,
  lower: Array,
  upper: Array,
  entry: Array | None,
  cause: Array,
) -> Array:
  """Computes log P(observation, cause | X > entry), an array (..., n).

  Args:
    distribution: one that has causes, and no chain.
    lower: (..., n), as all the others.
    upper: those of right-censored observations with a cause give NaN.
    entry: or None.
    cause: the number of the cause, -1 where it is not known.
  """
  distribution = distribution._for_one_call()
  causes = distribution._causes()
  assert causes is not None  # The caller knows that there are causes.
  known = (cause < 0) | ((upper < math.inf) & (cause < len(causes)))
  shift = np.zeros_like(lower)
  if entry is not None:
    lower, upper, shift = cut(lower, upper, entry, upper)
    shift = special.log_conditional(
      shift, distribution._log_survival_function(entry)
    )
  found = _unconditional(distribution, lower, upper)
  # The product with NaN makes derivatives NaN too, which a selection would not.
  found = found * np.where(known, np.ones_like(found), math.nan)
  for number, name in enumerate(causes):
    # Observations of other causes are replaced by an event that is certain.
    own = known & (cause == number)
    value = distribution._log_observed_by(
      np.where(own, lower, -1.0), np.where(own, upper, math.inf), name
    )
    found = np.where(own, value, found)
  return found + shift


def _unconditional(distribution: Any, lower: Array, upper: Array) -> Array:
  """Computes log P(observation), (..., n), without delayed entry."""
  distribution = distribution._for_one_call()
  own = distribution._log_observed(lower, upper)
  if own is not None:
    return own * np.where(upper >= lower, np.ones_like(own), math.nan)
  exact, right = lower == upper, upper == math.inf
  left = np.logical_not(exact) & np.logical_not(right) & (lower < 0)
  between = np.logical_not(exact) & np.logical_not(right) & np.logical_not(left)
  # Times that are not selected below are replaced by a time at which all
  # functions are finite.
  ordinary = np.where(right, lower, upper)
  ordinary = np.where((ordinary > 0) & (ordinary < math.inf), ordinary, 1.0)
  log_prob = distribution._log_prob(np.where(exact, lower, ordinary))
  start = np.where(right | between, lower, ordinary)
  end = np.where(left | between, upper, ordinary)
  alive = distribution._log_survival_function(start)
  ended = distribution._log_cdf(end)
  found = np.where(exact, log_prob, np.where(right, alive, ended))
  later = np.where(between, upper, ordinary)
  begun = between & (lower > 0)
  mass = special.log_interval_mass(
    between,
    lower == 0,
    (alive, distribution._log_survival_function(later)),
    (distribution._log_cdf(np.where(begun, lower, ordinary)), ended),
    distribution._cdf(np.zeros_like(ordinary)),
  )
  found = np.where(between, mass, found)
  # The product with NaN makes derivatives NaN too, which a selection would not.
  return found * np.where(upper >= lower, np.ones_like(found), math.nan)
