"""Transforms E exp(-u X) and E exp(s X) with epochs, without subtraction.

A stage of length D has the density f of absorption. With an exponential clock
of rate u, the integral of exp(-u t) f(t) over t < D is the probability that the
chain is absorbed before D and before the clock rings. For exp(s t) with s > 0,
absorbed mass is killed at the rate s until D: the mass that is left then is
exp(-s D) times the integral.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_edges
from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_values
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.likelihood import phase_type
from phasic.math.moments import generating_functions
from phasic.math.moments import passages
from phasic.math.numeric import array_utils


def laplace_transform(stages: Sequence[epoch_stages.Stage], u: Array) -> Array:
  """Computes E exp(-u X) for u >= 0; NaN for other u."""
  parts = []
  for stage in stages:
    if stage.length is None:
      found = epoch_values.of_stage(passages.laplace_transform, stage, u)
    else:
      found = _before_clock(stage, stage.length, u)
    with onp.errstate(invalid="ignore"):  # u may be inf.
      parts.append(np.exp(stage.log_mass - u * stage.start) * found)
  return array_utils.at_most(sum(parts[1:], parts[0]), 1.0)


def moment_generating_function(
  stages: Sequence[epoch_stages.Stage], s: Array
) -> Array:
  """Computes E exp(s X); inf for s at or above the last stage's decay rate."""
  grows = s > 0
  # Each branch gets the argument zero where the other branch is selected, so
  # that its values and derivatives are finite.
  up = np.where(grows & (s < math.inf), s, 0.0)
  down = np.where(grows, 0.0, 0.0 - s)
  parts = []
  for stage in stages:
    if stage.length is None:
      function = generating_functions.moment_generating_function
      value = epoch_values.of_stage(function, stage, up)
      never = value == 0.0
      found = np.log(np.where(never, 1.0, value))
      found = np.where(never, -math.inf, found)
    else:
      found = _log_grown(stage, stage.length, up)
    log = stage.log_mass + up * stage.start + found
    # A stage that is never reached contributes zero.
    none = stage.log_mass == -math.inf
    with onp.errstate(over="ignore"):  # The value may be inf.
      parts.append(np.where(none, 0.0, np.exp(np.where(none, 0.0, log))))
  total = sum(parts[1:], parts[0])
  found = np.where(grows, total, laplace_transform(stages, down))
  return np.where(np.isfinite(s), found, math.nan)


def _before_clock(stage: epoch_stages.Stage, length: Array, u: Array) -> Array:
  """Integrates exp(-u t) f(t) over a stage, t since the stage's start."""
  good = (u >= 0) & (u < math.inf)
  rates = np.where(good, u, math.nan)[..., None]
  edges = epoch_edges.with_trap(
    stage.edges, static.shape(stage.initial)[-1], rates
  )
  none = np.zeros_like(stage.initial[..., :1])
  initial = np.concatenate([stage.initial, none], axis=-1)
  return phase_type.cdf(length, initial, edges, prob_zero=stage.prob_zero)


def _log_grown(stage: epoch_stages.Stage, length: Array, s: Array) -> Array:
  """Computes the log of the integral of exp(s t) f(t) over a stage, s >= 0."""
  p = static.shape(stage.initial)[-1]
  phases = onp.arange(p)
  absorbed, trap = onp.asarray([p]), onp.asarray([p + 1])
  clock = autodiff.stop_gradient(1.0 / length)[..., None]
  edges = epoch_edges.joined(
    stage.edges,
    stage.edges.targets,
    [
      # Phase p is entered where the stage's chain is absorbed. From there the
      # clock leads to absorption, now p + 2, and from other phases to the trap.
      (phases, phases * 0 + p + 1, clock),
      (absorbed, trap, s[..., None]),
      (absorbed, onp.asarray([p + 2]), clock),
    ],
  )
  batch = static.shape(stage.initial)[:-1]
  atom = np.broadcast_to(structures.cast(stage.prob_zero, s.dtype), batch)
  parts = [stage.initial, atom[..., None], np.zeros_like(atom[..., None])]
  log_density = phase_type.log_prob(
    length, np.concatenate(parts, axis=-1), edges, prob_zero=0.0
  )
  undone = clock[..., 0] * length - np.log(clock[..., 0])
  return log_density + undone + s * length
