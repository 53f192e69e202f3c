"""Multi-state models of panel data: states that are seen now and then."""

from phasic.multistate.answers.decoding import state_probs
from phasic.multistate.answers.decoding import viterbi
from phasic.multistate.answers.fitted_values import HazardRatios
from phasic.multistate.answers.fitted_values import hazard_ratios
from phasic.multistate.answers.fitted_values import initial_state_probs
from phasic.multistate.answers.fitted_values import label_probs
from phasic.multistate.answers.goodness_of_fit import PearsonTest
from phasic.multistate.answers.goodness_of_fit import pearson
from phasic.multistate.answers.passages import length_of_stay
from phasic.multistate.answers.passages import passage_times
from phasic.multistate.answers.pictures import plot_prevalence
from phasic.multistate.answers.pictures import plot_transitions
from phasic.multistate.answers.prevalences import Prevalence
from phasic.multistate.answers.prevalences import prevalence
from phasic.multistate.answers.simulation import simulate
from phasic.multistate.answers.stays import next_state_probs
from phasic.multistate.answers.stays import sojourn_times
from phasic.multistate.answers.transitions import pmatrix
from phasic.multistate.answers.transitions import qmatrix
from phasic.multistate.data.panel_data import PanelData
from phasic.multistate.data.transition_counts import TransitionCounts
from phasic.multistate.likelihood.models import MultiState
from phasic.multistate.likelihood.outcomes import Outcome
from phasic.multistate.likelihood.outcomes import normal
from phasic.multistate.likelihood.outcomes import poisson
from phasic.multistate.likelihood.outcomes import truncated_normal
from phasic.multistate.states.intensities import Intensities
from phasic.multistate.states.sojourns import gamma
from phasic.multistate.states.sojourns import weibull

__all__ = [
  "HazardRatios",
  "Intensities",
  "MultiState",
  "Outcome",
  "PanelData",
  "PearsonTest",
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
  "pearson",
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
