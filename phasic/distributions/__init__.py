"""Distributions with the contract of TensorFlow Probability."""

from phasic.distributions.discrete_phase_type import DiscretePhaseType
from phasic.distributions.discrete_phase_type import GraphDiscretePhaseType
from phasic.distributions.distribution import Distribution
from phasic.distributions.multivariate_phase_type import (
  GraphMultivariatePhaseType,
)
from phasic.distributions.multivariate_phase_type import MultivariatePhaseType
from phasic.distributions.parameter_properties import ParameterProperties
from phasic.distributions.phase_type import GraphPhaseType
from phasic.distributions.phase_type import PhaseType
from phasic.distributions.reparameterization import NOT_REPARAMETERIZED
from phasic.distributions.reparameterization import ReparameterizationType

__all__ = [
  "NOT_REPARAMETERIZED",
  "DiscretePhaseType",
  "Distribution",
  "GraphDiscretePhaseType",
  "GraphMultivariatePhaseType",
  "GraphPhaseType",
  "MultivariatePhaseType",
  "ParameterProperties",
  "PhaseType",
  "ReparameterizationType",
]
