"""Comparison of fits: likelihood ratio tests and information criteria."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import math
from typing import Generic, NamedTuple, Unpack

import numpy as onp

from phasic.distributions.base import hooks
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.data import observations as observations_lib
from phasic.inference.mle import mle
from phasic.inference.parameters.host_values import host_values
from phasic.inference.parameters.host_values import whole_number
from phasic.inference.results import fits
from phasic.inference.selection import add_phase
from phasic.inference.selection import nested_models
from phasic.internal import frameworks
from phasic.internal import raw_arguments
from phasic.internal.arrays import Integer

_CRITERIA = ("aic", "bic")


class LikelihoodRatio(NamedTuple):
  """The result of a likelihood ratio test.

  Attributes:
    statistic: twice the difference of the log likelihoods.
    degrees_of_freedom: by how many parameters the models differ.
    p_value: how probable a larger statistic is under the smaller model; NaN
      where that is not known.
    reason: why not, else "".

  Example: one of four times is zero; the smaller model fixes the probability of
    zero at 1/2. The statistic is 6 log(3) - 8 log(2).

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang, ZeroInflated
    >>> data = inference.Observations([0.0, 0.5, 1.0, 1.5])
    >>> start = ZeroInflated(Erlang(1, 1.0), 0.5)
    >>> half = inference.fit_mle(start, data, fixed=["prob_zero"])
    >>> free = inference.fit_mle(start, data)
    >>> test = inference.likelihood_ratio(half, free)
    >>> print(f"{test.statistic:.4f}, {test.p_value:.4f}")
    1.0465, 0.3063
  """

  statistic: float
  degrees_of_freedom: int
  p_value: float
  reason: str


def likelihood_ratio(smaller: fits.Fit, larger: fits.Fit) -> LikelihoodRatio:
  """Tests a model against a larger one that contains it, on the same data.

  The statistic is about chi-square distributed if the smaller model is true, as
  long as its distribution lies inside the larger model, and is identified in
  it. That is judged where the smaller fit is. If there an entry of the larger
  model is zero or at a bound, or the data would not tell its entries apart, as
  equal rates in a row, there is no p-value. That is so for models that differ
  in the number of phases; for these see `choose_num_phases`.

  Args:
    smaller: the fit of a special case, with parameters fixed, tied or zero.
    larger: the fit of the general one, of the same family.

  Raises:
    TypeError: an argument is not a `Fit`.
    ValueError: the larger one has not more parameters, does not hold the
      smaller one, or has a log likelihood that is lower by more than rounding:
      its search did not end at the maximum.

  Example: does the first of two stages take two hours, as the manual says?

    >>> from phasic import inference
    >>> from phasic.distributions import Hypoexponential
    >>> data = inference.Observations([0.3, 0.5, 0.8, 1.1, 1.6, 2.5, 4.2, 7.0])
    >>> start = Hypoexponential([0.5, 2.0])
    >>> manual = inference.fit_mle(start, data, fixed=["rates[0]"])
    >>> free = inference.fit_mle(start, data)
    >>> test = inference.likelihood_ratio(manual, free)
    >>> print(f"{test.degrees_of_freedom} {test.p_value:.2f}")
    1 0.91

  References:
    S. S. Wilks, The large-sample distribution of the likelihood ratio, Ann.
      Math. Statist. 9, 1938.
    S. G. Self, K.-Y. Liang, Asymptotic properties of maximum likelihood
      estimators and likelihood ratio tests under nonstandard conditions, J.
      Amer. Statist. Assoc. 82, 1987.
  """
  for name, fit in (("smaller", smaller), ("larger", larger)):
    if not isinstance(fit, fits.Fit):
      raise TypeError(f"{name} is {type(fit).__name__}: it must be a Fit")
  if not _have_same_data(smaller.observations, larger.observations):
    raise ValueError(
      "smaller and larger are fits to different observations: fit both to "
      "the same data"
    )
  degrees = larger.num_parameters - smaller.num_parameters
  if degrees <= 0:
    raise ValueError(
      f"larger has {larger.num_parameters} parameters and smaller has "
      f"{smaller.num_parameters}: larger must have more"
    )
  statistic = 2.0 * (larger.log_likelihood - smaller.log_likelihood)
  if statistic < -1e-6 * (1.0 + abs(larger.log_likelihood)):
    raise ValueError(
      f"larger has the log likelihood {larger.log_likelihood:.6g}: it must be "
      f"at least smaller's, {smaller.log_likelihood:.6g}; start the larger fit "
      "from smaller's distribution, or from more starts"
    )
  statistic = max(statistic, 0.0)
  reason = nested_models.why_irregular(smaller, larger)
  if reason:
    return LikelihoodRatio(statistic, degrees, math.nan, reason)
  return LikelihoodRatio(
    statistic, degrees, _chi_square_tail(statistic, degrees), ""
  )


def _have_same_data(
  first: observations_lib.Observations, second: observations_lib.Observations
) -> bool:
  if first is second:
    return True
  pairs = [
    *zip(
      observations_lib.host_arrays(first),
      observations_lib.host_arrays(second),
    )
  ]
  for name in ("entry", "cause"):
    x, y = getattr(first, name), getattr(second, name)
    if x is None or y is None:
      if x is not y:
        return False
      continue
    pairs.append((host_values(name, x), host_values(name, y)))
  return all(onp.array_equal(x, y) for x, y in pairs)


def _chi_square_tail(x: float, degrees: int) -> float:
  with frameworks.needed_by("a test of nested models"):
    from scipy import special

  return float(special.gammaincc(degrees / 2.0, x / 2.0))


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
  **options: Unpack[mle.FitOptions],
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
  is_other = isinstance(num_phases, (str, bytes, Mapping))
  if is_other or not isinstance(num_phases, Iterable):
    raise TypeError(
      f"num_phases is {raw_arguments.shown(num_phases)}: it must be a sequence "
      "of whole numbers"
    )
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
      grown = add_phase.grown_into(dist, smaller.distribution)
      if grown:
        from_smaller: mle.FitOptions = {
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
