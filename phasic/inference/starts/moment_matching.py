"""Acyclic phase-type distributions with given moments."""

from __future__ import annotations

import math
from typing import SupportsFloat

import numpy as onp

from phasic.distributions.families import acyclic_phase_type
from phasic.distributions.families import series
from phasic.inference.parameters.host_values import number
from phasic.inference.parameters.host_values import whole_number
from phasic.internal.arrays import Integer

# The limit on the number of phases if `num_phases` is not given.
_MOST_PHASES = 1000
# The limit on normalized moments: fourth powers of larger moments overflow.
_LARGEST_RATIO = 1e60
# Numbers below this are subnormal, and have fewer digits.
_TINY = float(onp.finfo(onp.float64).tiny)
# The tolerated relative error of the moments.
_TOLERANCE = 1e-9

# A chain of a single phase and an Erlang: the probability that its first part
# is not skipped, the rate of the single phase, the rate of the Erlang phases,
# and whether the single phase comes first.
_Phases = tuple[float, float, float, bool]


def match_moments(
  mean: SupportsFloat,
  second: SupportsFloat,
  third: SupportsFloat | None = None,
  *,
  num_phases: Integer | None = None,
) -> acyclic_phase_type.AcyclicPhaseType | series.Erlang:
  """Returns an acyclic phase-type distribution with given raw moments.

  It has as few phases as the moments allow: with two of them n phases for a
  squared coefficient of variation of at least 1 / n, with three those of the
  bounds of Bobbio, Horvath and Telek. The form is theirs: an Erlang
  distribution that may be skipped, before or after one more phase.

  Args:
    mean: E X > 0.
    second: E X^2 > (E X)^2.
    third: E X^3, or None.
    num_phases: the number of phases; None for the least that is enough.

  Returns:
    An `AcyclicPhaseType`, or an `Erlang` where it is one.

  Raises:
    TypeError: an argument is not a number, or num_phases is not whole.
    ValueError: no distribution has these moments, none of so many phases, or
      none that numbers of this precision can tell.

  Example:

    >>> from phasic import inference
    >>> dist = inference.match_moments(2.0, 7.0, 40.0)
    >>> print([f"{float(dist.moment(k)):.6f}" for k in (1, 2, 3)])
    ['2.000000', '7.000000', '40.000000']

  References:
    M. Telek, A. Heindl, Matching moments for acyclic discrete and continuous
      phase-type distributions of second order, Int. J. Simulation 3, 2002.
    A. Bobbio, A. Horvath, M. Telek, Matching three moments with minimal acyclic
      phase type distributions, Stoch. Models 21, 2005.
  """
  for name, x in (("mean", mean), ("second", second), ("third", third)):
    if (x is not None or name != "third") and not (
      0.0 < number(name, x) < math.inf
    ):
      raise ValueError(
        f"{name} is {x}: moments of times must be > 0 and finite"
      )
  if num_phases is not None:
    num_phases = whole_number("num_phases", num_phases, 1)
  mean, second = float(mean), float(second)
  divisors = {"mean": mean} | ({} if third is None else {"second": second})
  for name, moment in divisors.items():
    # These products are the denominators of the normalized moments.
    if not _TINY <= moment * mean < math.inf:
      raise ValueError(
        f"{name} is {moment:g}: its product with the mean, {mean:g}, must be a "
        "normal floating-point number; give the times in another unit"
      )
  n2 = second / (mean * mean)
  if not 1.0 < n2 < _LARGEST_RATIO:
    raise ValueError(
      f"second is {second:g}: it must be above the square of the mean, "
      f"{mean * mean:g}, and below {_LARGEST_RATIO:g} times that"
    )
  if third is None:
    return _match_two(mean, n2, num_phases)
  n3 = float(third) / (mean * second)
  if not n2 < n3 < _LARGEST_RATIO:
    raise ValueError(
      f"third is {float(third):g}: it must be above second^2 / mean, "
      f"{second / mean * second:g}, and below {_LARGEST_RATIO:g} times "
      f"mean * second, {mean * second:g}"
    )
  if _is_erlang(n2, n3):
    return _match_two(mean, n2, num_phases)
  if num_phases is None:
    sizes = range(2, _MOST_PHASES + 1)
    fits = [n for n in sizes if _is_possible(n2, n3, n)][:1]
  else:
    fits = [num_phases] if _is_possible(n2, n3, num_phases) else []
  if not fits:
    count = _MOST_PHASES if num_phases is None else num_phases
    raise ValueError(
      f"no acyclic phase-type distribution of {count} phases has these three "
      f"moments, {mean:g}, {second:g} and {third:g}: match two of them, or take "
      "more phases"
    )
  return _match_three(mean, n2, n3, fits[0])


def _match_two(
  mean: float, n2: float, num_phases: int | None
) -> acyclic_phase_type.AcyclicPhaseType | series.Erlang:
  """Returns a chain with a given mean and normalized second moment."""
  squared_cv = n2 - 1.0
  least = max(math.ceil((1.0 / squared_cv) * (1.0 - 1e-12)), 1)
  n = least if num_phases is None else num_phases
  if n < least:
    raise ValueError(
      f"num_phases is {n}: it must be at least {least} for the squared "
      f"coefficient of variation {squared_cv:g}"
    )
  if n > _MOST_PHASES:
    raise ValueError(
      f"the chain for the squared coefficient of variation {squared_cv:g} has "
      f"{n} phases: it must have at most {_MOST_PHASES}"
    )
  if abs(squared_cv * n - 1.0) <= 1e-12:
    return series.Erlang(n, n / mean)
  n = max(n, 2)
  # The chain starts in its first phase with probability p, else in its last.
  p = 1.0 / (squared_cv + 1.0 + (squared_cv - 1.0) / (n - 1))
  rate = p * n / mean
  return _sorted_form(
    [p] + [0.0] * (n - 2) + [1.0 - p], [rate] * (n - 1) + [n / mean]
  )


def _is_erlang(n2: float, n3: float) -> bool:
  """Returns whether normalized moments are those of an Erlang distribution."""
  n = round(1.0 / (n2 - 1.0))
  if n < 1:
    return False
  near = abs(n2 - (n + 1.0) / n) <= 1e-12 * n2
  return near and abs(n3 - (n + 2.0) / n) <= 1e-12 * n3


def _is_possible(n2: float, n3: float, n: int) -> bool:
  """Returns whether n phases can have these normalized moments (table 1)."""
  if n < 2 or n2 < (n + 1.0) / n:
    return False
  lowest = (n + 1.0) / n * n2
  if n2 < (n + 4.0) / (n + 1.0):
    root = math.sqrt(max(4.0 + 4.0 * n - 3.0 * n * n2, 0.0))
    p = (n + 1.0) * (n2 - 2.0) / (3.0 * n2 * (n - 1.0))
    p = p * (-2.0 * math.sqrt(n + 1.0) / root - 1.0)
    inner = max(p * p + p * n * (n2 - 2.0) / (n - 1.0), 0.0)
    a = (n2 - 2.0) / (p * (1.0 - n2) + math.sqrt(inner))
    lowest = ((3.0 + a) * (n - 1.0) + 2.0 * a) / ((n - 1.0) * (1.0 + a * p))
    lowest = lowest - 2.0 * a * (n + 1.0) / (
      2.0 * (n - 1.0) + a * p * (n * a + 2.0 * n - 2.0)
    )
  highest = math.inf
  if n2 <= n / (n - 1.0):
    root = math.sqrt(max(1.0 + n * (n2 - 2.0) / (n - 1.0), 0.0))
    highest = 2.0 * (n - 2.0) * (n * n2 - n - 1.0) * root
    highest = highest + (n + 2.0) * (3.0 * n * n2 - 2.0 * n - 2.0)
    highest = highest / (n * n * n2)
  rounding = 1e-12 * n3
  return lowest - rounding <= n3 <= highest + rounding


def _match_three(
  mean: float, n2: float, n3: float, n: int
) -> acyclic_phase_type.AcyclicPhaseType:
  """Returns a chain of n phases with a mean and two normalized moments."""
  chains = [
    (min(max(p, 0.0), 1.0), single, others, is_first)
    for p, single, others, is_first in _after(n2, n3, n) + _before(n2, n3, n)
    if -1e-12 <= p <= 1 + 1e-12
    and 0 < single < math.inf
    and 0 < others < math.inf
  ]
  errors = [_error(*chain, n, (1.0, n2, n2 * n3)) for chain in chains]
  near = [i for i, error in enumerate(errors) if error <= _TOLERANCE]
  if not near:
    raise ValueError(
      f"the three moments are too near the limits of {n} phases to be "
      "matched: match two of them, or set num_phases to one more"
    )
  p, single, others, is_first = chains[min(near, key=lambda i: errors[i])]
  single, others = single / mean, others / mean
  if is_first:
    masses = [p, 1.0 - p] + [0.0] * (n - 2)
    return _sorted_form(masses, [single] + [others] * (n - 1))
  masses = [p] + [0.0] * (n - 2) + [1.0 - p]
  return _sorted_form(masses, [others] * (n - 1) + [single])


def _after(n2: float, n3: float, n: int) -> list[_Phases]:
  """Returns chains with mean one: a skippable Erlang, then a single phase."""
  inner = 12.0 * n2 * n2 * (n + 1.0) + 16.0 * n3 * (n + 1.0)
  inner = inner + n2 * (n * (n3 - 15.0) * (n3 + 1.0) - 8.0 * (n3 + 3.0))
  if inner < 0:
    return []
  below = n2 * (4.0 + n - n * n3) + math.sqrt(n * n2) * math.sqrt(inner)
  try:
    b = 2.0 * (4.0 - n * (3.0 * n2 - 4.0)) / below
    a = (b * n2 - 2.0) * (n - 1.0) * b / ((b - 1.0) * n)
    p = (b - 1.0) / a
    single = p * a + 1.0
    return [(p, single, (n - 1.0) * single / a, False)]
  except ZeroDivisionError:
    return []


def _before(n2: float, n3: float, n: int) -> list[_Phases]:
  """Returns chains with mean one: a skippable phase, then an Erlang."""
  c4 = n2 * (3.0 * n2 - 2.0 * n3) * (n - 1.0) ** 2
  c3 = 2.0 * n2 * (n3 - 3.0) * (n - 1.0) ** 2
  c2 = 6.0 * (n - 1.0) * (n - n2)
  c1 = 4.0 * n * (2.0 - n)
  c0 = n * (n - 2.0)
  chains = []
  for root in onp.roots([c4, c3, c2, c1, c0]):
    f = float(onp.real(root))
    if abs(float(onp.imag(root))) > 1e-6 * (1.0 + abs(f)):
      continue
    below = (n - 1.0) * (n2 * f * f - 2.0 * f + 2.0) - n
    if below == 0:
      continue
    a = 2.0 * (f - 1.0) * (n - 1.0) / below
    p = (f - 1.0) * a
    single = a + p
    if single <= 0 or p / single >= 1:
      continue
    chains.append((p, single, (n - 1.0) / (1.0 - p / single), True))
  return chains


def _error(
  p: float,
  single: float,
  others: float,
  is_first: bool,
  n: int,
  wanted: tuple[float, float, float],
) -> float:
  """Computes the largest relative error of three moments.

  The time is the sum of an exponential time and an Erlang time with n - 1
  stages. The first of them is skipped with probability 1 - p.
  """
  k = n - 1.0
  one: tuple[float, ...] = (1.0, 1.0 / single, 2.0 / single**2, 6.0 / single**3)
  many = (
    1.0,
    k / others,
    k * (k + 1.0) / others**2,
    k * (k + 1.0) * (k + 2.0) / others**3,
  )
  sure: tuple[float, ...]
  sure, skipped = (many, one) if is_first else (one, many)
  skipped = (1.0, *(p * x for x in skipped[1:]))
  moments = (
    sure[1] + skipped[1],
    sure[2] + 2.0 * sure[1] * skipped[1] + skipped[2],
    sure[3] + 3.0 * (sure[2] * skipped[1] + sure[1] * skipped[2]) + skipped[3],
  )
  return max(abs(x / y - 1.0) for x, y in zip(moments, wanted, strict=True))


def _sorted_form(
  masses: list[float], rates: list[float]
) -> acyclic_phase_type.AcyclicPhaseType:
  """Returns the distribution of phases in series, in canonical form CF1.

  Its form is canonical: rates ascend.
  """
  chain = acyclic_phase_type.AcyclicPhaseType(
    onp.asarray(masses), onp.asarray(rates)
  )
  if sorted(rates) == rates:
    return chain
  return acyclic_phase_type.AcyclicPhaseType.from_phase_type(chain)
