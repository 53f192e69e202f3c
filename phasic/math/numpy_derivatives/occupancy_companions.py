"""Derivatives of `occupancy`, as functions themselves.

See `elimination_derivatives`: they are laid out alike.
"""

from phasic.math.model import operands
from phasic.math.moments.occupancy import probs
from phasic.math.numpy_derivatives import chain_companions
from phasic.math.numpy_derivatives import occupancy_derivatives

_RULE = chain_companions.Rule(
  probs, occupancy_derivatives.push, occupancy_derivatives.pull
)


def occupancy_vjp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `occupancy` and the cotangents of its five arguments.

  Raises:
    NotImplementedError: in NumPy, where the native kernel cannot run.
  """
  values = (initial_probs, subgenerator, times, exit_rates, prob_zero)
  names = operands.names(False)
  return chain_companions.vjp(
    _RULE, False, values, names, cotangent, wanted, (0,)
  )


def occupancy_jvp(
  initial_probs,
  subgenerator,
  times,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `occupancy` and its derivative along five tangents."""
  values = (initial_probs, subgenerator, times, exit_rates, prob_zero)
  names = operands.names(False)
  return chain_companions.jvp(_RULE, False, values, names, tangents, (0,))


def discrete_occupancy_vjp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `discrete_occupancy` and the cotangents of its five arguments.

  Those of the counts are zero.
  """
  values = (initial_probs, subtransition, counts, exit_probs, prob_zero)
  names = operands.names(True)
  return chain_companions.vjp(
    _RULE, True, values, names, cotangent, wanted, (0,)
  )


def discrete_occupancy_jvp(
  initial_probs,
  subtransition,
  counts,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `discrete_occupancy` and its derivative along five tangents."""
  values = (initial_probs, subtransition, counts, exit_probs, prob_zero)
  names = operands.names(True)
  return chain_companions.jvp(_RULE, True, values, names, tangents, (0,))
