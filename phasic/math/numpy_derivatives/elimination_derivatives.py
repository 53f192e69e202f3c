"""Derivatives of `moments` and `passages`, as functions themselves.

NumPy has no autodiff; these are its derivatives, by the same eliminations that
JAX and TensorFlow differentiate. They exist in every substrate, on both paths.

Cotangents and tangents come in the order of the arguments, with None for those
that were not given; that of EdgeRates is that of its parameters. `wanted` names
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

_NAMES = ("initial_probs", "subgenerator", "exit_rates", "prob_zero")
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
_SOJOURNS = chain_companions.Rule(
  chain_passages.sojourn_times,
  chain_derivatives.push_sojourn_times,
  chain_derivatives.pull_sojourn_times,
  natural=True,
)
_LAPLACE = chain_companions.Rule(
  chain_passages.laplace,
  chain_derivatives.push_laplace,
  chain_derivatives.pull_laplace,
)
_U_NAMES = (*_NAMES[:2], "u", *_NAMES[2:])


def raw_moments_vjp(
  initial_probs,
  subgenerator,
  exit_rates=None,
  prob_zero=None,
  *,
  order,
  cotangent,
  wanted=None,
):
  """Returns `raw_moments` and the cotangents of its four arguments.

  Example: the mean of an exponential time, and its derivative in the rate.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0], [1], [2.0])
    >>> mean, bars = pm.raw_moments_vjp([1.0], edges, order=1, cotangent=[1.0])
    >>> print(f"{float(mean[0]):.3f} {float(bars[1][0]):.3f}")
    0.500 -0.250
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_companions.vjp(_RAW, order, values, _NAMES, cotangent, wanted)


def raw_moments_jvp(
  initial_probs,
  subgenerator,
  exit_rates=None,
  prob_zero=None,
  *,
  order,
  tangents,
):
  """Returns `raw_moments` and its derivative along four tangents."""
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_companions.jvp(_RAW, order, values, _NAMES, tangents)


def reward_moments_vjp(
  initial_probs,
  subgenerator,
  rewards,
  exit_rates=None,
  prob_zero=None,
  *,
  order,
  cotangent,
  wanted=None,
):
  """Returns `reward_moments` and the cotangents of its five arguments."""
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  names = operands.REWARD_ARGUMENTS
  return chain_companions.vjp(
    _RAW, order, values, names, cotangent, wanted, (1,)
  )


def reward_moments_jvp(
  initial_probs,
  subgenerator,
  rewards,
  exit_rates=None,
  prob_zero=None,
  *,
  order,
  tangents,
):
  """Returns `reward_moments` and its derivative along five tangents."""
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  names = operands.REWARD_ARGUMENTS
  return chain_companions.jvp(_RAW, order, values, names, tangents, (1,))


def expected_sojourn_times_vjp(
  initial_probs,
  subgenerator,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `expected_sojourn_times` and its four arguments' cotangents."""
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_companions.vjp(
    _SOJOURNS, None, values, _NAMES, cotangent, wanted
  )


def expected_sojourn_times_jvp(
  initial_probs, subgenerator, exit_rates=None, prob_zero=None, *, tangents
):
  """Returns `expected_sojourn_times` and its derivative along tangents."""
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_companions.jvp(_SOJOURNS, None, values, _NAMES, tangents)


def laplace_transform_vjp(
  initial_probs,
  subgenerator,
  u,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `laplace_transform` and the cotangents of its five arguments."""
  values = (initial_probs, subgenerator, u, exit_rates, prob_zero)
  return chain_companions.vjp(
    _LAPLACE, None, values, _U_NAMES, cotangent, wanted, (0,)
  )


def laplace_transform_jvp(
  initial_probs,
  subgenerator,
  u,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `laplace_transform` and its derivative along five tangents."""
  values = (initial_probs, subgenerator, u, exit_rates, prob_zero)
  return chain_companions.jvp(_LAPLACE, None, values, _U_NAMES, tangents, (0,))


def reward_covariance_vjp(
  initial_probs,
  subgenerator,
  rewards,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `reward_covariance` and the cotangents of its five arguments."""
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  names = operands.REWARD_ARGUMENTS
  return chain_companions.vjp(
    _COVARIANCE, None, values, names, cotangent, wanted, (2,)
  )


def reward_covariance_jvp(
  initial_probs,
  subgenerator,
  rewards,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `reward_covariance` and its derivative along five tangents."""
  values = (initial_probs, subgenerator, rewards, exit_rates, prob_zero)
  names = operands.REWARD_ARGUMENTS
  return chain_companions.jvp(_COVARIANCE, None, values, names, tangents, (2,))
