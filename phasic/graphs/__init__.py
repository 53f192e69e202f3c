"""State-space models: graphs whose weights are linear in parameters."""

from phasic.graphs import models
from phasic.graphs.absorbed import ABSORBED
from phasic.graphs.absorbed import Absorbed
from phasic.graphs.graph import Graph

__all__ = ["ABSORBED", "Absorbed", "Graph", "models"]
