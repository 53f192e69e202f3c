"""Pure functions under the distributions.

Most call the native kernel where it can run, and else the portable path in
array code: `path()` says which, `precision()` in which dtype it computes,
`unavailable_reason()` why not the kernel, and `with use_path("portable")` or
`use_path("kernel")` chooses. Where the kernel cannot run, the first call that
takes the portable path instead warns, or raises where the environment variable
PHASIC_REQUIRE_KERNEL is 1. The kernel shares batches out among threads:
`num_threads()`, `set_num_threads(count)`.
"""

from phasic.internal.kernel_ops import num_threads
from phasic.internal.kernel_ops import path
from phasic.internal.kernel_ops import precision
from phasic.internal.kernel_ops import set_num_threads
from phasic.internal.kernel_ops import unavailable_reason
from phasic.internal.kernel_ops import use_path
from phasic.math.calls.gradients import hessian_vector_product
from phasic.math.calls.gradients import jvp
from phasic.math.calls.gradients import stop_gradient
from phasic.math.calls.gradients import value_and_gradient
from phasic.math.calls.gradients import vjp
from phasic.math.likelihood.diagnosis import diagnose
from phasic.math.likelihood.discrete_observations import (
  log_likelihood_terms as discrete_phase_type_log_likelihood_terms,
)
from phasic.math.likelihood.discrete_phase_type import (
  cdf as discrete_phase_type_cdf,
)
from phasic.math.likelihood.discrete_phase_type import (
  log_cdf as discrete_phase_type_log_cdf,
)
from phasic.math.likelihood.discrete_phase_type import (
  log_prob as discrete_phase_type_log_prob,
)
from phasic.math.likelihood.discrete_phase_type import (
  log_survival as discrete_phase_type_log_survival,
)
from phasic.math.likelihood.discrete_phase_type import (
  prob as discrete_phase_type_prob,
)
from phasic.math.likelihood.discrete_phase_type import (
  survival as discrete_phase_type_survival,
)
from phasic.math.likelihood.expected_statistics import ExpectedStatistics
from phasic.math.likelihood.expected_statistics import expected_statistics
from phasic.math.likelihood.hazards import (
  discrete_hazard as discrete_phase_type_hazard,
)
from phasic.math.likelihood.hazards import (
  discrete_log_hazard as discrete_phase_type_log_hazard,
)
from phasic.math.likelihood.hazards import hazard
from phasic.math.likelihood.hazards import log_hazard
from phasic.math.likelihood.observations import log_likelihood_terms
from phasic.math.likelihood.phase_type import cdf
from phasic.math.likelihood.phase_type import density
from phasic.math.likelihood.phase_type import log_cdf
from phasic.math.likelihood.phase_type import log_density
from phasic.math.likelihood.phase_type import log_survival
from phasic.math.likelihood.phase_type import survival
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.edge_rates import EdgeRates
from phasic.math.moments.discrete_moments import (
  mean as discrete_phase_type_mean,
)
from phasic.math.moments.discrete_moments import (
  raw_moments as discrete_phase_type_raw_moments,
)
from phasic.math.moments.discrete_moments import (
  reward_covariance as discrete_phase_type_reward_covariance,
)
from phasic.math.moments.discrete_moments import (
  reward_cross_moments as discrete_phase_type_reward_cross_moments,
)
from phasic.math.moments.discrete_moments import (
  reward_moments as discrete_phase_type_reward_moments,
)
from phasic.math.moments.discrete_moments import (
  second_moment as discrete_phase_type_second_moment,
)
from phasic.math.moments.discrete_moments import (
  stddev as discrete_phase_type_stddev,
)
from phasic.math.moments.discrete_moments import (
  variance as discrete_phase_type_variance,
)
from phasic.math.moments.discrete_passages import (
  expected_jumps as discrete_phase_type_expected_jumps,
)
from phasic.math.moments.discrete_passages import (
  expected_visits as discrete_phase_type_expected_visits,
)
from phasic.math.moments.discrete_passages import (
  hitting_probs as discrete_phase_type_hitting_probs,
)
from phasic.math.moments.discrete_passages import (
  probability_generating_function,
)
from phasic.math.moments.generating_functions import (
  discrete_laplace_transform as discrete_phase_type_laplace_transform,
)
from phasic.math.moments.generating_functions import (
  discrete_moment_generating_function as discrete_phase_type_moment_generating_function,
)
from phasic.math.moments.generating_functions import moment_generating_function
from phasic.math.moments.mark_probs import joint_mark_probs
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
from phasic.math.moments.occupancy import (
  discrete_occupancy as discrete_phase_type_occupancy,
)
from phasic.math.moments.occupancy import occupancy
from phasic.math.moments.passages import expected_jumps
from phasic.math.moments.passages import expected_sojourn_times
from phasic.math.moments.passages import expected_visits
from phasic.math.moments.passages import hitting_probs
from phasic.math.moments.passages import laplace_transform
from phasic.math.quadrature.information import cross_entropy
from phasic.math.quadrature.information import entropy
from phasic.math.quadrature.information import kl_divergence
from phasic.math.quantiles.quantiles import quantile
from phasic.math.quantiles.quantiles import quantile_log_cdf
from phasic.math.quantiles.quantiles import quantile_log_survival
from phasic.math.quantiles.quantiles_discrete import (
  quantile as discrete_phase_type_quantile,
)
from phasic.math.quantiles.quantiles_discrete import (
  quantile_log_cdf as discrete_phase_type_quantile_log_cdf,
)
from phasic.math.quantiles.quantiles_discrete import (
  quantile_log_survival as discrete_phase_type_quantile_log_survival,
)
from phasic.math.rewards.discrete_reward_transforms import (
  discrete_reward_transform,
)
from phasic.math.rewards.multivariate import feed_forward_log_density
from phasic.math.rewards.multivariate import joint_laplace_transform
from phasic.math.rewards.reward_transforms import reward_transform

__all__ = [
  "EdgeProbs",
  "EdgeRates",
  "ExpectedStatistics",
  "cdf",
  "cross_entropy",
  "density",
  "diagnose",
  "discrete_phase_type_cdf",
  "discrete_phase_type_expected_jumps",
  "discrete_phase_type_expected_visits",
  "discrete_phase_type_hazard",
  "discrete_phase_type_hitting_probs",
  "discrete_phase_type_laplace_transform",
  "discrete_phase_type_log_cdf",
  "discrete_phase_type_log_hazard",
  "discrete_phase_type_log_likelihood_terms",
  "discrete_phase_type_log_prob",
  "discrete_phase_type_log_survival",
  "discrete_phase_type_mean",
  "discrete_phase_type_moment_generating_function",
  "discrete_phase_type_occupancy",
  "discrete_phase_type_prob",
  "discrete_phase_type_quantile",
  "discrete_phase_type_quantile_log_cdf",
  "discrete_phase_type_quantile_log_survival",
  "discrete_phase_type_raw_moments",
  "discrete_phase_type_reward_covariance",
  "discrete_phase_type_reward_cross_moments",
  "discrete_phase_type_reward_moments",
  "discrete_phase_type_second_moment",
  "discrete_phase_type_stddev",
  "discrete_phase_type_survival",
  "discrete_phase_type_variance",
  "discrete_reward_transform",
  "entropy",
  "expected_jumps",
  "expected_sojourn_times",
  "expected_statistics",
  "expected_visits",
  "feed_forward_log_density",
  "hazard",
  "hessian_vector_product",
  "hitting_probs",
  "joint_laplace_transform",
  "joint_mark_probs",
  "jvp",
  "kl_divergence",
  "laplace_transform",
  "log_cdf",
  "log_density",
  "log_hazard",
  "log_likelihood_terms",
  "log_survival",
  "mean",
  "mixed_moment",
  "moment_generating_function",
  "num_threads",
  "occupancy",
  "path",
  "precision",
  "probability_generating_function",
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
  "set_num_threads",
  "stddev",
  "stop_gradient",
  "survival",
  "unavailable_reason",
  "use_path",
  "value_and_gradient",
  "variance",
  "vjp",
]
