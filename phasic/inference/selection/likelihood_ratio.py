"""Likelihood ratio tests, and checks that one model contains another."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import NamedTuple

import numpy as onp

from phasic.distributions.base import entries as entries_lib
from phasic.inference.data import likelihoods
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import limits as limits_lib
from phasic.inference.parameters.host_values import host_values
from phasic.inference.results import directions
from phasic.inference.results import estimates
from phasic.inference.results import fits
from phasic.inference.results import information
from phasic.inference.results import model_fits
from phasic.inference.results import uncertainty
from phasic.internal import frameworks


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


def likelihood_ratio(
  smaller: fits.Fit | model_fits.ModelFit,
  larger: fits.Fit | model_fits.ModelFit,
) -> LikelihoodRatio:
  """Tests a model against a larger one that contains it, on the same data.

  The statistic is about chi-square distributed if the smaller model is true, as
  long as its distribution lies inside the larger model, and is identified in
  it. That is judged where the smaller fit is. If there an entry of the larger
  model is zero or at a bound, or the data would not tell its entries apart, as
  equal rates in a row, there is no p-value. That is so for models that differ
  in the number of phases; for these see `choose_num_phases`.

  Of two regressions the larger one has all parameters of the smaller one, and
  some coefficients more. Other models say what they contain by
  `LikelihoodModel.contains`.

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
    if not isinstance(fit, (fits.Fit, model_fits.ModelFit)):
      raise TypeError(
        f"{name} is {type(fit).__name__}: it must be a Fit or ModelFit"
      )
  if isinstance(smaller, fits.Fit) != isinstance(larger, fits.Fit):
    raise TypeError(
      "one of smaller and larger is the fit of a distribution, the other of a "
      "model: both must be of one kind; fit a regression with fewer effects"
    )
  if not _are_of_same_data(smaller, larger):
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
      f"at least {smaller.log_likelihood:.6g}, as in smaller; start the larger "
      "fit from smaller's distribution, or from more starts"
    )
  statistic = max(statistic, 0.0)
  if isinstance(smaller, fits.Fit) and isinstance(larger, fits.Fit):
    reason = why_irregular(smaller, larger)
  else:
    assert isinstance(smaller, model_fits.ModelFit)
    assert isinstance(larger, model_fits.ModelFit)
    reason = _why_models_are_irregular(smaller, larger)
  p_value = math.nan if reason else _chi_square_tail(statistic, degrees)
  return LikelihoodRatio(statistic, degrees, p_value, reason)


def _are_of_same_data(
  smaller: estimates.Estimates, larger: estimates.Estimates
) -> bool:
  """Returns whether two fits are to the same observations, as far as known."""
  mine = estimates.likelihood_of(smaller).weights
  others = estimates.likelihood_of(larger).weights
  if not onp.array_equal(mine, others):
    return False
  first, second = map(estimates.counted_by, (smaller, larger))
  return first is None or second is None or _have_same_data(first, second)


def _why_models_are_irregular(
  smaller: model_fits.ModelFit, larger: model_fits.ModelFit
) -> str:
  """Returns why the ratio of two models is not asymptotically chi-square, or ""."""
  contains = larger.model.contains(smaller.model)
  if contains is False:
    return (
      "the model of smaller is no special case of that of larger inside its "
      "bounds; compare aic of the fits"
    )
  others = set(smaller.statuses) - set(larger.statuses)
  if others and (contains is None or larger.fixed):
    return (
      f"larger has no {', '.join(sorted(others)[:5])}, so that it is not known "
      "whether it contains smaller"
    )
  return "; ".join(
    f"{name} of {which} is {status}"
    for which, fit in (("smaller", smaller), ("larger", larger))
    for name, status in fit.statuses.items()
    if status != uncertainty.IDENTIFIED
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


# Values with a smaller relative difference count as equal.
_NEAR = 1e-6


def why_irregular(smaller: fits.Fit, larger: fits.Fit) -> str:
  """Returns why the likelihood ratio is not asymptotically chi-square, or "".

  It is chi-square if the smaller distribution lies inside the larger model, not
  on its boundary, and is identified in it: the scores of all entries of the
  larger model are linearly independent there.

  Args:
    smaller: the fit of the null hypothesis.
    larger: the fit of a model that contains it.

  Returns:
    The reason, or "".

  Raises:
    ValueError: `smaller` is not a special case of the larger model.
  """
  at_bounds = [
    f"{name} of {which} is {uncertainty.BOUND}"
    for which, fit in (("smaller", smaller), ("larger", larger))
    for name in fit.at_bounds
  ]
  if at_bounds:
    return "; ".join(at_bounds)
  larger_model = coordinates_lib.Coordinates(
    larger.structure, larger.fixed, larger.tied, larger.free
  )
  _, blocks = entry_blocks.explicit_blocks(smaller.distribution)
  shapes = {path: onp.shape(block.values) for path, block in blocks.items()}
  if shapes != {
    path: onp.shape(x.index) for path, x in larger_model.tables.items()
  }:
    return (
      "the parameters of smaller are not those of larger, so that it is not "
      "known whether the models are nested: fit smaller as a case of larger, "
      "with entries that are fixed, tied or zero"
    )
  entries = coordinates_lib.entries_at(larger_model, smaller.distribution)
  _check_nested(larger_model, entries, blocks)
  return "; ".join(
    f"{name} of larger is {status} under smaller"
    for name, status in _statuses(larger_model, entries, larger).items()
    if status != uncertainty.IDENTIFIED
  )


def _check_nested(
  larger_model: coordinates_lib.Coordinates,
  entries: onp.ndarray,
  blocks: Mapping[str, entries_lib.Entries],
) -> None:
  """Raises ValueError if the larger model does not contain the smaller one."""
  for path, table in larger_model.tables.items():
    index, base = onp.ravel(table.index), onp.ravel(table.base)
    values = onp.ravel(blocks[path].values)
    predicted = onp.where(index >= 0, onp.append(entries, 0.0)[index], base)
    for name, kind, value, x in zip(
      blocks[path].names, blocks[path].kinds, values, predicted
    ):
      if kind.is_entry and abs(value - x) > _NEAR * max(abs(value), abs(x)):
        raise ValueError(
          f"{name} is {value:.6g} in smaller, but {x:.6g} in larger if its "
          "fitted entries are set to those of smaller: smaller must be a "
          "special case of larger"
        )


def _statuses(
  larger_model: coordinates_lib.Coordinates,
  entries: onp.ndarray,
  larger: fits.Fit,
) -> dict[str, str]:
  """Returns the status of each entry of the larger model at the smaller fit."""
  zero = entries <= 0
  low, high = limits_lib.limits(larger_model, larger.bounds)
  bound = (entries <= low) | (entries >= high)
  inner = larger_model.restricted(entries, onp.logical_not(zero | bound))
  likelihood = likelihoods.DataLikelihood(larger_model, larger.observations)
  outer = information.outer_products(likelihood, inner)
  known = directions.find(outer, outer, information.precision(likelihood.dtype))
  errors = known.standard_errors(inner.jacobian(inner.entries))
  lost = onp.isin(
    larger_model.names, onp.asarray(inner.names)[onp.isnan(errors)]
  )
  statuses = onp.full(len(entries), uncertainty.IDENTIFIED, dtype=object)
  statuses[lost] = uncertainty.DEPENDENT
  statuses[bound] = uncertainty.BOUND
  statuses[zero] = uncertainty.ZERO
  return dict(zip(larger_model.names, map(str, statuses), strict=True))
