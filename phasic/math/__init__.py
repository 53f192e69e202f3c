"""Functions of phase-type models given as arrays, and automatic derivatives.

`phase_type` and `discrete_phase_type` have the functions of the two kinds of
models, with the same names. `EdgeRates` and `EdgeProbs` are sparse models.
"""

from phasic.math import discrete_phase_type
from phasic.math import phase_type
from phasic.math.calls.gradients import hessian_vector_product
from phasic.math.calls.gradients import jvp
from phasic.math.calls.gradients import stop_gradient
from phasic.math.calls.gradients import value_and_gradient
from phasic.math.calls.gradients import vjp
from phasic.math.likelihood.expected_statistics import ExpectedStatistics
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.edge_rates import EdgeRates
from phasic.math.steady_state.steady_state import long_run_reward_rate
from phasic.math.steady_state.steady_state import stationary_distribution

__all__ = [
  "EdgeProbs",
  "EdgeRates",
  "ExpectedStatistics",
  "discrete_phase_type",
  "hessian_vector_product",
  "jvp",
  "long_run_reward_rate",
  "phase_type",
  "stationary_distribution",
  "stop_gradient",
  "value_and_gradient",
  "vjp",
]
