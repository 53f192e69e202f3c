"""Derivatives of the functions of `quantiles`, as functions themselves.

NumPy has no autodiff; these are its derivatives. They exist in every substrate.
Cotangents and tangents come in the order of the arguments: initial_probs,
subgenerator, what is asked (u, log_cdf or log_survival), exit_rates, prob_zero,
with None for those that were not given; that of EdgeRates is that of its
parameters. `wanted` names the arguments whose cotangents are computed, and is
None for all; the others' are None. Arguments and errors are those of
`quantiles.quantile`; in NumPy NotImplementedError is raised where the native
kernel cannot run.
"""

from phasic.internal import static
from phasic.internal import structures
from phasic.math.calls import evaluation
from phasic.math.model import operands as operands_lib
from phasic.math.quantiles import quantiles
from phasic.math.quantiles import quantiles_limits
from phasic.math.quantiles import quantiles_rules

_NO_LIMITS = (None,) * len(quantiles_limits.Limits._fields)


def quantile_vjp(
  initial_probs,
  subgenerator,
  u,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `quantile` and the cotangents of its five arguments."""
  arguments = (initial_probs, subgenerator, u, exit_rates, prob_zero)
  return _vjp("cdf", arguments, cotangent, wanted)


def quantile_jvp(
  initial_probs, subgenerator, u, exit_rates=None, prob_zero=None, *, tangents
):
  """Returns `quantile` and its derivative along five tangents."""
  arguments = (initial_probs, subgenerator, u, exit_rates, prob_zero)
  return _jvp("cdf", arguments, tangents)


def quantile_log_cdf_vjp(
  initial_probs,
  subgenerator,
  log_cdf,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `quantile_log_cdf` and the cotangents of its five arguments."""
  arguments = (initial_probs, subgenerator, log_cdf, exit_rates, prob_zero)
  return _vjp("log_cdf", arguments, cotangent, wanted)


def quantile_log_cdf_jvp(
  initial_probs,
  subgenerator,
  log_cdf,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `quantile_log_cdf` and its derivative along five tangents."""
  arguments = (initial_probs, subgenerator, log_cdf, exit_rates, prob_zero)
  return _jvp("log_cdf", arguments, tangents)


def quantile_log_survival_vjp(
  initial_probs,
  subgenerator,
  log_survival,
  exit_rates=None,
  prob_zero=None,
  *,
  cotangent,
  wanted=None,
):
  """Returns `quantile_log_survival` and the cotangents of its arguments."""
  arguments = (initial_probs, subgenerator, log_survival, exit_rates, prob_zero)
  return _vjp("log_survival", arguments, cotangent, wanted)


def quantile_log_survival_jvp(
  initial_probs,
  subgenerator,
  log_survival,
  exit_rates=None,
  prob_zero=None,
  *,
  tangents,
):
  """Returns `quantile_log_survival` and its derivative along five tangents."""
  arguments = (initial_probs, subgenerator, log_survival, exit_rates, prob_zero)
  return _jvp("log_survival", arguments, tangents)


def _vjp(mode, arguments, cotangent, wanted):
  """Returns quantiles and the arguments' cotangents."""
  call = quantiles.QuantileCall(mode, arguments)
  wanted = evaluation.checked_names(wanted, call.names)
  dtype = static.dtype_name(call.asked)
  bar = structures.as_array(cotangent, dtype, "cotangent")
  q, residuals = quantiles_rules.forward(mode, call.asked, *call.arrays)
  of_asked, *bars = quantiles_rules.backward(
    mode,
    residuals,
    operands_lib.cotangent(call.layout, bar),
    tuple(call.names[i] in wanted for i in operands_lib.OPERANDS),
  )
  of_model = bars[len(_NO_LIMITS) :][:4]
  return call.result(q), operands_lib.argument_cotangents(
    call.layout, (*of_model, of_asked)
  )


def _jvp(mode, arguments, tangents):
  """Returns quantiles and their derivative."""
  call = quantiles.QuantileCall(mode, arguments)
  if len(tangents) != len(call.names):
    raise ValueError(
      f"tangents has {len(tangents)} entries: it must have one for each of "
      f"{call.names}"
    )
  filled = [
    evaluation.tangent(name, x, v)
    for name, x, v in zip(call.names, call.arguments, tangents, strict=True)
  ]
  *model, asked = operands_lib.operands(call.layout, filled)
  rest = (None,) * (len(call.arrays) - len(_NO_LIMITS) - len(model))
  q, moved = quantiles_rules.along(
    mode, (call.asked, *call.arrays), (asked, *_NO_LIMITS, *model, *rest)
  )
  return call.result(q), call.result(moved)
