"""From data, censored and truncated as they are, to parameters."""

from phasic.inference.companions import log_likelihood_vjp
from phasic.inference.comparing import Choice
from phasic.inference.comparing import LikelihoodRatio
from phasic.inference.comparing import choose_num_phases
from phasic.inference.comparing import likelihood_ratio
from phasic.inference.densities import observations_of_density
from phasic.inference.em import EmStep
from phasic.inference.em import em_step
from phasic.inference.em_fitting import fit_em
from phasic.inference.fits import Fit
from phasic.inference.fits import Record
from phasic.inference.free_parameters import Unconstrained
from phasic.inference.free_parameters import unconstrained
from phasic.inference.growing import with_one_more_phase
from phasic.inference.hazard_pictures import plot_hazard
from phasic.inference.hyper_erlang_starts import hyper_erlang_starts
from phasic.inference.likelihood import log_likelihood
from phasic.inference.mle import fit_mle
from phasic.inference.moment_matching import match_moments
from phasic.inference.observations import Observations
from phasic.inference.pictures import plot_posterior_predictive
from phasic.inference.pictures import plot_quantiles
from phasic.inference.pictures import plot_survival
from phasic.inference.start_forms import start_of
from phasic.inference.survival_estimates import SurvivalEstimate
from phasic.inference.survival_estimates import kaplan_meier
from phasic.inference.uncertainty import Uncertainty

__all__ = [
  "Choice",
  "EmStep",
  "Fit",
  "LikelihoodRatio",
  "Observations",
  "Record",
  "SurvivalEstimate",
  "Uncertainty",
  "Unconstrained",
  "choose_num_phases",
  "em_step",
  "fit_em",
  "fit_mle",
  "hyper_erlang_starts",
  "kaplan_meier",
  "likelihood_ratio",
  "log_likelihood",
  "log_likelihood_vjp",
  "match_moments",
  "observations_of_density",
  "plot_hazard",
  "plot_posterior_predictive",
  "plot_quantiles",
  "plot_survival",
  "start_of",
  "unconstrained",
  "with_one_more_phase",
]
