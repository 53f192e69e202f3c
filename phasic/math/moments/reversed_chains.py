"""Reversed chains, whose densities are the state probabilities of a chain.

The chain is killed at a constant rate c, so that absorption need not be
reachable. With y = U^T beta for any beta > 0, U of the killed chain, the
reversed chain goes from j to i at y_i w_ij / y_j, so that (alpha exp(S t))_j =
exp(c t) y_j times the density at t of the reversed chain that starts in j and
ends from phase i at rate alpha_i / y_i. One derivative of the kernel gives the
densities of all starts, without subtraction. Here beta is alpha, and one in
phases that alpha cannot reach: from these the reversed chain moves to an extra
phase that is never left. In discrete time T is multiplied by 1 - c.

Reference: F. P. Kelly, Reversibility and stochastic networks, 1979, sec. 1.7.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killed_chains
from phasic.math.elimination import killing
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.numeric import array_utils
from phasic.math.numeric import kept_indices
from phasic.math.numeric import scaled_sums


class Reversed(NamedTuple):
  """The time reversal of a killed chain, in the system's unit of time.

  Attributes:
    start: masses, positive in phases that alpha can reach, (..., p + 1).
    edges: its edges, without coefficients.
    y: the expected times by which the chain is reversed, (..., p).
    times: (...), zero where they are not good.
    good: where times are valid, (...).
    alive: the log of the factor by which killing reduces densities, (...).
    reached: expected times in the phases of the killed chain, (..., p).
    empty: where alpha is zero, (...).
  """

  start: Array
  edges: edge_rates.EdgeRates | edge_probs.EdgeProbs
  y: Array
  times: Array
  good: Array
  alive: Array
  reached: Array
  empty: Array


def terms_of(
  function: str, discrete: bool, chain: Reversed
) -> tuple[Array, Array]:
  """Computes a function of the reversed chain, and its scaled derivatives.

  Args:
    function: a density or its logarithm.
    discrete: whether time is discrete.
    chain: the reversed chain.

  Returns:
    The value, (...); and y_j times the derivative with respect to the initial
    mass of each phase j, (..., p).
  """
  times = chain.times + 1.0 if discrete else chain.times
  batch = static.broadcast_shapes(
    static.shape(times), static.shape(chain.start)[:-1]
  )
  p = static.shape(chain.y)[-1]
  start = array_utils.expanded(chain.start, (*batch, p + 1))
  none = np.zeros((), dtype=static.dtype_name(times))
  value, slopes = evaluation.value_and_start_slopes(
    function, (start, chain.edges, times, None, none), discrete
  )
  return value, slopes[..., :p] * chain.y


def weighted_densities(chain: Reversed, weights: Array) -> Array:
  """Computes weighted sums of densities at the times, (..., p).

  Args:
    chain: a reversed chain in continuous time, with times (n, ...).
    weights: (n, ...).

  Returns:
    Sums over the times of the weight, times (alpha exp(S t))_j.
  """
  none = np.zeros((), dtype=static.dtype_name(chain.times))
  slopes = evaluation.weighted_start_slopes(
    "density",
    (chain.start, chain.edges, chain.times, None, none),
    weights * np.exp(chain.alive),
  )
  p = static.shape(chain.y)[-1]
  return slopes[..., :p] * chain.y


def reverse(
  discrete: bool, system: chain_solves.System, times: Array
) -> Reversed:
  """Kills a chain and reverses it.

  Phase p of the reversed chain is never left if an edge leads to it. Without
  such edges it is left at the largest rate: a phase that is never left would
  dominate at late times.
  """
  good = killed_chains.good_times(times, discrete)
  times = np.where(good, times, 0.0)
  if not discrete:
    times = scaled_sums.times_power(times, system.exponent)
  c, alive = _killing(discrete, times)
  keep = 1.0 - c if discrete else 1.0
  own = keep * chain_solves.leaving_weights(system)
  killed = killing.with_killing(system, own, np.reshape(c, (1,)))
  y = chain_solves.sojourns(killed)
  reached = autodiff.stop_gradient(y)
  none = reached < _least_time(static.dtype_name(times))
  soon = autodiff.stop_gradient(np.max(own, axis=-1)[..., None]) + c
  if array_utils.are_true(np.logical_not(none)):
    added, mass = np.zeros_like(reached), reached
    empty = np.zeros_like(reached[..., 0]) > 0
  else:
    added = np.where(none, 1.0, 0.0)
    y = chain_solves.sojourns(killed._replace(initial=system.initial + added))
    used = np.any(none, axis=-1)[..., None]
    soon = np.where(used, 0.0, soon)
    empty = np.all(none, axis=-1)
    mass = np.where(none, 0.0, reached)
    mass = np.where(empty[..., None], 1.0, mass)
  z = chain_solves.at_sources(system, y)
  after = chain_solves.at_targets(system, y)
  inside = after > 0
  weights = np.where(inside, own * z, 0.0) / np.where(inside, after, 1.0)
  parts = [weights, system.initial / y, added / y, soon]
  if system.stay is not None:
    # Small probabilities of staying become edges: computed as one minus the
    # other probabilities, they would lose digits.
    stay = keep * (system.stay + np.zeros_like(y))
    parts.append(np.where(stay < 0.5, stay, 0.0))
  weights = chain_solves.checked_entries(system, array_utils.joined(*parts))
  kind = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  p = static.shape(y)[-1]
  has_stays = system.stay is not None
  ends = system.indices[0], system.indices[1]
  edges = kind(*kept_indices.of(_ends, *ends, p, has_stays), weights)
  start = mass / np.sum(mass, axis=-1)[..., None]
  start = np.concatenate([start, np.zeros_like(start[..., :1])], axis=-1)
  return Reversed(start, edges, y, times, good, alive, reached, empty)


@functools.cache
def _least_time(dtype: str) -> float:
  """Returns a bound below which ratios of expected times lose digits."""
  info = onp.finfo(dtype)
  return float(info.tiny) * 2.0 ** (32 if info.bits == 32 else 64)


def _killing(discrete: bool, times: Array) -> tuple[Array, Array]:
  """Returns the killing weight c, and log factors that undo the killing.

  The rate is the inverse of the largest time, and at most one.
  """
  largest = array_utils.largest_or_zero(autodiff.stop_gradient(times))
  if discrete:
    c = 1.0 / (largest + 2.0)
    return c, -times * np.log1p(-c)
  c = 1.0 / np.maximum(largest, 1.0)
  return c, c * times


def _ends(
  sources: Array, targets: Array, p: int, has_stays: bool
) -> tuple[Array, Array]:
  """Returns the sources and the targets of the reversed chain's edges."""
  sources, targets = (structures.cast(x, "int32") for x in (sources, targets))
  phases = structures.cast(np.arange(p), "int32")
  inner = targets < p
  last = np.zeros_like(phases[:1])
  begins = [np.where(inner, targets, p), phases, phases, last + p]
  reaches = [
    np.where(inner, sources, p),
    np.zeros_like(phases) + (p + 1),
    np.zeros_like(phases) + p,
    last + (p + 1),
  ]
  if has_stays:
    begins, reaches = [*begins, phases], [*reaches, phases]
  return np.concatenate(begins), np.concatenate(reaches)
