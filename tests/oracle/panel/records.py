"""Plain models and observations of subjects, for the reference likelihood."""

from collections.abc import Callable
import dataclasses
from typing import Any

# Motions since the row before. VISIT: anything. EXACT: the state stayed until
# now, when it may change. ENTRY: anything, then a change now.
VISIT, EXACT, ENTRY = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Row:
  """What is known of a subject at a time.

  Attributes:
    time: later than that of the row before.
    states: those that are possible; one if it is known, None for all.
    motion: VISIT, EXACT or ENTRY; without a meaning in the first row.
    labels: the state as reported, perhaps wrongly; several if only this is
      known; None without a report.
    outcome: `[d]`, what `Model.outcome` takes, or None.
    covariates: `[k]`, which apply from here to the next row, and to the labels
      and the outcome of this one.
  """

  time: float
  states: tuple[int, ...] | None = None
  motion: int = VISIT
  labels: tuple[int, ...] | None = None
  outcome: tuple[float, ...] | None = None
  covariates: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True)
class Model:
  """States and what can happen.

  Attributes:
    num_states: p.
    transitions: `[m]` pairs (i, j) of states from 0.
    cuts: `[c]` times at which intensities change.
    start: `[s]` states in which a subject may start; None if the first row
      knows it: then each of its possible states has weight 1.
    start_probs: `[s]` positive, where they are not parameters.
    mislabels: `[e]` pairs (state, wrong label).
    outcome: (parameters, `[d]` outcome, `[k]` covariates) to `[p]` log
      densities in each state, in JAX.
  """

  num_states: int
  transitions: tuple[tuple[int, int], ...]
  cuts: tuple[float, ...] = ()
  start: tuple[int, ...] | None = None
  start_probs: tuple[float, ...] | None = None
  mislabels: tuple[tuple[int, int], ...] = ()
  outcome: Callable[..., Any] | None = None


@dataclasses.dataclass(frozen=True)
class Sizes:
  """Least sizes of arrays: cases of equal sizes share a compiled function.

  Attributes:
    outcome: what is compiled where a model has none; rows decide.
    outcome_parameters: their names, which are zeros where a case has none.
  """

  parameters: int = 0
  states: int = 0
  transitions: int = 0
  covariates: int = 0
  cuts: int = 0
  mislabels: int = 0
  outcomes: int = 0
  subjects: int = 0
  rows: int = 0
  outcome: Callable[..., Any] | None = None
  outcome_parameters: tuple[str, ...] = ()
