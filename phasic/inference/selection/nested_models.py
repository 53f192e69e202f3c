"""Checks that one model contains another, for the likelihood ratio test."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as onp

from phasic.distributions.base import entries as entries_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import limits as limits_lib
from phasic.inference.results import directions
from phasic.inference.results import fits
from phasic.inference.results import uncertainty

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
  statuses = _statuses(larger_model, entries, larger)
  return "; ".join(
    f"{name} of larger is {status} under smaller"
    for name, status in statuses.items()
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
          f"{name} is {value:.6g} in smaller, but {x:.6g} in larger if all other "
          "entries agree: smaller must be a special case of larger"
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
  outer = uncertainty.outer_products(inner, larger.observations)
  known = directions.find(outer, outer, uncertainty.precision(inner))
  errors = known.standard_errors(inner.jacobian(inner.entries))
  lost = onp.isin(
    larger_model.names, onp.asarray(inner.names)[onp.isnan(errors)]
  )
  statuses = onp.full(len(entries), uncertainty.IDENTIFIED, dtype=object)
  statuses[lost] = uncertainty.DEPENDENT
  statuses[bound] = uncertainty.BOUND
  statuses[zero] = uncertainty.ZERO
  return dict(zip(larger_model.names, map(str, statuses), strict=True))
