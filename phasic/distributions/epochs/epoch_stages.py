"""The chains of epochs, and how masses of phases are carried through them.

The stages of `Epochs` have each epoch's chain and initial distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import NamedTuple, Protocol, Self, TypeVar

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

  def mapped(self, state_map: state_maps_lib.StateMap) -> Self:
    """Moves the initial distribution to the phases of the next epoch."""
    return self._replace(initial=state_map.map_masses(self.initial))


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


class History(NamedTuple):
  """The chains of the epochs, in the widest dtype.

  Attributes:
    chains: the chain of each epoch.
    boundaries: the times at which epochs end, (..., K - 1).
    state_maps: how phases are mapped at each of them.
  """

  chains: Sequence[StageChain]
  boundaries: Array
  state_maps: Sequence[state_maps_lib.StateMap]

  def start(self, k: int) -> Array | float:
    """Returns the time at which an epoch starts."""
    return self.boundaries[..., k - 1] if k else 0.0

  def length(self, k: int) -> Array | None:
    """Returns the length of an epoch; None for the last one."""
    if k == len(self.chains) - 1:
      return None
    length = self.boundaries[..., k] - self.start(k)
    # Traced boundaries cannot raise.
    good = (length > 0.0) & (length < math.inf)
    return np.where(good, length, math.nan)


class _Carried(Protocol):
  """What is carried through epochs, masses of phases and more."""

  def mapped(self, state_map: state_maps_lib.StateMap) -> Self:
    """Moves masses to the phases of the next epoch."""
    ...


_C = TypeVar("_C", bound=_Carried)
_T = TypeVar("_T")


def through_epochs(
  history: History,
  carried: _C,
  passing: Callable[[int, _C, Array], tuple[_C, _T]],
  finishing: Callable[[int, _C], _T],
) -> list[_T]:
  """Carries masses of phases through all epochs.

  Args:
    history: the chains.
    carried: the masses at time zero, and what is kept beside them.
    passing: maps an epoch, what is carried at its start, and its length to what
      is carried at its end, and to a result for the epoch.
    finishing: maps the last epoch and what is carried at its start to a result.

  Returns:
    The result for each epoch.
  """
  results = []
  last = len(history.chains) - 1
  for k in range(last):
    length = history.length(k)
    assert length is not None  # Another epoch follows.
    carried, result = passing(k, carried, length)
    results.append(result)
    carried = carried.mapped(history.state_maps[k])
  return [*results, finishing(last, carried)]


def stages(history: History) -> list[Stage]:
  """Computes each epoch's stage from the distribution at its start.

  The masses alpha exp(S t) of phases at a boundary, scaled to sum to one, are
  the initial distribution of the next stage.
  """
  initial, edges, atom = history.chains[0]
  boundaries = history.boundaries
  assert atom is not None  # The first chain has an atom.
  if len(history.chains) > 1:
    # Traced boundaries cannot raise: all results are NaN if they do not ascend.
    before = np.concatenate(
      [np.zeros_like(boundaries[..., :1]), boundaries[..., :-1]], axis=-1
    )
    ordered = (boundaries > before) & (boundaries < math.inf)
    ordered = np.all(ordered, axis=-1)
    good = np.where(ordered, 1.0, math.nan)
    initial, atom = initial * good[..., None], atom * good

  def passing(k: int, stage: Stage, length: Array) -> tuple[Stage, Stage]:
    stage = stage._replace(length=length)
    transient = distribution_at(stage, length)
    log_lost = stage.log_mass + transient.log_lost
    if stage.log_lost is not None:
      log_lost = np.maximum(stage.log_lost, log_lost)
    log_mass = array_utils.at_most(stage.log_mass + transient.log_mass, 0.0)
    edges, start = history.chains[k + 1].edges, history.start(k + 1)
    following = Stage(
      transient.probs, edges, 0.0, start, None, log_mass, log_lost
    )
    return following, stage

  log_mass = np.zeros((), dtype=static.dtype_name(boundaries))
  first = Stage(initial, edges, atom, 0.0, None, log_mass, None)
  return through_epochs(history, first, passing, lambda _, stage: stage)


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
