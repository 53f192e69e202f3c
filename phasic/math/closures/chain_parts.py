"""Chains as edge lists, from which larger chains are built.

The edges are known on the host; their weights are arrays with derivatives.
Parts are computed without subtraction.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_solves
from phasic.math.model import operands
from phasic.math.model.model_types import Matrix, Model
from phasic.math.numeric import exact_sums
from phasic.math.numeric.array_utils import joined

# The sizes of the largest chains that may be built.
MAX_PHASES = 100_000
MAX_EDGES = 10_000_000
# Messages about chains that would be larger end with this way out.
_FOR_EQUAL_PARTS = {
  f"the {name}": (
    "; n parts with the same distribution need fewer as "
    f"order_statistic(part, n, k={k})"
  )
  for name, k in (("minimum", "1"), ("maximum", "n"))
}


class ChainParts(NamedTuple):
  """A chain as lists of edges and exits, in the widest precision.

  Masses are NaN for invalid chains.

  Attributes:
    num_phases: p.
    initial: alpha, (..., p).
    atom: the mass at zero, (...); None if it is zero for certain.
    sources: host integers (m,), the sources of edges between phases.
    targets: host integers (m,), their targets, which differ from the sources.
    weights: rates or probabilities of the edges, (..., m).
    ends: host integers (e,), the phases with exits.
    exits: rates or probabilities of absorption from these, (..., e).
    stay: probabilities of staying for a step, (..., p); None in continuous
      time.
  """

  num_phases: int
  initial: Array
  atom: Array | None
  sources: onp.ndarray
  targets: onp.ndarray
  weights: Array
  ends: onp.ndarray
  exits: Array
  stay: Array | None


# Edges and exits of a new chain: sources, targets, weights, ends, exits and
# stay, as in `ChainParts`.
Made: TypeAlias = tuple[
  onp.ndarray, onp.ndarray, Array, onp.ndarray, Array, Array | None
]


def parts_of_model(model: Model, discrete: bool, no_atom: bool) -> ChainParts:
  """Derives the edge lists of a model.

  Args:
    model: initial masses; a matrix or edges; exits or None; mass at zero or
      None.
    discrete: whether time is discrete.
    no_atom: whether the mass at zero is known to be zero.

  Raises:
    ValueError: shapes do not fit, or the edges are traced.
  """
  arguments, _, _, dtype = chain_arguments.convert(model, discrete)
  sources, targets = _indices(model[1], static.shape(arguments.initial)[-1])
  has_edges = operands.is_edges(model[1])
  derived = _run(discrete, has_edges, dtype, arguments)
  initial, atom, weights, exits, stay = derived
  p = static.shape(initial)[-1]
  (inner,) = onp.nonzero((targets < p) & (sources != targets))
  ends = onp.unique(sources[targets == p])
  return ChainParts(
    p,
    initial,
    None if no_atom else atom,
    sources[inner],
    targets[inner],
    picked(weights, inner),
    ends,
    picked(exits, ends),
    stay if discrete else None,
  )


def _derive(
  discrete: bool,
  has_edges: bool,
  dtype: str,
  arguments: chain_arguments.ChainArguments,
) -> tuple[Array, Array, Array, Array, Array | None]:
  """Derives initial masses, atom, weights, exits and stay probabilities."""
  system = chain_solves.derive(arguments, discrete, dtype)
  p = static.shape(system.initial)[-1]
  sources, targets = system.indices[0], system.indices[1]
  scale = system.exponent[..., None]
  weights = exact_sums.times_power(system.weights, scale)
  out = np.where(targets == p, weights, 0.0)
  exits = array_ops.segment_sum(out, sources, p)
  stay = system.stay if discrete else exits
  if discrete and has_edges:
    stay = _stay(sources, targets, weights, p, static.finfo_eps(dtype))
  bad = np.where(system.bad, math.nan, 0.0)
  initial = system.initial + bad[..., None]
  return initial, system.atom + bad, weights, exits, stay


def _indices(matrix: Matrix, p: int) -> list[onp.ndarray] | onp.ndarray:
  """Returns the sources and targets of a model's edges as host arrays."""
  if not operands.is_edges(matrix):
    return chain_solves.all_indices(p)
  sources, targets = (
    static.concrete(x) for x in (matrix.sources, matrix.targets)
  )
  if sources is None or targets is None:
    raise ValueError(
      "the edges of a distribution are traced: they must be concrete; close "
      "over the graph instead of passing it to the traced function (its "
      "parameters may be arguments)"
    )
  return [sources, targets]


def _stay(
  sources: Array, targets: Array, weights: Array, p: int, eps: float
) -> Array:
  """Computes the probabilities of staying in each phase, from edges.

  They are one minus the probabilities of other edges, see `EdgeProbs`. If that
  is small, it is computed from the loops, which have more digits.
  """
  fixed = autodiff.stop_gradient
  is_loop = sources == targets
  leaving = array_ops.segment_sum(np.where(is_loop, 0.0, weights), sources, p)
  kept = array_ops.segment_sum(np.where(is_loop, weights, 0.0), sources, p)
  rest = 1.0 - leaving
  lacks = rest - kept
  kept = kept + np.where(lacks > 4 * p * eps, lacks, 0.0)
  from_loops = fixed(kept) - (leaving - fixed(leaving))
  return np.where(leaving < 0.5, rest, from_loops)


def picked(x: Array, index: onp.ndarray) -> Array:
  """Takes entries of the last axis at host indices."""
  return np.take(x, onp.asarray(index, dtype=onp.int32), axis=-1)


def all_pairs(m: int, n: int) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns all pairs (i, j) with i < m and j < n, as two host arrays."""
  return onp.repeat(onp.arange(m), n), onp.tile(onp.arange(n), m)


def full_exits(parts: ChainParts) -> Array:
  """Returns the exits of all phases, zero for a phase without exit.

  The result has shape (..., p).
  """
  places = onp.full(parts.num_phases, len(parts.ends))
  places[parts.ends] = onp.arange(len(parts.ends))
  none = np.zeros((1,), dtype=parts.initial.dtype)
  return picked(joined(parts.exits, none), places)


def mass(parts: ChainParts) -> Array:
  """Computes P(X > 0) as the sum of initial masses, an array of shape (...)."""
  return np.sum(parts.initial, axis=-1)


def edge_arrays(parts: ChainParts) -> tuple[onp.ndarray, onp.ndarray, Array]:
  """Returns sources and targets on the host, and weights, as in `EdgeRates`.

  In discrete time they include loops. A continuous chain without edges gets one
  loop of rate zero.
  """
  p = parts.num_phases
  phases = onp.arange(p)
  indices = [(parts.sources, parts.targets), (parts.ends, parts.ends * 0 + p)]
  weights = [parts.weights, parts.exits]
  if parts.stay is not None:
    indices.append((phases, phases))
    weights.append(parts.stay)
  if not any(len(source) for source, _ in indices):
    indices.append((phases[:1], phases[:1]))
    weights.append(np.zeros((1,), dtype=parts.initial.dtype))
  sources, targets = (
    onp.concatenate(x).astype(onp.int32) for x in zip(*indices, strict=True)
  )
  return sources, targets, joined(*weights)


def check_size(what: str, phases: int, edges: int, bound: str = "") -> None:
  """Raises ValueError if a chain would be too large to build.

  Args:
    what: the name of the chain in messages.
    phases: the number of its phases.
    edges: the number of its edges.
    bound: "at least " if there may be more.
  """
  for name, count, most in (
    ("phases", phases, MAX_PHASES),
    ("edges", edges, MAX_EDGES),
  ):
    if count > most:
      raise ValueError(
        f"{what} has {bound}{raw_arguments.shown(count)} {name}: there must be "
        f"at most {most}; take fewer parts, or parts with fewer phases"
        f"{_FOR_EQUAL_PARTS.get(what, '')}"
      )


_run = control_flow.compiled(_derive, static_argnums=(0, 1, 2))
