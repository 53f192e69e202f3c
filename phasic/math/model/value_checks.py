"""Checks of a model's values."""

from __future__ import annotations

import numpy as np

from phasic.internal import array_ops
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import edge_rates
from phasic.math.model import plausible
from phasic.math.model.model_types import Edges, Matrix, Model
from phasic.math.model.value_rules import check
from phasic.math.model.value_rules import check_sums
from phasic.math.numeric import exact_sums


def check_model(
  initial_probs: Array,
  matrix: Matrix,
  exits: Array | None,
  prob_zero: Array | None,
  discrete: bool = False,
  names: tuple[str, str] = ("initial_probs", "edge_values"),
  free: bool = False,
  may_be_closed: bool = False,
) -> Model:
  """Checks the arrays of a phase-type model and returns them.

  Args:
    initial_probs: alpha, (..., p).
    matrix: the subgenerator or, in discrete time, the subtransition matrix; or
      edges.
    exits: rates or probabilities of absorption, or None.
    prob_zero: the mass at zero, or None.
    discrete: whether time is discrete.
    names: the names of the masses and of the weights of edges in messages.
    free: whether rows need not sum to zero with given exit rates, as entries
      may be independent variables.
    may_be_closed: whether a matrix may have no exits.
  """
  if isinstance(matrix, edge_rates.EDGES):
    alpha, edges, prob_zero = check_edge_model(
      initial_probs, matrix, prob_zero, discrete, names
    )
    return alpha, edges, exits, prob_zero
  p = static.shape(initial_probs)[-1]
  tolerance = 4 * p * static.finfo_eps(initial_probs)
  alpha, prob_zero = _check_start(initial_probs, prob_zero, tolerance, names[0])
  if exits is None and not may_be_closed:
    _check_not_closed(matrix, discrete)
  if discrete:
    matrix, exits = _check_subtransition(matrix, exits, tolerance)
    return alpha, matrix, exits, prob_zero
  if exits is not None:
    exits = check(
      "exit_rates",
      exits,
      (exits >= 0) & np.isfinite(exits),
      "rates must be >= 0 and finite",
    )
  matrix = _check_subgenerator(matrix, exits, tolerance, free)
  return alpha, matrix, exits, prob_zero


def check_edge_model(
  initial_probs: Array,
  edges: Edges,
  prob_zero: Array | None,
  discrete: bool = False,
  names: tuple[str, str] = ("initial_probs", "edge_values"),
) -> tuple[Array, Edges, Array | None]:
  """Checks the arrays of a sparse model, and returns them without the exits.

  Arguments are those of `check_model`.
  """
  p = static.shape(initial_probs)[-1]
  tolerance = 4 * p * static.finfo_eps(initial_probs)
  alpha, prob_zero = _check_start(initial_probs, prob_zero, tolerance, names[0])
  edges = _check_edges(edges, p, tolerance, discrete, names[1])
  return alpha, edges, prob_zero


def _check_not_closed(matrix: Array, discrete: bool) -> None:
  """Raises ValueError if a known matrix has no exits, though some are meant.

  It includes the absorbing state, or all exits count as rounding errors.
  """
  known = plausible.values_at_hand([matrix])
  if known is None:
    return
  find = (
    plausible.full_transition_matrix if discrete else plausible.full_generator
  )
  phase = find(known[0])
  name = "subtransition" if discrete else "subgenerator"
  if phase is not None:
    raise ValueError(
      f"phase {phase} of {name} is never left, and no phase exits: {phase} "
      f"seems to be the absorbing state; leave out its row and its column"
    )
  largest = plausible.largest_lost_exit(known[0], discrete)
  if largest is not None:
    exits = "exit_probs" if discrete else "exit_rates"
    raise ValueError(
      f"largest exit of {name} is {largest}: it must be above 4 p eps times the "
      f"largest entry of its row, as smaller exits count as rounding errors; if "
      f"exits are really so small, pass them as {exits}"
    )


def _check_start(
  initial_probs: Array,
  prob_zero: Array | None,
  tolerance: float,
  name: str,
) -> tuple[Array, Array | None]:
  """Checks the initial masses and the mass at zero, and returns them."""
  alpha = check(
    name,
    initial_probs,
    (initial_probs >= 0) & np.isfinite(initial_probs),
    "masses must be >= 0 and finite",
  )
  mass = exact_sums.compensated_sum(initial_probs)
  alpha = check_sums(
    f"sum({name})",
    alpha,
    mass <= 1 + tolerance,
    "this sum must be <= 1 within 4 p eps",
    mass,
  )
  if prob_zero is None:
    return alpha, None
  prob_zero = check(
    "prob_zero",
    prob_zero,
    (prob_zero >= 0) & (prob_zero <= 1),
    "a probability must be in [0, 1]",
  )
  total = mass + prob_zero
  eps = static.finfo_eps(initial_probs)
  good = np.abs(total - 1) <= tolerance + 4 * eps
  # The condition has the broadcast batch shape of masses and atom, so the
  # masses are broadcast to it.
  alpha = check_sums(
    f"sum({name}) + prob_zero",
    alpha + np.zeros_like(total)[..., None],
    good,
    "this sum must be 1 within 4 (p + 1) eps",
    total,
  )
  return alpha, prob_zero


def _check_subtransition(
  matrix: Array, exit_probs: Array | None, tolerance: float
) -> tuple[Array, Array | None]:
  """Checks the probabilities of a step, and returns them."""
  matrix = check(
    "subtransition",
    matrix,
    (matrix >= 0) & np.isfinite(matrix),
    "probabilities must be >= 0 and finite",
  )
  if exit_probs is None:
    sums = exact_sums.compensated_sum(matrix)
    matrix = check_sums(
      "row sum of subtransition",
      matrix,
      sums <= 1 + tolerance,
      "row sums must be <= 1 within 4 p eps",
      sums,
    )
    return matrix, None
  exit_probs = check(
    "exit_probs",
    exit_probs,
    (exit_probs >= 0) & np.isfinite(exit_probs),
    "probabilities must be >= 0 and finite",
  )
  sums = exact_sums.compensated_sum(matrix) + exit_probs
  matrix = check_sums(
    "row sum of subtransition and exit_probs",
    matrix + np.zeros_like(sums)[..., None],
    np.abs(sums - 1) <= tolerance,
    "this sum must be 1 within 4 p eps",
    sums,
  )
  return matrix, exit_probs


def _check_subgenerator(
  matrix: Array, exit_rates: Array | None, tolerance: float, free: bool
) -> Array:
  """Checks the subgenerator by its exits or row sums, and returns it."""
  p = static.shape(matrix)[-1]
  eye = np.eye(p, dtype=matrix.dtype) > 0
  off = np.where(eye, 0.0, matrix)
  diagonal = np.sum(np.where(eye, matrix, 0.0), axis=-1)
  read = off if free and exit_rates is not None else matrix
  matrix = check(
    "subgenerator", matrix, np.isfinite(read), "rates must be finite"
  )
  matrix = check("subgenerator", matrix, off >= 0, "off-diagonals must be >= 0")
  scale = np.max(np.abs(matrix), axis=-1)
  if exit_rates is None:
    sums = exact_sums.compensated_sum(matrix)
    return check_sums(
      "row sum of subgenerator",
      matrix,
      sums <= tolerance * scale,
      "row sums must be <= 0 within 4 p eps of the row's largest entry",
      sums,
    )
  if free:
    return matrix
  leaving = np.sum(off, axis=-1) + exit_rates
  good = np.abs(leaving + diagonal) <= tolerance * np.maximum(scale, leaving)
  matrix = matrix + np.zeros_like(leaving)[..., None]
  return check_sums(
    "diagonal of subgenerator",
    matrix,
    good,
    "it must be minus the row's off-diagonals and exit rate, within 4 p eps",
    diagonal + np.zeros_like(leaving),
  )


def _check_edges(
  edges: Edges, p: int, tolerance: float, discrete: bool, name: str
) -> Edges:
  """Checks the weights of edges; returns edges with weights as parameters."""
  values = edge_rates.values(
    edges.parameters, edges.constants, edges.coefficients
  )
  values = check(
    name,
    values,
    (values >= 0) & np.isfinite(values),
    "weights of edges must be >= 0 and finite",
  )
  if discrete:
    sums = array_ops.segment_sum(values, edges.sources, p)
    values = check(
      f"sum of {name} from the phase of edge",
      values,
      np.take(sums <= 1 + tolerance, edges.sources, axis=-1),
      "probabilities of a phase's edges must sum to <= 1 within 4 p eps",
      np.take(sums, edges.sources, axis=-1),
    )
  return edges._replace(parameters=values, coefficients=None, constants=None)


def check_times(times: Array) -> Array:
  """Checks that times are in the support, and returns them."""
  return check(
    "value",
    times,
    times >= 0,
    "it must be >= 0",
  )


def check_counts(counts: Array) -> Array:
  """Checks that numbers of steps are in the support, and returns them."""
  return check(
    "value",
    counts,
    (counts >= 0) & (np.floor(counts) == counts),
    "it must be an integer >= 0",
  )
