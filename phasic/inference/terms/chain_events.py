"""From observations of a law to events of the chain that it is made of."""

import math
from typing import Any, NamedTuple

import numpy as np

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import atoms
from phasic.distributions.wrapped import transformed_phase_type
from phasic.distributions.wrapped import truncated_phase_type
from phasic.internal import static


class ChainEvents(NamedTuple):
  """What observations say of a chain's time Y until absorption.

  The log likelihood of an observation is

      log P(lower < Y <= upper) - log P(given_lower < Y <= given_upper) + offset

  where pairs of ends are as those of `Observations`: equal ones are an exact
  time, and stand for the density.

  Attributes:
    chain: the law of Y, with a batch of shape (..., 1) or ().
    lower: (..., n).
    upper: (..., n); None where all are exact, and nothing is given.
    given: the ends of what the observations are conditional on, (..., n) or
      (..., 1); None where that is certain.
    offset: (..., n), what does not depend on the chain: logarithms of slopes,
      -inf of what cannot be, NaN of what is not known; or None.
  """

  chain: absorption_time.AbsorptionTime
  lower: Any
  upper: Any
  given: tuple[Any, Any] | None
  offset: Any


def find(distribution: Any, lower: Any, upper: Any, entry: Any) -> Any:
  """Returns the `ChainEvents` of observations, None if there is no chain.

  Args:
    distribution: with a batch of shape (..., 1) or ().
    lower: (..., n), as all the others.
    upper: (..., n), or None where all are exact.
    entry: (..., n), or None.
  """
  if isinstance(distribution, truncated_phase_type.TruncatedPhaseType):
    return _truncated(distribution, lower, upper, entry)
  if isinstance(distribution, transformed_phase_type.TransformedPhaseType):
    return _transformed(distribution, lower, upper, entry)
  if isinstance(distribution, absorption_time.AbsorptionTime):
    return _entered(distribution, lower, upper, entry)
  return None


def _entered(chain: Any, lower: Any, upper: Any, entry: Any) -> ChainEvents:
  """Returns the events of values of a chain that were not seen before entry."""
  if entry is None:
    return ChainEvents(chain, lower, upper, None, None)
  upper = lower if upper is None else upper
  forever = np.zeros_like(entry) + math.inf
  within, upper, offset = cut(lower, upper, entry, upper)
  return ChainEvents(chain, within, upper, (entry, forever), offset)


def _truncated(
  distribution: Any, lower: Any, upper: Any, entry: Any
) -> ChainEvents:
  """Returns the events of a chain whose time is known to be in an interval.

  Where it is known to be late as well the law's own condition cancels.
  """
  _, before, high = distribution._bounds()
  upper = lower if upper is None else upper
  if not static.shape(before):
    before, high = np.reshape(before, (1,)), np.reshape(high, (1,))
  after = before if entry is None else np.maximum(before, entry)
  high = high + np.zeros_like(after)
  lower, upper, offset = cut(lower, upper, after, high)
  return ChainEvents(
    distribution.distribution, lower, upper, (after, high), offset
  )


def _transformed(
  distribution: Any, lower: Any, upper: Any, entry: Any
) -> ChainEvents:
  """Returns the events of X = h(Y), with the slope of h at exact values."""
  x, until, exact = distribution._time(lower), None, True
  if upper is not None:
    exact = lower == upper
    # At infinity h has slopes that no weight of zero would take away.
    last = upper == math.inf
    until = distribution._time(np.where(last, 1.0, upper))
    until = np.where(last, math.inf, until)
    # Ends that become one are not a value that is known.
    until = np.where(exact | (x != until), until, math.nan)
  atom = (lower <= 0) & (atoms.mass_at_zero(distribution.distribution) > 0)
  # There is no slope below zero.
  at = np.where(np.logical_not(atom) & exact, lower, -1.0)
  offset = distribution._sloped(np.zeros_like(x), at, x)
  entry = None if entry is None else distribution._time(entry)
  found = _entered(distribution.distribution, x, until, entry)
  if found.offset is not None:
    offset = offset + found.offset
  return found._replace(offset=offset)


def cut(lower: Any, upper: Any, after: Any, until: Any) -> tuple[Any, Any, Any]:
  """Returns what of observations is in (after, until], and offsets.

  Where that is not known the ends are NaN, and so are derivatives.
  """
  exact = lower == upper
  start, end = np.maximum(lower, after), np.minimum(upper, until)
  possible = np.where(exact, (lower > after) & (upper <= until), start < end)
  unknown = np.isnan(start) | np.isnan(end)
  # Anything, where nothing is left.
  start = np.where(exact, lower, start)
  end = np.where(exact, upper, end)
  start = np.where(possible, start, -1.0)
  end = np.where(possible, end, math.inf)
  offset = np.where(possible | unknown, np.zeros_like(start), -math.inf)
  start = np.where(unknown, math.nan, start)
  return start, np.where(unknown, math.nan, end), offset
