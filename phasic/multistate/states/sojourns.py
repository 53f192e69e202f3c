"""Phases for times in a state that are nearly Weibull or gamma."""

from __future__ import annotations

import math

import numpy as onp

from phasic import distributions
from phasic import inference
from phasic.internal import raw_arguments

# The shapes whose phases are at most 20, and whose rates do not differ by
# many powers of ten.
_WEIBULL, _GAMMA = (0.2, 4.5), (0.05, 20.0)


def weibull(
  concentration: float,
) -> distributions.AcyclicPhaseType | distributions.Erlang:
  """Returns a phase-type distribution like a Weibull distribution, of mean one.

  It has the first three moments of the Weibull distribution, with as few phases
  as have them: two for a concentration of at most 1.1, four for 1.5, five for
  2, ten for 3 and twenty for 4.5. Its density is not that of the Weibull
  distribution; that of an acyclic chain is smoother.

  Args:
    concentration: the shape k, from 0.2 to 4.5; the hazard is a multiple of
      t^(k - 1).

  Raises:
    TypeError: the concentration is not a number.
    ValueError: it is out of range.

  Example: the hazard of death rises with the time since the onset.

    >>> from phasic import multistate
    >>> dist = multistate.weibull(2.0)
    >>> print(f"{float(dist.mean()):.4f} {float(dist.variance()):.4f}")
    1.0000 0.2732
    >>> rates = multistate.Intensities(
    ...   {"well": ["ill"], "ill": ["dead"]}, sojourns={"ill": dist}
    ... )
    >>> rates.rates
    ('well -> ill', 'ill -> dead')

  References:
    A. Bobbio, A. Horvath, M. Telek, Matching three moments with minimal acyclic
      phase type distributions, Stoch. Models 21, 2005.
  """
  k = _checked(concentration, _WEIBULL)
  first = math.lgamma(1.0 + 1.0 / k)
  second = math.exp(math.lgamma(1.0 + 2.0 / k) - 2.0 * first)
  third = math.exp(math.lgamma(1.0 + 3.0 / k) - 3.0 * first)
  return inference.match_moments(1.0, second, third)


def gamma(
  concentration: float,
) -> distributions.AcyclicPhaseType | distributions.Erlang:
  """Returns a phase-type distribution like a gamma distribution, of mean one.

  It has the first three moments of the gamma distribution, with as few phases
  as have them: the least number that is not below the concentration, or two. A
  whole concentration gives an Erlang distribution, which is exact.

  Args:
    concentration: the shape, from 0.05 to 20.

  Raises:
    TypeError: the concentration is not a number.
    ValueError: it is out of range.

  Example:

    >>> from phasic import multistate
    >>> dist = multistate.gamma(2.5)
    >>> print(f"{float(dist.mean()):.4f} {float(dist.variance()):.4f}")
    1.0000 0.4000
    >>> type(multistate.gamma(3.0)).__name__
    'Erlang'

  References:
    A. Bobbio, A. Horvath, M. Telek, Matching three moments with minimal acyclic
      phase type distributions, Stoch. Models 21, 2005.
  """
  k = _checked(concentration, _GAMMA)
  second = (k + 1.0) / k
  return inference.match_moments(1.0, second, second * (k + 2.0) / k)


def _checked(concentration: float, ends: tuple[float, float]) -> float:
  """Returns a shape; raises unless it is a number between two ends."""
  known = onp.asarray(concentration)
  if known.dtype.kind not in "iuf" or known.shape:
    raise TypeError(
      f"concentration is {raw_arguments.shown(concentration)}: it must be a number"
    )
  k = float(known)
  if not ends[0] <= k <= ends[1]:
    raise ValueError(
      f"concentration is {k:g}: it must be from {ends[0]:g} to {ends[1]:g}; "
      "inference.match_moments makes chains of more phases, and any phase-type "
      "distribution is taken in its place"
    )
  return k
