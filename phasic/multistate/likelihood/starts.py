"""Rates from which fits to panel data start."""

from __future__ import annotations

import numpy as onp

from phasic.multistate.data import panel_data
from phasic.multistate.states import chains


def crude_rates(chain: chains.Chain, data: panel_data.PanelData) -> onp.ndarray:
  """Computes rates as if all transitions had been seen, (r,).

  A rate is the number of times that a state was followed by another one, over
  the time that follows rows with that state. A transition that was not seen
  counts as half a one. Given starting values are kept.

  Args:
    chain: the chain.
    data: the data.
  """
  states = {x: i for i, x in enumerate(chain.states)}
  known = onp.asarray([states.get(str(x), -1) for x in data.states])
  same = onp.logical_not(data.is_first)[1:]
  before, after = known[:-1][same], known[1:][same]
  lengths = onp.diff(data.times)[same]
  size = len(chain.states)
  counts, spent = onp.zeros((size, size)), onp.zeros(size)
  both = (before >= 0) & (after >= 0)
  onp.add.at(counts, (before[both], after[both]), 1.0)
  onp.add.at(spent, before[before >= 0], lengths[before >= 0])
  total = float(onp.sum(lengths))
  # Of states that were not seen, the mean rate of all.
  typical = float(len(lengths)) / total if total > 0.0 else 1.0
  events = onp.zeros(len(chain.rates))
  exposures = onp.zeros(len(chain.rates))
  leaves = onp.any(chain.coefficients[chain.leaves_state] != 0, axis=0)
  for e, row in enumerate(chain.coefficients):
    i, j = chain.state_of[chain.sources[e]], chain.state_of[chain.targets[e]]
    phases = float(onp.sum(chain.state_of == i))
    for r in onp.flatnonzero(row):
      if i != j:
        # Edges of several phases to one state share what was seen.
        alike = chain.state_of[chain.sources] == i
        alike = alike & (chain.state_of[chain.targets] == j)
        share = 1.0 / float(onp.sum(alike & (chain.coefficients[:, r] != 0)))
        events[r] += share * counts[i, j]
        factor = float(row[r]) if phases == 1.0 else share
        exposures[r] += factor * spent[i]
      elif not leaves[r]:
        # A sojourn in the state has about as many steps as phases.
        events[r] += phases * float(onp.sum(onp.delete(counts[i], i)))
        exposures[r] += spent[i]
  rates = onp.maximum(events, 0.5) / onp.where(exposures > 0, exposures, 1.0)
  rates = onp.where(exposures > 0, rates, typical)
  given = [chain.starts.get(name) for name in chain.rates]
  return onp.asarray(
    [x if y is None else y for x, y in zip(rates, given, strict=True)]
  )
