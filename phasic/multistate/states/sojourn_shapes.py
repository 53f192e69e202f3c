"""Distributions of times in a state, as phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as onp

from phasic import distributions
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.multistate.data import panel_columns

# The largest number of phases of a state.
_MOST_PHASES = 64


class Shape(NamedTuple):
  """A phase-type distribution with mean one.

  Attributes:
    entry: initial probabilities, (k,).
    rates: between phases, (k, k).
    exits: (k,).
  """

  entry: onp.ndarray
  rates: onp.ndarray
  exits: onp.ndarray


def read_shapes(
  given: Any, triples: Sequence[tuple[str, str, str]]
) -> dict[str, int | Shape]:
  """Returns numbers of phases, or shapes, by name of the state."""
  if given is None:
    return {}
  if not isinstance(given, Mapping):
    raise TypeError(
      f"sojourns is {raw_arguments.shown(given)}: it must map states to numbers "
      "of phases or distributions"
    )
  left = list(dict.fromkeys(source for source, _, _ in triples))
  read: dict[str, int | Shape] = {}
  for key, x in given.items():
    state = panel_columns.text(key, "a state of sojourns")
    if state not in left:
      raise ValueError(
        f"sojourns has {state!r}: it must be one of the states that are left, "
        f"{', '.join(left)}"
      )
    if isinstance(x, distributions.Distribution):
      read |= {state: _shape_of(state, x)}
      continue
    count = raw_arguments.integer(
      f"sojourns[{state!r}]", x, "a number of phases or a distribution"
    )
    if not 1 <= count <= _MOST_PHASES:
      raise ValueError(
        f"sojourns[{state!r}] is {count}: it must be from 1 to {_MOST_PHASES}"
      )
    read |= {state: count}
  return read


def _shape_of(state: str, dist: distributions.Distribution) -> Shape:
  """Returns the phases of a distribution, scaled to the mean one."""
  chain = dist.as_phase_type() if hasattr(dist, "as_phase_type") else dist
  if not isinstance(chain, distributions.PhaseType):
    raise TypeError(
      f"sojourns[{state!r}] is a {type(dist).__name__}: it must be phase-type, "
      "in continuous time; weibull and gamma make close ones of these families"
    )
  mean = float(onp.asarray(static.concrete(chain.mean())))
  entry = onp.asarray(static.concrete(chain.initial_probs), onp.float64)
  matrix = onp.asarray(static.concrete(chain.subgenerator), onp.float64)
  if onp.shape(entry)[-1] > _MOST_PHASES:
    raise ValueError(
      f"sojourns[{state!r}] has {onp.shape(entry)[-1]} phases: it must have at most "
      f"{_MOST_PHASES}; inference.match_moments makes a shape of few phases"
    )
  if entry.ndim != 1:
    raise ValueError(
      f"sojourns[{state!r}] has batch shape {entry.shape[:-1]}: it must be one "
      "distribution"
    )
  eps = static.finfo_eps(static.dtype_name(chain.initial_probs))
  if chain.exit_rates is None:
    exits = -onp.sum(matrix, axis=-1)
    # Rows that sum to zero do so up to rounding.
    exits = onp.where(exits > -16.0 * eps * onp.diagonal(matrix), exits, 0.0)
  else:
    exits = onp.asarray(static.concrete(chain.exit_rates), onp.float64)
  total = float(onp.sum(entry))
  if abs(total - 1.0) > 64.0 * eps:
    raise ValueError(
      f"sojourns[{state!r}] has mass at zero: it must be a positive time"
    )
  off = onp.where(onp.eye(len(entry), dtype=bool), 0.0, matrix)
  return Shape(entry / total, off * mean, exits * mean)
