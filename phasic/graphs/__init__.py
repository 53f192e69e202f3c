"""State-space models: graphs whose weights are linear in parameters."""

from phasic.graphs import models
from phasic.graphs.absorbed import ABSORBED
from phasic.graphs.absorbed import Absorbed
from phasic.graphs.components import strongly_connected_components
from phasic.graphs.discretisation import Event
from phasic.graphs.discretisation import EventChain
from phasic.graphs.discretisation import discretise
from phasic.graphs.edge_table import Edge
from phasic.graphs.embedding import JumpChain
from phasic.graphs.embedding import normalise
from phasic.graphs.evaluation import log_prob_and_moments
from phasic.graphs.first_passage import time_to
from phasic.graphs.graph import Graph
from phasic.graphs.lumping import Lumped
from phasic.graphs.lumping import lump
from phasic.graphs.reversal import reverse

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
