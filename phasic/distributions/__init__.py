"""Distributions with the contract of TensorFlow Probability."""

from phasic.distributions.acyclic_phase_type import AcyclicPhaseType
from phasic.distributions.closures import convolution
from phasic.distributions.closures import maximum
from phasic.distributions.closures import minimum
from phasic.distributions.closures import mixture
from phasic.distributions.coxian import Coxian
from phasic.distributions.discrete_phase_type import DiscretePhaseType
from phasic.distributions.discrete_phase_type import GraphDiscretePhaseType
from phasic.distributions.distribution import Distribution
from phasic.distributions.divergences import kl_divergence
from phasic.distributions.divergences import register_kl
from phasic.distributions.epochs import Epochs
from phasic.distributions.equilibrium import Equilibrium
from phasic.distributions.erlang import Erlang
from phasic.distributions.geometric_mixture import GeometricMixture
from phasic.distributions.hyper_erlang import HyperErlang
from phasic.distributions.hyperexponential import Hyperexponential
from phasic.distributions.hypoexponential import Hypoexponential
from phasic.distributions.matrix_gompertz import MatrixGompertz
from phasic.distributions.matrix_log_logistic import MatrixLogLogistic
from phasic.distributions.matrix_log_normal import MatrixLogNormal
from phasic.distributions.matrix_pareto import MatrixPareto
from phasic.distributions.matrix_weibull import MatrixWeibull
from phasic.distributions.multivariate_phase_type import (
  GraphMultivariatePhaseType,
)
from phasic.distributions.multivariate_phase_type import MultivariatePhaseType
from phasic.distributions.negative_binomial import NegativeBinomialFailures
from phasic.distributions.negative_binomial import NegativeBinomialTrials
from phasic.distributions.order_statistics import order_statistic
from phasic.distributions.parameter_properties import ParameterProperties
from phasic.distributions.phase_type import GraphPhaseType
from phasic.distributions.phase_type import PhaseType
from phasic.distributions.random_sums import random_sum
from phasic.distributions.reparameterization import FULLY_REPARAMETERIZED
from phasic.distributions.reparameterization import NOT_REPARAMETERIZED
from phasic.distributions.reparameterization import ReparameterizationType
from phasic.distributions.residual_life import ResidualLife
from phasic.distributions.sparse_phase_type import SparseDiscretePhaseType
from phasic.distributions.sparse_phase_type import SparsePhaseType
from phasic.distributions.supports import Support
from phasic.distributions.transformed_phase_type import TransformedPhaseType
from phasic.distributions.truncated_phase_type import TruncatedPhaseType
from phasic.distributions.zero_inflated import ZeroInflated

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
  "MultivariatePhaseType",
  "NegativeBinomialFailures",
  "NegativeBinomialTrials",
  "ParameterProperties",
  "PhaseType",
  "ReparameterizationType",
  "ResidualLife",
  "SparseDiscretePhaseType",
  "SparsePhaseType",
  "Support",
  "TransformedPhaseType",
  "TruncatedPhaseType",
  "ZeroInflated",
  "convolution",
  "kl_divergence",
  "maximum",
  "minimum",
  "mixture",
  "order_statistic",
  "random_sum",
  "register_kl",
]
