"""The layout of observations: subjects with the same effects share a chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic import inference
from phasic.internal import static
from phasic.internal.arrays import Array


class Part(NamedTuple):
  """Observations of one stratum, and the numbers that their effects need.

  Attributes:
    observations: (n,); or (r, l) for r chains, where some are placeholders.
    designs: columns by name of the effect: (n, k), or (r, l, k) for effects on
      time; for effects on chains (r, k).
    offsets: fixed terms of linear predictors, likewise without the last axis.
    place: (n,), where each of n observations is in the flat layout; None where
      the layout is theirs.
  """

  observations: inference.Observations
  designs: Mapping[str, Any]
  offsets: Mapping[str, Any]
  place: Any


def part_of(
  observations: inference.Observations,
  rows: onp.ndarray,
  designs: Mapping[str, onp.ndarray],
  offsets: Mapping[str, onp.ndarray],
  on_chains: Sequence[str],
) -> Part:
  """Lays out some observations.

  Args:
    observations: all of them, (n,).
    rows: which of them are in this part.
    designs: columns of all observations, (n, k), by name of the effect.
    offsets: of all observations, (n,), likewise.
    on_chains: the names of effects for which subjects need chains of their own.
  """
  designs = {name: x[rows] for name, x in designs.items()}
  offsets = {name: x[rows] for name, x in offsets.items()}
  if not on_chains:
    return Part(_picked(observations, rows), designs, offsets, None)
  keys = [designs[name] for name in on_chains if name in designs]
  keys += [offsets[name][:, None] for name in on_chains if name in offsets]
  _, chain = onp.unique(
    onp.concatenate(keys, axis=-1), axis=0, return_inverse=True
  )
  index, place = _table(onp.reshape(chain, -1))
  first = index[:, 0]
  chains = set(on_chains)
  return Part(
    _picked(observations, rows[index]),
    {
      name: x[first] if name in chains else x[index]
      for name, x in designs.items()
    },
    {
      name: x[first] if name in chains else x[index]
      for name, x in offsets.items()
    },
    onp.asarray(place, onp.int32),
  )


def _table(chain: onp.ndarray) -> tuple[onp.ndarray, onp.ndarray]:
  """Arranges observations in rows that have one chain each.

  A chain of many observations takes several rows, so that at most about two of
  three places are repetitions.

  Args:
    chain: the chain of each observation, (n,).

  Returns:
    The observation in each place of the table, (r, l), and the place of each
    observation in the flat table, (n,).
  """
  order = onp.argsort(chain, kind="stable")
  _, sizes = onp.unique(chain, return_counts=True)
  length = -(-len(chain) // len(sizes))
  starts = onp.cumsum(sizes) - sizes
  table: list[onp.ndarray] = []
  for start, size in zip(starts, sizes, strict=True):
    for low in range(0, size, length):
      members = order[start + low : start + min(low + length, size)]
      # The last member fills the row.
      table.append(onp.pad(members, (0, length - len(members)), mode="edge"))
  index = onp.stack(table)
  place = onp.zeros(len(chain), int)
  place[index[:, ::-1].ravel()] = (
    onp.arange(index.size).reshape(index.shape)[:, ::-1].ravel()
  )
  return index, place


def _picked(
  observations: inference.Observations, index: onp.ndarray
) -> inference.Observations:
  """Returns observations in another order and shape, without weights."""

  def picked(x: Array | None) -> onp.ndarray | None:
    return None if x is None else onp.asarray(static.concrete(x))[index]

  is_exact = observations.upper is observations.lower
  return inference.Observations(
    onp.asarray(picked(observations.lower)),
    None if is_exact else picked(observations.upper),
    None,
    picked(observations.entry),
    picked(observations.cause),
  )


def flat(part: Part) -> inference.Observations:
  """Returns the n observations of a part in their order."""
  if part.place is None:
    return part.observations
  observations = part.observations
  _, length = static.shape(observations.lower)
  index = onp.asarray(static.concrete(part.place))
  return _picked(observations, (index // length, index % length))  # type: ignore[arg-type]


class PartRows(NamedTuple):
  """The numbers of the n subjects of a part.

  Attributes:
    place: (n,), where each is in the flat layout.
    designs: columns (n, k), by name of the effect.
    offsets: (n,), by name of the effect.
  """

  place: onp.ndarray
  designs: Mapping[str, onp.ndarray]
  offsets: Mapping[str, onp.ndarray]


def rows(part: Part) -> PartRows:
  """Returns the numbers of the subjects of a part, in their order."""
  designs = {k: _host(x) for k, x in part.designs.items()}
  offsets = {k: _host(x) for k, x in part.offsets.items()}
  shape = static.shape(part.observations.lower)
  if part.place is None:
    return PartRows(onp.arange(shape[0]), designs, offsets)
  index, length = _host(part.place), shape[1]

  def picked(x: onp.ndarray, rank: int) -> onp.ndarray:
    is_of_chains = onp.ndim(x) == rank
    return (
      x[index // length] if is_of_chains else x[index // length, index % length]
    )

  return PartRows(
    index,
    {name: picked(x, 2) for name, x in designs.items()},
    {name: picked(x, 1) for name, x in offsets.items()},
  )


def _host(x: object) -> onp.ndarray:
  return onp.asarray(static.concrete(x))


def in_order(terms: Array, part: Part) -> Array:
  """Returns terms in the order of the n observations of a part."""
  if part.place is None:
    return terms
  return np.take(np.reshape(terms, (-1,)), part.place, axis=-1)
