"""Regressions: phase-type distributions that depend on covariates."""

from phasic.regression.designs import RegressionData
from phasic.regression.partial_effects import plot_partial_effects
from phasic.regression.predictions import Standardized
from phasic.regression.predictions import hazard_ratios
from phasic.regression.predictions import standardized
from phasic.regression.regressions import Regression
from phasic.regression.survivors import Survivors
from phasic.regression.survivors import given

__all__ = [
  "Regression",
  "RegressionData",
  "Standardized",
  "Survivors",
  "given",
  "hazard_ratios",
  "plot_partial_effects",
  "standardized",
]
