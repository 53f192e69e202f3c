"""Quadrature points for distributions with epochs, stage by stage.

Densities jump at boundaries, and are smooth between them.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np

from phasic.distributions.epochs import epoch_stages
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.quadrature import quadrature
from phasic.math.quadrature import quadrature_points


def of_stages(
  stages: list[epoch_stages.Stage],
  batch: static.Shape,
  log_prob: Callable[[Array], Array],
  dtype: str,
) -> quadrature_points.QuadraturePoints:
  """Concatenates the quadrature points of all stages.

  Args:
    stages: the stages.
    batch: what their batches broadcast to.
    log_prob: the log density, of times in the dtype, the batch last.
    dtype: the dtype of the distribution.
  """
  found = [_of_stage(stage, batch, dtype) for stage in stages]
  wide = static.wide_float()
  atom = structures.cast(stages[0].prob_zero, wide)
  some = atom > 0
  log_atom = np.log(np.where(some, atom, 1.0))
  # An unknown atom is NaN, which the product 0 * atom keeps.
  log_atom = np.where(some, log_atom, 0.0 * atom - math.inf)
  log_atom = np.broadcast_to(log_atom, batch)

  def joined(*parts: Array) -> Array:
    return np.concatenate(list(parts), axis=0)

  rules = [nodes.rule for nodes in found]
  rule = rules[0]._replace(
    points=joined(*(rule.points for rule in rules)),
    log_weights=joined(*(rule.log_weights for rule in rules)),
    coarse=joined(*(rule.coarse for rule in rules)),
    tolerance=max(rule.tolerance for rule in rules),
  )
  values = joined(*(nodes.values for nodes in found))
  # All densities come from one call, as those of the other distribution in a
  # divergence: the divergence of equal distributions is then exactly zero.
  logs = structures.cast(log_prob(values), wide)
  masses = quadrature.masses(logs, rule.log_weights)
  return quadrature_points.QuadraturePoints(
    rule, values, masses, logs, log_atom
  )


def _of_stage(
  stage: epoch_stages.Stage, batch: static.Shape, dtype: str
) -> quadrature_points.QuadraturePoints:
  """Returns the quadrature points of one stage, with log densities zero."""
  initial = structures.cast(stage.initial, dtype)
  initial = np.broadcast_to(initial, (*batch, static.shape(initial)[-1]))
  rates = structures.cast(stage.edges.parameters, dtype)
  atom = structures.cast(stage.prob_zero, dtype)
  model = (initial, stage.edges._replace(parameters=rates), None, atom)
  start = structures.cast(stage.start, static.wide_float())
  start = np.broadcast_to(start, batch)
  end = start + (math.inf if stage.length is None else stage.length)
  return quadrature_points.interval_points(
    model, False, start, end, np.zeros_like
  )
