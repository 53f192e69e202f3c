"""Builds graphs from initial vectors and matrices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
import math

import numpy as onp

from phasic.graphs.construction import edge_table
from phasic.graphs.construction import state_space
from phasic.graphs.parts import contents
from phasic.graphs.parts import validation
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal.arrays import ArrayLike
from phasic.internal.raw_arguments import shown


def build(
  initial_probs: ArrayLike,
  matrix: ArrayLike,
  exits: ArrayLike | None,
  prob_zero: ArrayLike | None,
  discrete: bool,
  states: Sequence[Hashable] | None,
  allow_never_absorbing: bool,
) -> contents.Contents:
  """Builds a graph from the arrays of a phase-type model.

  See `Graph.from_matrices`.
  """
  raw_arguments.check_flags(
    discrete=discrete, allow_never_absorbing=allow_never_absorbing
  )
  if states is not None:
    raw_arguments.check_sequence("states", states)
  arguments = {
    "initial_probs": initial_probs,
    "matrix": matrix,
    "exits": exits,
    "prob_zero": prob_zero,
  }
  for name in ("initial_probs", "matrix"):
    if arguments[name] is None:
      raise TypeError(f"{name} is None: it must be an array")
  host = {
    name: validation.host_numbers(x, name)
    for name, x in arguments.items()
    if x is not None
  }
  alpha = host["initial_probs"]
  p = _check_shapes(host)
  # Python numbers count as float64.
  eps = max(
    float(onp.finfo(dtypes.common_dtype({name: x}, "float64")).eps)
    for name, x in arguments.items()
    if x is not None
  )
  tolerance = 4 * p * eps
  names = tuple(range(p) if states is None else states)
  if len(names) != p:
    raise ValueError(
      f"states has {len(names)} entries: it must have one for each of "
      f"{contents.counted(p, 'phase')}"
    )
  for state in names:
    state_space.hashable(state)
  rates = host["matrix"]
  leaving = _exits(rates, host.get("exits"), discrete, tolerance, names)
  table = onp.concatenate(
    [onp.where(onp.eye(p, dtype=bool), 0.0, rates), leaving[:, None]], axis=1
  )
  _check_weights(table, names)
  sources, targets = onp.nonzero(table)
  constants = _initial(alpha, host.get("prob_zero"), tolerance, names)
  graph = contents.Contents(
    sources=onp.asarray(sources, onp.int32),
    targets=onp.asarray(targets, onp.int32),
    constants=table[sources, targets],
    coefficients=onp.zeros((len(sources), 0)),
    initial_constants=constants,
    initial_coefficients=onp.zeros((p + 1, 0)),
    discrete=discrete,
    states=names,
  )
  graph = _without_lost(graph)
  if not allow_never_absorbing:
    contents.check_absorption(graph)
  return graph


def _check_shapes(host: dict[str, onp.ndarray]) -> int:
  """Checks the shapes of the arrays, and returns the number of phases."""
  shape = onp.shape(host["initial_probs"])
  if len(shape) != 1 or shape[0] == 0:
    raise ValueError(
      f"initial_probs have shape {shape}: they must be (p,) with p > 0"
    )
  (p,) = shape
  for name, wanted in (("matrix", (p, p)), ("exits", (p,)), ("prob_zero", ())):
    if name in host and onp.shape(host[name]) != wanted:
      raise ValueError(
        f"{name} has shape {onp.shape(host[name])}: with {p} phases it must be "
        f"{wanted}"
      )
  return p


def _exits(
  matrix: onp.ndarray,
  exits: onp.ndarray | None,
  discrete: bool,
  tolerance: float,
  names: Sequence[Hashable],
) -> onp.ndarray:
  """Returns the given exit weights, or derives them from the matrix rows."""
  exit_weights: list[float] = []
  for i, row in enumerate(matrix.tolist()):
    if exits is not None and not discrete:
      # Given exit rates are used as they are, so the diagonal is not read.
      exit_weights.append(float(exits[i]))
      continue
    at = f"row {i} of matrix (state {shown(names[i])})"
    if not all(math.isfinite(x) for x in row):
      raise ValueError(f"{at} is {shown(row)}: weights must be finite")
    if exits is not None:
      mass = math.fsum([*row, float(exits[i])])
      if abs(mass - 1.0) > tolerance:
        raise ValueError(
          f"{at} and exits[{i}] sum to {mass!r}: this sum must be 1 within "
          "4 p eps"
        )
      exit_weights.append(float(exits[i]))
      continue
    rest = math.fsum([1.0 if discrete else 0.0, *(-x for x in row)])
    scale = 1.0 if discrete else max(abs(x) for x in row)
    if abs(rest) <= tolerance * scale:
      rest = 0.0
    if rest < 0.0:
      raise ValueError(
        f"{at} sums to {math.fsum(row)!r}: this sum must be <= "
        f"{1 if discrete else 0} within 4 p eps"
      )
    exit_weights.append(rest)
  return onp.asarray(exit_weights, float)


def _check_weights(table: onp.ndarray, names: Sequence[Hashable]) -> None:
  wrong = onp.argwhere(~((table >= 0.0) & onp.isfinite(table)))
  if len(wrong) > 0:
    i, j = (int(k) for k in wrong[0])
    to = "ABSORBED" if j == len(names) else shown(names[j])
    raise ValueError(
      f"edge from {shown(names[i])} to {to} with weight {float(table[i, j])}: "
      "weights must be >= 0 and finite"
    )


def _initial(
  alpha: onp.ndarray,
  prob_zero: onp.ndarray | None,
  tolerance: float,
  names: Sequence[Hashable],
) -> onp.ndarray:
  """Returns the initial probabilities, followed by the atom at zero."""
  wrong = onp.flatnonzero(~((alpha >= 0.0) & onp.isfinite(alpha)))
  if len(wrong) > 0:
    i = int(wrong[0])
    raise ValueError(
      f"initial_probs[{i}] (state {shown(names[i])}) is {float(alpha[i])}: "
      "masses must be >= 0 and finite"
    )
  if prob_zero is None:
    atom = math.fsum([1.0, *(-x for x in alpha.tolist())])
    if abs(atom) <= tolerance:
      atom = 0.0
    if atom < 0.0:
      raise ValueError(
        f"initial_probs sum to {math.fsum(alpha)!r}: this sum must be <= 1 "
        "within 4 p eps"
      )
  else:
    atom = float(prob_zero)
    if not 0.0 <= atom <= 1.0:
      raise ValueError(f"prob_zero is {atom}: it must be in [0, 1]")
  constants = onp.concatenate([alpha, onp.asarray([atom])])
  validation.check_initial_mass(
    constants, onp.zeros((len(constants), 0)), 2 * tolerance
  )
  return constants


def _without_lost(graph: contents.Contents) -> contents.Contents:
  """Removes the states that cannot be reached."""
  kept = contents.can_be_reached(graph)
  p = len(kept)
  if onp.all(kept) or not onp.any(kept):
    return graph
  states = graph.states or ()
  new = onp.concatenate([onp.cumsum(kept) - 1, [onp.sum(kept)]])
  edges = kept[graph.sources]
  rows = onp.concatenate([kept, [True]])
  lost = [states[i] for i in range(p) if not kept[i]]
  return graph._replace(
    sources=onp.asarray(new[graph.sources[edges]], onp.int32),
    targets=onp.asarray(new[graph.targets[edges]], onp.int32),
    constants=graph.constants[edges],
    coefficients=graph.coefficients[edges],
    initial_constants=graph.initial_constants[rows],
    initial_coefficients=graph.initial_coefficients[rows],
    states=tuple(states[i] for i in range(p) if kept[i]),
    notes=(*graph.notes, *edge_table.lost_notes(lost)),
  )
