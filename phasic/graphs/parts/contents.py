"""The parts of a graph, as host arrays."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as onp


class Contents(NamedTuple):
  """The constructor's arguments of a `Graph`, on the host.

  The parts of `Graph`, which documents them.
  """

  sources: onp.ndarray
  targets: onp.ndarray
  constants: onp.ndarray
  coefficients: onp.ndarray
  initial_constants: onp.ndarray
  initial_coefficients: onp.ndarray
  parameter_names: tuple[str, ...] | None = None
  causes: tuple[str | None, ...] = (None,)
  discrete: bool = False
  states: tuple[Hashable, ...] | None = None
  notes: tuple[str, ...] = ()


ARRAYS = Contents._fields[:6]


def counted(n: int, noun: str) -> str:
  """Returns "1 phase", "2 phases"."""
  return f"{n:,} {noun}{'' if n == 1 else 's'}"


def plain(array: onp.ndarray) -> list[Any]:
  """Returns an array as a list of Python numbers, or of lists of them."""
  return array.tolist()
