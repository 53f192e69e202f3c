"""Type aliases for states, networkx graphs and matplotlib axes.

Type checkers cannot know them here: states are of any hashable type, and the
packages are imported only where they are needed.
"""

from __future__ import annotations

from typing import TypeAlias

from phasic.internal.frameworks import Foreign

# A state of a graph, any hashable object.
State: TypeAlias = Foreign
# A networkx.DiGraph or MultiDiGraph.
Network: TypeAlias = Foreign
# A matplotlib.axes.Axes.
Axes: TypeAlias = Foreign
