"""Limits of the cdf at zero and infinity, and the mean absorption time.

A quantile exists between the atom at zero and the absorption probability, which
is less than one if the chain can reach a trap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing
from phasic.math.model.model_types import EdgeArrays
from phasic.math.model.model_types import ModelArrays
from phasic.math.numeric import exact_sums
from phasic.math.portable import portable_edges


class Limits(NamedTuple):
  """F(0), F(inf) and a time scale of each model, (batch..., 1).

  Attributes:
    atom: F(0).
    positive: P(X > 0).
    absorbed: F(inf).
    caught: P(X = inf), zero if absorption is certain.
    time: the expected time until absorption or a trap.
  """

  atom: Array
  positive: Array
  absorbed: Array
  caught: Array
  time: Array


def find(operands: ModelArrays, edges: EdgeArrays, discrete: bool) -> Limits:
  """Computes the `Limits` of models.

  Args:
    operands: the kernel's four operands of a model.
    edges: its arrays of edges.
    discrete: whether time is counted in steps.
  """
  timed = (*operands, np.zeros_like(operands[0][..., :1]))
  atom, positive = (
    kernel_ops.phase_type(
      kind, timed, portable_edges.fallback(discrete), edges, discrete=discrete
    )
    for kind in ("cdf", "survival")
  )
  passage = chain_calls.value_of_operands(_passage, operands, edges, discrete)
  absorbed, caught = passage[..., :1], passage[..., 1:2]
  one = np.ones_like(absorbed)
  # Without a trap F(inf) is exactly one, whatever the rounding error.
  absorbed = np.where(caught > 0, absorbed, one)
  return Limits(atom, positive, absorbed, caught, passage[..., 2:])


def _passage(system: chain_solves.System) -> Array:
  """Computes P(X < inf), P(X = inf) and the mean time to absorption or a trap.

  The result is (..., 3).
  """
  passage, positive = killing.absorbed_or_caught(system)
  m = static.shape(system.weights)[-1]
  none = np.zeros_like(positive)
  ends = np.concatenate([none[..., :m], passage.weights[..., m:]], axis=-1)
  per_edge = np.stack([positive, ends, none], axis=-1)
  start = np.zeros_like(passage.weights[..., :1] + system.initial)
  counted = start + (1.0 - passage.weights[..., m:])  # Zero in traps.
  per_phase = np.stack([start, start, counted], axis=-1)
  x = chain_solves.solve(passage, per_phase, per_edge)
  total = np.sum(system.initial[..., None] * x, axis=-2)
  time = exact_sums.times_power(total[..., 2], -system.exponent)
  probs_and_time = np.stack(
    [system.atom + total[..., 0], total[..., 1], time], axis=-1
  )
  return chain_solves.checked_entries(system, probs_and_time)
