"""The choice of the number of phases, and a Coxian with one phase more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NamedTuple, Unpack

import numpy as onp

from phasic.distributions.base import hooks
from phasic.distributions.base.distribution import DistributionT
from phasic.distributions.families import series
from phasic.inference.data import observations as observations_lib
from phasic.inference.mle import mle
from phasic.inference.mle import options as options_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters.host_values import host_values
from phasic.inference.parameters.host_values import whole_number
from phasic.inference.results import fits
from phasic.internal import raw_arguments
from phasic.internal.arrays import Integer

# A rate below this over the mean of the given distribution, such as zero, is
# raised to that value.
_LEAST_RATE = 1e-2
# The rate of a new phase, relative to the largest total rate (fast) or to the
# total rate of the next phase (twin), and the fraction of the new rate that
# leads to absorption.
_FAST = 1.5
_TWIN = 1.3
_LEAVES = 0.05


def add_phase(dist: series.Coxian) -> list[series.Coxian]:
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
  least = _LEAST_RATE / float(host_values("mean", dist.mean()))
  least = least if least > 0 else _LEAST_RATE * float(onp.max(exits))
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


def grown_into(dist: object, smaller: object) -> list[series.Coxian]:
  """Returns `add_phase(smaller)` if both are Coxians without zeros, else [].

  Args:
    dist: the start of a fit with one more phase.
    smaller: the best fit of the same family.
  """
  if type(dist) is not series.Coxian or type(smaller) is not series.Coxian:
    return []
  rates = [dist.progression_rates, dist.exit_rates]
  if any(onp.any(host_values("rates", x) <= 0) for x in rates):
    return []
  return add_phase(smaller) if smaller.num_phases + 1 == dist.num_phases else []


_CRITERIA = ("aic", "bic")


class Choice(NamedTuple, Generic[DistributionT]):
  """Fits with several numbers of phases, and the best one.

  Attributes:
    best: the one with the least criterion.
    fits: all, by their number of phases.
    criterion: "aic" or "bic".
    message: that the best one has the most phases that were tried, else "".

  Example: one stage or two, for times that vary little.

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([1.0, 2.0, 3.0])
    >>> choice = inference.choose_num_phases(
    ...   lambda p: Erlang(p, 1.0), data, (1, 2)
    ... )
    >>> choice.best is choice.fits[2], choice.criterion
    (True, 'bic')
  """

  best: fits.Fit[DistributionT]
  fits: dict[int, fits.Fit[DistributionT]]
  criterion: str
  message: str = ""


def choose_num_phases(
  start: Callable[[int], DistributionT],
  observations: observations_lib.Observations,
  num_phases: Iterable[Integer],
  *,
  criterion: str = "bic",
  **options: Unpack[options_lib.FitOptions],
) -> Choice[DistributionT]:
  """Fits several numbers of phases, and chooses by an information criterion.

  Each fit has the starts of `fit_mle`. The fit of a Coxian also starts from the
  best fit with one phase less, if that was tried, see `add_phase`: its log
  likelihood is not below.

  Args:
    start: takes a number of phases, returns a distribution to start from, such
      as `lambda p: inference.initial_guess(observations, p, "coxian")`.
    observations: the data.
    num_phases: the numbers that are tried.
    criterion: "aic" or "bic", of which the least is best.
    **options: of `fit_mle`.

  Raises:
    TypeError: `start` is not a function, or `num_phases` is not a sequence of
      numbers.
    ValueError: there is no such criterion, no number, or a fit fails.

  Example:

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([0.8, 0.9, 1.1, 1.2, 1.3, 1.0])
    >>> chosen = inference.choose_num_phases(
    ...   lambda p: Erlang(p, 1.0 * p), data, (1, 4, 16, 32, 64)
    ... )
    >>> chosen.best.distribution.concentration
    32

  Reference: K. P. Burnham, D. R. Anderson, Model selection and multimodel
    inference, 2002, ch. 2.
  """
  if not isinstance(criterion, str) or criterion not in _CRITERIA:
    raise ValueError(
      f"criterion is {raw_arguments.shown(criterion)}: it must be in {_CRITERIA}"
    )
  raw_arguments.check_callable("start", start, " of a number of phases")
  entry_blocks.check_sequence("num_phases", num_phases, "whole numbers")
  sizes = [
    whole_number(f"num_phases[{i}]", p, 1) for i, p in enumerate(num_phases)
  ]
  if not sizes:
    raise ValueError("num_phases is empty: it must have at least one number")
  fitted: dict[int, fits.Fit[DistributionT]] = {}
  for p in sorted(set(sizes)):
    dist = start(p)
    hooks.check_distribution(f"start({p})", dist)
    fit = mle.fit_mle(dist, observations, **options)
    smaller = fitted.get(p - 1)
    if smaller is not None:
      grown = grown_into(dist, smaller.distribution)
      if grown:
        from_smaller: options_lib.FitOptions = {
          **options,
          "starts": grown,
          "num_starts": 1,
        }
        again = mle.fit_mle(dist, observations, **from_smaller)
        fit = max(fit, again, key=lambda x: x.log_likelihood)
    fitted[p] = fit
  fitted = {p: fitted[p] for p in sizes}
  best = min(fitted.values(), key=lambda fit: getattr(fit, criterion))
  largest = max(sizes)
  message = ""
  if len(fitted) > 1 and fitted[largest] is best:
    message = (
      f"the best fit has {largest} phases, the most that were tried: more may be "
      "better still"
    )
  return Choice(best, fitted, criterion, message)
