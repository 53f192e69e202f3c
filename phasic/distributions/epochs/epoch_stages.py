"""The chains of epochs, one after another, with the masses at each start."""

from typing import Any, NamedTuple

import numpy as np

from phasic.distributions.epochs import carried_masses
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import edge_rates


class Stage(NamedTuple):
  """What holds between two boundaries, given that it is reached.

  Attributes:
    initial: the distribution of phases at its start, (..., p).
    edges: `math.EdgeRates`, without coefficients.
    prob_zero: the atom at its start, (...) or 0.0.
    start: when it starts, 0.0 or (...).
    length: how long it lasts, (...); None for the last one.
    log_mass: the logarithm of the probability to reach it, (...).
    log_lost: the logarithm of what may be lost on the way to it, (...); None in
      the first.
  """

  initial: Array
  edges: edge_rates.EdgeRates
  prob_zero: Array | float
  start: Array | float
  length: Array | None
  log_mass: Array
  log_lost: Array | None


class StageChain(NamedTuple):
  """The chain of an epoch.

  Attributes:
    initial: its masses at the start, (..., p), used of the first epoch only.
    edges: `math.EdgeRates`, without coefficients.
    prob_zero: the atom at the start, (...), used of the first epoch only.
  """

  initial: Array
  edges: edge_rates.EdgeRates
  prob_zero: Any


def stages(
  chains: list[StageChain],
  boundaries: Array,
  state_maps: tuple[state_maps_lib.StateMap, ...],
) -> list[Stage]:
  """Returns the stages of epochs.

  The masses of phases at a boundary are alpha exp(S t); they are carried over
  and scaled to sum up to one.

  Args:
    chains: K of them, in the widest dtype.
    boundaries: (..., K - 1), of the same.
    state_maps: K - 1 maps of phases.
  """
  initial, _, atom = chains[0]
  if len(chains) > 1:
    # While they are traced nobody raises: then nothing is a number.
    before = np.concatenate(
      [np.zeros_like(boundaries[..., :1]), boundaries[..., :-1]], axis=-1
    )
    ordered = np.all(boundaries > before, axis=-1)
    good = np.where(ordered, 1.0, float("nan"))
    initial, atom = initial * good[..., None], atom * good
  start: Array | float = 0.0
  log_mass = np.zeros((), dtype=static.dtype_name(boundaries))
  log_lost: Array | None = None
  found: list[Stage] = []
  for k, chain in enumerate(chains):
    length: Array | None = None
    if k < len(chains) - 1:
      length = boundaries[..., k] - start
      length = np.where(length > 0.0, length, float("nan"))
    edges = chain.edges
    stage = Stage(initial, edges, atom, start, length, log_mass, log_lost)
    found.append(stage)
    if length is None:
      break
    carried = carried_masses.carry(initial, edges, length)
    initial = state_maps[k].carry(carried.shares)
    own_lost = log_mass + carried.log_lost
    log_lost = own_lost if log_lost is None else np.maximum(log_lost, own_lost)
    log_mass = log_mass + carried.log_mass
    start, atom = boundaries[..., k], 0.0
  return found
