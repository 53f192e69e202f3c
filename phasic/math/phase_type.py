"""Functions of continuous phase-type distributions, on arrays.

They are named like the methods of `distributions.PhaseType`. The point of
evaluation comes first, and the model last:

    initial_probs, subgenerator, exit_rates=None, prob_zero=None

Sparse models give `EdgeRates` instead of a subgenerator.
"""

from phasic.math.likelihood.diagnosis import diagnose
from phasic.math.likelihood.expected_statistics import expected_statistics
from phasic.math.likelihood.hazards import hazard_function
from phasic.math.likelihood.hazards import log_hazard_function
from phasic.math.likelihood.phase_type import cdf
from phasic.math.likelihood.phase_type import log_cdf
from phasic.math.likelihood.phase_type import log_prob
from phasic.math.likelihood.phase_type import log_survival_function
from phasic.math.likelihood.phase_type import prob
from phasic.math.likelihood.phase_type import survival_function
from phasic.math.moments.generating_functions import moment_generating_function
from phasic.math.moments.matrix_exponential import expm_multiply
from phasic.math.moments.mixed_moments import mixed_moment
from phasic.math.moments.moments import mean
from phasic.math.moments.moments import raw_moments
from phasic.math.moments.moments import reward_covariance
from phasic.math.moments.moments import reward_cross_moments
from phasic.math.moments.moments import reward_means
from phasic.math.moments.moments import reward_moments
from phasic.math.moments.moments import second_moment
from phasic.math.moments.moments import stddev
from phasic.math.moments.moments import variance
from phasic.math.moments.occupancy import occupancy
from phasic.math.moments.partial_rewards import accumulated_reward_means
from phasic.math.moments.partial_rewards import discounted_reward_means
from phasic.math.moments.passages import expected_jumps
from phasic.math.moments.passages import expected_sojourn_times
from phasic.math.moments.passages import expected_visits
from phasic.math.moments.passages import hitting_probs
from phasic.math.moments.passages import laplace_transform
from phasic.math.moments.phase_expectations import log_phase_expectation
from phasic.math.moments.phase_expectations import phase_expectation
from phasic.math.moments.poisson_counts import joint_mark_probs
from phasic.math.moments.transition_probs import absorption_probs
from phasic.math.moments.transition_probs import log_absorption_probs
from phasic.math.moments.transition_probs import log_transition_probs
from phasic.math.moments.transition_probs import transition_probs
from phasic.math.quadrature.information import cross_entropy
from phasic.math.quadrature.information import entropy
from phasic.math.quadrature.information import kl_divergence
from phasic.math.quantiles.quantiles import quantile
from phasic.math.quantiles.quantiles import quantile_log_cdf
from phasic.math.quantiles.quantiles import quantile_log_survival
from phasic.math.rewards.multivariate import joint_laplace_transform
from phasic.math.rewards.multivariate import joint_log_prob
from phasic.math.rewards.reward_transforms import reward_transform

__all__ = [
  "absorption_probs",
  "accumulated_reward_means",
  "cdf",
  "cross_entropy",
  "diagnose",
  "discounted_reward_means",
  "entropy",
  "expected_jumps",
  "expected_sojourn_times",
  "expected_statistics",
  "expected_visits",
  "expm_multiply",
  "hazard_function",
  "hitting_probs",
  "joint_laplace_transform",
  "joint_log_prob",
  "joint_mark_probs",
  "kl_divergence",
  "laplace_transform",
  "log_absorption_probs",
  "log_cdf",
  "log_hazard_function",
  "log_phase_expectation",
  "log_prob",
  "log_survival_function",
  "log_transition_probs",
  "mean",
  "mixed_moment",
  "moment_generating_function",
  "occupancy",
  "phase_expectation",
  "prob",
  "quantile",
  "quantile_log_cdf",
  "quantile_log_survival",
  "raw_moments",
  "reward_covariance",
  "reward_cross_moments",
  "reward_means",
  "reward_moments",
  "reward_transform",
  "second_moment",
  "stddev",
  "survival_function",
  "transition_probs",
  "variance",
]
