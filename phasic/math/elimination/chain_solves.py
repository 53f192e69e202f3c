"""Linear systems of phase-type models, solved by elimination.

Let w_e be the weights of a model's edges, rates or probabilities of a step, let
-S be the matrix of its linear system, and U = (-S)^-1 (in discrete time I - T =
-S). Functions here compose the two linear maps of `elimination_ops`. So nothing
is subtracted, and derivatives of every order use the same maps.

Phases from which absorption cannot be reached are traps. If alpha can reach a
trap, the sojourn time and rewards in it are infinite, and derivatives are NaN
but for the functions of `chain_passages` that say otherwise. Traps that alpha
cannot reach count as absorption.
"""

from __future__ import annotations

import functools
import math
from typing import Literal, NamedTuple, TypeAlias, overload

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import elimination_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_arguments
from phasic.math.model import chain as chain_lib
from phasic.math.model import edge_rates
from phasic.math.numeric import array_utils
from phasic.math.numeric import exact_sums
from phasic.math.numeric import kept_indices
from phasic.math.portable import elimination

# The indices of edges. They are host arrays if the model has a dense matrix.
Indices: TypeAlias = Array | onp.ndarray


class Weighted(NamedTuple):
  """The edges of a linear system, which suffice to solve it.

  Attributes:
    indices: sources, then targets, int32 (2, m).
    weights: (..., m).
  """

  indices: Indices
  weights: Array


class System(NamedTuple):
  """The linear system of a model, scaled so that its weights are near one.

  Attributes:
    indices: sources, then targets, int32 (2, m).
    weights: w 2^-n, (..., m).
    unscaled: w, (..., m).
    exponent: n, (...); zero in discrete time.
    stay: probabilities of staying for a step, (..., p); None in continuous
      time.
    initial: alpha, (..., p).
    atom: mass at zero, (...).
    bad: whether a value is invalid, so that results are NaN, (...).
  """

  indices: Indices
  weights: Array
  unscaled: Array
  exponent: Array
  stay: Array | None
  initial: Array
  atom: Array
  bad: Array


class SystemEdges(NamedTuple):
  """A model as a list of edges, before it is checked and scaled.

  Attributes:
    indices: sources, then targets, int32 (2, m).
    weights: (..., m).
    initial: alpha, (..., p).
    atom: mass at zero, (..., 1), or (..., 0) for one minus the sum of alpha.
    stay: probabilities of staying for a step, (..., p), or (..., 0) for one
      minus the weights; in continuous time always (..., 0).
    bad: whether a row is invalid (...); None if it is not known.
  """

  indices: Indices
  weights: Array
  initial: Array
  atom: Array
  stay: Array
  bad: Array | None


def derive(
  model: chain_arguments.ChainArguments, discrete: bool, dtype: str
) -> System:
  """Derives the linear system of a model in the widest available precision.

  Args:
    model: the result of `chain_arguments.convert`.
    discrete: whether weights are probabilities of a step.
    dtype: the dtype of the model.
  """
  return complete(
    list_edges(model, discrete, dtype), discrete, static.finfo_eps(dtype)
  )


def list_edges(
  model: chain_arguments.ChainArguments, discrete: bool, dtype: str
) -> SystemEdges:
  """Converts a model to a list of edges; arguments are as in `derive`."""
  *arrays, edges = model
  eps = static.finfo_eps(dtype)
  if edges is None:
    return edge_list_of_matrix(model, discrete, eps)
  wide = static.wide_float()
  initial, parameters, _, atom = (structures.cast(x, wide) for x in arrays)
  p = static.shape(initial)[-1]
  sources, targets, constants, coefficients = edges
  (indices,) = kept_indices.evaluate(edge_rates.stacked, sources, targets)
  constants, coefficients = (
    x if x is None else structures.cast(x, wide)
    for x in (constants, coefficients)
  )
  weights = edge_rates.values(parameters, constants, coefficients)
  stay, bad = initial[..., :0], None
  if discrete and not _has_no_loops(sources, targets):
    stay, bad = _kept(indices, weights, p, 4 * p * eps)
  return SystemEdges(indices, weights, initial, atom, stay, bad)


def edge_list_of_matrix(
  model: chain_arguments.ChainArguments, discrete: bool, eps: float
) -> SystemEdges:
  """Converts a model without edges to a list of edges.

  Args:
    model: the result of `chain_arguments.convert`.
    discrete: whether weights are probabilities of a step.
    eps: the precision of the model's values.
  """
  wide = static.wide_float()
  arrays = [structures.cast(x, wide) for x in model[:4]]
  p = static.shape(arrays[0])[-1]
  if discrete:
    steps = chain_lib.derive_steps(arrays, eps, False)
    off, exits = steps.off, steps.exits
    stay = np.sum(np.where(np.eye(p) > 0, arrays[1], 0.0), axis=-1)
    initial, atom, bad = steps.initial, steps.atom, steps.bad
  else:
    chain = chain_lib.derive(arrays, eps)
    off, exits = chain.off, chain.exits
    initial, atom, bad = chain.initial, chain.atom, chain.bad
    stay = initial[..., :0]
  batch = static.broadcast_shapes(
    static.shape(off)[:-2], static.shape(exits)[:-1]
  )
  off = np.reshape(off, (*static.shape(off)[:-2], p * p))
  weights = np.concatenate(
    [
      np.broadcast_to(off, (*batch, p * p)),
      np.broadcast_to(exits, (*batch, p)),
    ],
    axis=-1,
  )
  return SystemEdges(
    all_indices(p), weights, initial, atom[..., None], stay, bad
  )


def complete(edge_list: SystemEdges, discrete: bool, eps: float) -> System:
  """Checks and scales a list of edges; rounds probabilities near zero to zero.

  Args:
    edge_list: the list of edges.
    discrete: whether weights are probabilities of a step.
    eps: the precision of the model's values.
  """
  indices, weights, initial, atom, stay, bad = edge_list
  p = static.shape(initial)[-1]
  tolerance = 4 * p * eps
  atom = chain_lib.derive_atom(initial, atom, tolerance)
  good = chain_lib.good_start(initial, atom)
  good = good & np.all((weights >= 0) & (weights < math.inf), axis=-1)
  bad = np.logical_not(good) if bad is None else bad | np.logical_not(good)
  if discrete:
    is_loop = indices[0] == indices[1]
    leaving = np.where(is_loop, 0.0, weights)
    leaving = array_ops.segment_sum(leaving, indices[0], p)
    if static.shape(stay)[-1] == 0:
      total = array_ops.segment_sum(weights, indices[0], p)
      bad = bad | np.any(total > 1 + tolerance, axis=-1)
      stay = chain_lib.snap(1.0 - leaving, tolerance)
    else:
      # Even if exits are given, the derivative of `stay` is the derivative of
      # one minus the leaving weights.
      fixed = autodiff.stop_gradient
      stay = fixed(stay) - (leaving - fixed(leaving))
    exponent = np.zeros_like(weights[..., 0])
    return System(indices, weights, weights, exponent, stay, initial, atom, bad)
  scaled, exponent = _scaled(weights)
  return System(indices, scaled, weights, exponent, None, initial, atom, bad)


def natural(system: System) -> System:
  """Returns a system with unscaled weights, in the model's unit of time.

  Its solutions are right wherever they can be represented. In the scaled unit
  they may be out of range.
  """
  exponent = np.zeros_like(system.exponent)
  return system._replace(weights=system.unscaled, exponent=exponent)


def _has_no_loops(sources: Array, targets: Array) -> bool:
  """Returns whether edges are known to have no loop from a phase to itself."""
  known = [static.concrete(x) for x in (sources, targets)]
  return all(x is not None for x in known) and not onp.any(known[0] == known[1])


def _kept(
  indices: Array, weights: Array, p: int, tolerance: float
) -> tuple[Array, Array]:
  """Computes probabilities of staying, (..., p), and flags bad row sums, (...).

  The flag says whether some row sum is above one.

  A probability of staying is one minus the probability of leaving. Where this
  difference would lose digits, it is the probability of loops plus the deficit
  of the row sum.
  """
  is_loop = indices[0] == indices[1]
  leaving, loops = (
    array_ops.segment_sum(np.where(is_loop, x, y), indices[0], p)
    for x, y in ((0.0, weights), (weights, 0.0))
  )
  lack = 1.0 - (leaving + loops)
  rest = loops + np.where(lack > tolerance, lack, 0.0)
  stay = np.where(leaving < 0.5, 1.0 - leaving, rest)
  return autodiff.stop_gradient(stay), np.any(lack < -tolerance, axis=-1)


@functools.lru_cache(maxsize=8)
def all_indices(p: int) -> onp.ndarray:
  """Returns sources and targets of all edges between p phases and of exits."""
  phases = onp.arange(p, dtype=onp.int32)
  return onp.stack(
    [
      onp.concatenate([onp.repeat(phases, p), phases]),
      onp.concatenate([onp.tile(phases, p), onp.full(p, p, onp.int32)]),
    ]
  )


# Weights span many decades if the binary logarithm of the ratio of the largest
# to the smallest weight is above this.
_WIDE_SPAN = 100.0


@functools.cache
def _least_exponent(dtype: str) -> float:
  """Returns the least exponent of the normal numbers of a dtype."""
  return float(onp.finfo(dtype).minexp)


def _scaled(weights: Array) -> tuple[Array, Array]:
  """Divides weights by a power of two 2^n, so that the largest is near one.

  Where the weights span many decades, expected times in that unit may be out of
  range. Then n is the exponent between those of the weights that is nearest to
  zero, the exponent of the model's own unit.

  Returns the weights, and n.
  """
  least_exponent = _least_exponent(static.wide_float())
  lowest = least_exponent + 24.0
  size = autodiff.stop_gradient(weights)
  positive = (size > 0) & (size < math.inf)
  if static.shape(size)[-1] != 0 and array_utils.are_true(positive):
    largest, least = np.max(size, axis=-1), -np.max(-size, axis=-1)
  else:
    largest = np.max(np.where(positive, size, 0.0), axis=-1)
    least = -np.max(np.where(positive, -size, -math.inf), axis=-1)
    some = largest > 0
    largest, least = (np.where(some, x, 1.0) for x in (largest, least))
  exponent = np.maximum(array_ops.binary_exponent(largest), lowest)
  if not array_utils.are_true(least > largest * 2.0**-_WIDE_SPAN):
    low = np.maximum(array_ops.binary_exponent(least), lowest)
    nearest = np.minimum(np.maximum(low, 0.0), exponent)
    exponent = np.where(exponent - low > _WIDE_SPAN, nearest, exponent)
  exponent = np.minimum(exponent, -least_exponent)
  return weights * array_ops.power_of_two(-exponent)[..., None], exponent


@overload
def solve(
  system: System | Weighted,
  per_phase: Array,
  per_edge: Array | None = None,
  *,
  gives_edges: Literal[False] = False,
  transposed: bool = False,
) -> Array: ...


@overload
def solve(
  system: System | Weighted,
  per_phase: Array,
  per_edge: Array | None = None,
  *,
  gives_edges: Literal[True],
  transposed: bool = False,
) -> tuple[Array, Array]: ...


def solve(
  system: System | Weighted,
  per_phase: Array,
  per_edge: Array | None = None,
  *,
  gives_edges: bool = False,
  transposed: bool = False,
) -> Array | tuple[Array, Array]:
  """Solves (-S) x = b, or (-S)^T y = b + sum_e c_e (unit(i_e) - unit(j_e)).

  Args:
    system: the system.
    per_phase: b, (..., p, r).
    per_edge: c, (..., m, r), or None; without `transposed` it is added to b at
      the edges' sources. Edge e leads from i_e to j_e; unit(i) is the unit
      vector of phase i, and zero for absorption.
    gives_edges: whether to return x_i - x_j for each edge as well, (..., m, r);
      with `transposed` y at the edges' sources.
    transposed: whether to solve the transposed system.
  """
  weights = system.weights
  indices = structures.cast(system.indices, "int32")
  if static.rank(weights) > 1:
    ones = (1,) * (static.rank(weights) - 1)
    indices = np.reshape(indices, (*ones, *static.shape(indices)))
  return elimination_ops.eliminate(
    elimination.eliminate,
    indices,
    weights,
    per_phase,
    per_edge,
    transposed,
    gives_edges,
  )


def sojourns(system: System) -> Array:
  """Computes the expected sojourn times y, the solution of (-S)^T y = alpha.

  The result has shape (..., p). y_i 2^-n is the expected time in phase i, in
  discrete time the expected number of steps from phase i.
  """
  return solve(system, system.initial[..., None], transposed=True)[..., 0]


def absorption_probs(system: System) -> Array:
  """Computes the probability of absorption from each phase.

  The result has shape (..., p). The probabilities are one unless a trap can be
  reached.
  """
  p = static.shape(system.initial)[-1]
  exits = np.where(system.indices[1] == p, system.weights, 0.0)
  none = np.zeros_like(system.initial)[..., None]
  return solve(system, none, exits[..., None])[..., 0]


def at_sources(system: System, x: Array) -> Array:
  """Returns the entries of x at the sources of edges.

  The argument x has shape (..., p), the result (..., m).
  """
  return np.take(x, system.indices[0], axis=-1)


def at_targets(system: System, x: Array) -> Array:
  """Returns the entries of x at the targets of edges; 0 at absorption.

  The argument x has shape (..., p), the result (..., m).
  """
  x = np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1)
  return np.take(x, system.indices[1], axis=-1)


def leaving_weights(system: System) -> Array:
  """Returns the weights of edges, zero for an edge from a phase to itself."""
  is_loop = system.indices[0] == system.indices[1]
  return np.where(is_loop, 0.0, system.weights)


def later_steps(system: System, b: Array) -> Array:
  """Computes (I - T)^-1 T b for a discrete chain.

  The result has shape (..., p). The value is a sum of nonnegative terms.
  Derivatives are computed as those of U b, which avoids cancellation in slow
  chains.
  """
  fixed = autodiff.stop_gradient
  stay = fixed(system.stay)
  assert stay is not None
  constant = system._replace(weights=fixed(system.weights), stay=stay)
  flows = leaving_weights(constant) * at_targets(system, b)
  value = solve(constant, (stay * b)[..., None], flows[..., None])
  change = solve(system, b[..., None]) - solve(constant, b[..., None])
  return (value + change)[..., 0]


def sojourns_and_traps(system: System) -> tuple[Array, Array, Array]:
  """Computes expected sojourn times, and finds traps that are never reached.

  Returns:
    y (..., p); z (..., m), y at the sources, with derivatives that need no sums
    over edges; and whether a phase is a trap that alpha cannot reach, (..., p).
  """
  fixed = autodiff.stop_gradient
  y, z = solve(
    system, system.initial[..., None], gives_edges=True, transposed=True
  )
  y, z = y[..., 0], z[..., 0]
  if array_utils.are_true(fixed(y) > 0):
    return y, z, y < 0
  return y, z, traps(system) & (fixed(y) == 0)


def traps(system: System) -> Array:
  """Returns whether each phase is a trap, even if it is never reached.

  The result has shape (..., p).
  """
  fixed = autodiff.stop_gradient
  constant = system._replace(weights=fixed(system.weights))
  everywhere = np.ones_like(fixed(system.initial))[..., None]
  # A chain that starts in every phase has infinite sojourn times in all traps.
  return solve(constant, everywhere, transposed=True)[..., 0] == math.inf


def largest_exponent(x: Array) -> Array:
  """Returns n such that the largest finite |x| is near 2^n.

  The result has shape (...).
  """
  size = np.abs(autodiff.stop_gradient(x))
  size = np.max(np.where(np.isfinite(size), size, 0.0), axis=-1)
  positive = size > 0
  size = np.where(positive, size, 1.0)
  return np.where(positive, exact_sums.exponent(size, -math.inf), 0.0)


def undefined(where: Array, *arrays: Array) -> Array:
  """Returns zeros, with NaN as derivatives where a condition is true.

  The zeros have the shape of `where`, the condition. Their derivatives with
  respect to the arrays are NaN there.
  """
  total: Array | float = 0.0
  for x in arrays:
    total = total + 0.0 * np.sum(x, axis=-1)
  # The square root has no derivative at zero: this makes the derivatives NaN.
  root = np.sqrt(np.where(where, total, 1.0))
  # These zeros have the dtype of the arrays: `np.where` of two Python numbers
  # would have the dtype float64.
  return root - np.where(where, np.zeros_like(root), 1.0)


def checked(system: System, x: Array) -> Array:
  """Returns x of shape (...), with NaN where the system is invalid."""
  return x * np.where(system.bad, math.nan, 1.0)


def checked_entries(system: System, x: Array) -> Array:
  """Returns x of shape (..., n), with NaN where the system is invalid."""
  return x * np.where(system.bad, math.nan, 1.0)[..., None]
