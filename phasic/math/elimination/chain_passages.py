"""Sojourn times, visits, jumps and transforms, from linear systems.

The functions are rules for `chain_calls`.

Visits are expected times in entry phases, of rate one, before each phase. This
solution of a linear system is right wherever it can be represented. The number
of visits is also a rate times the expected time in a phase, but one of these
factors may be out of range.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing as killing_lib
from phasic.math.numeric import array_utils
from phasic.math.numeric import exact_sums

# Models with more phases get no entry phases, which make elimination several
# times slower. Then the expected times must be in range, too.
_MOST_ENTRY_PHASES = 1024


def sojourn_times(system: chain_solves.System) -> Array:
  """Computes the expected sojourn times in the phases; inf in a trap.

  The result has shape (..., p).
  """
  y = chain_solves.sojourns(chain_solves.natural(system))
  return chain_solves.checked_entries(system, y)


def sojourn_times_with_traps(system: chain_solves.System) -> Array:
  """Computes `sojourn_times`, with derivatives of finite times.

  They exist where a trap is reached, too: traps are killed at rate one, which
  changes no time in other phases. With respect to weights of zero that lead out
  of such a trap to other phases they are NaN.
  """
  system = chain_solves.natural(system)
  y = chain_solves.sojourns(system)
  if not _are_finite(y):
    killed, endless = _without_traps(system)
    into = chain_solves.at_targets(system, np.ones_like(system.initial)) > 0
    jumps = _undefined_jumps(system, endless, into)
    times = chain_solves.sojourns(killed)
    y = np.where(endless, math.inf, times + jumps[..., None])
  return chain_solves.checked_entries(system, y)


def exit_jumps(system: chain_solves.System) -> Array:
  """Computes `jumps` for edges to absorption, and zeros for other edges.

  Derivatives exist where a trap is reached, too. With respect to weights of
  zero that lead out of such a trap they are NaN.
  """
  exits = system.indices[1] == static.shape(system.initial)[-1]
  times = chain_solves.sojourns(chain_solves.natural(system))
  if _are_finite(times):
    return np.where(exits, jumps(system), 0.0)
  killed, endless = _without_traps(system)
  killed_jumps = jumps(killed)[..., : static.shape(system.weights)[-1]]
  unknown = _undefined_jumps(system, endless, exits | True)
  killed_jumps = np.where(exits, killed_jumps + unknown[..., None], 0.0)
  return chain_solves.checked_entries(system, killed_jumps)


def _are_finite(times: Array) -> bool:
  """Returns whether times are known to be finite."""
  return array_utils.are_true(autodiff.stop_gradient(times) < math.inf)


def _without_traps(
  system: chain_solves.System,
) -> tuple[chain_solves.System, Array]:
  """Kills traps at rate one; returns which of them are reached, (..., p), too."""
  system = chain_solves.natural(system)
  fixed = autodiff.stop_gradient
  constant = system._replace(weights=fixed(system.weights))
  # A phase whose expected time overflows is not a trap.
  trapped = chain_solves.traps(constant)
  trapped = trapped & (chain_solves.absorption_probs(constant) == 0)
  rates = np.where(trapped, 1.0, 0.0)
  killed = killing_lib.with_killing(system, system.weights, rates)
  reached = fixed(chain_solves.sojourns(killed)) > 0
  return killed._replace(unscaled=killed.weights), trapped & reached


def _undefined_jumps(
  system: chain_solves.System, endless: Array, into: Array
) -> Array:
  """Returns zeros, (...), without derivatives in weights of ways out of traps.

  Args:
    system: the system.
    endless: the traps that are reached, (..., p).
    into: edges (m,) or (..., m) that count as ways out if they leave a trap.
  """
  inside = np.where(endless, 1.0, 0.0)
  leaves = chain_solves.at_sources(system, inside) > 0
  stays = chain_solves.at_targets(system, inside) > 0
  leaves = leaves & into & np.logical_not(stays)
  weights = np.where(leaves, system.weights, 0.0)
  return chain_solves.undefined(np.any(leaves, axis=-1), weights)


def visits(system: chain_solves.System) -> Array:
  """Computes the expected numbers of visits to the phases.

  The result has shape (..., p).
  """
  p = static.shape(system.initial)[-1]
  if _may_have_entry_phases(system):
    y = chain_solves.sojourns(_with_entry_phases(system))
    return chain_solves.checked_entries(system, y[..., p:])
  flows = _flows(system)
  is_loop = system.indices[0] == system.indices[1]
  entered = array_ops.segment_sum(
    np.where(is_loop, 0.0, flows), system.indices[1], p + 1
  )
  return chain_solves.checked_entries(system, system.initial + entered[..., :p])


def jumps(system: chain_solves.System) -> Array:
  """Computes the expected numbers of jumps along the edges.

  The result has shape (..., m). The numbers are rates times expected sojourn
  times. If such a time is out of range, the expected number of visits to the
  edge's source is multiplied by the probability that a visit ends by this edge.
  """
  if not _may_have_entry_phases(system):
    return chain_solves.checked_entries(system, _flows(system))
  system = chain_solves.natural(system)
  times = chain_solves.at_sources(system, chain_solves.sojourns(system))
  least = float(onp.finfo(static.wide_float()).tiny)
  is_usable = (times >= least) & (times < math.inf)
  flows = system.weights * np.where(is_usable, times, 1.0)
  entered = chain_solves.at_sources(system, visits(system))
  p = static.shape(system.initial)[-1]
  leaving = chain_solves.leaving_weights(system)
  total = array_ops.segment_sum(leaving, system.indices[0], p)
  total = chain_solves.at_sources(system, total)
  entered = np.where(is_usable, 1.0, entered)
  is_left = total > 0
  share = 1.0 / np.where(is_left, total, 1.0)
  share = np.where(is_left, share, math.inf)
  product, exponent = exact_sums.dot(
    entered[..., None], system.weights[..., None], share[..., None]
  )
  taken = exact_sums.times_power(product, exponent)
  # A model is invalid if the weights of a phase have an infinite sum.
  taken = np.where(total == math.inf, math.nan, taken)
  taken = np.where(is_usable, flows, taken)
  return chain_solves.checked_entries(system, taken)


def hitting(system: chain_solves.System, targets: Array) -> Array:
  """Computes the probability of ever being in a target phase.

  The result has shape (...).

  Args:
    system: the system.
    targets: 1 for targets, else 0, (..., p).
  """
  hit = targets > 0
  at_source = chain_solves.at_sources(system, targets) > 0
  weights = np.where(at_source, 0.0, system.weights)
  into = weights * chain_solves.at_targets(system, targets)
  # Killing at rate one in the targets ends the passage. If the targets were traps
  # instead, the solution would have no differences along the edges that leave
  # them, and the probabilities would have no second derivatives.
  passage, _ = killing_lib.killed(system, weights, targets)
  none = np.zeros_like(system.initial + targets + into[..., :1])
  ends = np.concatenate([into + none[..., :1], none], axis=-1)
  x = chain_solves.solve(passage, none[..., None], ends[..., None])[..., 0]
  x = np.where(hit, 1.0, x)
  total = np.sum(system.initial * x, axis=-1)
  return chain_solves.checked(system, array_utils.at_most(total, 1.0))


def laplace(system: chain_solves.System, u: Array) -> Array:
  """Computes E exp(-u X) by killing at rate u, an array of shape (...).

  Args:
    system: the system.
    u: (...).
  """
  # Use the model's own unit of time: in the scaled unit u may be out of range.
  system = chain_solves.natural(system)
  value = _survival(system, system.weights, u[..., None])
  return value * np.where(u >= 0, 1.0, math.nan)


def generating(system: chain_solves.System, z: Array) -> Array:
  """Computes E z^N: the chain survives each step with probability z.

  The result has shape (...).

  Args:
    system: the system.
    z: (...).
  """
  value = _survival(system, z[..., None] * system.weights, (1.0 - z)[..., None])
  return value * np.where((z >= 0) & (z <= 1), 1.0, math.nan)


def _survival(
  system: chain_solves.System, weights: Array, killing: Array
) -> Array:
  """Computes the probability of absorption without killing, (...)."""
  killed_system, absorbed = killing_lib.killed(system, weights, killing)
  none = np.zeros_like(system.initial)[..., None]
  x = chain_solves.solve(killed_system, none, absorbed[..., None])[..., 0]
  total = system.atom + np.sum(system.initial * x, axis=-1)
  return chain_solves.checked(system, array_utils.at_most(total, 1.0))


def _flows(system: chain_solves.System) -> Array:
  """Computes expected jumps along edges: weight times time in the source."""
  z = chain_solves.at_sources(system, chain_solves.sojourns(system))
  z = np.where((system.weights == 0) & (z == math.inf), 0.0, z)
  return system.weights * z


def _may_have_entry_phases(system: chain_solves.System) -> bool:
  """Returns whether the system is small enough to add entry phases."""
  return static.shape(system.initial)[-1] <= _MOST_ENTRY_PHASES


def _with_entry_phases(system: chain_solves.System) -> chain_solves.System:
  """Adds an entry phase p + j before each phase j.

  All edges into a phase and its initial mass lead to its entry phase; edges
  from a phase to itself stay.

  Returns:
    A system of 2 p phases and m + p edges, in the model's own unit of time.
  """
  system = chain_solves.natural(system)
  p = static.shape(system.initial)[-1]
  indices = structures.cast(system.indices, "int32")
  sources, targets = indices[0], indices[1]
  # The entry phases have the indices p, ..., 2 p - 1, so the index of
  # absorption changes from p to 2 p.
  ahead = np.where(targets == sources, 0, p)
  targets = targets + structures.cast(ahead, "int32")
  phases = structures.cast(onp.arange(p), "int32")
  joined = [
    np.concatenate([sources, phases + p]),
    np.concatenate([targets, phases]),
  ]
  weights = system.weights
  ones = np.ones_like(weights[..., :1])
  ones = np.broadcast_to(ones, (*static.shape(weights)[:-1], p))
  initial = [np.zeros_like(system.initial), system.initial]
  return system._replace(
    indices=np.stack(joined),
    weights=np.concatenate([weights, ones], axis=-1),
    initial=np.concatenate(initial, axis=-1),
  )
