"""Chains with a killing rate in each phase."""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_solves
from phasic.math.numeric import array_utils
from phasic.math.numeric import kept_indices


def with_killing(
  system: chain_solves.System, weights: Array, killing: Array
) -> chain_solves.System:
  """Adds killing edges to a system; arguments are as in `killed`."""
  p = static.shape(system.initial)[-1]
  if static.shape(killing)[-1] != p:
    killing = killing + np.zeros_like(system.initial)
  ends = system.indices[0], system.indices[1]
  return system._replace(
    indices=kept_indices.evaluate(killed_ends, *ends, p)[0],
    weights=array_utils.joined(weights, killing),
  )


def killed_ends(sources: Array, targets: Array, p: int) -> tuple[Array]:
  """Returns the indices of edges and of killing edges, (2, m + p)."""
  phases = structures.cast(onp.arange(p), "int32")
  indices = np.stack([structures.cast(x, "int32") for x in (sources, targets)])
  ends = np.stack([phases, np.zeros_like(phases) + p])
  return (np.concatenate([indices, ends], axis=-1),)


def killed(
  system: chain_solves.System, weights: Array, killing: Array
) -> tuple[chain_solves.System, Array]:
  """Adds killing edges to a system, and builds right-hand sides for absorption.

  Args:
    system: the system.
    weights: the weights of its edges, (..., m).
    killing: killing weights of the phases, (..., p) or (..., 1).

  Returns:
    The system with p more edges; and right-hand sides at its edges, (..., m +
    p), for which the solution is the probability of absorption without killing.
  """
  p, m = static.shape(system.initial)[-1], static.shape(weights)[-1]
  killed_system = with_killing(system, weights, killing)
  weights = killed_system.weights
  edge_weights, rest = weights[..., :m], weights[..., m:]
  absorbed = np.where(system.indices[1] == p, edge_weights, 0.0)
  return killed_system, np.concatenate([absorbed, np.zeros_like(rest)], axis=-1)


def absorbed_or_caught(
  system: chain_solves.System,
) -> tuple[chain_solves.System, Array]:
  """Adds killing edges of weight one in traps; the result is as in `killed`."""
  trapped = chain_solves.absorption_probs(system) == 0
  return killed(system, system.weights, np.where(trapped, 1.0, 0.0))


def killed_or_absorbed(
  system: chain_solves.System, rates: Array
) -> tuple[chain_solves.System, Array]:
  """Adds killing edges, and absorption from classes that are never left.

  The result is as in `killed`. A class of phases without killing or exits
  counts as absorption.

  Args:
    system: the system of a continuous chain.
    rates: killing rates, (..., p), in the system's unit.
  """
  leaving, absorbed = killed(system, system.weights, rates)
  fixed = autodiff.stop_gradient
  leaving = leaving._replace(weights=fixed(leaving.weights))
  none = np.zeros_like(rates)[..., None]
  m = static.shape(system.weights)[-1]
  kills = leaving.weights[..., m:]
  ends = np.concatenate([fixed(absorbed[..., :m]), kills], axis=-1)
  never = chain_solves.solve(leaving, none, ends[..., None])[..., 0] == 0
  trapped = np.where(never, 1.0, 0.0)
  killed_system, absorbed = killed(system, system.weights, rates + trapped)
  absorbed = np.concatenate(
    [absorbed[..., :m], absorbed[..., m:] + trapped], axis=-1
  )
  return killed_system, absorbed
