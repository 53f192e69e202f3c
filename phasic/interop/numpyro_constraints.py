"""NumPyro's constraints of parameters and supports."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp
import numpyro.distributions as numpyro_distributions
from numpyro.distributions import constraints

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import supports
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.interop import latent_times


class _Ascending(type(constraints.positive_ordered_vector)):  # type: ignore[misc]
  """NumPyro's constraint of positive ascending vectors; ties are valid."""

  def __call__(self, x: Array) -> Array:
    """Returns whether each vector is positive and ascending."""
    rising = np.all(x[..., 1:] >= x[..., :-1], axis=-1)
    return rising & np.all(x > 0, axis=-1)


@numpyro_distributions.biject_to.register(_Ascending)
def _biject_to_ascending(
  constraint: object,
) -> numpyro_distributions.transforms.Transform:
  return numpyro_distributions.biject_to(constraints.positive_ordered_vector)


_ASCENDING = _Ascending()


class _TimesWithAtom(constraints.Constraint):
  """The support of a law that may have an atom at zero.

  It has the values of a law without an atom, but samplers get no bijector onto
  it where there is one.
  """

  def __init__(
    self,
    support: constraints.Constraint,
    distribution: distribution_lib.Distribution,
  ):
    self.support = support
    self.distribution = distribution

  def __call__(self, x: Array) -> Array:
    """Returns whether each value is in the support."""
    return self.support(x)

  def __repr__(self) -> str:
    return repr(self.support)

  def feasible_like(self, prototype: Array) -> Array:
    """Returns a value in the support with the prototype's shape and dtype."""
    return self.support.feasible_like(prototype)

  def eq(self, other: object, static: bool = False) -> ArrayLike:
    """Returns whether another constraint is of the same values."""
    return isinstance(other, type(self)) and self.support.eq(
      other.support, static
    )

  def tree_flatten(self) -> tuple[object, object]:
    """Returns the children of the pytree, and their names."""
    names = ("support", "distribution")
    return (self.support, self.distribution), (names, {})


@numpyro_distributions.biject_to.register(_TimesWithAtom)
def _biject_to_times(
  constraint: _TimesWithAtom,
) -> numpyro_distributions.transforms.Transform:
  latent_times.check(constraint.distribution)
  return numpyro_distributions.biject_to(constraint.support)


def parameter_constraint(
  properties: parameter_properties.ParameterProperties,
) -> constraints.Constraint:
  """Returns NumPyro's constraint for an array parameter."""
  constraint, rank = properties.constraint, properties.event_ndims
  if constraint.numpyro == "ascending":
    return _ASCENDING
  if constraint.numpyro is not None:
    named = getattr(constraints, constraint.numpyro)
    each = rank == 0 or constraint.is_whole
    return named if each else constraints.independent(named, rank)
  return constraints.dependent(is_discrete=False, event_dim=rank)


def distribution_constraint(
  distribution: distribution_lib.Distribution,
) -> constraints.Constraint:
  """Returns NumPyro's constraint for the support of a distribution."""
  support = _support_constraint(distribution.support)
  if latent_times.may_have_atom(distribution):
    return _TimesWithAtom(support, distribution)
  return support


def _support_constraint(support: supports.Support) -> constraints.Constraint:
  """Returns NumPyro's constraint for a support."""
  low, high = support.low, support.high
  known = None if high is None else static.concrete(high)
  # A traced bound is assumed to be finite.
  if known is not None and not onp.any(known < math.inf):
    high = None
  if support.constraint == "nonnegative_integer":
    constraint = constraints.nonnegative_integer
    if low is not None and high is not None:
      constraint = constraints.integer_interval(low, high)
  elif low is None:
    constraint = constraints.nonnegative
  elif high is None:
    constraint = constraints.greater_than(low)
  else:
    constraint = constraints.interval(low, high)
  if support.event_ndims:
    return constraints.independent(constraint, support.event_ndims)
  return constraint
