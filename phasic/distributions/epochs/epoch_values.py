"""Functions of time with epochs, from functions of the stage of each time.

Absorption by one of several causes has stages of its own. They are those of
defective chains, see `math.likelihood.competing_risks`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import TypeAlias

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.epochs import epoch_stages
from phasic.graphs.core import graph as graph_lib
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.likelihood import competing_risks
from phasic.math.likelihood import diagnosis
from phasic.math.likelihood import hazards
from phasic.math.model import operands
from phasic.math.model.model_types import Edges, Model
from phasic.math.numeric import array_utils
from phasic.math.numeric import special

# A logarithm whose exponential is in the range of all dtypes.
_LARGEST_LOG = 80.0
_NO_START = (
  "boundaries: the state distribution at one before it cannot be computed"
)

# The functions below take the stages and times, and return values of shape
# (...) in the widest dtype.
Stages: TypeAlias = Sequence[epoch_stages.Stage]


def prob(stages: Stages, times: Array) -> Array:
  """Computes the density."""
  return _in_epochs(
    stages, times, lambda s, t: np.exp(s.log_mass) * kind_value("density", s, t)
  )


def log_prob(stages: Stages, times: Array) -> Array:
  """Computes the log density."""
  return _in_epochs(
    stages, times, lambda s, t: log_of_stage("log_density", s, t)
  )


def survival_function(stages: Stages, times: Array) -> Array:
  """Computes P(X > t)."""
  return _in_epochs(
    stages,
    times,
    lambda s, t: np.exp(s.log_mass) * kind_value("survival", s, t),
  )


def log_survival_function(stages: Stages, times: Array) -> Array:
  """Computes log P(X > t)."""
  return _in_epochs(
    stages, times, lambda s, t: log_of_stage("log_survival", s, t)
  )


def hazard_function(stages: Stages, times: Array) -> Array:
  """Computes the hazard."""
  return _in_epochs(
    stages,
    times,
    lambda s, t: hazard_of_stage(hazards.hazard_function, s, t),
  )


def log_hazard_function(stages: Stages, times: Array) -> Array:
  """Computes the log hazard."""
  return _in_epochs(
    stages,
    times,
    lambda s, t: hazard_of_stage(hazards.log_hazard_function, s, t),
  )


def cdf(stages: Stages, times: Array) -> Array:
  """Computes P(X <= t), summing the absorption probabilities of the epochs."""

  def add(before: Array | float, stage: epoch_stages.Stage, t: Array) -> Array:
    return before + np.exp(stage.log_mass) * kind_value("cdf", stage, t)

  return _accumulated(stages, times, add, 0.0)


def log_cdf(stages: Stages, times: Array) -> Array:
  """Computes log P(X <= t)."""

  def add(before: Array | None, stage: epoch_stages.Stage, t: Array) -> Array:
    if before is None:
      total = stage.log_mass + kind_value("log_cdf", stage, t)
      return _seen("log_cdf", stage, t, total)
    # At a boundary the part of the later epoch is zero, and its logarithm has
    # no second derivatives. So the sum is computed without that logarithm.
    at_start = t == 0.0
    later = np.where(at_start, epoch_stages.time_within(stage), t)
    in_stage = stage.log_mass + kind_value("log_cdf", stage, later)
    ratio = np.exp(np.minimum(stage.log_mass - before, _LARGEST_LOG))
    none = np.where(at_start, t, 0.0)
    begun = np.log1p(ratio * kind_value("cdf", stage, none))
    summed = special.logaddexp(before, in_stage)
    total = np.where(at_start, before + begun, summed)
    return _seen("log_cdf", stage, t, total)

  return _accumulated(stages, times, add, None)


def occupancy(stages: Stages, times: Array) -> list[Array]:
  """Computes P(in phase j at time t), an array (..., p_k) for each epoch k."""
  good = (times >= 0.0) & (times < math.inf)
  times = np.where(good, times, 0.0)
  parts: list[Array] = []
  for k, stage in enumerate(stages):
    local, inside = epoch_stages.since(stage, times)
    if k + 1 < len(stages):
      inside = inside & np.logical_not(times >= stages[k + 1].start)
    at = epoch_stages.distribution_at(stage, local)
    masses = np.exp(stage.log_mass + at.log_mass)[..., None] * at.probs
    masses = np.where(inside[..., None], masses, 0.0)
    parts.append(np.where(good[..., None], masses, math.nan))
  return parts


def reasons(kind: str, stages: Stages, times: Array) -> onp.ndarray:
  """Returns why a kind of function gives NaN at each time.

  The reason is that of the chain in the epoch of the time, or that mass lost at
  a boundary might matter.
  """
  parts: list[tuple[onp.ndarray, Array]] = []
  before = onp.asarray("ok")  # why the start of the next epoch is not known
  for stage in stages:
    if parts:
      unknown = onp.any(onp.isnan(comparable.host(stage.initial)), axis=-1)
      lost = (before == "ok") & unknown
      before = onp.where(lost, _NO_START, before)
    local, later = epoch_stages.since(stage, times)
    chain = (stage.initial, stage.edges)
    reason = diagnosis.reasons(kind, (*chain, local, None, stage.prob_zero))
    is_first = (reason == "ok") | (before == "ok")
    parts.append((onp.where(is_first, reason, before), later))
    if stage.length is not None:
      ends = (*chain, stage.length, None, stage.prob_zero)
      why = diagnosis.reasons("log_survival", ends)
      before = onp.where(before == "ok", why, before)
  result, _ = parts[0]
  for reason, later in parts[1:]:
    result = onp.where(comparable.host(later), reason, result)
  lost = "value: mass lost at a boundary might matter there"
  return onp.where(result == "ok", lost, result)


def _in_epochs(
  stages: Stages,
  times: Array,
  function: Callable[[epoch_stages.Stage, Array], Array],
) -> Array:
  """Evaluates a function at each time, in the stage that contains it."""
  parts = []
  for stage in stages:
    local, later = epoch_stages.since(stage, times)
    parts.append((function(stage, local), later))
  return epoch_stages.latest(parts)


def _accumulated(
  stages: Stages,
  times: Array,
  add: Callable[..., Array],
  before: Array | float | None,
) -> Array:
  """Sums a function over all stages up to the stage of each time."""
  parts = []
  for stage in stages:
    local, later = epoch_stages.since(stage, times)
    parts.append((add(before, stage, local), later))
    if stage.length is not None:
      before = add(before, stage, stage.length)
  return epoch_stages.latest(parts)


def stage_value(
  function: Callable[..., Array], stage: epoch_stages.Stage, times: Array
) -> Array:
  """Evaluates a function of `math` for a stage, given that it is reached."""
  return function(times, stage.initial, stage.edges, prob_zero=stage.prob_zero)


def kind_value(kind: str, stage: epoch_stages.Stage, times: Array) -> Array:
  """Evaluates a kind of function for a stage, given that it is reached.

  Args:
    kind: as in `evaluation.value`.
    stage: the stage.
    times: (...), since its start.
  """
  atom = structures.cast(stage.prob_zero, static.dtype_name(stage.initial))
  model = (stage.initial, stage.edges, times, None, atom)
  return evaluation.value_of_arrays(kind, model)


def log_of_stage(kind: str, stage: epoch_stages.Stage, times: Array) -> Array:
  """Computes an unconditional log probability or log density in a stage."""
  return _seen(
    kind, stage, times, stage.log_mass + kind_value(kind, stage, times)
  )


def hazard_of_stage(
  function: Callable[..., Array], stage: epoch_stages.Stage, times: Array
) -> Array:
  """Computes the hazard in a stage, which does not depend on the stage's mass.

  Args:
    function: `hazards.hazard_function` or `log_hazard_function`.
    stage: the stage.
    times: the times since its start.
  """
  hazard = stage_value(function, stage, times)
  if stage.log_lost is None:
    return hazard
  unknown = stage.log_mass == -math.inf
  for kind in ("log_density", "log_survival"):
    unknown = unknown | np.isnan(log_of_stage(kind, stage, times))
  return np.where(unknown, math.nan, hazard)


def _seen(
  kind: str,
  stage: epoch_stages.Stage,
  times: Array,
  logs: Array,
) -> Array:
  """Returns logs, with NaN where mass that underflowed before may matter.

  The lost mass is bounded by its value in the phase where it counts most.
  """
  lost = epoch_stages.lost_before(stage)
  if lost is None:
    return logs
  everywhere, scale = lost
  times = autodiff.stop_gradient(times)
  bound = kind_value(kind, everywhere, times) + scale
  inside = (times > 0.0) & (times < math.inf) & (scale > -math.inf)
  wrong = inside & (logs < bound)
  return np.where(wrong, float("nan"), logs)


def stages_of(
  stages: Stages,
  graphs: Sequence[graph_lib.Graph],
  cause: str | None,
) -> list[epoch_stages.Stage]:
  """Returns stages whose chains are absorbed by one cause only.

  Args:
    stages: the stages of the epochs.
    graphs: the graph of each epoch.
    cause: the cause's name. In epochs whose graph does not have it no chain is
      absorbed.
  """
  by_cause = []
  for stage, graph in zip(stages, graphs, strict=True):
    # If the epoch's graph does not have the cause, its number is the number of
    # all causes, to which no edge leads.
    causes = graph.causes
    number = causes.index(cause) if cause in causes else len(causes)
    edges = _by_cause(stage.edges, graph)
    initial, part_edges, _, atom = competing_risks.model_of_cause(
      number, stage.initial, edges, None, _atom(stage), cause is None
    )
    assert operands.is_edges(part_edges)  # As the edges that were given.
    assert atom is not None
    by_cause.append(
      stage._replace(initial=initial, edges=part_edges, prob_zero=atom)
    )
  return by_cause


def cause_probs(
  stages: Stages,
  graphs: Sequence[graph_lib.Graph],
  causes: Sequence[str | None],
) -> list[Array]:
  """Computes the probability of absorption by each cause, arrays (...)."""
  stage, known = stages[-1], graphs[-1].causes
  at_last = competing_risks.cause_probs(
    stage.initial,
    _by_cause(stage.edges, graphs[-1]),
    _atom(stage),
    len(known),
    known.index(None) if None in known else None,
  )
  return [_cause_prob(stages, graphs, cause, at_last) for cause in causes]


def _cause_prob(
  stages: Stages,
  graphs: Sequence[graph_lib.Graph],
  cause: str | None,
  at_last: Array,
) -> Array:
  """Computes the probability of one cause.

  Args:
    stages: the stages of the epochs.
    graphs: the graph of each epoch.
    cause: the cause's name.
    at_last: the probabilities of the causes of the last graph, once its epoch
      is reached, (..., number of its causes).
  """
  by_cause = stages_of(stages, graphs, cause)
  known = graphs[-1].causes
  terms = []
  for part, stage in zip(by_cause, stages, strict=True):
    if part.length is not None:
      share = kind_value("cdf", part, part.length)
    elif cause in known:
      share = at_last[..., known.index(cause)]
    elif cause is None:
      share = _atom(stage)
    else:
      share = np.zeros_like(_atom(stage))
    # A stage that is never reached has no distribution of phases: its term is
    # zero.
    never = stage.log_mass == -float("inf")
    terms.append(np.where(never, 0.0, np.exp(stage.log_mass) * share))
  return array_utils.at_most(sum(terms[1:], terms[0]), 1.0)


def cause_hazard(
  by_cause: Stages,
  stages: Stages,
  times: Array,
) -> Array:
  """Computes the hazard of a cause, from its stages and the stages of all causes."""
  parts = []
  for part, stage in zip(by_cause, stages, strict=True):
    local, later = epoch_stages.since(stage, times)
    parts.append((_cause_hazard(part, stage, local), later))
  return epoch_stages.latest(parts)


def _cause_hazard(
  part: epoch_stages.Stage, stage: epoch_stages.Stage, times: Array
) -> Array:
  """Computes the hazard of a cause at times within a stage."""
  value = hazards.cause_hazard(_model(part), _model(stage), times, False)
  unknown = hazard_of_stage(hazards.hazard_function, stage, times)
  return np.where(np.isnan(unknown), float("nan"), value)


def _by_cause(edges: Edges, graph: graph_lib.Graph) -> Edges:
  """Returns edges whose targets p + c are absorption by cause c."""
  targets = structures.as_index_array(graph.targets, "targets")
  return edges._replace(targets=targets)


def _atom(stage: epoch_stages.Stage) -> Array:
  """Returns the mass at zero of a stage, (...)."""
  none = np.zeros_like(stage.initial[..., 0])
  return none + structures.cast(stage.prob_zero, static.dtype_name(none))


def _model(stage: epoch_stages.Stage) -> Model:
  return stage.initial, stage.edges, None, _atom(stage)
