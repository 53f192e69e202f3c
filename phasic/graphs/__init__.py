"""State-space models: graphs whose weights are linear in parameters."""

from phasic.graphs import models
from phasic.graphs.construction.edge_table import Edge
from phasic.graphs.core.graph import Graph
from phasic.graphs.core.graph import log_prob_and_moments
from phasic.graphs.parts.contents import ABSORBED
from phasic.graphs.parts.contents import Absorbed
from phasic.graphs.steady_state.steady_state import availability
from phasic.graphs.steady_state.steady_state import long_run_reward_rate
from phasic.graphs.steady_state.steady_state import stationary_distribution
from phasic.graphs.transformations.components import (
  strongly_connected_components,
)
from phasic.graphs.transformations.first_passage import first_passage_time
from phasic.graphs.transformations.jump_chain import Event
from phasic.graphs.transformations.jump_chain import EventChain
from phasic.graphs.transformations.jump_chain import JumpChain
from phasic.graphs.transformations.jump_chain import embedded_jump_chain
from phasic.graphs.transformations.jump_chain import with_event_counts
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
  "availability",
  "embedded_jump_chain",
  "first_passage_time",
  "log_prob_and_moments",
  "long_run_reward_rate",
  "lump",
  "models",
  "reverse",
  "stationary_distribution",
  "strongly_connected_components",
  "with_event_counts",
]
