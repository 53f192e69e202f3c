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
from phasic.math.likelihood.diagnosis import diagnose
from phasic.math.likelihood.discrete_observations import (
  log_likelihood_terms as discrete_phase_type_log_likelihood_terms,
)
from phasic.math.likelihood.discrete_observations import (
  log_likelihood_terms_hvp as discrete_phase_type_log_likelihood_terms_hvp,
)
from phasic.math.likelihood.discrete_observations import (
  log_likelihood_terms_jvp as discrete_phase_type_log_likelihood_terms_jvp,
)
from phasic.math.likelihood.discrete_observations import (
  log_likelihood_terms_vjp as discrete_phase_type_log_likelihood_terms_vjp,
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
from phasic.math.likelihood.observations import log_likelihood_terms_hvp
from phasic.math.likelihood.observations import log_likelihood_terms_jvp
from phasic.math.likelihood.observations import log_likelihood_terms_vjp
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
from phasic.math.numpy_derivatives.count_companions import joint_mark_probs_jvp
from phasic.math.numpy_derivatives.count_companions import joint_mark_probs_vjp
from phasic.math.numpy_derivatives.count_companions import mixed_moment_jvp
from phasic.math.numpy_derivatives.count_companions import mixed_moment_vjp
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  expected_visits_jvp as discrete_phase_type_expected_visits_jvp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  expected_visits_vjp as discrete_phase_type_expected_visits_vjp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  probability_generating_function_jvp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  probability_generating_function_vjp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  raw_moments_jvp as discrete_phase_type_raw_moments_jvp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  raw_moments_vjp as discrete_phase_type_raw_moments_vjp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  reward_covariance_jvp as discrete_phase_type_reward_covariance_jvp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  reward_covariance_vjp as discrete_phase_type_reward_covariance_vjp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  reward_moments_jvp as discrete_phase_type_reward_moments_jvp,
)
from phasic.math.numpy_derivatives.discrete_elimination_derivatives import (
  reward_moments_vjp as discrete_phase_type_reward_moments_vjp,
)
from phasic.math.numpy_derivatives.discrete_passage_companions import (
  expected_jumps_jvp as discrete_phase_type_expected_jumps_jvp,
)
from phasic.math.numpy_derivatives.discrete_passage_companions import (
  expected_jumps_vjp as discrete_phase_type_expected_jumps_vjp,
)
from phasic.math.numpy_derivatives.discrete_passage_companions import (
  hitting_probs_jvp as discrete_phase_type_hitting_probs_jvp,
)
from phasic.math.numpy_derivatives.discrete_passage_companions import (
  hitting_probs_vjp as discrete_phase_type_hitting_probs_vjp,
)
from phasic.math.numpy_derivatives.discrete_passage_companions import (
  variance_jvp as discrete_phase_type_variance_jvp,
)
from phasic.math.numpy_derivatives.discrete_passage_companions import (
  variance_vjp as discrete_phase_type_variance_vjp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  cdf_jvp as discrete_phase_type_cdf_jvp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  cdf_vjp as discrete_phase_type_cdf_vjp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  log_cdf_jvp as discrete_phase_type_log_cdf_jvp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  log_cdf_vjp as discrete_phase_type_log_cdf_vjp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  log_prob_jvp as discrete_phase_type_log_prob_jvp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  log_prob_vjp as discrete_phase_type_log_prob_vjp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  log_survival_jvp as discrete_phase_type_log_survival_jvp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  log_survival_vjp as discrete_phase_type_log_survival_vjp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  prob_jvp as discrete_phase_type_prob_jvp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  prob_vjp as discrete_phase_type_prob_vjp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  survival_jvp as discrete_phase_type_survival_jvp,
)
from phasic.math.numpy_derivatives.discrete_phase_type_derivatives import (
  survival_vjp as discrete_phase_type_survival_vjp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  expected_sojourn_times_jvp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  expected_sojourn_times_vjp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  laplace_transform_jvp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  laplace_transform_vjp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  raw_moments_jvp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  raw_moments_vjp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  reward_covariance_jvp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  reward_covariance_vjp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  reward_moments_jvp,
)
from phasic.math.numpy_derivatives.elimination_derivatives import (
  reward_moments_vjp,
)
from phasic.math.numpy_derivatives.occupancy_companions import (
  discrete_occupancy_jvp as discrete_phase_type_occupancy_jvp,
)
from phasic.math.numpy_derivatives.occupancy_companions import (
  discrete_occupancy_vjp as discrete_phase_type_occupancy_vjp,
)
from phasic.math.numpy_derivatives.occupancy_companions import occupancy_jvp
from phasic.math.numpy_derivatives.occupancy_companions import occupancy_vjp
from phasic.math.numpy_derivatives.passage_companions import expected_jumps_jvp
from phasic.math.numpy_derivatives.passage_companions import expected_jumps_vjp
from phasic.math.numpy_derivatives.passage_companions import expected_visits_jvp
from phasic.math.numpy_derivatives.passage_companions import expected_visits_vjp
from phasic.math.numpy_derivatives.passage_companions import hitting_probs_jvp
from phasic.math.numpy_derivatives.passage_companions import hitting_probs_vjp
from phasic.math.numpy_derivatives.passage_companions import variance_jvp
from phasic.math.numpy_derivatives.passage_companions import variance_vjp
from phasic.math.numpy_derivatives.phase_type_derivatives import cdf_jvp
from phasic.math.numpy_derivatives.phase_type_derivatives import cdf_vjp
from phasic.math.numpy_derivatives.phase_type_derivatives import density_jvp
from phasic.math.numpy_derivatives.phase_type_derivatives import density_vjp
from phasic.math.numpy_derivatives.phase_type_derivatives import log_cdf_jvp
from phasic.math.numpy_derivatives.phase_type_derivatives import log_cdf_vjp
from phasic.math.numpy_derivatives.phase_type_derivatives import log_density_jvp
from phasic.math.numpy_derivatives.phase_type_derivatives import log_density_vjp
from phasic.math.numpy_derivatives.phase_type_derivatives import (
  log_survival_jvp,
)
from phasic.math.numpy_derivatives.phase_type_derivatives import (
  log_survival_vjp,
)
from phasic.math.numpy_derivatives.phase_type_derivatives import survival_jvp
from phasic.math.numpy_derivatives.phase_type_derivatives import survival_vjp
from phasic.math.numpy_derivatives.quantiles_derivatives import quantile_jvp
from phasic.math.numpy_derivatives.quantiles_derivatives import (
  quantile_log_cdf_jvp,
)
from phasic.math.numpy_derivatives.quantiles_derivatives import (
  quantile_log_cdf_vjp,
)
from phasic.math.numpy_derivatives.quantiles_derivatives import (
  quantile_log_survival_jvp,
)
from phasic.math.numpy_derivatives.quantiles_derivatives import (
  quantile_log_survival_vjp,
)
from phasic.math.numpy_derivatives.quantiles_derivatives import quantile_vjp
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
  "cdf_jvp",
  "cdf_vjp",
  "cross_entropy",
  "density",
  "density_jvp",
  "density_vjp",
  "diagnose",
  "discrete_phase_type_cdf",
  "discrete_phase_type_cdf_jvp",
  "discrete_phase_type_cdf_vjp",
  "discrete_phase_type_expected_jumps",
  "discrete_phase_type_expected_jumps_jvp",
  "discrete_phase_type_expected_jumps_vjp",
  "discrete_phase_type_expected_visits",
  "discrete_phase_type_expected_visits_jvp",
  "discrete_phase_type_expected_visits_vjp",
  "discrete_phase_type_hazard",
  "discrete_phase_type_hitting_probs",
  "discrete_phase_type_hitting_probs_jvp",
  "discrete_phase_type_hitting_probs_vjp",
  "discrete_phase_type_laplace_transform",
  "discrete_phase_type_log_cdf",
  "discrete_phase_type_log_cdf_jvp",
  "discrete_phase_type_log_cdf_vjp",
  "discrete_phase_type_log_hazard",
  "discrete_phase_type_log_likelihood_terms",
  "discrete_phase_type_log_likelihood_terms_hvp",
  "discrete_phase_type_log_likelihood_terms_jvp",
  "discrete_phase_type_log_likelihood_terms_vjp",
  "discrete_phase_type_log_prob",
  "discrete_phase_type_log_prob_jvp",
  "discrete_phase_type_log_prob_vjp",
  "discrete_phase_type_log_survival",
  "discrete_phase_type_log_survival_jvp",
  "discrete_phase_type_log_survival_vjp",
  "discrete_phase_type_mean",
  "discrete_phase_type_moment_generating_function",
  "discrete_phase_type_occupancy",
  "discrete_phase_type_occupancy_jvp",
  "discrete_phase_type_occupancy_vjp",
  "discrete_phase_type_prob",
  "discrete_phase_type_prob_jvp",
  "discrete_phase_type_prob_vjp",
  "discrete_phase_type_quantile",
  "discrete_phase_type_quantile_log_cdf",
  "discrete_phase_type_quantile_log_survival",
  "discrete_phase_type_raw_moments",
  "discrete_phase_type_raw_moments_jvp",
  "discrete_phase_type_raw_moments_vjp",
  "discrete_phase_type_reward_covariance",
  "discrete_phase_type_reward_covariance_jvp",
  "discrete_phase_type_reward_covariance_vjp",
  "discrete_phase_type_reward_cross_moments",
  "discrete_phase_type_reward_moments",
  "discrete_phase_type_reward_moments_jvp",
  "discrete_phase_type_reward_moments_vjp",
  "discrete_phase_type_second_moment",
  "discrete_phase_type_stddev",
  "discrete_phase_type_survival",
  "discrete_phase_type_survival_jvp",
  "discrete_phase_type_survival_vjp",
  "discrete_phase_type_variance",
  "discrete_phase_type_variance_jvp",
  "discrete_phase_type_variance_vjp",
  "discrete_reward_transform",
  "entropy",
  "expected_jumps",
  "expected_jumps_jvp",
  "expected_jumps_vjp",
  "expected_sojourn_times",
  "expected_sojourn_times_jvp",
  "expected_sojourn_times_vjp",
  "expected_statistics",
  "expected_visits",
  "expected_visits_jvp",
  "expected_visits_vjp",
  "feed_forward_log_density",
  "hazard",
  "hitting_probs",
  "hitting_probs_jvp",
  "hitting_probs_vjp",
  "joint_laplace_transform",
  "joint_mark_probs",
  "joint_mark_probs_jvp",
  "joint_mark_probs_vjp",
  "kl_divergence",
  "laplace_transform",
  "laplace_transform_jvp",
  "laplace_transform_vjp",
  "log_cdf",
  "log_cdf_jvp",
  "log_cdf_vjp",
  "log_density",
  "log_density_jvp",
  "log_density_vjp",
  "log_hazard",
  "log_likelihood_terms",
  "log_likelihood_terms_hvp",
  "log_likelihood_terms_jvp",
  "log_likelihood_terms_vjp",
  "log_survival",
  "log_survival_jvp",
  "log_survival_vjp",
  "mean",
  "mixed_moment",
  "mixed_moment_jvp",
  "mixed_moment_vjp",
  "moment_generating_function",
  "num_threads",
  "occupancy",
  "occupancy_jvp",
  "occupancy_vjp",
  "path",
  "precision",
  "probability_generating_function",
  "probability_generating_function_jvp",
  "probability_generating_function_vjp",
  "quantile",
  "quantile_jvp",
  "quantile_log_cdf",
  "quantile_log_cdf_jvp",
  "quantile_log_cdf_vjp",
  "quantile_log_survival",
  "quantile_log_survival_jvp",
  "quantile_log_survival_vjp",
  "quantile_vjp",
  "raw_moments",
  "raw_moments_jvp",
  "raw_moments_vjp",
  "reward_covariance",
  "reward_covariance_jvp",
  "reward_covariance_vjp",
  "reward_cross_moments",
  "reward_means",
  "reward_moments",
  "reward_moments_jvp",
  "reward_moments_vjp",
  "reward_transform",
  "second_moment",
  "set_num_threads",
  "stddev",
  "survival",
  "survival_jvp",
  "survival_vjp",
  "unavailable_reason",
  "use_path",
  "variance",
  "variance_jvp",
  "variance_vjp",
]
