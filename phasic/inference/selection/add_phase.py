"""Adds a phase to a Coxian, to start the fit of a larger model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as onp

from phasic.distributions.families import coxian
from phasic.inference.parameters.host_values import host_values

# Smaller rates of a start, also zeros, are raised to this over the mean.
_LEAST = 1e-2
# The rate of a new phase, relative to the largest total rate (fast) or to the
# total rate of the next phase (twin), and the fraction of the new rate that
# leads to absorption.
_FAST = 1.5
_TWIN = 1.3
_LEAVES = 0.05


def add_phase(dist: coxian.Coxian) -> list[coxian.Coxian]:
  """Returns Coxians with one more phase that are close to a given Coxian.

  Each start has a new phase with a small exit rate at one position of the
  chain. The phase is fast, or about as fast as the next one. The best fit from
  these starts improves on the smaller fit, where fits from random starts often
  end below it.

  Args:
    dist: a `Coxian` of p phases, without a batch, with concrete parameters.

  Returns:
    2 p + 1 Coxians.

  Raises:
    TypeError: `dist` is not a `Coxian`, or its parameters are traced.

  Example:

    >>> from phasic import inference
    >>> from phasic.distributions import Coxian
    >>> grown = inference.add_phase(Coxian([1.0], [0.5, 2.0]))
    >>> [dist.num_phases for dist in grown]
    [3, 3, 3, 3, 3]
  """
  properties: Mapping[str, object] = getattr(
    dist, "parameter_properties", dict
  )()
  if tuple(properties) != ("progression_rates", "exit_rates"):
    raise TypeError(f"dist is {type(dist).__name__}: it must be a Coxian")
  onward = host_values("progression_rates", dist.progression_rates)
  exits = host_values("exit_rates", dist.exit_rates)
  p = len(exits)
  least = _LEAST / float(host_values("mean", dist.mean()))
  least = least if least > 0 else _LEAST * float(onp.max(exits))
  onward, exits = onp.maximum(onward, least), onp.maximum(exits, least)
  totals = exits + onp.append(onward, 0.0)
  fast = _FAST * float(onp.max(totals))
  places = [(place, fast) for place in range(p + 1)]
  places += [(place, _TWIN * total) for place, total in enumerate(totals)]
  grown = []
  for place, rate in places:
    more = onp.insert(onward, min(place, p - 1), rate)
    leaving = onp.insert(exits, place, _LEAVES * rate)
    grown.append(
      dist.copy(
        progression_rates=onp.asarray(more, dist.dtype),
        exit_rates=onp.asarray(leaving, dist.dtype),
      )
    )
  return grown


def grown_into(dist: object, smaller: object) -> list[coxian.Coxian]:
  """Returns `add_phase(smaller)` if both are Coxians without zeros, else [].

  Args:
    dist: the start of a fit with one more phase.
    smaller: the best fit of the same family.
  """
  if type(dist) is not coxian.Coxian or type(smaller) is not coxian.Coxian:
    return []
  rates = [dist.progression_rates, dist.exit_rates]
  if any(onp.any(host_values("rates", x) <= 0) for x in rates):
    return []
  return add_phase(smaller) if smaller.num_phases + 1 == dist.num_phases else []
