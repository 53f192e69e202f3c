"""State-space models: graphs whose weights are linear in parameters."""

from phasic.graphs import models
from phasic.graphs.construction.edge_table import Edge
from phasic.graphs.core.evaluation import log_prob_and_moments
from phasic.graphs.core.graph import Graph
from phasic.graphs.parts.absorbed import ABSORBED
from phasic.graphs.parts.absorbed import Absorbed
from phasic.graphs.transformations.components import (
  strongly_connected_components,
)
from phasic.graphs.transformations.discretisation import Event
from phasic.graphs.transformations.discretisation import EventChain
from phasic.graphs.transformations.discretisation import discretise
from phasic.graphs.transformations.embedding import JumpChain
from phasic.graphs.transformations.embedding import normalise
from phasic.graphs.transformations.first_passage import time_to
from phasic.graphs.transformations.lumping import Lumped
from phasic.graphs.transformations.lumping import lump
from phasic.graphs.transformations.reversal import reverse

__all__ = [
  "ABSORBED",
  "Absorbed",
  "Edge",
  "Event",
  "EventChain",
  "Graph",
  "JumpChain",
  "Lumped",
  "discretise",
  "log_prob_and_moments",
  "lump",
  "models",
  "normalise",
  "reverse",
  "strongly_connected_components",
  "time_to",
]
