"""Type aliases for states, networkx graphs and matplotlib axes.

Type checkers cannot know them here: states are of any hashable type, and the
packages are imported only where they are needed.
"""

from __future__ import annotations

from typing import Any, TypeAlias

# A state of a graph, any hashable object.
State: TypeAlias = Any
# A networkx.DiGraph or MultiDiGraph.
Network: TypeAlias = Any
# A matplotlib.axes.Axes.
Axes: TypeAlias = Any
