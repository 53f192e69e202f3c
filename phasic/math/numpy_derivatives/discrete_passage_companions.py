"""Derivatives of variances and passages in discrete time, as functions.

See `discrete_elimination_derivatives`: they are laid out alike.
"""

from phasic.math.calls import evaluation
from phasic.math.elimination import chain_passages
from phasic.math.elimination import moment_chains
from phasic.math.model import named_phases
from phasic.math.moments import discrete_moments
from phasic.math.numpy_derivatives import chain_companions
from phasic.math.numpy_derivatives import passage_derivatives

_NAMES = ("initial_probs", "subtransition", "exit_probs", "prob_zero")
_JUMP_NAMES = ("initial_probs", "edges", "prob_zero")
_HITTING_NAMES = (*_NAMES[:2], "phases", *_NAMES[2:])
_VARIANCE = chain_companions.Rule(
  moment_chains.variance,
  passage_derivatives.push_variance,
  passage_derivatives.pull_variance,
)
_JUMPS = chain_companions.Rule(
  chain_passages.jumps,
  passage_derivatives.push_jumps,
  passage_derivatives.pull_jumps,
  natural=True,
)
_HITTING = chain_companions.Rule(
  chain_passages.hitting,
  passage_derivatives.push_hitting,
  passage_derivatives.pull_hitting,
)


def variance_vjp(
  initial_probs,
  subtransition,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `variance` and the cotangents of its four arguments."""
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  _, bars = chain_companions.vjp(
    _VARIANCE, False, values, _NAMES, cotangent, wanted
  )
  return discrete_moments.variance(*values), bars


def variance_jvp(
  initial_probs, subtransition, exit_probs=None, prob_zero=None, *, tangents
):
  """Returns `variance` and its derivative along four tangents."""
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  _, moved = chain_companions.jvp(_VARIANCE, False, values, _NAMES, tangents)
  return discrete_moments.variance(*values), moved


def expected_jumps_vjp(
  initial_probs, edges, prob_zero=None, *, cotangent, wanted=None
):
  """Returns `expected_jumps` and the cotangents of its three arguments."""
  named_phases.require_edges(edges)
  wanted = evaluation.checked_names(wanted, _JUMP_NAMES)
  wanted = [_NAMES[1] if name == "edges" else name for name in wanted]
  values = (initial_probs, edges, None, prob_zero)
  value, bars = chain_companions.vjp(
    _JUMPS, None, values, _NAMES, cotangent, wanted
  )
  return value, (*bars[:2], bars[3])


def expected_jumps_jvp(initial_probs, edges, prob_zero=None, *, tangents):
  """Returns `expected_jumps` and its derivative along three tangents."""
  named_phases.require_edges(edges)
  named_phases.check_tangents(tangents, _JUMP_NAMES)
  values = (initial_probs, edges, None, prob_zero)
  tangents = (*tangents[:2], None, tangents[2])
  return chain_companions.jvp(_JUMPS, None, values, _NAMES, tangents)


def hitting_probs_vjp(
  initial_probs,
  subtransition,
  phases,
  exit_probs=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `hitting_probs` and cotangents of arguments; phases' is None."""
  wanted = evaluation.checked_names(wanted, _NAMES)
  targets = named_phases.indicator(phases, initial_probs)
  values = (initial_probs, subtransition, targets, exit_probs, prob_zero)
  return chain_companions.vjp(
    _HITTING, None, values, _HITTING_NAMES, cotangent, wanted, (1,)
  )


def hitting_probs_jvp(
  initial_probs,
  subtransition,
  phases,
  exit_probs=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `hitting_probs` and its derivative along tangents.

  There are five, that of `phases` is None.
  """
  named_phases.check_tangents(tangents, _HITTING_NAMES, fixed=("phases",))
  targets = named_phases.indicator(phases, initial_probs)
  values = (initial_probs, subtransition, targets, exit_probs, prob_zero)
  return chain_companions.jvp(
    _HITTING, None, values, _HITTING_NAMES, tangents, (1,)
  )
