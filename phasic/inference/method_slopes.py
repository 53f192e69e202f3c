"""Slopes of a chain's methods along the chain, in NumPy, without autodiff."""

from collections.abc import Callable
from typing import Any

import numpy as onp

from phasic import math

# Methods with a value, and the functions of `math` that they are.
_OF_TIME = {
  "cdf": "cdf",
  "laplace_transform": "laplace_transform",
  "log_cdf": "log_cdf",
  "log_prob": "log_density",
  "log_survival_function": "log_survival",
  "prob": "density",
  "quantile": "quantile",
  "survival_function": "survival",
}
_OF_STEPS = {
  "cdf": "discrete_phase_type_cdf",
  "log_cdf": "discrete_phase_type_log_cdf",
  "log_prob": "discrete_phase_type_log_prob",
  "log_survival_function": "discrete_phase_type_log_survival",
  "prob": "discrete_phase_type_prob",
  "probability_generating_function": "probability_generating_function",
  "survival_function": "discrete_phase_type_survival",
}
# Methods with no value, or in the case of moments with an order.
_STATISTICS = ("mean", "moment", "variance", "stddev")


def rule(
  distribution: Any, f: Callable[..., Any] | str, args: tuple[Any, ...]
) -> Callable[[tuple[Any, ...]], Any]:
  """Returns what takes a tangent of the chain to that of a method's value.

  Args:
    distribution: a time until absorption, without a batch.
    f: the name of the method.
    args: what it takes.

  Raises:
    NotImplementedError: `f` is no name, or there is no rule.
    TypeError: the method takes other arguments.
  """
  if not isinstance(f, str):
    raise NotImplementedError(
      "NumPy has no autodiff: give the name of a method, such as 'mean'; JAX "
      "and TensorFlow take any function"
    )
  discrete = distribution._DISCRETE
  functions = _OF_STEPS if discrete else _OF_TIME
  if f == "quantile" and discrete:
    raise NotImplementedError(
      "quantiles of a discrete distribution are steps: they have no "
      "derivative, so no standard error"
    )
  if f not in (*_STATISTICS, *functions):
    known = ", ".join(sorted([*_STATISTICS, *functions]))
    raise NotImplementedError(
      f"NumPy has no autodiff, and no rule for {f!r}: it has those of {known}"
    )
  count = 0 if f in ("mean", "variance", "stddev") else 1
  if len(args) != count:
    raise TypeError(f"{f} is given {len(args)} arguments: it takes {count}")
  chain = distribution._chain()
  if f in functions:
    return _at_value(f"{functions[f]}_jvp", chain, args[0], distribution.dtype)
  prefix = "discrete_phase_type_" if discrete else ""
  if f in ("variance", "stddev"):
    return _of_variance(f, f"{prefix}variance_jvp", chain)
  order = 1 if f == "mean" else args[0]
  return _of_moment(f"{prefix}raw_moments_jvp", chain, order)


def _at_value(
  name: str, chain: tuple[Any, ...], value: Any, dtype: str
) -> Callable[[tuple[Any, ...]], Any]:
  """Returns how a function of a value moves along a tangent."""
  initial_probs, matrix, exits, atom = chain
  value = onp.asarray(value, dtype)

  def move(tangent: tuple[Any, ...]) -> Any:
    return getattr(math, name)(
      *(initial_probs, matrix, value, exits, atom),
      tangents=(*tangent[:2], None, *tangent[2:]),
    )[1]

  return move


def _of_moment(
  name: str, chain: tuple[Any, ...], order: int
) -> Callable[[tuple[Any, ...]], Any]:
  """Returns how a raw moment moves along a tangent."""

  def move(tangent: tuple[Any, ...]) -> Any:
    found = getattr(math, name)(*chain, order=order, tangents=tangent)
    return found[1][..., order - 1]

  return move


def _of_variance(
  f: str, name: str, chain: tuple[Any, ...]
) -> Callable[[tuple[Any, ...]], Any]:
  """Returns how the variance, or its root, moves along a tangent."""

  def move(tangent: tuple[Any, ...]) -> Any:
    value, moved = getattr(math, name)(*chain, tangents=tangent)
    return moved if f == "variance" else moved / (2.0 * onp.sqrt(value))

  return move
