"""First derivatives in NumPy, which has no autodiff.

A family's chain is linear in its entries, up to constants: that is tried, and
what is not raises NotImplementedError. The slopes of the chain in the entries
are differences at small integers, which are exact. The chain's own derivatives
are the rules of `math`.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as onp

from phasic import math
from phasic.distributions import absorption_time
from phasic.inference import companions
from phasic.inference import coordinates as coordinates_lib
from phasic.inference import observations as observations_lib
from phasic.math import operands

Coordinates = coordinates_lib.Coordinates
Observations = observations_lib.Observations


def value_and_gradient(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> tuple[float, onp.ndarray]:
  """Returns the log likelihood of entries, and its gradient in them, (k,)."""
  slopes = _slopes(where)
  with onp.errstate(all="ignore"):
    value, bars = companions.chain_vjp(where.of(entries), observations)
    gradient = onp.zeros(len(entries))
    for bar, slope in zip(bars, slopes, strict=True):
      if bar is not None and slope is not None:
        gradient = gradient + onp.tensordot(bar, slope, onp.ndim(bar))
  return float(value), gradient


def scores(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> onp.ndarray:
  """Returns the slopes of the log likelihood of each observation, (n, k)."""
  tangents = _tangents(_slopes(where), where.distribution.dtype)
  with onp.errstate(all="ignore"):
    columns = [
      companions.chain_jvp(where.of(entries), observations, tangent)
      for tangent in tangents
    ]
  return onp.asarray(onp.stack(columns, axis=-1), onp.float64)


def jacobian(
  where: Coordinates,
  entries: onp.ndarray,
  f: Callable[..., Any] | str,
  args: tuple[Any, ...],
) -> onp.ndarray:
  """Returns the slopes of a method of the distribution, (..., k)."""
  slopes = _slopes(where)
  if not isinstance(f, str):
    raise NotImplementedError(
      "NumPy has no autodiff: give the name of a method, such as 'mean'; JAX "
      "and TensorFlow take any function"
    )
  prefix = "discrete_phase_type_" if where.distribution._DISCRETE else ""
  moments = {"mean": 1, "second_moment": 2}
  chain = where.of(entries)._chain()
  initial_probs, matrix, exits, atom = chain
  columns = []
  for tangent in _tangents(slopes, where.distribution.dtype):
    if f in moments:
      rule = getattr(math, f"{prefix}raw_moments_jvp")
      moved = rule(*chain, order=moments[f], tangents=tangent)[1][..., -1]
    elif f in ("variance", "stddev"):
      rule = getattr(math, f"{prefix}variance_jvp")
      value, moved = rule(*chain, tangents=tangent)
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


def _slopes(where: Coordinates) -> tuple[Any, ...]:
  """Returns the slopes of the chain's parts in the entries, (..., k) each.

  Raises:
    NotImplementedError: the distribution is no chain, or its chain is not
      linear in the entries.
  """
  kind = type(where.distribution).__name__
  if not isinstance(where.distribution, absorption_time.AbsorptionTime):
    raise NotImplementedError(
      f"NumPy has no autodiff: {kind} is fitted in JAX and TensorFlow"
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
