"""Reasons of NaN: a table of methods, and the rules of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as onp

from phasic.internal import raw_arguments
from phasic.math.model import value_rules

_OUT_OF_RANGE = "it is out of the range of numbers, or not defined"
_FEW_DIGITS = "it is not defined here, or too few digits would be left"
_SEARCH = (
  "probabilities near it are NaN, or ask for more steps than the work limit, "
  "which config.set_work_limit(seconds) raises; diagnose(t, 'cdf') gives the "
  "reason at a time t near it"
)
_QUADRATURE = (
  "it is not finite, the quadrature does not reach its accuracy, memory did not "
  "suffice, or values ask for more steps than the work limit"
)
_SAMPLE = (
  "quantiles ask for more steps than the work limit, which "
  "config.set_work_limit(seconds) raises, and simulated paths have too many jumps"
)
_ENDLESS = "the mean is inf: absorption may never come, or the tail is heavy"
_NOT_DEFINED = "it is not defined where a mean is inf"
# The reason that is given for a NaN if no other reason is found.
UNKNOWN = (
  "it is not defined there, too few digits would be left, memory did not "
  "suffice, or it asks for more steps than the work limit"
)


class Method(NamedTuple):
  """The argument of a method or function, and the reasons for NaN results.

  Attributes:
    why: the reason if model and argument are valid.
    argument: the name of its argument; empty if it has none.
    rule: the argument's valid values; None for all.
    is_time: whether the reasons of densities at the argument count, too.
    why_endless: the reason where a mean is inf; empty if that is no reason.
  """

  why: str
  argument: str = ""
  rule: value_rules.ValueRule | None = None
  is_time: bool = False
  why_endless: str = ""


_VALUE = Method(UNKNOWN, "value")
_AT_TIME = Method(_FEW_DIGITS, "value", value_rules.TIME, True)
_HAZARD = Method(_FEW_DIGITS, "value", None, True)
_LOG_QUANTILE = Method(_SEARCH, "value", value_rules.LOG_PROBABILITY)
_STATISTIC = Method(_OUT_OF_RANGE)
_COVARIANCE = Method(_OUT_OF_RANGE, why_endless=_NOT_DEFINED)
_SUM = Method(_QUADRATURE, why_endless=_ENDLESS)
_DIVERGENCE = Method(_QUADRATURE, "other", why_endless=_ENDLESS)

# Methods of distributions, and functions of `math` with the same names.
METHODS = {
  "log_prob": _VALUE,
  "prob": _VALUE,
  "log_survival_function": _VALUE,
  "survival_function": _VALUE,
  "log_cdf": _VALUE,
  "cdf": _VALUE,
  "hazard_function": _HAZARD,
  "log_hazard_function": _HAZARD,
  "cumulative_hazard": _HAZARD,
  "quantile": Method(_SEARCH, "value", value_rules.PROBABILITY),
  "median": Method(_SEARCH),
  "quantile_log_survival": _LOG_QUANTILE,
  "quantile_log_cdf": _LOG_QUANTILE,
  "laplace_transform": Method(_OUT_OF_RANGE, "u", value_rules.LAPLACE),
  "moment_generating_function": Method(
    "rounding leaves open on which side of the decay rate s is, or there are "
    "too many phases for a matrix",
    "s",
  ),
  "probability_generating_function": Method(
    _OUT_OF_RANGE, "z", value_rules.GENERATING
  ),
  "renewal_density": _AT_TIME,
  "mean_residual_life": _AT_TIME,
  "limited_expected_value": _AT_TIME,
  "occupancy": _AT_TIME,
  "mean": _STATISTIC,
  "variance": _STATISTIC,
  "stddev": _STATISTIC,
  "expected_sojourn_times": _STATISTIC,
  "expected_visits": _STATISTIC,
  "expected_jumps": _STATISTIC,
  "covariance": _COVARIANCE,
  "correlation": _COVARIANCE,
  "moment": Method(_OUT_OF_RANGE, "k"),
  "mode": _STATISTIC,
  "entropy": _SUM,
  "cross_entropy": _DIVERGENCE,
  "kl_divergence": _DIVERGENCE,
  "sample": Method(_SAMPLE),
}


# The rules of arguments before the model of functions that are no methods.
ARGUMENTS = {
  "absorption_probs": {"value": value_rules.TIME},
  "accumulated_reward_means": {"value": value_rules.TIME},
  "discounted_reward_means": {
    "u": value_rules.TIME,
    "z": value_rules.DISCOUNT,
  },
  "expm_multiply": {"value": value_rules.TIME},
  "log_absorption_probs": {"value": value_rules.TIME},
  "log_phase_expectation": {"value": value_rules.TIME},
  "log_transition_probs": {"value": value_rules.TIME},
  "phase_expectation": {"value": value_rules.TIME},
  "transition_probs": {"value": value_rules.TIME},
}


def known(method: object, names: tuple[str, ...] = tuple(METHODS)) -> Method:
  """Returns the entry of a method in `METHODS`; its name must be in `names`.

  Raises:
    ValueError: the name is not one of these.
  """
  if not isinstance(method, str) or method not in names:
    raise ValueError(
      f"method is {raw_arguments.shown(method)}: it must be one of "
      f"{', '.join(names)}"
    )
  return METHODS[method]


def rule(method: Method, discrete: bool) -> value_rules.ValueRule | None:
  """Returns the rule of a method's argument; discrete times are counts."""
  is_count = discrete and method.rule is value_rules.TIME
  return value_rules.COUNT if is_count else method.rule


def check_argument(
  method: str, argument: str, value: object, upper: object = None
) -> None:
  """Raises ValueError for a missing argument, or one that a method rejects."""
  if not argument:
    for name, x in (("value", value), ("upper", upper)):
      if x is not None:
        raise ValueError(
          f"{name} is {raw_arguments.shown(x)}: it must be None: {method} takes "
          "no value"
        )
  elif value is None:
    raise ValueError(
      f"value is None: it must be the argument {argument} of {method}"
    )


def method_reasons(
  method: Method,
  value: onp.ndarray | None,
  why: onp.ndarray,
  reasons: Callable[[onp.ndarray, str], onp.ndarray] | None,
  is_vector: bool = False,
) -> onp.ndarray:
  """Returns for each result of a method why it is NaN, if it is.

  Args:
    method: the method's row of the table.
    value: its argument, or None.
    why: why all values of the model are NaN; "ok" if they are not.
    reasons: returns the reasons of a density at values, given its name; or None.
    is_vector: whether the last axis of the argument has one vector.
  """
  why = onp.where(why == "ok", method.why, why)
  if value is None:
    return why
  if method.is_time and reasons is not None:
    for other in ("log_prob", "log_survival_function"):
      reason = reasons(value, other)
      why = onp.where(reason == "ok", why, reason)
  name = method.argument
  problems = onp.where(onp.isinf(value), f"{name}: it must be finite", "ok")
  if method.rule is not None:
    good = method.rule.holds_on_host(value)
    problems = onp.where(good, problems, f"{name}: {method.rule.text}")
  problems = onp.where(onp.isnan(value), f"{name}: is NaN", problems)
  if is_vector:
    first = onp.argmax(problems != "ok", axis=-1)[..., None]
    problems = onp.take_along_axis(problems, first, axis=-1)[..., 0]
  return onp.where(problems == "ok", why, problems)


def result_reasons(results: onp.ndarray, why: onp.ndarray) -> onp.ndarray:
  """Returns the reasons why results have no value or no derivative.

  Args:
    results: results of a method.
    why: why they are NaN if they are; "ok" if no reason is known. It has the
      first dimensions of the results.

  Returns:
    The reason where a result is NaN; where one is infinite, that it has no
    derivatives; else "ok".
  """
  extra = onp.ndim(results) - onp.ndim(why)
  why = onp.reshape(why, (*onp.shape(why), *(1,) * max(extra, 0)))
  why = onp.where(why == "ok", UNKNOWN, why)
  infinite = onp.where(
    results > 0.0,
    "the value is inf, which has no derivatives",
    "the value is -inf, which has no derivatives",
  )
  reasons = onp.where(onp.isinf(results), infinite, "ok")
  return onp.where(onp.isnan(results), why, reasons)
