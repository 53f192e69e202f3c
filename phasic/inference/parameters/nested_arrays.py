"""The arrays of a distribution and of distributions it wraps, by path.

The path of an array is its name, with the prefix "distribution." for each level
of wrapping.
"""

from __future__ import annotations

from collections.abc import Mapping

from phasic.distributions.base import structure
from phasic.inference.parameters.distribution_types import Distribution
from phasic.inference.parameters.distribution_types import DistributionT
from phasic.internal import user_warnings

_WITHIN = "distribution"


def owners(distribution: Distribution) -> list[tuple[str, Distribution]]:
  """Returns a distribution and all that it wraps, each with its path."""
  found, path = [("", distribution)], ""
  while _WITHIN in distribution.parameters:
    distribution = distribution.parameters[_WITHIN]
    path += f"{_WITHIN}."
    found.append((path, distribution))
  return found


def arrays_of(distribution: Distribution) -> dict[str, object]:
  """Returns a dict of all array parameters, by path."""
  return {
    f"{path}{name}": structure.array_of(owner.parameters[name])
    for path, owner in owners(distribution)
    for name in owner.parameter_properties()
  }


def with_arrays(
  distribution: DistributionT, arrays: Mapping[str, object], **options: object
) -> DistributionT:
  """Replaces arrays of a distribution and of distributions that it wraps.

  Args:
    distribution: the distribution.
    arrays: by their paths.
    **options: arguments of all distributions whose arrays are replaced.
  """
  prefix = f"{_WITHIN}."
  own: dict[str, object] = {}
  within: dict[str, object] = {}
  for path, x in arrays.items():
    if path.startswith(prefix):
      within[path.removeprefix(prefix)] = x
    else:
      own[path] = structure.with_array(distribution.parameters.get(path), x)
  if within:
    inner = distribution.parameters[_WITHIN]
    own[_WITHIN] = with_arrays(inner, within, **options)
  with user_warnings.derived():
    return distribution.copy(**own, **options)
