"""The data of a graph as host arrays, and types of users' arguments."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

import numpy as onp

from phasic.internal.arrays import Tree
from phasic.internal.frameworks import Foreign

# Type checkers cannot know these: states are of any hashable type, and packages
# are imported only where they are needed.
# A state of a graph, any hashable object.
State: TypeAlias = Foreign
# A networkx.DiGraph or MultiDiGraph.
Network: TypeAlias = Foreign
# A matplotlib.axes.Axes.
Axes: TypeAlias = Foreign


class Contents(NamedTuple):
  """The constructor arguments of a `Graph`, as host arrays.

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
  """Returns a count with its noun, such as "1 phase" or "2 phases"."""
  return f"{n:,} {noun}{'' if n == 1 else 's'}"


def plain(array: onp.ndarray) -> list[Tree]:
  """Converts an array to nested lists of Python numbers."""
  return array.tolist()
