"""Random states, numbers and data for `interop.scipy`."""

from __future__ import annotations

import types
from typing import Any, TypeAlias

import numpy as np
import numpy as onp

from phasic.inference.data import observations
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result

# The random states that SciPy takes, and a SeedSequence.
RandomState: TypeAlias = "onp.random.RandomState | onp.random.Generator"
StateLike: TypeAlias = (
  "int | onp.random.SeedSequence | RandomState | types.ModuleType | None"
)
# SciPy's `CensoredData` have no static type here, as SciPy may be missing.
DataLike: TypeAlias = "ArrayLike | observations.Observations | Any"


def random_state(state: StateLike) -> RandomState:
  """Returns a random state as SciPy makes it.

  Args:
    state: an int or a SeedSequence, for a new state; a RandomState or Generator;
      or None, or numpy.random itself, for NumPy's global state.

  Raises:
    TypeError: it is something else.
  """
  if state is None or state is onp.random:
    # It shares the global state.
    return onp.random.RandomState(onp.random.get_bit_generator())  # type: ignore[attr-defined]
  if isinstance(state, (int, onp.integer)):
    return onp.random.RandomState(state)
  if isinstance(state, onp.random.SeedSequence):
    return onp.random.default_rng(state)
  if isinstance(state, (onp.random.RandomState, onp.random.Generator)):
    return state
  raise TypeError(
    f"random_state is {type(state).__name__}: it must be an int, a RandomState, "
    "a Generator or None"
  )


def seed(state: RandomState) -> int | onp.random.Generator:
  """Returns a seed for `sample`, which is drawn from a RandomState."""
  if isinstance(state, onp.random.RandomState):
    return int.from_bytes(state.bytes(16), "little")
  return state


def converted(x: ArrayLike, dtype: str) -> ArrayLike:
  """Converts real numbers of any width to a dtype, as SciPy does.

  Bools, complex numbers, masked arrays and values that are not numbers are
  returned unchanged, for the distribution to refuse.
  """
  if isinstance(x, onp.ma.MaskedArray):
    return x
  try:
    found = onp.asarray(x)
  except ValueError:
    return x
  return found.astype(dtype) if found.dtype.kind in "iuf" else x


def plain(x: ArrayLike) -> Result:
  """Returns an array, or a scalar if it has no dimensions."""
  return np.asarray(x)[()]


def observed(data: DataLike) -> observations.Observations:
  """Converts data of SciPy to `Observations`.

  Args:
    data: exact observations, (n,), `Observations`, or `CensoredData`, whose
      left-censored values are at most the number given, right-censored ones
      above it, and interval-censored ones in (low, high].
  """
  if isinstance(data, observations.Observations):
    return data
  kind = type(data)
  if kind.__name__ != "CensoredData" or kind.__module__[:6] != "scipy.":
    return observations.Observations(data)
  # SciPy has no public access to them.
  given = vars(data)
  names = "_uncensored", "_left", "_right", "_interval"
  exact, left, right, interval = (given[name] for name in names)
  low, high = onp.reshape(interval, (-1, 2)).T
  # Integers have no infinities.
  before = onp.full(len(left), -onp.inf)
  after = onp.full(len(right), onp.inf)
  lower = onp.concatenate([exact, before, right, low])
  upper = onp.concatenate([exact, left, after, high])
  return observations.Observations(lower, upper)
