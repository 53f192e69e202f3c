"""Multi-state models of panel data: states that are seen now and then."""

from phasic.multistate.answers import pmatrix
from phasic.multistate.answers import qmatrix
from phasic.multistate.decoding import state_probs
from phasic.multistate.decoding import viterbi
from phasic.multistate.fitted_values import HazardRatios
from phasic.multistate.fitted_values import hazard_ratios
from phasic.multistate.fitted_values import initial_state_probs
from phasic.multistate.fitted_values import label_probs
from phasic.multistate.intensities import Intensities
from phasic.multistate.models import MultiState
from phasic.multistate.outcomes import Outcome
from phasic.multistate.outcomes import normal
from phasic.multistate.outcomes import poisson
from phasic.multistate.outcomes import truncated_normal
from phasic.multistate.panel_data import PanelData
from phasic.multistate.passages import length_of_stay
from phasic.multistate.passages import next_state_probs
from phasic.multistate.passages import passage_times
from phasic.multistate.passages import sojourn_times
from phasic.multistate.pictures import plot_prevalence
from phasic.multistate.pictures import plot_transitions
from phasic.multistate.prevalences import Prevalence
from phasic.multistate.prevalences import prevalence
from phasic.multistate.simulation import simulate
from phasic.multistate.sojourns import gamma
from phasic.multistate.sojourns import weibull
from phasic.multistate.transition_counts import TransitionCounts

__all__ = [
  "HazardRatios",
  "Intensities",
  "MultiState",
  "Outcome",
  "PanelData",
  "Prevalence",
  "TransitionCounts",
  "gamma",
  "hazard_ratios",
  "initial_state_probs",
  "label_probs",
  "length_of_stay",
  "next_state_probs",
  "normal",
  "passage_times",
  "plot_prevalence",
  "plot_transitions",
  "pmatrix",
  "poisson",
  "prevalence",
  "qmatrix",
  "simulate",
  "sojourn_times",
  "state_probs",
  "truncated_normal",
  "viterbi",
  "weibull",
]
