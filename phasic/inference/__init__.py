"""Inference from censored and truncated data."""

from phasic.inference import datasets
from phasic.inference.data.densities import observations_from_density
from phasic.inference.data.models import LikelihoodModel
from phasic.inference.data.observations import Observations
from phasic.inference.em.em import EmStep
from phasic.inference.em.em import em_step
from phasic.inference.mle.em_fitting import fit_em
from phasic.inference.mle.maximum import Maximum
from phasic.inference.mle.maximum import maximize
from phasic.inference.mle.mle import fit_mle
from phasic.inference.parameters.unconstrained import Unconstrained
from phasic.inference.parameters.unconstrained import unconstrained
from phasic.inference.plots.coefficients import plot_coefficients
from phasic.inference.plots.hazard_pictures import plot_hazard
from phasic.inference.plots.pictures import plot_posterior_predictive
from phasic.inference.plots.pictures import plot_quantiles
from phasic.inference.plots.pictures import plot_survival
from phasic.inference.resampling.bootstrap import bootstrap
from phasic.inference.resampling.resampled_fits import Bootstrap
from phasic.inference.results.confidence import ConfidenceInterval
from phasic.inference.results.fits import Fit
from phasic.inference.results.model_fits import ModelFit
from phasic.inference.results.records import Record
from phasic.inference.results.summaries import Summary
from phasic.inference.results.survival_estimates import SurvivalEstimate
from phasic.inference.results.survival_estimates import kaplan_meier
from phasic.inference.results.uncertainty import Uncertainty
from phasic.inference.selection.likelihood_ratio import LikelihoodRatio
from phasic.inference.selection.likelihood_ratio import likelihood_ratio
from phasic.inference.selection.num_phases import Choice
from phasic.inference.selection.num_phases import add_phase
from phasic.inference.selection.num_phases import choose_num_phases
from phasic.inference.starts.initial_guess import initial_guess
from phasic.inference.starts.moment_matching import match_moments

__all__ = [
  "Bootstrap",
  "Choice",
  "ConfidenceInterval",
  "EmStep",
  "Fit",
  "LikelihoodModel",
  "LikelihoodRatio",
  "Maximum",
  "ModelFit",
  "Observations",
  "Record",
  "Summary",
  "SurvivalEstimate",
  "Uncertainty",
  "Unconstrained",
  "add_phase",
  "bootstrap",
  "choose_num_phases",
  "datasets",
  "em_step",
  "fit_em",
  "fit_mle",
  "initial_guess",
  "kaplan_meier",
  "likelihood_ratio",
  "match_moments",
  "maximize",
  "observations_from_density",
  "plot_coefficients",
  "plot_hazard",
  "plot_posterior_predictive",
  "plot_quantiles",
  "plot_survival",
  "unconstrained",
]
