"""Derivatives in NumPy, which has no autodiff.

A family's chain is linear in its entries, up to constants: that is tried, and
what is not raises NotImplementedError. The slopes of the chain in the entries
are differences at small integers, which are exact. The chain's own derivatives
are the rules of `math`.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as onp

from phasic import math
from phasic.distributions.absorption import absorption_time
from phasic.inference.data import observations as observations_lib
from phasic.inference.likelihood import companions
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.math.elimination import chain_calls
from phasic.math.model import operands

Coordinates = coordinates_lib.Coordinates
Observations = observations_lib.Observations

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


def value_and_gradient(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> tuple[float, onp.ndarray]:
  """Returns the log likelihood of entries, and its gradient in them, (k,)."""
  slopes = _slopes(where)
  with onp.errstate(all="ignore"):
    value, bars = companions.chain_vjp(where.of(entries), observations)
    gradient = _pulled(bars, slopes)
  return float(value), gradient


def hessian(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> onp.ndarray:
  """Returns second derivatives of the log likelihood, (k, k).

  The chain is linear in its entries: they are those of the chain, pulled.
  """
  slopes = _slopes(where)
  dist, k = where.of(entries), len(entries)
  with onp.errstate(all="ignore"):
    columns = [
      _pulled(companions.chain_hvp(dist, observations, tangent), slopes)
      for tangent in _tangents(slopes, where.distribution.dtype)
    ]
  return onp.reshape(onp.asarray(columns, onp.float64), (k, k))


def _pulled(bars: Any, slopes: Any) -> onp.ndarray:
  """Returns cotangents of the entries, (k,), of those of the chain's parts."""
  found = onp.zeros(onp.shape(slopes[0])[-1])
  for bar, slope in zip(bars, slopes, strict=True):
    if bar is not None and slope is not None:
      found = found + onp.tensordot(bar, slope, onp.ndim(bar))
  return found


def scores(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> onp.ndarray:
  """Returns the slopes of the log likelihood of each observation, (n, k)."""
  tangents = _tangents(_slopes(where), where.distribution.dtype)
  with onp.errstate(all="ignore"):
    rows = [
      companions.chain_jvp(where.of(entries), observations, tangent)
      for tangent in tangents
    ]
  n = onp.shape(observations.lower)[-1]
  return onp.reshape(onp.asarray(rows, onp.float64), (len(entries), n)).T


def jacobian(
  where: Coordinates,
  entries: onp.ndarray,
  f: Callable[..., Any] | str,
  args: tuple[Any, ...],
) -> onp.ndarray:
  """Returns the slopes of a method of the distribution, (..., k)."""
  distribution = where.of(entries)
  move = _rule(distribution, f, args)
  columns = [
    onp.asarray(move(tangent), onp.float64)
    for tangent in _tangents(_slopes(where), where.distribution.dtype)
  ]
  if not columns:
    value = getattr(distribution, str(f))(*args)
    return onp.zeros((*onp.shape(value), 0))
  return onp.stack(columns, axis=-1)


def _rule(
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
  order = 1 if f == "mean" else chain_calls.checked_order(args[0], "k")
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


def _slopes(where: Coordinates) -> tuple[Any, ...]:
  """Returns the slopes of the chain's parts in the entries, (..., k) each.

  Raises:
    NotImplementedError: the distribution is no chain, or its chain is not
      linear in the entries.
  """
  kind = type(where.distribution).__name__
  if not isinstance(where.distribution, absorption_time.AbsorptionTime):
    raise NotImplementedError(
      f"NumPy has no autodiff: fit_mle and standard errors of {kind} are in "
      "JAX and TensorFlow"
    )
  root = where.root
  if root.chain_slopes is None:
    root.chain_slopes = _constant_slopes(root)
  return tuple(
    None if slope is None else slope[..., where.rows]
    for slope in root.chain_slopes
  )


def _constant_slopes(where: Coordinates) -> tuple[Any, ...]:
  """Returns the slopes of the chain's parts in the entries, (..., k) each."""
  k = len(where.names)
  ones = onp.ones(k)
  base = _parts(where.of(ones)._chain())
  slopes: list[Any] = []
  moved = [_parts(where.of(ones + unit)._chain()) for unit in onp.eye(k)]
  for c, part in enumerate(base):
    if part is None:
      slopes.append(None)
      continue
    columns = [onp.asarray(x[c], onp.float64) - part for x in moved]
    slope = onp.stack(columns, axis=-1)
    # A family's mass at zero is a constant, and unknown where probabilities do
    # not sum to one.
    slopes.append(onp.where(onp.isnan(slope), 0.0, slope))
  steps = 2.0 + onp.arange(k) % 7
  there = _parts(where.of(ones + steps)._chain())
  for part, slope, x in zip(base, slopes, there, strict=True):
    if part is None:
      continue
    told = part + onp.matmul(slope, steps)
    near = onp.isclose(x, told, rtol=1e-5, atol=1e-5) | onp.isnan(x)
    if not onp.all(near):
      raise NotImplementedError(
        f"NumPy has no autodiff, and the chain of "
        f"{type(where.distribution).__name__} is not linear in its parameters: "
        "fit it in JAX or TensorFlow"
      )
  return tuple(slopes)


def _parts(chain: tuple[Any, ...]) -> tuple[Any, ...]:
  """Returns what is differentiable of a chain, edges by their parameters."""
  initial_probs, matrix, exits, atom = chain
  if operands.is_edges(matrix):
    matrix = matrix.parameters
  return initial_probs, matrix, exits, atom


def _tangents(slopes: tuple[Any, ...], dtype: str) -> Iterable[tuple[Any, ...]]:
  """Returns the chain's tangents along each entry."""
  for i in range(onp.shape(slopes[0])[-1]):
    yield tuple(
      None if slope is None else onp.asarray(slope[..., i], dtype)
      for slope in slopes
    )
