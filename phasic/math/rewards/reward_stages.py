"""Expansion of phases into stages, so that each step has reward zero or one.

A visit with reward k takes k steps: it starts in stage k of its phase and goes
down to stage 1. A visit without reward is stage 0. Rewards at absorption have
stages too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

MAX_STAGES = 4096


class Stages(NamedTuple):
  """The stages into which phases are expanded, as host arrays.

  Attributes:
    phases: the phase of each stage, p for absorption (n,).
    rewards: whether a stage has reward one (n,).
    starts: whether a phase starts in the stage (..., n), 0 or 1.
    transitions: whether a phase's transitions lead from stage to stage (..., n,
      n), 0 or 1.
    descents: the certain steps down the stages (n, n), 0 or 1.
    ends: whether the phase's exits apply in the stage (..., n), 0 or 1.
    last: whether absorption follows for certain (n,), 0 or 1.
  """

  phases: onp.ndarray
  rewards: onp.ndarray
  starts: onp.ndarray
  transitions: onp.ndarray
  descents: onp.ndarray
  ends: onp.ndarray
  last: onp.ndarray


def stages(visit_rewards: onp.ndarray, jump_rewards: onp.ndarray) -> Stages:
  """Expands the phases of a discrete chain into stages.

  Args:
    visit_rewards: rewards of visits to phases, integers >= 0 (..., p).
    jump_rewards: rewards of jumps, integers >= 0 (..., p, p + 1); the last
      column has jumps to absorption.

  Raises:
    ValueError: there are more than 4096 stages.
  """
  *batch, p = onp.shape(visit_rewards)
  at_entry = onp.concatenate(
    [visit_rewards, onp.zeros((*batch, 1), int)], axis=-1
  )
  totals = jump_rewards + at_entry[..., None, :]
  starts = visit_rewards + onp.zeros(onp.shape(totals)[:-1], int)
  flat = onp.reshape(
    onp.concatenate([totals[..., :p], starts[..., None, :]], axis=-2), (-1, p)
  )
  pairs = [
    (i, k)
    for i in range(p)
    for k in range(int(min(flat[:, i]) > 0), max(flat[:, i]) + 1)
  ]
  pairs += [(p, k + 1) for k in range(int(onp.max(totals[..., p])))]
  n = len(pairs)
  if n > MAX_STAGES:
    raise ValueError(
      f"rewards split the phases into {n} stages: there must be at most "
      f"{MAX_STAGES}; smaller rewards need fewer"
    )
  phases, stage = onp.asarray(pairs).T
  leaves = (phases < p) & (stage <= 1)
  rows = onp.where(phases < p, phases, 0)
  # between[a, b] is the reward of a jump from the phase of stage a to the phase
  # of stage b, including the reward of a visit to the latter.
  between = onp.take(onp.take(totals, rows, axis=-2), phases, axis=-1)
  transitions = leaves[:, None] & (between == stage)
  same = phases[:, None] == phases
  descents = same & (stage[:, None] == stage + 1) & (stage >= 1)
  begins = onp.take(starts, rows, axis=-1) == stage
  ends = leaves & (onp.take(totals[..., p], rows, axis=-1) == 0)
  return Stages(
    phases,
    stage > 0,
    1.0 * (begins & (phases < p)),
    1.0 * transitions,
    1.0 * descents,
    1.0 * ends,
    1.0 * ((phases == p) & (stage == 1)),
  )
