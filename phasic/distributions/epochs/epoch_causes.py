"""Absorption by one of several causes, through epochs.

The stages of one cause are those of defective chains, see
`math.likelihood.competing_risks`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_values
from phasic.graphs.core import graph as graph_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.likelihood import competing_risks
from phasic.math.likelihood import hazards
from phasic.math.model import operands
from phasic.math.model.model_types import Edges
from phasic.math.model.model_types import Model
from phasic.math.numeric import array_utils


def stages_of(
  stages: Sequence[epoch_stages.Stage],
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
  found = []
  for stage, graph in zip(stages, graphs, strict=True):
    # No edge leads to a cause whose number is that of all causes.
    causes = graph.causes
    number = causes.index(cause) if cause in causes else len(causes)
    edges = _by_cause(stage.edges, graph)
    initial, own, _, atom = competing_risks.model_of_cause(
      number, stage.initial, edges, None, _atom(stage), cause is None
    )
    assert operands.is_edges(own)  # As the edges that were given.
    assert atom is not None
    found.append(stage._replace(initial=initial, edges=own, prob_zero=atom))
  return found


def probs(
  stages: Sequence[epoch_stages.Stage],
  graphs: Sequence[graph_lib.Graph],
  causes: Sequence[str | None],
) -> list[Array]:
  """Computes the probabilities of absorption by causes, each (...)."""
  stage, known = stages[-1], graphs[-1].causes
  at_last = competing_risks.cause_probs(
    stage.initial,
    _by_cause(stage.edges, graphs[-1]),
    _atom(stage),
    len(known),
    known.index(None) if None in known else None,
  )
  return [_prob(stages, graphs, cause, at_last) for cause in causes]


def _prob(
  stages: Sequence[epoch_stages.Stage],
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
  own = stages_of(stages, graphs, cause)
  known = graphs[-1].causes
  terms = []
  for part, stage in zip(own, stages, strict=True):
    if part.length is not None:
      found = epoch_values.of_kind("cdf", part, part.length)
    elif cause in known:
      found = at_last[..., known.index(cause)]
    elif cause is None:
      found = _atom(stage)
    else:
      found = np.zeros_like(_atom(stage))
    # A stage that is never reached has no distribution of phases.
    never = stage.log_mass == -float("inf")
    terms.append(np.where(never, 0.0, np.exp(stage.log_mass) * found))
  return array_utils.at_most(sum(terms[1:], terms[0]), 1.0)


def hazard(
  by_cause: Sequence[epoch_stages.Stage],
  stages: Sequence[epoch_stages.Stage],
  times: Array,
) -> Array:
  """Computes the hazard of a cause, from its stages and those of all causes."""
  parts = []
  for part, stage in zip(by_cause, stages, strict=True):
    local, later = epoch_values.since(stage, times)
    parts.append((_hazard(part, stage, local), later))
  return epoch_values.latest(parts)


def _hazard(
  part: epoch_stages.Stage, stage: epoch_stages.Stage, times: Array
) -> Array:
  """Computes the hazard of a cause at times within a stage."""
  value = hazards.cause_hazard(_model(part), _model(stage), times, False)
  unknown = epoch_values.hazard_of_stage(hazards.hazard_function, stage, times)
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
