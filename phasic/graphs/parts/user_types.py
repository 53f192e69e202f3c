"""Types of objects that users, or packages of theirs, make.

Type checkers cannot know them here: states are of any hashable type, and the
packages are imported only where they are needed.
"""

from __future__ import annotations

from typing import Any, TypeAlias

# A state of a graph, which users compute with.
State: TypeAlias = Any
# networkx.DiGraph, or MultiDiGraph.
Network: TypeAlias = Any
# matplotlib.axes.Axes.
Axes: TypeAlias = Any
