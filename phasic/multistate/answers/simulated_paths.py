"""Random paths of subjects, between visits whose covariates change rates."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as onp

from phasic.internal import static
from phasic.multistate.answers import simulated_models
from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import likelihoods


class Paths(NamedTuple):
  """States of subjects.

  Attributes:
    phase: at each row of visits, (n,).
    entry: when a subject entered an absorbing state, inf for never, (s,).
    before: the row of the visit before that, (s,).
    last: this state, (s,).
  """

  phase: onp.ndarray
  entry: onp.ndarray
  before: onp.ndarray
  last: onp.ndarray


def drawn_paths(
  rng: onp.random.Generator,
  source: simulated_models.Source,
  rows: panel_data.PanelData,
  first: onp.ndarray,
) -> Paths:
  """Simulates the phases of all subjects."""
  chain = source.spec.chain
  size = len(rows.subjects)
  members = chain.start_rows[chain.num_phases :]
  phase = drawn(rng, members[first])
  at_row = onp.zeros(len(rows.times), int)
  at_row[rows.is_first] = phase
  entry, last = onp.full(size, onp.inf), onp.zeros(size, int)
  before = onp.zeros(size, int)
  absorbing = onp.isin(onp.asarray(chain.states), chain.absorbing)
  segments = _segments(source, rows)
  order = order_in_runs(rows.subject[segments.row])
  for k in range(int(onp.max(order, initial=-1)) + 1):
    active = onp.flatnonzero(order == k)
    begins = active
    now = segments.begin[active]
    while len(active):
      who = rows.subject[segments.row[active]]
      rates = segments.rates[active] * (chain.sources == phase[who][:, None])
      sums = onp.cumsum(rates, axis=-1)
      total = sums[:, -1]
      with onp.errstate(divide="ignore"):
        after = now + rng.exponential(size=len(active)) / total
      jumps = after < segments.end[active]
      level = rng.uniform(size=len(active)) * total
      edge = onp.argmax(sums > level[:, None], axis=-1)[jumps]
      active, now, who = active[jumps], after[jumps], who[jumps]
      phase[who] = chain.targets[edge]
      reached = chain.state_of[phase[who]]
      dead = absorbing[reached] & chain.leaves_state[edge]
      entry[who[dead]] = now[dead]
      last[who[dead]] = reached[dead]
      before[who[dead]] = segments.row[active[dead]]
    closing = begins[segments.closes[begins]]
    at_row[segments.row[closing] + 1] = phase[
      rows.subject[segments.row[closing]]
    ]
  return Paths(at_row, entry, before, last)


class Segments(NamedTuple):
  """Parts of the intervals between visits, during which rates do not change.

  Attributes:
    row: where the interval begins, (n,).
    begin: of the part, (n,).
    end: (n,).
    closes: whether the interval ends there, (n,).
    rates: of edges, (n, m).
  """

  row: onp.ndarray
  begin: onp.ndarray
  end: onp.ndarray
  closes: onp.ndarray
  rates: onp.ndarray


def _segments(
  source: simulated_models.Source, rows: panel_data.PanelData
) -> Segments:
  """Cuts the intervals between visits."""
  begins = onp.flatnonzero(onp.logical_not(rows.is_first)) - 1
  ends = [-math.inf, *source.effects.cuts, math.inf]
  parts: list[tuple[onp.ndarray, ...]] = []
  for low, high in itertools.pairwise(ends):
    begin = onp.maximum(rows.times[begins], low)
    end = onp.minimum(rows.times[begins + 1], high)
    use = begin < end
    closes = end == rows.times[begins + 1]
    parts.append((begins[use], begin[use], end[use], closes[use]))
  row, begin, end, closes = map(onp.concatenate, zip(*parts, strict=True))
  order = onp.lexsort((begin, row))
  row, begin, end, closes = (x[order] for x in (row, begin, end, closes))
  chain, effects = source.spec.chain, source.effects
  size = len(row)
  columns = onp.zeros((size, 0))
  coefficients = source.parameters.get("effects")
  if effects.labels:
    table = {name: x[row] for name, x in rows.covariates.items()}
    columns = effects.evaluate(table, size, begin)[:, effects.places]
  rates = likelihoods.edge_rates(
    chain,
    simulated_models.array(source.parameters["rates"]),
    simulated_models.array(coefficients) if effects.labels else None,
    simulated_models.array(columns),
    effects.incidence,
  )
  known = onp.asarray(static.concrete(rates), onp.float64)
  bad = onp.logical_not((known >= 0.0) & onp.isfinite(known))
  if onp.any(bad):
    raise ValueError(
      f"parameters make a rate {known[bad][0]:g}: rates must be >= 0 and finite"
    )
  known = onp.broadcast_to(known, (size, onp.shape(known)[-1]))
  return Segments(row, begin, end, closes, known)


def order_in_runs(groups: onp.ndarray) -> onp.ndarray:
  """Returns 0, 1, ... in each run of equal numbers, (n,)."""
  places = onp.arange(len(groups))
  first = onp.concatenate([[True], groups[1:] != groups[:-1]])[: len(groups)]
  return places - onp.maximum.accumulate(onp.where(first, places, 0))


def drawn(rng: onp.random.Generator, probs: onp.ndarray) -> onp.ndarray:
  """Draws an index for each row of probabilities, (n,)."""
  sums = onp.cumsum(probs, axis=-1)
  level = rng.uniform(size=len(probs)) * sums[:, -1]
  return onp.argmax(sums > level[:, None], axis=-1)
