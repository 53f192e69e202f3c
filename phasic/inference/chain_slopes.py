"""First derivatives in NumPy, which has no autodiff.

A family's chain is linear in its entries, up to constants: that is tried, and
what is not raises NotImplementedError. The slopes of the chain in the entries
are differences at small integers, which are exact. The chain's own derivatives
are the rules of `math`.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as onp

from phasic import math
from phasic.distributions import absorption_time
from phasic.inference import coordinates as coordinates_lib
from phasic.inference import observations as observations_lib
from phasic.math import operands

Coordinates = coordinates_lib.Coordinates
Observations = observations_lib.Observations

# Arguments of functions of `math` that are of the chain.
_CHAIN = ("initial_probs", "subgenerator", "exit_rates", "prob_zero")
_STEP_CHAIN = ("initial_probs", "subtransition", "exit_probs", "prob_zero")


class _Slopes(NamedTuple):
  """A chain and its slopes in the entries.

  Attributes:
    chain: its four parts.
    slopes: for each part (..., k), or None where it is not given.
  """

  chain: tuple[Any, ...]
  slopes: tuple[Any, ...]


def value_and_gradient(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> tuple[float, onp.ndarray]:
  """Returns the log likelihood of entries, and its gradient in them, (k,)."""
  found = _slopes(where, entries)
  pairs = _pairs(observations)
  weights = observations.weights
  n = onp.shape(observations.lower)[-1]
  weights = (
    onp.ones(n, where.distribution.dtype) if weights is None else weights
  )
  cotangent = onp.concatenate([weights, -weights])[: onp.shape(pairs[0])[-1]]
  with onp.errstate(all="ignore"):
    terms, bars = _terms_vjp(where, found.chain, pairs, cotangent)
    terms = terms[..., :n] - terms[..., n:] if len(terms) > n else terms
    value = float(onp.sum(onp.where(weights > 0, weights * terms, 0.0)))
    gradient = onp.zeros(len(entries))
    for bar, slope in zip(bars, found.slopes, strict=True):
      if bar is not None and slope is not None:
        gradient += onp.tensordot(bar, slope, onp.ndim(bar))
  return value, gradient


def scores(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> onp.ndarray:
  """Returns the slopes of the log likelihood of each observation, (n, k)."""
  found = _slopes(where, entries)
  pairs = _pairs(observations)
  n = onp.shape(observations.lower)[-1]
  columns = []
  for tangent in _tangents(found):
    moved = _terms_jvp(where, found.chain, pairs, tangent)
    columns.append(moved[:n] - moved[n:] if len(moved) > n else moved)
  return onp.stack(columns, axis=-1)


def jacobian(
  where: Coordinates,
  entries: onp.ndarray,
  f: Callable[..., Any] | str,
  args: tuple[Any, ...],
) -> onp.ndarray:
  """Returns the slopes of a method of the distribution, (..., k)."""
  found = _slopes(where, entries)
  if not isinstance(f, str):
    raise NotImplementedError(
      "NumPy has no autodiff: give the name of a method, such as 'mean'; JAX "
      "and TensorFlow take any function"
    )
  prefix = "discrete_phase_type_" if where.distribution._DISCRETE else ""
  moments = {"mean": 1, "second_moment": 2}
  initial_probs, matrix, exits, atom = found.chain
  columns = []
  for tangent in _tangents(found):
    if f in moments:
      rule = getattr(math, f"{prefix}raw_moments_jvp")
      moved = rule(*found.chain, order=moments[f], tangents=tangent)[1][..., -1]
    elif f in ("variance", "stddev"):
      rule = getattr(math, f"{prefix}variance_jvp")
      value, moved = rule(*found.chain, tangents=tangent)
      if f == "stddev":
        moved = moved / (2.0 * onp.sqrt(value))
    else:
      name = _AT_VALUES.get(f, f)
      rule = getattr(math, f"{prefix}{name}_jvp", None)
      if rule is None or len(args) != 1:
        raise NotImplementedError(
          f"NumPy has no autodiff, and no rule for {f!r}: it has those of "
          f"{', '.join([*moments, 'variance', 'stddev', *_AT_VALUES])}"
        )
      at = onp.asarray(args[0], where.distribution.dtype)
      moved = rule(
        *(initial_probs, matrix, at, exits, atom),
        tangents=(*tangent[:2], None, *tangent[2:]),
      )[1]
    columns.append(onp.asarray(moved, onp.float64))
  return onp.stack(columns, axis=-1)


# Methods with a value, and the functions of `math` that they are.
_AT_VALUES = {
  "cdf": "cdf",
  "log_cdf": "log_cdf",
  "survival_function": "survival",
  "log_survival_function": "log_survival",
  "prob": "density",
  "log_prob": "log_density",
  "quantile": "quantile",
}


def _slopes(where: Coordinates, entries: onp.ndarray) -> _Slopes:
  """Returns the chain at entries and its slopes in them.

  Raises:
    NotImplementedError: the distribution is no chain, or its chain is not
      linear in the entries.
  """
  distribution = where.distribution
  if not isinstance(distribution, absorption_time.AbsorptionTime):
    raise NotImplementedError(
      f"NumPy has no autodiff: {type(distribution).__name__} is fitted in JAX "
      "and TensorFlow"
    )
  if not hasattr(where, "chain_slopes"):
    where.chain_slopes = _constant_slopes(where)  # type: ignore[attr-defined]
  chain = where.of(entries)._chain()
  return _Slopes(chain, where.chain_slopes)  # type: ignore[attr-defined]


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


def _tangents(found: _Slopes) -> Iterable[tuple[Any, ...]]:
  """Returns the chain's tangents along each entry."""
  count = onp.shape(found.slopes[0])[-1]
  dtype = onp.asarray(found.chain[0]).dtype
  for i in range(count):
    yield tuple(
      None if slope is None else onp.asarray(slope[..., i], dtype)
      for slope in found.slopes
    )


def _pairs(observations: Observations) -> tuple[Any, Any]:
  """Returns lower and upper ends, those of what is conditional on behind."""
  lower, upper = observations.lower, observations.upper
  entry = observations.entry
  if entry is None:
    return lower, upper
  cut = onp.where(lower == upper, lower, onp.maximum(lower, entry))
  forever = onp.full_like(entry, onp.inf)
  return onp.concatenate([cut, entry]), onp.concatenate([upper, forever])


def _terms_vjp(
  where: Coordinates, chain: Any, pairs: Any, cotangent: Any
) -> tuple[Any, list[Any]]:
  """Returns terms and the cotangents of the chain's parts."""
  names, rules = _rules(where)
  initial_probs, matrix, exits, atom = chain
  terms, bars = getattr(math, f"{rules}_vjp")(
    initial_probs,
    matrix,
    *pairs,
    **{names[2]: exits, names[3]: atom},
    cotangent=cotangent,
    wanted=[
      name for name, x in zip(names, chain, strict=True) if x is not None
    ],
  )
  return terms, [bars[0], bars[1], bars[4], bars[5]]


def _terms_jvp(
  where: Coordinates, chain: Any, pairs: Any, tangent: Any
) -> onp.ndarray:
  """Returns the derivative of the terms along a tangent of the chain."""
  names, rules = _rules(where)
  initial_probs, matrix, exits, atom = chain
  _, moved = getattr(math, f"{rules}_jvp")(
    initial_probs,
    matrix,
    *pairs,
    **{names[2]: exits, names[3]: atom},
    tangents=(*tangent[:2], None, None, *tangent[2:]),
  )
  return onp.asarray(moved, onp.float64)


def _rules(where: Coordinates) -> tuple[tuple[str, ...], str]:
  """Returns the names of the chain's parts, and of the function of `math`."""
  if where.distribution._DISCRETE:
    return _STEP_CHAIN, "discrete_phase_type_log_likelihood_terms"
  return _CHAIN, "log_likelihood_terms"
