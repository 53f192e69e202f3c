"""More starts of a fit: from the data, from the user, and at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import unconstrained_map
from phasic.inference.starts import screening
from phasic.internal.arrays import Integer

Coordinates = coordinates_lib.Coordinates
# The standard deviation of perturbed starts in unconstrained parameters.
_SPREAD = 1.0


def named_starts(
  where: Coordinates,
  start: onp.ndarray,
  observations: observations_lib.Observations,
  starts: Sequence[Distribution] | None,
  num_starts: Integer,
  seed: Integer,
  limits: tuple[onp.ndarray, onp.ndarray],
  is_possible: Callable[[onp.ndarray], bool] = lambda _: True,
) -> list[tuple[str, onp.ndarray]]:
  """Returns names and entries of all starts of a fit, within bounds.

  Args:
    where: the coordinates.
    start: the entries of the first start.
    observations: the data.
    starts: the user's, which are checked; None for those that data suggest.
    num_starts: the number of starts near the first one, including it.
    seed: the seed of the random starts.
    limits: lower and upper bounds of the entries.
    is_possible: a rule for starts that the user did not give.
  """
  others = (
    _like(where, start, observations)
    if starts is None
    else [
      (f"starts[{i}]", _user_start(where, i, other))
      for i, other in enumerate(starts)
    ]
  )
  others = [(name, onp.clip(x, *limits)) for name, x in others]
  near = perturbed(where, start, num_starts - 1, seed, limits)
  return [
    ("dist", start),
    *((name, x) for name, x in others if starts or is_possible(x)),
    *(
      (f"near dist, {i}", x) for i, x in enumerate(filter(is_possible, near), 1)
    ),
  ]


def _like(
  where: Coordinates,
  start: onp.ndarray,
  observations: observations_lib.Observations,
) -> list[tuple[str, onp.ndarray]]:
  """Returns names and entries of starts that the data suggest.

  Those that have other zeros than the start are left out.

  Args:
    where: the coordinates.
    start: the entries of the start.
    observations: the data.
  """
  suggested: list[tuple[str, onp.ndarray]] = []
  for other in screening.starts_like(
    where.distribution_at(start), observations
  ):
    if fits_into(where, other.distribution):
      entries = coordinates_lib.entries_at(where, other.distribution)
      if not onp.array_equal(entries, start):
        suggested.append((f"data, {len(suggested) + 1}", entries))
  return suggested


def perturbed(
  where: unconstrained_map.UnconstrainedMap,
  start: onp.ndarray,
  count: Integer,
  seed: Integer,
  limits: tuple[onp.ndarray, onp.ndarray],
) -> list[onp.ndarray]:
  """Returns random perturbations of a start, within bounds; zeros stay zero."""
  inside = where.is_inside(start)
  inner = where.restricted(start, inside)
  free = inner.to_unconstrained(inner.entries)
  random = onp.random.default_rng(seed)
  perturbed_starts = []
  for _ in range(count):
    moved = free + _SPREAD * random.standard_normal(len(free))
    entries = onp.clip(inner.embedded(inner.to_constrained(moved)), *limits)
    perturbed_starts.append(onp.where(inside, entries, 0.0))
  return perturbed_starts


def fits_into(where: Coordinates, other: Distribution) -> bool:
  """Returns whether another distribution has the same nonzero entries."""
  mine = coordinates_lib.Coordinates(where.distribution)
  return mine.names == coordinates_lib.Coordinates(other).names


def _user_start(where: Coordinates, i: int, other: Distribution) -> onp.ndarray:
  """Returns the entries of an additional start, after checks.

  Raises:
    TypeError: it is not a distribution.
    ValueError: it has a batch, other parameters, or other zeros.
  """
  coordinates_lib.check_single(f"starts[{i}]", other)
  theirs = coordinates_lib.Coordinates(other)
  mine = coordinates_lib.Coordinates(where.distribution)
  if theirs.names != mine.names:
    odd = sorted(set(theirs.names) ^ set(mine.names))
    raise ValueError(
      f"starts[{i}] differs from dist in shapes or zeros of parameters, e.g. at "
      f"{', '.join(odd[:5])}: both must have the same shapes, and zeros in the "
      "same places"
    )
  _check_known_values(i, where, other)
  return coordinates_lib.entries_at(where, other)


def _check_known_values(
  i: int, where: Coordinates, other: Distribution
) -> None:
  """Raises ValueError if an additional start has other known values.

  A fit keeps the known values of `dist`, such as boundaries.
  """
  mine = entry_blocks.explicit_blocks(where.distribution)[1]
  theirs = entry_blocks.explicit_blocks(other)[1]
  for path, table in where.tables.items():
    kept = [
      kind.is_entry and not kind.is_fitted and place < 0
      for kind, place in zip(
        mine[path].kinds, onp.ravel(table.index), strict=True
      )
    ]
    first, second = (onp.ravel(x[path].values)[kept] for x in (mine, theirs))
    if not onp.array_equal(first, second):
      raise ValueError(
        f"starts[{i}] has other {path} than dist: a fit does not change "
        f"{path}; fit from starts[{i}] alone, and compare the log likelihoods"
      )
