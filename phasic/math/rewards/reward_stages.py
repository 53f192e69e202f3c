"""Phases expanded into stages, so that each step earns one or nothing.

A visit that earns k is k steps long: it starts in stage k of its phase and
goes down to stage 1. A visit that earns nothing is stage 0, and what is earned
at absorption has stages too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

MAX_STAGES = 4096


class Stages(NamedTuple):
  """What is known of the stages on the host.

  Attributes:
    phases: to which phase each stage belongs, p for absorption (n,).
    earns: whether a stage earns one (n,).
    starts: where a phase is started (..., n), 0 or 1.
    moves: where a phase's transitions lead (..., n, n), 0 or 1.
    descents: the transitions down the stages (n, n), 0 or 1.
    ends: from where absorption follows the phase's own law (..., n), 0 or 1.
    last: from where it follows surely (n,), 0 or 1.
  """

  phases: onp.ndarray
  rewards: onp.ndarray
  starts: onp.ndarray
  transitions: onp.ndarray
  descents: onp.ndarray
  ends: onp.ndarray
  last: onp.ndarray


def stages(visit_rewards: onp.ndarray, jump_rewards: onp.ndarray) -> Stages:
  """Returns the stages.

  Args:
    visit_rewards: what each visit to a phase earns, integers >= 0 (..., p).
    jump_rewards: what each jump earns, integers >= 0 (..., p, p + 1), to
      absorption in the last column.

  Raises:
    ValueError: there are more than 4096.
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
      f"rewards need {n} stages of phases: there must not be more than "
      f"{MAX_STAGES}"
    )
  phases, stage = onp.asarray(pairs).T
  leaves = (phases < p) & (stage <= 1)
  rows = onp.where(phases < p, phases, 0)
  # Of the jump from each stage to the phase of each.
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
