"""The interface of distributions to inference: chain events and the M-step.

A family implements the methods; other packages call the functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from phasic.distributions.base import chain_events as events_lib
from phasic.distributions.base import fallbacks
from phasic.distributions.base import methods
from phasic.distributions.base import observed_values
from phasic.distributions.base import sampling
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.math.m_step import sufficient_statistics

_WITHIN = "distribution"
_T = TypeVar("_T", bound="Inferring")


class Inferring(methods.Methods):
  """Methods of families that are made of a chain or have an M-step."""

  def _chain_events(
    self, lower: Array, upper: Array | None, entry: Array | None
  ) -> events_lib.ChainEvents | None:
    """Maps observations to events of the chain; None if there is no chain."""
    del lower, upper, entry
    return None

  def _linear_chain(self) -> tuple[methods.Methods, float]:
    """Returns the chain of the E-step, and how much later it is absorbed."""
    return self, 0.0

  def _m_step(
    self, statistics: sufficient_statistics.SufficientStatistics
  ) -> Self:
    """Maximizes the expected complete-data log likelihood.

    Phases, edges or components that share a parameter share their statistics: a
    rate is a sum of numbers of jumps, divided by the sum of times at risk.
    Rates without time at risk keep their values, and zeros stay zero.
    """
    del statistics
    raise TypeError(
      f"dist is {type(self).__name__}: EM has no M-step for it; fit_mle fits "
      "any distribution with a log likelihood"
    )

  def _m_step_fixed(self) -> tuple[str, ...]:
    """Returns the parameters that the M-step keeps, by their paths."""
    return ()

  def _m_step_on_host(self) -> bool:
    """Returns whether the M-step needs concrete statistics."""
    return False


def chain_events(
  distribution: Inferring,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
) -> events_lib.ChainEvents | None:
  """Maps observations to events of a distribution's chain.

  Args:
    distribution: with a batch of shape (..., 1) or ().
    lower: (..., n), as all the others.
    upper: (..., n), or None where all are exact.
    entry: (..., n), or None.

  Returns:
    `ChainEvents`, or None if the distribution is not made of a chain.
  """
  return distribution._chain_events(lower, upper, entry)


def log_likelihood_terms(
  distribution: fallbacks.Fallbacks,
  lower: Array,
  upper: Array,
  entry: Array | None,
) -> Array:
  """Computes log P(observation | X > entry), (..., n), without a chain."""
  return observed_values.log_likelihood_terms(distribution, lower, upper, entry)


def linear_chain(chain: Inferring) -> tuple[methods.Methods, float]:
  """Returns the chain of the E-step, and how much later it is absorbed."""
  return chain._linear_chain()


def m_step(
  distribution: _T, statistics: sufficient_statistics.SufficientStatistics
) -> _T:
  """Returns the distribution with the parameters of the M-step.

  Args:
    distribution: the distribution of the E-step.
    statistics: the sufficient statistics of the E-step.

  Raises:
    TypeError: the family has no M-step.
  """
  with user_warnings.derived():
    return distribution._m_step(statistics)


def check_has_m_step(distribution: Any) -> None:
  """Raises TypeError if the family of a distribution has no M-step."""
  if type(distribution)._m_step is Inferring._m_step:
    distribution._m_step(None)
  within = distribution.parameters.get(_WITHIN)
  if within is not None:
    check_has_m_step(within)


def m_step_fixed(distribution: Inferring) -> tuple[str, ...]:
  """Returns the parameters that the M-step keeps, by their paths."""
  return distribution._m_step_fixed()


def m_step_on_host(distribution: Inferring) -> bool:
  """Returns whether the M-step needs concrete statistics."""
  return distribution._m_step_on_host()


def arrays(distribution: Any) -> Mapping[str, Any]:
  """Returns the current array parameters by name; None where not given."""
  return distribution._arrays()


def batch_shape(distribution: sampling.Sampling) -> static.Shape:
  """Returns the batch shape, with sizes as arrays where they are dynamic."""
  return distribution._batch_shape()
