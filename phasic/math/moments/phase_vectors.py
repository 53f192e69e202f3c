"""Rows and columns of exp(S t) and T^k, applied to nonnegative vectors.

A vector over phases is a derivative of alpha exp(S t) w, in w or in alpha, which
one adjoint pass of the kernel computes. Where many times have one model, or the
phases are few, a value for each phase is cheaper: the kernel computes the values
of one phase at all times together. `has_many_times` chooses.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.elimination import killed_chains
from phasic.math.model import operands
from phasic.math.model.model_types import Edges
from phasic.math.moments import phase_expectations
from phasic.math.numeric import array_utils


def rows(
  discrete: bool, initial: Array, edges: Edges, times: Array, unit: Array
) -> Array:
  """Computes alpha exp(S t), or alpha T^k, an array (..., p).

  Args:
    discrete: whether time is discrete.
    initial: alpha >= 0, (..., p).
    edges: in the widest precision.
    times: (...); invalid ones give NaN.
    unit: a positive number of the size of the rates, (...).
  """
  return _vectors(discrete, initial, edges, times, unit, True)


def columns(
  discrete: bool, edges: Edges, times: Array, weights: Array
) -> Array:
  """Computes exp(S t) w, or T^k w, an array (..., p).

  Args:
    discrete: whether time is discrete.
    edges: in the widest precision.
    times: (...); invalid ones give NaN.
    weights: w >= 0, (..., p).
  """
  p = static.shape(weights)[-1]
  mass = structures.constant(1.0 / p, static.dtype_name(weights))
  result = _vectors(discrete, weights, edges, times, mass, False)
  known = static.concrete(result)
  if known is not None and not onp.any(onp.isnan(known)):
    return result
  # Where all entries underflow, as their sum does, the adjoint pass gives NaN.
  masses = np.zeros_like(weights) + mass
  total = phase_expectations.density(
    "density", discrete, masses, edges, times, weights
  )
  lost = np.isnan(result) & (total == 0.0)[..., None]
  return np.where(lost, 0.0, result)


def between(
  kind: str,
  discrete: bool,
  starts: Array,
  edges: Edges,
  times: Array,
  ends: Array,
  rank: int,
) -> Array:
  """Computes a density or its logarithm for some starts and ends of a model.

  The result has `rank` axes after the batch (...) of `edges` and `times`.

  Args:
    kind: "density" or "log_density".
    discrete: whether time is discrete.
    starts: initial masses, with `rank` axes before the last one, of phases.
    edges: in the widest precision.
    times: (...); invalid ones give NaN.
    ends: weights of phases, with axes as in `starts`.
    rank: the number of axes.
  """
  rates = edges.parameters
  for _ in range(rank):
    rates, times = rates[..., None, :], times[..., None]
  edges = edges._replace(parameters=rates)
  return phase_expectations.density(kind, discrete, starts, edges, times, ends)


def has_many_times(
  batch: static.Shape, times_shape: static.Shape, p: int
) -> bool:
  """Returns whether a value for each phase costs less than an adjoint pass.

  Args:
    batch: the batch shape of the model.
    times_shape: the shape of its times.
    p: the number of phases.
  """
  full = static.broadcast_shapes(batch, times_shape)
  if not all(isinstance(d, int) for d in full):
    return False
  num_models = math.prod(batch)
  num_times = math.prod(full) // num_models if num_models else 0
  return num_times >= _LEAST_TIMES * p and p <= _MOST_PHASES


# The number of times of one model for each phase from which on values of
# phases cost less than adjoint passes; and the most phases where this holds of
# sparse chains too.
_LEAST_TIMES = 2
_MOST_PHASES = 64


def _vectors(
  discrete: bool,
  vector: Array,
  edges: Edges,
  times: Array,
  other: Array,
  is_row: bool,
) -> Array:
  """Computes v exp(S t), or exp(S t) v if not `is_row`, for v >= 0."""
  p = static.shape(vector)[-1]
  batch = operands.batch_shape((vector, edges, None, None))
  times_shape = static.shape(times)
  if has_many_times(batch, times_shape, p):
    units = structures.constant(onp.eye(p), static.dtype_name(times))
    vectors = vector[..., None, :]
    starts, ends = (vectors, units) if is_row else (units, vectors)
    return between("density", discrete, starts, edges, times, ends, 1)
  valid = killed_chains.good_times(times, discrete)
  ends = np.where(valid, times, 0.0)
  ends = ends + 1.0 if discrete else ends
  full = (*static.broadcast_shapes(batch, times_shape), p)
  others = np.broadcast_to(other[..., None], full)
  initial, weights = (vector, others) if is_row else (others, vector)
  none = np.zeros((), dtype=static.dtype_name(times))
  arguments = (initial, edges, ends, weights, none)
  slopes = evaluation.phase_slopes(
    arguments, np.ones_like(times), discrete, 2 if is_row else 0
  )
  if array_utils.are_true(valid):
    return slopes
  return np.where(valid[..., None], slopes, math.nan)
