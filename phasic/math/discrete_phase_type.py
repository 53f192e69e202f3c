"""Functions of discrete phase-type distributions, on arrays.

They are named like the methods of `distributions.DiscretePhaseType`. The point
of evaluation comes first, and the model last:

    initial_probs, subtransition, exit_probs=None, prob_zero=None

Sparse models give `EdgeProbs` instead of a subtransition.
"""

from phasic.math.likelihood.diagnosis import discrete_diagnose as diagnose
from phasic.math.likelihood.discrete_phase_type import cdf
from phasic.math.likelihood.discrete_phase_type import log_cdf
from phasic.math.likelihood.discrete_phase_type import log_prob
from phasic.math.likelihood.discrete_phase_type import log_survival_function
from phasic.math.likelihood.discrete_phase_type import prob
from phasic.math.likelihood.discrete_phase_type import survival_function
from phasic.math.likelihood.hazards import (
  discrete_hazard_function as hazard_function,
)
from phasic.math.likelihood.hazards import (
  discrete_log_hazard_function as log_hazard_function,
)
from phasic.math.moments.discrete_moments import mean
from phasic.math.moments.discrete_moments import raw_moments
from phasic.math.moments.discrete_moments import reward_covariance
from phasic.math.moments.discrete_moments import reward_cross_moments
from phasic.math.moments.discrete_moments import reward_moments
from phasic.math.moments.discrete_moments import second_moment
from phasic.math.moments.discrete_moments import stddev
from phasic.math.moments.discrete_moments import variance
from phasic.math.moments.discrete_partial_rewards import (
  accumulated_reward_means,
)
from phasic.math.moments.discrete_partial_rewards import discounted_reward_means
from phasic.math.moments.discrete_passages import expected_jumps
from phasic.math.moments.discrete_passages import expected_visits
from phasic.math.moments.discrete_passages import hitting_probs
from phasic.math.moments.discrete_passages import (
  probability_generating_function,
)
from phasic.math.moments.generating_functions import (
  discrete_laplace_transform as laplace_transform,
)
from phasic.math.moments.generating_functions import (
  discrete_moment_generating_function as moment_generating_function,
)
from phasic.math.moments.occupancy import discrete_occupancy as occupancy
from phasic.math.moments.phase_expectations import (
  discrete_log_phase_expectation as log_phase_expectation,
)
from phasic.math.moments.phase_expectations import (
  discrete_phase_expectation as phase_expectation,
)
from phasic.math.moments.transition_probs import (
  discrete_log_transition_probs as log_transition_probs,
)
from phasic.math.moments.transition_probs import (
  discrete_transition_probs as transition_probs,
)
from phasic.math.quadrature.information import (
  discrete_cross_entropy as cross_entropy,
)
from phasic.math.quadrature.information import discrete_entropy as entropy
from phasic.math.quadrature.information import (
  discrete_kl_divergence as kl_divergence,
)
from phasic.math.quantiles.quantiles import discrete_quantile as quantile
from phasic.math.quantiles.quantiles import (
  discrete_quantile_log_cdf as quantile_log_cdf,
)
from phasic.math.quantiles.quantiles import (
  discrete_quantile_log_survival as quantile_log_survival,
)
from phasic.math.rewards.discrete_reward_transforms import (
  discrete_reward_transform as reward_transform,
)

__all__ = [
  "accumulated_reward_means",
  "cdf",
  "cross_entropy",
  "diagnose",
  "discounted_reward_means",
  "entropy",
  "expected_jumps",
  "expected_visits",
  "hazard_function",
  "hitting_probs",
  "kl_divergence",
  "laplace_transform",
  "log_cdf",
  "log_hazard_function",
  "log_phase_expectation",
  "log_prob",
  "log_survival_function",
  "log_transition_probs",
  "mean",
  "moment_generating_function",
  "occupancy",
  "phase_expectation",
  "prob",
  "probability_generating_function",
  "quantile",
  "quantile_log_cdf",
  "quantile_log_survival",
  "raw_moments",
  "reward_covariance",
  "reward_cross_moments",
  "reward_moments",
  "reward_transform",
  "second_moment",
  "stddev",
  "survival_function",
  "transition_probs",
  "variance",
]
