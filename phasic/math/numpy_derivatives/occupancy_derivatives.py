"""Derivatives of `occupancy`, written out.

Rules as in `chain_derivatives`. A clock that ends the chain at a rate k from
every phase changes alpha exp(S t) by exp(-k t) alone, in discrete time
alpha T^n by (1 - k)^n. What the clock does is free:

- Forward, it leads instead from phase i of the chain to phase j of a copy, at
  rates in proportion to a move dS_ij >= 0 of the generator. Where the copy is at
  t is then the integral of exp(S u) dS exp(S (t - u)). A move is the difference
  of two such.
- Reverse, it leads from phase i to the only end, at rates in proportion to a
  cotangent c_i >= 0. The density of that end is alpha exp(S t) c, of which the
  kernel has the derivatives.

With k = 1 / t the factor is one half at least, or 1 / e.
"""

import math
from typing import Any

import numpy as np
import numpy as onp

from phasic.internal import segments
from phasic.internal import static
from phasic.internal import structures
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_solves
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.moments.occupancy import probs as occupancy_probs
from phasic.math.numeric import scaled_sums


def push(discrete, system, others, moves):
  """Tangents of `occupancy.probs`."""
  (times,) = others
  of_initial, of_weights, _, of_times = moves
  up, down = _signs(of_weights)
  more, less = _signs(of_initial)
  found = _moved(discrete, system, times, up, down, more)
  found = found - _moved(discrete, system, times, down, up, less)
  if discrete:
    return found
  return found + of_times[..., None] * _slopes(discrete, system, times)


def pull(discrete, system, others, cotangent):
  """Cotangents of `occupancy.probs`."""
  (times,) = others
  initial: Any = 0.0
  weights: Any = 0.0
  for sign, part in zip((1.0, -1.0), _signs(cotangent), strict=True):
    of_initial, of_weights = _pulled(discrete, system, times, part)
    initial = initial + sign * of_initial
    weights = weights + sign * of_weights
  of_times = np.zeros_like(initial[..., 0])
  if not discrete:
    slopes = _slopes(discrete, system, times)
    of_times = np.sum(cotangent * slopes, axis=-1)
  return [initial, weights, np.zeros_like(system.atom), of_times]


def _signs(x):
  """Returns the positive and the negative part."""
  return np.maximum(x, 0.0), np.maximum(-x, 0.0)


def _clock(discrete, system, times):
  """Returns the clock's rate, what it leaves of weights, and 1 / its factor."""
  good = (times > 0) & (times < math.inf)
  times = np.where(good, times, 1.0)
  if discrete:
    rate = 1.0 / (times + 1.0)
    kept = times / (times + 1.0)
    return rate, kept, np.exp(-times * np.log1p(-rate))
  rate = scaled_sums.times_power(1.0 / times, -system.exponent)
  return rate, np.ones_like(rate), np.zeros_like(rate) + math.e


def _moved(discrete, system, times, up, down, start):
  """Returns how probabilities move along dS and dalpha, (..., p).

  Args:
    discrete: whether time is.
    system: the system.
    times: (...).
    up: moves of weights that bring more to their edges' targets, (..., m).
    down: moves of weights that leave more at their edges' sources, (..., m).
    start: a move of alpha >= 0, (..., p).
  """
  rate, kept, gain = _clock(discrete, system, times)
  p = static.shape(system.initial)[-1]
  sources = structures.cast(system.indices[0], "int32")
  targets = structures.cast(system.indices[1], "int32")
  inner = (targets < p) & (sources != targets)
  cross = np.concatenate(
    [np.where(inner, up, 0.0), np.where(sources == targets, 0.0, down)], axis=-1
  )
  rows = segments.segment_sum(cross, np.concatenate([sources] * 2), p)
  most = np.max(rows, axis=-1)
  # In proportion, and no more than the clock has.
  scale = rate / np.where(most > 0, most, 1.0)
  cross = cross * scale[..., None]
  rest = np.maximum(rate[..., None] - rows * scale[..., None], 0.0)
  none = np.zeros_like(rest)
  own = kept[..., None] * system.weights
  parts = [own, own, cross, rest, none + rate[..., None]]
  batch = static.broadcast_shapes(
    *(static.shape(x)[:-1] for x in parts),
    static.shape(system.initial)[:-1],
    static.shape(start)[:-1],
  )
  ends = np.where(targets < p, targets, 2 * p)
  phases = structures.cast(onp.arange(p), "int32")
  absorbed = np.zeros_like(phases) + 2 * p
  copied = np.where(targets < p, targets + p, 2 * p)
  to_copy = np.where(targets < p, targets + p, sources + p)
  indices = np.stack(
    [
      np.concatenate(
        [sources, sources + p, sources, sources, phases, phases + p]
      ),
      np.concatenate([ends, copied, to_copy, sources + p, absorbed, absorbed]),
    ]
  )
  # Masses whose sum is one at most.
  second = start * (scale / kept)[..., None]
  size = 1.0 + np.sum(second, axis=-1)
  masses = [system.initial + 0.0 * second, second + 0.0 * system.initial]
  masses = [np.broadcast_to(x, (*batch, p)) for x in masses]
  stay = None
  if discrete:
    staying = kept[..., None] * system.stay
    stay = np.concatenate([staying, staying], axis=-1)
  doubled = system._replace(
    indices=indices,
    weights=np.concatenate(
      [np.broadcast_to(x, (*batch, static.shape(x)[-1])) for x in parts],
      axis=-1,
    ),
    stay=stay,
    initial=np.concatenate(masses, axis=-1) / size[..., None],
  )
  found = occupancy_probs(discrete, doubled, times)[..., p:]
  factor = gain * kept * size / scale
  return found * factor[..., None]


def _pulled(discrete, system, times, cotangent):
  """Returns cotangents of alpha and of weights, for a cotangent >= 0."""
  rate, kept, gain = _clock(discrete, system, times)
  p = static.shape(system.initial)[-1]
  largest = np.max(cotangent, axis=-1)
  share = cotangent / np.where(largest > 0, largest, 1.0)[..., None]
  rate = rate[..., None]
  own = kept[..., None] * system.weights
  parts = [own, rate * share, rate * (1.0 - share)]
  batch = static.broadcast_shapes(
    *(static.shape(x)[:-1] for x in parts), static.shape(times)
  )
  sources = structures.cast(system.indices[0], "int32")
  targets = structures.cast(system.indices[1], "int32")
  phases = structures.cast(onp.arange(p), "int32")
  trap = np.zeros_like(phases) + p
  weights = np.concatenate(
    [np.broadcast_to(x, (*batch, static.shape(x)[-1])) for x in parts], axis=-1
  )
  unit = scaled_sums.times_power(weights, system.exponent[..., None])
  kind = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  edges = kind(
    np.concatenate([sources, phases, phases]),
    np.concatenate([targets, trap + 1, trap]),
    unit,
  )
  start = np.concatenate(
    [system.initial, 0.0 * system.initial[..., :1]], axis=-1
  )
  start = np.broadcast_to(start, (*batch, p + 1))
  good = (times >= 0) & (times < math.inf)
  positive = good & (times > 0)
  at = np.broadcast_to(np.where(positive, times, 1.0), batch)
  _, bars = evaluation.vjp(
    "density",
    (
      start,
      edges,
      at + 1.0 if discrete else at,
      None,
      np.zeros(batch, dtype=start.dtype),
    ),
    np.ones_like(at),
    ("initial_probs", _MATRICES[discrete]),
    discrete,
  )
  m = static.shape(system.weights)[-1]
  # The density is in the model's units of time, weights are in the system's.
  factor = (largest * gain)[..., None] / rate
  of_initial = scaled_sums.times_power(
    factor * bars[0][..., :p], -system.exponent[..., None]
  )
  of_weights = factor * kept[..., None] * bars[1][..., :m]
  positive, good = positive[..., None], good[..., None]
  of_initial = np.where(positive, of_initial, cotangent)
  of_weights = np.where(positive, of_weights, 0.0)
  return (
    np.where(good, of_initial, math.nan),
    np.where(good, of_weights, math.nan),
  )


_MATRICES = ("subgenerator", "subtransition")


def _slopes(discrete, system, times):
  """Returns alpha exp(S t) S, (..., p)."""
  p = static.shape(system.initial)[-1]
  now = occupancy_probs(discrete, system, times)
  flows = chain_solves.leaving_weights(system)
  flows = flows * chain_solves.at_sources(system, now)
  come = segments.segment_sum(flows, system.indices[1], p + 1)[..., :p]
  left = segments.segment_sum(flows, system.indices[0], p)
  return scaled_sums.times_power(come - left, system.exponent[..., None])
