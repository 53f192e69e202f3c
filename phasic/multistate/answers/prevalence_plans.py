"""What the numbers of subjects in states are sums of."""

from __future__ import annotations

from collections.abc import Hashable
import itertools
import math
from typing import Any, NamedTuple

import numpy as onp

from phasic.multistate.data import panel_data
from phasic.multistate.likelihood import reading


class Plan(NamedTuple):
  """What numbers in states are sums of.

  Attributes:
    observed: counts, (t, s).
    weights: how often an item counts at a time, (t, number of items).
    columns: numbers that coefficients multiply, (number of designs, k).
    steps: pairs of a design and a length of time.
    start: the first state of a path, or the number of states where it is
      random, (number of paths,).
    moves: the steps of each path, whose number stands for none, (l, paths).
    labels: numbers that coefficients on wrong labels multiply, (c, l).
    path: the path of an item, (number of items,).
    label: the row of `labels` of an item, (number of items,).
  """

  observed: onp.ndarray
  weights: onp.ndarray
  columns: onp.ndarray
  steps: list[tuple[int, float]]
  start: onp.ndarray
  moves: onp.ndarray
  labels: onp.ndarray
  path: onp.ndarray
  label: onp.ndarray


def read(spec: reading.Spec, bound: reading.Bound, at: onp.ndarray) -> Plan:
  """Reads who counts when, and along which path of rates."""
  data, chain = bound.data, spec.chain
  known = onp.asarray([_state(spec, data, str(x)) for x in data.states])
  if not onp.any(known >= 0):
    raise ValueError(
      "fit has data without states: prevalence needs states that were seen"
    )
  firsts = onp.flatnonzero(data.is_first).tolist()
  columns, designs = _designs(bound)
  rows_of_labels, label_columns = _label_columns(spec, bound)
  observed = onp.zeros((len(at), len(chain.states)), int)
  items: dict[Hashable, int] = {}
  paths: dict[Any, int] = {}
  counts: dict[tuple[int, int], int] = {}
  pairs: list[tuple[int, int]] = []
  absorbing = onp.isin(onp.asarray(chain.states), chain.absorbing)
  for first, end in itertools.pairwise([*firsts, len(data.times)]):
    rows = onp.arange(first, end)
    seen = rows[known[rows] >= 0]
    if not len(seen):
      continue
    ends = data.times[end - 1]
    if known[end - 1] >= 0 and absorbing[known[end - 1]]:
      ends = math.inf
    last = onp.searchsorted(data.times[seen], at, side="right") - 1
    start = len(chain.states)
    if known[first] >= 0 and not spec.hidden.has_errors:
      start = int(known[first])
    tops = onp.searchsorted(data.times[rows], at, side="right") - 1
    for i in onp.flatnonzero((last >= 0) & (at <= ends)).tolist():
      observed[i, known[seen[last[i]]]] += 1
      steps = _steps(data, bound.effects.cuts, designs, rows, float(at[i]))
      path = paths.setdefault((start, steps), len(paths))
      label = int(rows_of_labels[rows[tops[i]]])
      item = items.setdefault((path, label), len(items))
      if item == len(pairs):
        pairs.append((path, label))
      counts[i, item] = counts.get((i, item), 0) + 1
  weights = onp.zeros((len(at), max(len(items), 1)))
  for (i, item), number in counts.items():
    weights[i, item] = number
  numbers: dict[tuple[int, float], int] = {}
  for _, steps in paths:
    for step in steps:
      numbers.setdefault(step, len(numbers))
  longest = max((len(steps) for _, steps in paths), default=0)
  moves = onp.full((longest, max(len(paths), 1)), len(numbers))
  for j, (_, steps) in enumerate(paths):
    for k, step in enumerate(steps):
      moves[k, j] = numbers[step]
  return Plan(
    observed,
    weights,
    columns,
    list(numbers),
    onp.asarray([start for start, _ in paths] or [0]),
    moves,
    label_columns,
    onp.asarray([path for path, _ in pairs] or [0]),
    onp.asarray([label for _, label in pairs] or [0]),
  )


def _state(spec: reading.Spec, data: panel_data.PanelData, label: str) -> int:
  """Returns the number of the state that was seen, or -1."""
  names = data.possible.get(label, (label,))
  states = spec.chain.states
  return (
    states.index(names[0]) if len(names) == 1 and names[0] in states else -1
  )


def _designs(bound: reading.Bound) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns what coefficients multiply after each row, in each period.

  Returns:
    Distinct rows of numbers, (d, k), and which of these applies, (n, periods).
  """
  data, effects = bound.data, bound.effects
  begins = onp.flatnonzero(onp.logical_not(data.is_first)) - 1
  size, periods = len(begins), len(effects.cuts) + 1
  starts = onp.asarray([-math.inf, *effects.cuts])
  table = {
    name: onp.repeat(column[begins], periods)
    for name, column in data.covariates.items()
  }
  count = size * periods
  columns = effects.evaluate(table, count, onp.tile(starts, size))
  distinct, which = onp.unique(
    columns[:, effects.places], axis=0, return_inverse=True
  )
  designs = onp.zeros((len(data.times), periods), int)
  designs[begins] = onp.reshape(which, (size, periods))
  return distinct, designs


def _label_columns(
  spec: reading.Spec, bound: reading.Bound
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns which probabilities of labels apply to each row, and columns."""
  data, errors = bound.data, bound.errors
  size = len(data.times)
  if not errors.labels:
    return onp.zeros(size, int), onp.zeros((1, 0))
  # Rows of times of entry may have no covariates: those before them count.
  row = onp.where(data.kinds == panel_data.SEEN, onp.arange(size), 0)
  row = onp.where(data.is_first, onp.arange(size), row)
  row = onp.maximum.accumulate(row)
  table = {name: column[row] for name, column in data.covariates.items()}
  columns = errors.evaluate(table, size, data.times)[:, errors.places]
  distinct, which = onp.unique(columns, axis=0, return_inverse=True)
  return onp.reshape(which, -1), distinct


def _steps(
  data: panel_data.PanelData,
  cuts: tuple[float, ...],
  designs: onp.ndarray,
  rows: onp.ndarray,
  end: float,
) -> tuple[tuple[int, float], ...]:
  """Returns the designs and lengths of steps from the first row to a time."""
  marks: list[tuple[int, float, float]] = []
  edges = [-math.inf, *cuts, math.inf]
  # After the last row its covariates may be missing: those before it hold.
  for row in rows[:-1].tolist():
    is_last = row == rows[-2]
    close = math.inf if is_last else float(data.times[row + 1])
    for period, (low, high) in enumerate(itertools.pairwise(edges)):
      begin = max(float(data.times[row]), low)
      until = min(close, high, end)
      if begin >= until:
        continue
      design = int(designs[row, period])
      if marks and marks[-1][0] == design:
        begin = marks.pop()[1]
      marks.append((design, begin, until))
  return tuple((design, until - begin) for design, begin, until in marks)
