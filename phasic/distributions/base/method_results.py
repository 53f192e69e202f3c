"""Results of methods: reasons and warnings of NaN, and rules of divergences."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any, TypeVar

import numpy as onp

from phasic.distributions.base import hooks
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import structure
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike, Result
from phasic.math.model import function_kinds
from phasic.math.model import nan_table
from phasic.math.model import value_rules
from phasic.math.numeric import array_utils


def reasons(distribution: Any, value: Any, method: str) -> onp.ndarray:
  """Returns the reason for each NaN in a method's result, see `diagnose`."""
  nan_table.known(method)
  if not hasattr(distribution, method):
    distribution._missing(method, "diagnose takes the methods that it has")
  argument = known(distribution, method).argument
  nan_table.check_argument(method, argument, value)
  with user_warnings.derived():
    if distribution.validate_args or not distribution.allow_nan_stats:
      distribution = distribution.copy(
        validate_args=False, allow_nan_stats=True
      )
    computed = method
    if method == "sample":
      # A sample is a quantile, or is simulated where the quantile is NaN. So
      # the median stands in for samples of numbers, and the mean for samples of
      # vectors.
      computed = "mean" if distribution._event_shape() else "median"
    compute = getattr(distribution, computed)
    found = static.concrete(compute(value) if argument else compute())
    if found is None:
      raise TypeError(
        "value or parameters are traced: diagnose needs concrete ones; call it "
        "outside jit"
      )
    why = onp.asarray("ok")
    if onp.any(onp.isnan(found)):
      why = _why(distribution, value, known(distribution, method), method)
  return nan_table.result_reasons(found, why)


def warn(
  distribution: hooks.Hooks,
  method: str,
  found: Array,
  value: Any = None,
) -> None:
  """Warns of NaN in the result of an eager call, with the first NaN's reason.

  It does not warn of NaN that parameters or argument had, nor of values that
  were warned of before.

  Args:
    distribution: the distribution.
    method: the public name of the method.
    found: its result, with NaN.
    value: its argument, with the batch dimensions of the result, or another
      distribution; or None.
  """
  if not user_warnings.warns_of_nan() or has_bad_parameters(distribution):
    return
  own = known(distribution, method)
  takes_other = own.argument == "other"
  if isinstance(value, hooks.Hooks) and has_bad_parameters(value):
    return
  results = onp.asarray(static.at_hand(found))
  missing = onp.isnan(results)
  given, at = None, ""
  event_dims = len(distribution._event_shape())
  leading = len(distribution._batch_shape())
  if method == "sample":
    leading = onp.ndim(results) - event_dims
  elif takes_other:
    leading = onp.ndim(results)
  elif value is not None:
    # Results may have further dimensions after the dimensions of the value.
    given = onp.asarray(static.at_hand(value))
    bad = onp.isnan(given)
    if own.rule is not None:
      bad = bad | onp.logical_not(own.rule.holds_on_host(given))
    if event_dims > 0:
      bad = onp.any(bad, axis=-1)
    batch = distribution._batch_shape()
    leading = len(onp.broadcast_shapes(onp.shape(bad), batch))
    missing = missing & onp.logical_not(
      _aligned(bad, onp.ndim(results) - leading)
    )
  if not onp.any(missing):
    return
  index, where = value_rules.first_place(missing)
  shape = onp.shape(results)
  if given is not None and event_dims == 0:
    every = onp.broadcast_to(given, shape[:leading])
    value = onp.asarray(every[index[:leading]])
    at = f" at {own.argument or 'value'} = {value}"
  try:
    with user_warnings.derived():
      every_why = _why(distribution, value, own, method)
    whole = onp.broadcast_to(_aligned(every_why, len(shape) - leading), shape)
    why = str(whole[index])
  except (NotImplementedError, TypeError, ValueError):
    why = "ok"  # The result has other dimensions, or there is no reason.
  if why == "ok":
    why = nan_table.UNKNOWN
  count = int(onp.sum(missing))
  others = f" ({count} of {onp.size(results)} are NaN)" if count > 1 else ""
  user_warnings.warn(
    f"{type(distribution).__name__}.{method}{where} is NaN{at}: {why}{others}"
  )


def warn_of_representation(distribution: hooks.Hooks, probs: Array) -> None:
  """Warns if another distribution gets NaN initial masses from this one."""
  if array_utils.has_nan(probs):
    warn(distribution, "as_phase_type", probs)


def _aligned(x: onp.ndarray, own_dims: int) -> onp.ndarray:
  """Appends dimensions, for those that results have after an argument's."""
  return onp.reshape(x, (*onp.shape(x), *(1,) * own_dims))


def _why(
  distribution: Any, value: Any, own: nan_table.Method, method: str
) -> onp.ndarray:
  """Returns why results of a method are NaN if they are, with their batch.

  Args:
    distribution: the distribution.
    value: the method's argument, or None.
    own: what is known of the method.
    method: its name.
  """
  if method in function_kinds.KINDS and distribution._has("_reasons"):
    return distribution._reasons(value, method)
  given, law = None, _of_law(distribution, own)
  if isinstance(value, hooks.Hooks):
    why = _of_law(value, own)
    of_other = onp.char.add("other: ", why)
    law = onp.where((law == "ok") & (why != "ok"), of_other, law)
  elif own.argument not in ("", "k", "other") and value is not None:
    given = onp.asarray(static.at_hand(value))
  return nan_table.method_reasons(
    own,
    given,
    law,
    distribution._reasons if distribution._has("_reasons") else None,
    len(distribution._event_shape()) > 0,
  )


def _of_law(distribution: Any, method: nan_table.Method) -> onp.ndarray:
  """Returns why a distribution has no values or statistics; "ok" if it has."""
  if distribution._has("_reasons"):
    late = onp.asarray(distribution._late(), distribution.dtype)
    why = distribution._reasons(late, "survival_function")
  else:
    broken = parameter_properties.broken_rule(distribution)
    why = onp.asarray("ok" if broken is None else broken)
  if not method.why_endless:
    return why
  endless = onp.asarray(static.concrete(distribution.mean())) == math.inf
  if len(distribution._event_shape()) > 0:
    endless = onp.any(endless, axis=-1)
  return onp.where((why == "ok") & endless, method.why_endless, why)


def of_density(
  distribution: hooks.Hooks, value: Any, method: str
) -> onp.ndarray:
  """Returns why a density or probability is NaN; "ok" where it is not."""
  return distribution._reasons(value, method)


def known(distribution: hooks.Hooks, method: str) -> nan_table.Method:
  """Returns the table entry of a method, adapted to a distribution.

  Args:
    distribution: the distribution, which may have vectors or counts.
    method: a public name, which may be that of a family, or moment(3).
  """
  name = method.partition("(")[0]
  # A method that is not in the table belongs to a family. If it takes values,
  # they are times.
  other = nan_table.Method(nan_table.UNKNOWN, "value", None, True)
  found = nan_table.METHODS.get(name, other)
  if len(distribution._event_shape()) > 0 and found.argument:
    # Vectors have no methods of probabilities, whose values are not looked at.
    is_time = found.rule is None or found.rule.most == math.inf
    return found._replace(rule=value_rules.TIME if is_time else None)
  if found.rule is not value_rules.TIME:
    return found
  discrete = distribution._support().constraint == "nonnegative_integer"
  return found._replace(rule=nan_table.rule(found, discrete))


def has_bad_parameters(distribution: hooks.Hooks) -> bool:
  """Returns whether parameters are NaN, or a warning was given about them."""
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


_Rule = TypeVar("_Rule", bound=Callable[..., ArrayLike])
_RULES: dict[tuple[type, type], Callable[..., ArrayLike]] = {}


def register_kl(first: type, second: type) -> Callable[[_Rule], _Rule]:
  """Returns a decorator that registers `kl_divergence` of two classes.

  The rule is called with both distributions. Subclasses have it too, unless
  there is a rule for classes that are nearer.

  Args:
    first: the class of p.
    second: the class of q.

  Raises:
    TypeError: one is not a class.
    ValueError: there is a rule for them.

  Example:

    >>> from phasic import distributions as pd
    >>> class Clock(pd.PhaseType):
    ...   pass
    >>> @pd.register_kl(Clock, Clock)
    ... def same(p, q):
    ...   return 0.0
    >>> pd.kl_divergence(Clock([1.0], [[-1.0]]), Clock([1.0], [[-2.0]]))
    0.0
  """
  for name, kind in (("first", first), ("second", second)):
    if not isinstance(kind, type):
      raise TypeError(
        f"{name} is {raw_arguments.shown(kind)}: it must be a class of "
        "distributions"
      )

  def decorate(rule: _Rule) -> _Rule:
    if (first, second) in _RULES:
      raise ValueError(
        f"kl_divergence of {first.__name__} and {second.__name__} is "
        "registered: each pair of classes must be registered only once"
      )
    _RULES[first, second] = rule
    return rule

  return decorate


def kl_divergence(p: hooks.Hooks, q: object) -> Result:
  """Computes E_p log(p / q), see `Distribution.kl_divergence`.

  Raises:
    TypeError: one is not a distribution, and no rule is registered.
    NotImplementedError: there is no rule for these two classes.

  Example: exponential times of rates two and one, log(2) - 1 / 2.

    >>> from phasic import distributions as pd
    >>> value = pd.kl_divergence(pd.Erlang(1, 2.0), pd.Erlang(1, 1.0))
    >>> print(f"{float(value):.6f}")
    0.193147
  """
  found = divergence(p, q, ("p", "q"))
  if isinstance(p, hooks.Hooks) and array_utils.has_nan(found):
    warn(p, "kl_divergence", found, q)
  return found


def divergence(p: object, q: object, names: tuple[str, str]) -> Result:
  """Computes a divergence by the nearest registered rule; errors use names."""
  ways = [
    (i + j, (first, second))
    for i, first in enumerate(type(p).__mro__)
    for j, second in enumerate(type(q).__mro__)
    if (first, second) in _RULES
  ]
  if not ways:
    for name, x in zip(names, (p, q), strict=True):
      hooks.check_distribution(name, x)
    raise NotImplementedError(
      f"there is no kl_divergence of {type(p).__name__} and "
      f"{type(q).__name__}; register_kl adds one"
    )
  check_batches("kl_divergence", p, q)
  rule = _RULES[min(ways, key=lambda way: way[0])[1]]
  return structures.as_result(rule(p, q))


def check_batches(method: str, p: object, q: object) -> None:
  """Raises ValueError unless the batches of two distributions broadcast."""
  shapes = [getattr(x, "batch_shape", ()) for x in (p, q)]
  known = [tuple(1 if d is None else d for d in shape) for shape in shapes]
  try:
    static.broadcast_shapes(*known)
  except ValueError:
    raise ValueError(
      f"{method}: batch shapes are {shapes[0]} of {type(p).__name__} and "
      f"{shapes[1]} of {type(q).__name__}: they must broadcast"
    ) from None
