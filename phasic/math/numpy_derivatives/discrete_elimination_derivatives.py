"""Derivatives of `discrete_moments` and `discrete_passages`, as functions.

NumPy has no autodiff; these are its derivatives, by the same eliminations that
JAX and TensorFlow differentiate. They exist in every substrate, on both paths.

Cotangents and tangents come in the order of the arguments, with None for those
that were not given; that of EdgeProbs is that of its parameters. `wanted` names
the arguments whose cotangents are returned, and is None for all; the others'
are None. Arguments and errors are those of the functions themselves. Where a
moment is infinite derivatives are NaN.
"""

from phasic.math.elimination import chain_passages
from phasic.math.elimination import moment_chains
from phasic.math.model import operands
from phasic.math.numpy_derivatives import chain_companions
from phasic.math.numpy_derivatives import chain_derivatives
from phasic.math.numpy_derivatives import covariance_derivatives

_NAMES = ("initial_probs", "subtransition", "exit_probs", "prob_zero")
_RAW = chain_companions.Rule(
  moment_chains.raw_moments,
  chain_derivatives.push_raw_moments,
  chain_derivatives.pull_raw_moments,
)
_COVARIANCE = chain_companions.Rule(
  moment_chains.covariance,
  covariance_derivatives.push,
  covariance_derivatives.pull,
)
_VISITS = chain_companions.Rule(
  chain_passages.sojourn_times,
  chain_derivatives.push_sojourn_times,
  chain_derivatives.pull_sojourn_times,
  natural=True,
)
_GENERATING = chain_companions.Rule(
  chain_passages.generating,
  chain_derivatives.push_generating,
  chain_derivatives.pull_generating,
)
_Z_NAMES = (*_NAMES[:2], "z", *_NAMES[2:])


def raw_moments_vjp(
  initial_probs,
  subtransition,
  exit_probs=None,
  prob_zero=None,
  *,
  order,
  cotangent,
  wanted=None,
):
  """Returns `raw_moments` and the cotangents of its four arguments."""
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_companions.vjp(_RAW, order, values, _NAMES, cotangent, wanted)


def raw_moments_jvp(
  initial_probs,
  subtransition,
  exit_probs=None,
  prob_zero=None,
  *,
  order,
  tangents,
):
  """Returns `raw_moments` and its derivative along four tangents."""
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_companions.jvp(_RAW, order, values, _NAMES, tangents)


def reward_moments_vjp(
  initial_probs,
  subtransition,
  rewards,
  exit_probs=None,
  prob_zero=None,
  *,
  order,
  cotangent,
  wanted=None,
):
  """Returns `reward_moments` and the cotangents of its five arguments."""
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  names = operands.DISCRETE_REWARD_ARGUMENTS
  return chain_companions.vjp(
    _RAW, order, values, names, cotangent, wanted, (1,)
  )


def reward_moments_jvp(
  initial_probs,
  subtransition,
  rewards,
  exit_probs=None,
  prob_zero=None,
  *,
  order,
  tangents,
):
  """Returns `reward_moments` and its derivative along five tangents."""
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  names = operands.DISCRETE_REWARD_ARGUMENTS
  return chain_companions.jvp(_RAW, order, values, names, tangents, (1,))


def expected_visits_vjp(
  initial_probs,
  subtransition,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `expected_visits` and its four arguments' cotangents."""
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_companions.vjp(_VISITS, None, values, _NAMES, cotangent, wanted)


def expected_visits_jvp(
  initial_probs, subtransition, exit_probs=None, prob_zero=None, *, tangents
):
  """Returns `expected_visits` and its derivative along tangents."""
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_companions.jvp(_VISITS, None, values, _NAMES, tangents)


def probability_generating_function_vjp(
  initial_probs,
  subtransition,
  z,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns the generating function and cotangents of its five arguments."""
  values = (initial_probs, subtransition, z, exit_probs, prob_zero)
  return chain_companions.vjp(
    _GENERATING, None, values, _Z_NAMES, cotangent, wanted, (0,)
  )


def probability_generating_function_jvp(
  initial_probs,
  subtransition,
  z,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns the generating function and its derivative along tangents."""
  values = (initial_probs, subtransition, z, exit_probs, prob_zero)
  return chain_companions.jvp(
    _GENERATING, None, values, _Z_NAMES, tangents, (0,)
  )


def reward_covariance_vjp(
  initial_probs,
  subtransition,
  rewards,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `reward_covariance` and the cotangents of its five arguments."""
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  names = operands.DISCRETE_REWARD_ARGUMENTS
  return chain_companions.vjp(
    _COVARIANCE, None, values, names, cotangent, wanted, (2,)
  )


def reward_covariance_jvp(
  initial_probs,
  subtransition,
  rewards,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `reward_covariance` and its derivative along five tangents."""
  values = (initial_probs, subtransition, rewards, exit_probs, prob_zero)
  names = operands.DISCRETE_REWARD_ARGUMENTS
  return chain_companions.jvp(_COVARIANCE, None, values, names, tangents, (2,))
