"""Distributions with the contract of TensorFlow Probability."""

from phasic.distributions.absorption.discrete_phase_type import (
  DiscretePhaseType,
)
from phasic.distributions.absorption.discrete_phase_type import (
  GraphDiscretePhaseType,
)
from phasic.distributions.absorption.phase_type import GraphPhaseType
from phasic.distributions.absorption.phase_type import PhaseType
from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.method_results import kl_divergence
from phasic.distributions.base.method_results import register_kl
from phasic.distributions.base.parameter_properties import ParameterProperties
from phasic.distributions.base.samples import FULLY_REPARAMETERIZED
from phasic.distributions.base.samples import NOT_REPARAMETERIZED
from phasic.distributions.base.samples import ReparameterizationType
from phasic.distributions.base.samples import Support
from phasic.distributions.closures.closures import convolution
from phasic.distributions.closures.closures import maximum
from phasic.distributions.closures.closures import minimum
from phasic.distributions.closures.closures import mixture
from phasic.distributions.closures.counts import finite_count
from phasic.distributions.closures.counts import negative_binomial
from phasic.distributions.closures.counts import poisson
from phasic.distributions.closures.repeated import order_statistic
from phasic.distributions.closures.repeated import random_sum
from phasic.distributions.epochs.epochs import Epochs
from phasic.distributions.epochs.multivariate_epochs import MultivariateEpochs
from phasic.distributions.epochs.piecewise_constant import (
  PiecewiseConstantLimit,
)
from phasic.distributions.epochs.piecewise_constant import piecewise_constant
from phasic.distributions.epochs.piecewise_constant import (
  piecewise_constant_limit,
)
from phasic.distributions.families.acyclic_phase_type import AcyclicPhaseType
from phasic.distributions.families.mixtures import GeometricMixture
from phasic.distributions.families.mixtures import HyperErlang
from phasic.distributions.families.mixtures import Hyperexponential
from phasic.distributions.families.negative_binomial import (
  NegativeBinomialFailures,
)
from phasic.distributions.families.negative_binomial import (
  NegativeBinomialTrials,
)
from phasic.distributions.families.series import Coxian
from phasic.distributions.families.series import Erlang
from phasic.distributions.families.series import Hypoexponential
from phasic.distributions.rewards.multivariate_phase_type import (
  GraphMultivariatePhaseType,
)
from phasic.distributions.rewards.multivariate_phase_type import (
  MultivariatePhaseType,
)
from phasic.distributions.wrapped.equilibrium import Equilibrium
from phasic.distributions.wrapped.fast_growth import MatrixLogLogistic
from phasic.distributions.wrapped.fast_growth import MatrixLogNormal
from phasic.distributions.wrapped.fast_growth import MatrixPareto
from phasic.distributions.wrapped.residual_life import ResidualLife
from phasic.distributions.wrapped.shifted import Shifted
from phasic.distributions.wrapped.slow_growth import MatrixGompertz
from phasic.distributions.wrapped.slow_growth import MatrixWeibull
from phasic.distributions.wrapped.transformed_phase_type import (
  TransformedPhaseType,
)
from phasic.distributions.wrapped.truncated_phase_type import TruncatedPhaseType
from phasic.distributions.wrapped.zero_inflated import ZeroInflated

__all__ = [
  "FULLY_REPARAMETERIZED",
  "NOT_REPARAMETERIZED",
  "AcyclicPhaseType",
  "Coxian",
  "DiscretePhaseType",
  "Distribution",
  "Epochs",
  "Equilibrium",
  "Erlang",
  "GeometricMixture",
  "GraphDiscretePhaseType",
  "GraphMultivariatePhaseType",
  "GraphPhaseType",
  "HyperErlang",
  "Hyperexponential",
  "Hypoexponential",
  "MatrixGompertz",
  "MatrixLogLogistic",
  "MatrixLogNormal",
  "MatrixPareto",
  "MatrixWeibull",
  "MultivariateEpochs",
  "MultivariatePhaseType",
  "NegativeBinomialFailures",
  "NegativeBinomialTrials",
  "ParameterProperties",
  "PhaseType",
  "PiecewiseConstantLimit",
  "ReparameterizationType",
  "ResidualLife",
  "Shifted",
  "Support",
  "TransformedPhaseType",
  "TruncatedPhaseType",
  "ZeroInflated",
  "convolution",
  "finite_count",
  "kl_divergence",
  "maximum",
  "minimum",
  "mixture",
  "negative_binomial",
  "order_statistic",
  "piecewise_constant",
  "piecewise_constant_limit",
  "poisson",
  "random_sum",
  "register_kl",
]
