"""Reasons of NaN: those that `diagnose` returns, and warnings of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as onp

from phasic.distributions.base import hooks
from phasic.distributions.base import structure
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model import function_kinds
from phasic.math.model import value_rules

_OUT_OF_RANGE = "it is out of the range of numbers, or not defined"
_FEW_DIGITS = "it is not defined here, or too few digits would be left"
_SEARCH = (
  "probabilities near it are NaN, or ask for more steps than the work limit, "
  "which config.set_work_limit(seconds) raises; diagnose(t, 'cdf') gives the "
  "reason at a time t near it"
)
_QUADRATURE = (
  "it is not finite, the quadrature does not reach its accuracy, or values ask "
  "for more steps than the work limit"
)
_SAMPLE = (
  "quantiles ask for more steps than the work limit, which "
  "config.set_work_limit(seconds) raises, and simulated paths have too many jumps"
)


class _Method(NamedTuple):
  """The argument of a method, and another reason of its NaN.

  Attributes:
    why: the reason if model and argument are valid.
    argument: the name of its argument; None if it has none.
    rule: the argument's valid values; None for all.
    is_time: whether the reasons of densities at the argument count, too.
  """

  why: str
  argument: str | None = None
  rule: value_rules.ValueRule | None = None
  is_time: bool = False


# The methods besides those of `function_kinds.KINDS`, whose reasons the kernel
# knows.
_METHODS = {
  "hazard_function": _Method(_FEW_DIGITS, "value", None, True),
  "log_hazard_function": _Method(_FEW_DIGITS, "value", None, True),
  "cumulative_hazard": _Method(_FEW_DIGITS, "value", None, True),
  "quantile": _Method(_SEARCH, "value", value_rules.PROBABILITY),
  "median": _Method(_SEARCH),
  "quantile_log_survival": _Method(
    _SEARCH, "value", value_rules.LOG_PROBABILITY
  ),
  "quantile_log_cdf": _Method(_SEARCH, "value", value_rules.LOG_PROBABILITY),
  "laplace_transform": _Method(_OUT_OF_RANGE, "u", value_rules.LAPLACE),
  "moment_generating_function": _Method(
    "rounding leaves open on which side of the decay rate s is, or there are "
    "too many phases for a matrix",
    "s",
  ),
  "probability_generating_function": _Method(
    _OUT_OF_RANGE, "z", value_rules.GENERATING
  ),
  "renewal_density": _Method(_FEW_DIGITS, "value", value_rules.TIME, True),
  "mean_residual_life": _Method(_FEW_DIGITS, "value", value_rules.TIME, True),
  "limited_expected_value": _Method(
    _FEW_DIGITS, "value", value_rules.TIME, True
  ),
  "occupancy": _Method(_FEW_DIGITS, "value", value_rules.TIME, True),
  "joint_mark_probs": _Method(_OUT_OF_RANGE, "mark_rates", value_rules.TIME),
  "mean": _Method(_OUT_OF_RANGE),
  "variance": _Method(_OUT_OF_RANGE),
  "stddev": _Method(_OUT_OF_RANGE),
  "covariance": _Method(_OUT_OF_RANGE),
  "moment": _Method(_OUT_OF_RANGE, "k"),
  "mode": _Method(_OUT_OF_RANGE),
  "entropy": _Method(_QUADRATURE),
  "cross_entropy": _Method(_QUADRATURE, "other"),
  "kl_divergence": _Method(_QUADRATURE, "other"),
  "sample": _Method(_SAMPLE),
}


def reasons(distribution: hooks.Hooks, value: Any, method: str) -> onp.ndarray:
  """Returns the reason of each NaN of a method, see `Distribution.diagnose`."""
  if function_kinds.is_in(method, function_kinds.KINDS):
    if value is None:
      raise ValueError(
        f"value is None: it must be an array of arguments of {method}"
      )
    return distribution._reasons(value, method)
  known = _METHODS.get(method) if isinstance(method, str) else None
  if known is None:
    names = ", ".join((*function_kinds.KINDS, *_METHODS))
    raise ValueError(
      f"method is {raw_arguments.shown(method)}: it must be one of {names}"
    )
  if known.argument is None:
    function_kinds.check_no_value(method, value=value)
  elif value is None:
    raise ValueError(
      f"value is None: it must be the argument {known.argument} of {method}"
    )
  with user_warnings.derived():
    if method == "sample":
      # Samples are quantiles, or are simulated where these are NaN.
      method, known = "median", _METHODS["sample"]
    arguments = () if known.argument is None else (value,)
    found = static.concrete(getattr(distribution, method)(*arguments))
  if found is None:
    raise TypeError(
      "parameters are traced: diagnose needs concrete parameters; call it "
      "outside jit"
    )
  missing = onp.isnan(found)
  if not onp.any(missing):
    return onp.full(onp.shape(found), "ok")
  why = _why(distribution, value, method, known)
  return onp.where(missing, why, "ok")


def warn(
  distribution: hooks.Hooks,
  method: str,
  found: Array,
  value: ArrayLike | None = None,
) -> None:
  """Warns of NaN in the result of an eager call, with the first one's reason.

  It does not warn of NaN that parameters or argument had, nor of values that
  were warned of before.

  Args:
    distribution: the distribution.
    method: the public name of the method.
    found: its result, with NaN.
    value: its argument, with the batch dimensions of the result; or None.
  """
  if user_warnings.is_derived() or has_bad_parameters(distribution):
    return
  results = onp.asarray(static.at_hand(found))
  missing = onp.isnan(results)
  known = _known(method)
  given, leading = None, onp.ndim(results)
  event_dims = len(distribution._event_shape())
  if value is not None:
    # Results may have dimensions of their own after those of the value.
    given = onp.asarray(static.at_hand(value))
    bad = onp.isnan(given)
    rule = _rule(distribution, known)
    if rule is not None:
      bad = bad | onp.logical_not(rule.holds_on_host(given))
    if event_dims > 0:
      bad = onp.any(bad, axis=-1)
    batch = distribution._batch_shape()
    leading = len(onp.broadcast_shapes(onp.shape(bad), batch))
    own = (1,) * (onp.ndim(results) - leading)
    missing = missing & onp.logical_not(
      onp.reshape(bad, (*onp.shape(bad), *own))
    )
  if not onp.any(missing):
    return
  index, where = value_rules.first_place(missing)
  at = ""
  if given is not None and event_dims == 0:
    every = onp.broadcast_to(given, onp.shape(results)[:leading])
    value = onp.asarray(every[index[:leading]])
    at = f" at {known.argument if known else 'value'} = {value}"
  why = _first_reason(distribution, value, method, onp.shape(results), index)
  count = int(onp.sum(missing))
  others = f" ({count} of {onp.size(results)} are NaN)" if count > 1 else ""
  user_warnings.warn(
    f"{type(distribution).__name__}.{method}{where} is NaN{at}: {why}{others}"
  )


def _first_reason(
  distribution: hooks.Hooks,
  value: Any,
  method: str,
  shape: tuple[int, ...],
  index: tuple[int, ...],
) -> str:
  """Returns the reason of the NaN at an index of a method's result."""
  with user_warnings.derived():
    try:
      if method in function_kinds.KINDS:
        why = distribution._reasons(value, method)
      else:
        why = _why(distribution, value, method, _known(method))
      found = str(onp.broadcast_to(why, shape)[index])
    except (NotImplementedError, TypeError, ValueError):
      # The result has other dimensions than the batch, or there is no reason.
      found = "ok"
  return "it could not be computed" if found == "ok" else found


def _why(
  distribution: hooks.Hooks, value: Any, method: str, known: _Method | None
) -> onp.ndarray:
  """Returns why results of a method would be NaN, if they are."""
  if known is None:
    # A method of a family; if it takes values, they are times.
    argument = None if value is None else "value"
    known = _Method(_OUT_OF_RANGE, argument, None, value is not None)
  model = _of_model(distribution)
  why = onp.where(model == "ok", f"{method}: {known.why}", model)
  if known.argument is None or known.argument in ("k", "other"):
    return why
  given = onp.asarray(static.at_hand(value), "float64")
  if known.is_time:
    for other in ("log_prob", "log_survival_function"):
      there = distribution._reasons(value, other)
      why = onp.where(there == "ok", why, there)
  why = onp.where(onp.isinf(given), f"{known.argument}: it must be finite", why)
  rule = _rule(distribution, known)
  if rule is not None:
    why = onp.where(
      rule.holds_on_host(given), why, f"{known.argument}: {rule.text}"
    )
  return onp.where(onp.isnan(given), f"{known.argument}: is NaN", why)


def _of_model(distribution: hooks.Hooks) -> onp.ndarray:
  """Returns why all values of a distribution are NaN, "ok" if they are not."""
  try:
    late = onp.asarray(distribution._late(), distribution.dtype)
    return distribution._reasons(late, "survival_function")
  except NotImplementedError:
    return onp.asarray("ok")


def _known(method: str) -> _Method | None:
  """Returns what is known of a method, which may be named as moment(3)."""
  return _METHODS.get(method.partition("(")[0])


def _rule(
  distribution: hooks.Hooks, known: _Method | None
) -> value_rules.ValueRule | None:
  """Returns the rule of a method's argument; None if all are valid."""
  if known is None or known.rule is None:
    return None
  if len(distribution._event_shape()) > 0:
    return value_rules.TIME  # An argument for each entry of a vector.
  counts = distribution._support().constraint == "nonnegative_integer"
  is_count = counts and known.rule is value_rules.TIME
  return value_rules.COUNT if is_count else known.rule


def has_bad_parameters(distribution: hooks.Hooks) -> bool:
  """Returns whether parameters are NaN, or were warned of."""
  if distribution._is_warned_of:
    return True
  for x in distribution._parameters.values():
    for part in x if isinstance(x, (list, tuple)) else (x,):
      if isinstance(part, hooks.Hooks) and has_bad_parameters(part):
        return True
  for x in structure.leaves(distribution._arrays()).values():
    known = None if x is None else static.at_hand(x)
    if known is not None and onp.any(onp.isnan(known)):
      return True
  return False
