"""The stages of `Epochs`: each epoch's chain and initial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import chain as chain_lib
from phasic.math.model.model_types import Edges
from phasic.math.moments import occupancy
from phasic.math.numeric import array_utils


class Stage(NamedTuple):
  """An epoch's chain, conditional on no absorption before the epoch.

  Attributes:
    initial: the distribution of phases at the start, (..., p).
    edges: `math.EdgeRates`, without coefficients.
    prob_zero: the atom at the start, (...) or 0.0.
    start: the time of the start, 0.0 or (...).
    length: the length of the stage, (...); None for the last one.
    log_mass: the log probability to reach the stage, (...).
    log_lost: the log of a bound on the mass lost before the stage, (...); None
      in the first.
  """

  initial: Array
  edges: Edges
  prob_zero: Array | float
  start: Array | float
  length: Array | None
  log_mass: Array
  log_lost: Array | None


class StageChain(NamedTuple):
  """The chain of an epoch, before its initial distribution is known.

  Attributes:
    initial: its initial masses, (..., p), used in the first epoch only.
    edges: `math.EdgeRates`, without coefficients.
    prob_zero: the atom at the start, (...), used in the first epoch only.
  """

  initial: Array
  edges: Edges
  prob_zero: Array | float | None


def stages(
  chains: Sequence[StageChain],
  boundaries: Array,
  state_maps: Sequence[state_maps_lib.StateMap],
) -> list[Stage]:
  """Computes each epoch's stage from the distribution at its start.

  The masses alpha exp(S t) of phases at a boundary, scaled to sum to one, are
  the initial distribution of the next stage.

  Args:
    chains: K chains, in the widest dtype.
    boundaries: (..., K - 1), in the same dtype.
    state_maps: K - 1 maps of phases.
  """
  initial, _, atom = chains[0]
  assert atom is not None  # The first chain has an atom.
  if len(chains) > 1:
    # Traced boundaries cannot raise: all results are NaN if they do not ascend.
    before = np.concatenate(
      [np.zeros_like(boundaries[..., :1]), boundaries[..., :-1]], axis=-1
    )
    ordered = (boundaries > before) & (boundaries < float("inf"))
    ordered = np.all(ordered, axis=-1)
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
    transient = distribution_at(stage, length)
    initial = state_maps[k].map_masses(transient.probs)
    own_lost = log_mass + transient.log_lost
    log_lost = own_lost if log_lost is None else np.maximum(log_lost, own_lost)
    log_mass = array_utils.at_most(log_mass + transient.log_mass, 0.0)
    start, atom = boundaries[..., k], 0.0
  return found


def arrays_of(stages: Sequence[Stage]) -> list[Array | None]:
  """Returns all arrays of stages, without numbers."""
  found: list[Array | None] = []
  for initial, edges, *others in stages:
    found += [initial, *edges, *(x for x in others if not isinstance(x, float))]
  return found


def of_data(stages: list[Stage]) -> list[Stage]:
  """Returns stages, with NaN where the masses at time zero do not sum to one.

  Log likelihoods of data use them.
  """
  first = stages[0]
  atom = np.zeros_like(first.initial[..., 0]) + first.prob_zero
  initial = chain_lib.proper_masses(first.initial, atom)
  if initial is first.initial:
    return stages
  unknown = np.isnan(np.sum(initial, axis=-1))
  lost = np.where(unknown, float("nan"), 0.0)
  return [x._replace(log_mass=x.log_mass + lost) for x in stages]


def distribution_at(stage: Stage, time: Array) -> occupancy.Transient:
  """Computes the distribution of phases at a time within a stage.

  Probabilities are zero, and not NaN, if the chain is surely absorbed before.
  """
  return occupancy.carried(stage.initial, stage.edges, time)
