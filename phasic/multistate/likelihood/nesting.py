"""Whether one multi-state model contains another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as onp

from phasic.multistate.data import effects as effects_lib
from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import reading
from phasic.multistate.states import chains

# Relative errors below it are rounding.
_NEAR = 1e-8


def contains(
  larger: tuple[reading.Spec, reading.Bound],
  smaller: tuple[reading.Spec, reading.Bound],
) -> bool | None:
  """Returns whether a model has all likelihoods of another one, or None.

  It does so if logarithms of rates, and log odds of wrong labels, are linear in
  its parameters wherever they are in those of the other model: if the columns
  of that one's design are combinations of its own ones.

  Args:
    larger: the arguments of a model, and what it has read.
    smaller: likewise.

  Returns:
    None if rates are sums, whose logarithms are not linear.

  Raises:
    ValueError: the models have read different data.
  """
  spec, bound = larger
  other_spec, other_bound = smaller
  data = bound.data
  if not _are_same(data, other_bound.data):
    raise ValueError(
      "smaller and larger are fits to different panel data: fit both to the "
      "same data"
    )
  if not _starts_contain(spec, other_spec) or not _observe_alike(
    spec, other_spec
  ):
    return False
  edges, others = _edges(spec.chain), _edges(other_spec.chain)
  if edges is None or others is None:
    return None
  entries = [
    dict(zip(x.phases, map(float, x.entry), strict=True))
    for x in (spec.chain, other_spec.chain)
  ]
  if entries[0] != entries[1] or edges[0] != others[0]:
    return False
  begins = onp.flatnonzero(onp.logical_not(data.is_first)) - 1
  cuts = onp.union1d(bound.effects.cuts, other_bound.effects.cuts)
  # A time in each period of both models.
  periods = onp.append(cuts, cuts[0] - 1.0 if len(cuts) else 0.0)
  times = onp.repeat(periods, len(begins))
  rows = onp.tile(begins, len(periods))
  designs = [
    _design(x.effects, which, len(y.chain.rates), x.data, rows, times)
    for x, y, which in (
      (bound, spec, edges[1]),
      (other_bound, other_spec, others[1]),
    )
  ]
  offset = onp.tile(others[2] - edges[2], len(rows))
  wanted = onp.concatenate([designs[1], offset[:, None]], axis=-1)
  if not _spans(designs[0], wanted):
    return False
  seen = onp.arange(len(data.times))
  designs = [
    _design(x.errors, onp.argsort(names), len(names), x.data, seen, data.times)
    for x, names in (
      (bound, list(spec.hidden.errors)),
      (other_bound, list(other_spec.hidden.errors)),
    )
  ]
  return _spans(*designs)


def _are_same(
  first: panel_data.PanelData, second: panel_data.PanelData
) -> bool:
  """Returns whether two data have the same observations."""
  return first is second or (
    first.possible == second.possible
    and set(first.exact) == set(second.exact)
    and all(
      onp.array_equal(getattr(first, name), getattr(second, name))
      for name in ("subject", "times", "states", "kinds")
    )
  )


def _starts_contain(spec: reading.Spec, other: reading.Spec) -> bool:
  """Returns whether all distributions of first states are possible."""
  if spec.initial is None or other.initial is None:
    return spec.initial is other.initial
  mine, others = (
    dict(zip(x.chain.states, map(float, probs), strict=True))
    for x, probs in ((spec, spec.initial), (other, other.initial))
  )
  if not spec.estimates_initial:
    return not other.estimates_initial and mine == others
  # A state that may be first in one model alone would be at a boundary.
  return {x for x, prob in mine.items() if prob > 0} == {
    x for x, prob in others.items() if prob > 0
  }


def _observe_alike(spec: reading.Spec, other: reading.Spec) -> bool:
  """Returns whether states are observed in the same ways."""
  mine, others = spec.hidden, other.hidden
  kinds = [
    {
      name: {state: type(x) for state, x in by_state.items()}
      for name, by_state in hidden.outcomes.items()
    }
    for hidden in (mine, others)
  ]
  return (
    set(mine.errors) == set(others.errors)
    and kinds[0] == kinds[1]
    and set(mine.parts()) == set(others.parts())
  )


def _edges(
  chain: chains.Chain,
) -> tuple[list[tuple[str, str]], onp.ndarray, onp.ndarray] | None:
  """Returns edges with one rate each, or None if there are others.

  Returns:
    Names of sources and targets, sorted; their rates, (m,); and the
    logarithms of the factors of these, (m,).
  """
  used = chain.coefficients > 0
  is_one = onp.sum(chain.coefficients != 0, axis=-1) == 1
  if onp.any(chain.constants) or not onp.all(is_one & onp.any(used, axis=-1)):
    return None
  ends = [
    (chain.phases[i], chain.phases[j])
    for i, j in zip(chain.sources, chain.targets, strict=True)
  ]
  order = sorted(range(len(ends)), key=ends.__getitem__)
  factors = onp.max(chain.coefficients, axis=-1)
  ends = [ends[i] for i in order]
  return ends, onp.argmax(used, axis=-1)[order], onp.log(factors)[order]


def _design(
  columns: effects_lib.Columns,
  which: onp.ndarray,
  num_names: int,
  data: panel_data.PanelData,
  rows: onp.ndarray,
  times: onp.ndarray,
) -> onp.ndarray:
  """Returns the design of logarithms, (rows x t, num_names + k).

  Args:
    columns: of the covariates.
    which: the name that each of t logarithms has, (t,).
    num_names: how many names there are.
    data: the data.
    rows: whose covariates there are.
    times: likewise.
  """
  table: Mapping[str, Any] = {
    name: x[rows] for name, x in data.covariates.items()
  }
  numbers = columns.evaluate(table or None, len(rows), times)[:, columns.places]
  by_target = numbers[:, None] * onp.transpose(columns.incidence)[which]
  shape = (len(rows), len(which), num_names)
  base = onp.broadcast_to(onp.eye(num_names)[which], shape)
  whole = onp.concatenate([base, by_target], axis=-1)
  return onp.reshape(whole, (len(rows) * len(which), onp.shape(whole)[-1]))


def _spans(design: onp.ndarray, wanted: onp.ndarray) -> bool:
  """Returns whether columns are combinations of those of a design."""
  if not onp.size(wanted):
    return True
  sizes = onp.linalg.norm(design, axis=0)
  scaled = design / onp.where(sizes > 0, sizes, 1.0)
  solution = onp.linalg.lstsq(scaled, wanted, rcond=None)[0]
  errors = onp.linalg.norm(onp.matmul(scaled, solution) - wanted, axis=0)
  return bool(onp.all(errors <= _NEAR * onp.linalg.norm(wanted, axis=0)))
