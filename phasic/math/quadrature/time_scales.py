"""The shortest and the longest times of a chain."""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Model

# The largest product of rate and time that the kernel evaluates.
MOST = 1e17
# The kernel evaluates functions at least up to this number of steps, or up to
# this product of rate and time.
_USUAL = 1e10
# With M the longest mean time, P(X > _SETTLED M) < exp(1 - 2000).
_SETTLED = 2000.0 * math.e


def latest(model: Model) -> Array:
  """Computes the latest times that the kernel evaluates, (...), as constants.

  Args:
    model: initial_probs, subgenerator or `EdgeRates`, exit_rates, prob_zero.
  """
  initial_probs, matrix, exits, _ = model
  if isinstance(matrix, edge_rates.EDGES):
    edges = edge_rates.convert(matrix, static.dtype_name(initial_probs))
    weights = edge_rates.values(
      edges.parameters, edges.constants, edges.coefficients
    )
    weights = autodiff.stop_gradient(weights)
    p = static.shape(initial_probs)[-1]
    rates = array_ops.segment_sum(weights, edges.sources, p)
  else:
    rates = np.sum(np.abs(autodiff.stop_gradient(matrix)), axis=-1)
    if exits is not None:
      rates = rates + autodiff.stop_gradient(exits)
  fastest = np.max(rates, axis=-1)
  most = float(onp.finfo(static.dtype_name(initial_probs)).max)
  good = fastest > MOST / most
  return np.where(good, MOST / np.where(good, fastest, 1.0), most)


def settled(model: Model, low: Array, high: Array, discrete: bool) -> Array:
  """Replaces late upper bounds by inf if the mass beyond them is negligible.

  Only bounds that may be too late for the kernel are replaced.

  Args:
    model: initial masses, a matrix or edges, exits or None, mass at zero or
      None.
    low: lower bounds, (...). A chain in any phase at `low` must be absorbed by
      `high`, up to a negligible probability.
    high: upper bounds, (...).
    discrete: whether time is discrete.
  """
  usual = _USUAL if discrete else latest(model) * (_USUAL / MOST)
  late = (high > usual) & (high < math.inf)
  known = static.concrete(late)
  if known is not None and not onp.any(known):
    return high
  logs = chain_calls.value(log_scales, model, discrete)
  log_longest = autodiff.stop_gradient(logs[..., 1])
  # Divide before multiplying, so that no intermediate result overflows.
  # It is NaN, and high stays, where both are inf.
  with onp.errstate(over="ignore", invalid="ignore"):
    ratio = (high - low) * np.exp(-log_longest) / _SETTLED
  return np.where(late & (ratio > 1.0), math.inf, high)


def ends_at_once(model: Model) -> Array:
  """Returns whether the density at zero, alpha . s, is positive, (...).

  Args:
    model: initial_probs, subgenerator or `EdgeRates`, exit_rates, prob_zero.
  """
  return chain_calls.value(_ends, model, False) > 0.0


def _ends(system: chain_solves.System) -> Array:
  """Returns one where alpha . s is positive, else zero; see `chain_calls`."""
  fixed = autodiff.stop_gradient
  p = static.shape(system.initial)[-1]
  starts = chain_solves.at_sources(system, fixed(system.initial)) > 0
  ends = starts & (fixed(system.weights) > 0) & (system.indices[1] == p)
  can_end = np.where(np.any(ends, axis=-1), 1.0, 0.0)
  return chain_solves.checked(system, can_end)


def log_scales(system: chain_solves.System) -> Array:
  """Computes the logs of the largest rate and the longest mean time, (..., 2).

  A rule for `chain_calls`.

  The rate is the largest rate of leaving a phase, and the time M is the longest
  expected time until absorption, of the phases that the chain can reach. The
  time is inf if one of them is a trap. P(X > t) <= exp(1 - t / (e M)), as from
  any phase P(X > e M) <= 1 / e. Both logarithms are zero if the chain never
  starts.
  """
  fixed = autodiff.stop_gradient
  system = system._replace(
    weights=fixed(system.weights), initial=fixed(system.initial)
  )
  reached = chain_solves.sojourns(system) > 0
  ones = np.ones_like(system.initial + system.weights[..., :1])
  times = chain_solves.solve(system, ones[..., None])[..., 0]
  rates = array_ops.segment_sum(
    chain_solves.leaving_weights(system),
    system.indices[0],
    static.shape(system.initial)[-1],
  )
  unit = system.exponent * math.log(2)
  longest = np.max(np.where(reached, times, 0.0), axis=-1)
  fastest = np.max(np.where(reached, rates, 0.0), axis=-1)
  some = longest > 0
  logs = [
    np.where(some, np.log(np.where(some, fastest, 1.0)) + unit, 0.0),
    np.where(some, np.log(np.where(some, longest, 1.0)) - unit, 0.0),
  ]
  return chain_solves.checked_entries(system, fixed(np.stack(logs, axis=-1)))
