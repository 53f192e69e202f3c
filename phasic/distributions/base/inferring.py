"""What inference asks of a distribution: events of its chain, its M-step.

A family has the methods; the functions are how other packages ask for them.
"""

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
from phasic.math.maximization import expected_paths

_WITHIN = "distribution"
_T = TypeVar("_T", bound="Inferring")


class Inferring(methods.Methods):
  """What a family that is made of a chain, or has an M-step, says of itself."""

  def _chain_events(
    self, lower: Array, upper: Array | None, entry: Array | None
  ) -> events_lib.ChainEvents | None:
    """Returns what observations say of the chain; None if there is none."""
    del lower, upper, entry
    return None

  def _linear_chain(self) -> tuple[methods.Methods, float]:
    """Returns the chain whose paths EM counts, and how much later it ends."""
    return self, 0.0

  def _maximized(self, paths: expected_paths.ExpectedPaths) -> Self:
    """Returns the likeliest distribution, if paths were as is expected.

    Phases, edges or components that share a parameter share their statistics: a
    rate is a sum of numbers of jumps over a sum of times in which they could
    come. What no path had a chance to do keeps its value, and what is zero stays
    zero.
    """
    del paths
    raise TypeError(
      f"dist is {type(self).__name__}: EM has no M-step for it; fit_mle fits "
      "whatever has a log likelihood"
    )

  def _held(self) -> tuple[str, ...]:
    """Returns the parameters that the M-step keeps, by their paths."""
    return ()

  def _maximizes_on_host(self) -> bool:
    """Whether the M-step needs the values of what the E-step found."""
    return False


def chain_events(
  distribution: Inferring,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
) -> events_lib.ChainEvents | None:
  """Returns what observations say of a distribution's chain.

  Args:
    distribution: with a batch of shape (..., 1) or ().
    lower: (..., n), as all the others.
    upper: (..., n), or None where all are exact.
    entry: (..., n), or None.

  Returns:
    `ChainEvents`, or None if it is made of no chain.
  """
  return distribution._chain_events(lower, upper, entry)


def log_likelihood_terms(
  distribution: fallbacks.Fallbacks,
  lower: Array,
  upper: Array,
  entry: Array | None,
) -> Array:
  """Returns log P(observation | X > entry), (..., n), where there is no chain."""
  return observed_values.log_likelihood_terms(distribution, lower, upper, entry)


def linear_chain(chain: Inferring) -> tuple[methods.Methods, float]:
  """Returns the chain whose paths EM counts, and how much later it ends."""
  return chain._linear_chain()


def maximized(distribution: _T, paths: expected_paths.ExpectedPaths) -> _T:
  """Returns the distribution of its family that the M-step makes.

  Args:
    distribution: that of the E-step.
    paths: what its E-step returned.

  Raises:
    TypeError: there is no M-step for its family.
  """
  with user_warnings.derived():
    return distribution._maximized(paths)


def check_has_maximum(distribution: Any) -> None:
  """Raises TypeError where there is no M-step for a distribution's family."""
  if type(distribution)._maximized is Inferring._maximized:
    distribution._maximized(None)
  within = distribution.parameters.get(_WITHIN)
  if within is not None:
    check_has_maximum(within)


def held(distribution: Inferring) -> tuple[str, ...]:
  """Returns the parameters that the M-step keeps, by their paths."""
  return distribution._held()


def maximizes_on_host(distribution: Inferring) -> bool:
  """Whether the M-step needs the values of what the E-step found."""
  return distribution._maximizes_on_host()


def arrays(distribution: Any) -> Mapping[str, Any]:
  """Returns array parameters by name, as they are now; None where not given."""
  return distribution._arrays()


def batch_shape(distribution: sampling.Sampling) -> static.Shape:
  """Returns the batch shape, with sizes as arrays where they are not known."""
  return distribution._batch_shape()
