"""The chains of epochs, and how masses of phases are carried through them.

The stages of `Epochs` have each epoch's chain and initial distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import math
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy as onp

from phasic.distributions.absorption import graph_distribution
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.distributions.epochs import epoch_arguments
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.core import linear_weights
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import chain as chain_lib
from phasic.math.model import edge_rates
from phasic.math.model import value_checks
from phasic.math.model.model_types import Edges
from phasic.math.moments import occupancy
from phasic.math.numeric import array_utils

# A small rate whose inverse is in the range of all dtypes.
_LEAST_RATE = 1e-37
# The shortest time at which functions are evaluated, as a multiple of the time
# of one jump. Shorter times may underflow; in single precision it is zero.
_SHORT = 2.0**-900


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
    """Returns the length of an epoch; None for the last epoch."""
    if k == len(self.chains) - 1:
      return None
    length = self.boundaries[..., k] - self.start(k)
    # Traced boundaries cannot raise an error, so that a wrong length becomes
    # NaN.
    good = (length > 0.0) & (length < math.inf)
    return np.where(good, length, math.nan)


def history(
  graphs: Sequence[graph_lib.Graph],
  arrays: Mapping[str, ParameterValue],
  state_maps: Sequence[state_maps_lib.StateMap],
  validate: bool,
) -> History:
  """Returns the chains of epochs.

  Args:
    graphs: the graph of each epoch.
    arrays: by name, such as params[0].
    state_maps: how phases are mapped at each boundary.
    validate: whether to check values.
  """
  # The widest dtype is used because rounding errors accumulate over stages.
  wide = static.wide_float()
  chains = []
  for k, graph in enumerate(graphs):
    x, values = (
      arrays.get(epoch_arguments.name(argument, k))
      for argument in epoch_arguments.PER_EPOCH
    )
    # Messages name initial masses and edge weights by the calls that return
    # them.
    start = f"graphs[{k}].initial_probs(params[{k}])"
    weights = f"graphs[{k}].edge_values(params[{k}])"
    if values is None:
      x = structures.cast(graph.params_array(None) if x is None else x, wide)
      values = graph.edge_values(x)
    else:
      weights = epoch_arguments.name("edge_values", k)
    edges = graph.edge_weights(edge_values=structures.cast(values, wide))
    if k == 0:
      initial, atom = linear_weights.start_arrays(graph, x, wide)
    else:
      p = graph.num_phases
      initial, atom = np.zeros((p,), dtype=wide) + 1.0 / p, None
    if validate:
      if x is not None:
        graph_distribution.check_params(
          epoch_arguments.name("params", k), graph, x
        )
      initial, edges, atom = value_checks.check_edge_model(
        initial, edges, atom, names=(start, weights)
      )
    chains.append(StageChain(initial, edges, atom))
  boundaries = structures.cast(arrays["boundaries"], wide)
  return History(chains, boundaries, state_maps)


class _Carried(Protocol):
  """Masses of phases, and others, that are carried through epochs."""

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
    # Traced boundaries cannot raise an error. If they do not ascend, all
    # results are NaN.
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
  """Returns all arrays of stages, without Python numbers."""
  arrays: list[Array | None] = []
  for initial, edges, *others in stages:
    arrays += [
      initial,
      *edges,
      *(x for x in others if not isinstance(x, float)),
    ]
  return arrays


def proper_stages(stages: list[Stage]) -> list[Stage]:
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


def lost_before(stage: Stage) -> tuple[Stage, Array] | None:
  """Returns a stage and a log scale that bound the effect of underflowed mass.

  Returns:
    The stage, started in all phases alike and without derivatives. And a log
    scale: results are unknown if they are below this multiple of those of that
    stage. None if no mass was lost.
  """
  if stage.log_lost is None:
    return None
  lost = autodiff.stop_gradient(stage.log_lost)
  known = static.concrete(lost)
  if known is not None and onp.all(known == -onp.inf):
    return None
  p = static.shape(stage.initial)[-1]
  rates = autodiff.stop_gradient(stage.edges.parameters)
  everywhere = stage._replace(
    initial=np.ones_like(stage.initial) / p,
    edges=stage.edges._replace(parameters=rates),
    prob_zero=0.0,
  )
  eps = static.finfo_eps(static.dtype_name(lost))
  return everywhere, lost + math.log(p / eps)


def since(stage: Stage, value: Array) -> tuple[Array, Array]:
  """Returns times since a stage's start, and a mask of times from it on.

  Times outside of the stage are replaced by some within it, so that derivatives
  of unused values are finite.
  """
  later = value >= stage.start
  inside = later | True
  some = time_within(stage)
  if stage.length is not None:
    inside = np.logical_not(value >= stage.start + stage.length)
  # Negative times and NaN are not replaced in the first stage.
  if isinstance(stage.start, float):
    return np.where(inside, value, some), later
  return np.where(inside & later, value - stage.start, some), later


def time_within(stage: Stage) -> Array | float:
  """Returns a time within a stage at which derivatives are in range.

  It is about the time of one jump, at most half of the length of a stage that
  is not very short.
  """
  some: Array | float = 1.0
  rates = autodiff.stop_gradient(stage.edges.parameters)
  if static.shape(rates)[-1] > 0:
    largest = np.max(rates, axis=-1)
    some = 1.0 / np.where(largest > _LEAST_RATE, largest, 1.0)
  if stage.length is not None:
    least = _SHORT * (some + np.zeros_like(stage.length))
    some = np.minimum(some, np.maximum(0.5 * stage.length, least))
  return some


def latest(parts: Sequence[tuple[Array, Array]]) -> Array:
  """Selects for each time the value of the last stage that has begun.

  Args:
    parts: for each stage its values, and a mask of the times at which it has
      begun; the first stage counts as begun at all times.
  """
  result, _ = parts[0]
  for value, begun in parts[1:]:
    result = np.where(begun, value, result)
  return result


def with_trap(edges: Edges, p: int, rates: Array) -> edge_rates.EdgeRates:
  """Adds a phase p that is never left; absorption gets the index p + 1.

  Args:
    edges: `math.EdgeRates` of p phases, without coefficients.
    p: the number of phases.
    rates: at which phases lead to the trap, (..., p) or (..., 1) for all.
  """
  phases = onp.arange(p)
  targets = np.where(edges.targets == p, p + 1, edges.targets)
  return joined_edges(edges, targets, [(phases, phases * 0 + p, rates)])


def with_exits(edges: Edges, p: int, rates: Array) -> edge_rates.EdgeRates:
  """Adds edges from the phases to absorption, at rates (..., p)."""
  phases = onp.arange(p)
  return joined_edges(edges, edges.targets, [(phases, phases * 0 + p, rates)])


def joined_edges(
  edges: Edges,
  targets: Array,
  parts: Sequence[tuple[onp.ndarray, onp.ndarray, Array]],
) -> edge_rates.EdgeRates:
  """Appends edges, in parts of sources, targets and rates.

  The n edges of a part have the rates (..., n), or one rate (..., 1) for all.
  """
  weights = [(static.shape(edges.parameters)[-1], edges.parameters)]
  weights += [(len(sources), rates) for sources, _, rates in parts]
  return edge_rates.EdgeRates(
    joined_ends([edges.sources, *(part[0] for part in parts)]),
    joined_ends([targets, *(part[1] for part in parts)]),
    joined_rates(weights),
  )


def joined_ends(parts: Sequence[Array | onp.ndarray]) -> Array:
  """Concatenates sources, or targets, of edges."""
  return np.concatenate([structures.cast(x, "int32") for x in parts])


def joined_rates(parts: Sequence[tuple[int, Array]]) -> Array:
  """Concatenates rates of edges; a part may have one rate for all of its edges.

  Args:
    parts: numbers n of edges with their rates, (..., n) or (..., 1).
  """
  wide = [
    rates if static.shape(rates)[-1] == n else rates * onp.ones(n)
    for n, rates in parts
  ]
  return array_utils.joined(*wide)
