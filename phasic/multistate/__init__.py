"""Multi-state models of panel data: states that are seen now and then."""

from phasic.multistate.decoding import state_probs
from phasic.multistate.decoding import viterbi
from phasic.multistate.intensities import Intensities
from phasic.multistate.models import MultiState
from phasic.multistate.outcomes import Outcome
from phasic.multistate.outcomes import normal
from phasic.multistate.outcomes import poisson
from phasic.multistate.outcomes import truncated_normal
from phasic.multistate.panel_data import PanelData
from phasic.multistate.sojourns import gamma
from phasic.multistate.sojourns import weibull

__all__ = [
  "Intensities",
  "MultiState",
  "Outcome",
  "PanelData",
  "gamma",
  "normal",
  "poisson",
  "state_probs",
  "truncated_normal",
  "viterbi",
  "weibull",
]
