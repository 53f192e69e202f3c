"""The interface of distributions to inference: chain events and M-step.

A family implements the methods; other packages call the functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from phasic.distributions.base import chain_events as events_lib
from phasic.distributions.base import hooks
from phasic.distributions.base import parameterized
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.math.m_step import sufficient_statistics

_WITHIN = "distribution"
_T = TypeVar("_T", bound=hooks.Hooks)


def chain_events(
  distribution: hooks.Hooks,
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


def linear_chain(chain: hooks.Hooks) -> tuple[hooks.Hooks, float]:
  """Returns the chain for the E-step, and its absorption time minus X."""
  return chain._linear_chain()


def m_step(
  distribution: _T, statistics: sufficient_statistics.SufficientStatistics
) -> _T:
  """Returns the distribution after the M-step, given E-step statistics.

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
  if type(distribution)._m_step is hooks.Hooks._m_step:
    distribution._m_step(None)
  within = distribution.parameters.get(_WITHIN)
  if within is not None:
    check_has_m_step(within)


def m_step_fixed(distribution: hooks.Hooks) -> tuple[str, ...]:
  """Returns dotted names of parameters that the M-step leaves unchanged."""
  return distribution._m_step_fixed()


def m_step_on_host(distribution: hooks.Hooks) -> bool:
  """Returns whether the M-step needs concrete values of the statistics."""
  return distribution._m_step_on_host()


def arrays(
  distribution: parameterized.Parameterized,
) -> Mapping[str, ParameterValue]:
  """Returns the current array parameters by name; None for absent ones."""
  return distribution._arrays()


def batch_shape(distribution: hooks.Hooks) -> static.Shape:
  """Returns the batch shape; dynamic sizes are scalar arrays."""
  return distribution._batch_shape()
