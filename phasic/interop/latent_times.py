"""Checks that distributions of latent times have no atom at zero.

Samplers move latent times inside of the support, where they never reach zero:
the mass there would be lost without a word.
"""

from __future__ import annotations

import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import inferring
from phasic.distributions.base import samples
from phasic.internal import static

_WAY_OUT = (
  "a latent time must not be zero with positive probability, since samplers "
  "never reach zero; observe it, or write the mixture with a discrete variable "
  "that says whether it is zero"
)


def may_have_atom(distribution: distribution_lib.Distribution) -> bool:
  """Returns whether the parameters of a distribution allow an atom at zero.

  Args:
    distribution: the distribution. The result is False for one of counts or of
      vectors, which has no latent times.
  """
  support = distribution.support
  is_time = support.constraint == "nonnegative" and not support.event_ndims
  return is_time and inferring.may_be_zero(distribution)


def check(distribution: distribution_lib.Distribution) -> None:
  """Raises ValueError if a distribution has an atom at zero.

  A traced distribution counts as one with an atom if its `prob_zero` is given,
  and is not known to be zero.
  """
  if not may_have_atom(distribution):
    return
  name = type(distribution).__name__
  try:
    known = static.concrete(distribution.cdf(0.0))
  except NotImplementedError:
    known = None
  if known is not None:
    if onp.any(known > 0):
      raise ValueError(
        f"distribution is {name}, with an atom of {float(onp.max(known)):.6g} "
        f"at zero: {_WAY_OUT}"
      )
  elif _has_given_mass(distribution):
    raise ValueError(
      f"distribution is {name}, with a traced prob_zero, which may be positive: "
      f"{_WAY_OUT}; if it is zero, leave prob_zero out"
    )


def _has_given_mass(distribution: distribution_lib.Distribution) -> bool:
  """Returns whether a `prob_zero` is given that is not known to be zero."""
  if distribution.reparameterization_type is samples.FULLY_REPARAMETERIZED:
    return False
  for name, value in distribution.parameters.items():
    if isinstance(value, distribution_lib.Distribution):
      if _has_given_mass(value):
        return True
    elif name == "prob_zero" and value is not None:
      known = static.concrete(value)
      if known is None or onp.any(known > 0):
        return True
  return False
