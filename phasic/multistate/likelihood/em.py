"""The E-step of multi-state models: expected jumps and times, given the data.

Between two observations the chain is a bridge: it starts with weights a of the
phases, and ends with weights b. It is the path of a chain that is absorbed at
the time of the second observation, from phase j at the rate eps b_j, with an
eps so small that the path does not feel it. So its expected jumps and times are
sums of positive numbers.

References:
  A. Hobolth, J. L. Jensen, Summary statistics for endpoint-conditioned
    continuous-time Markov chains, J. Appl. Probab. 48, 2011.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as onp

from phasic import math as math_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.multistate.likelihood import evaluation
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import smoothing
from phasic.multistate.states import chains


class Statistics(NamedTuple):
  """Expected numbers of the paths of all subjects, given the data.

  Attributes:
    jumps: along each edge, for each set of rates, (d, m).
    times: in each phase, (d, p).
    starts: of random paths in each phase, (p,).
    phases: probabilities of phases at observations of hidden states, (e, p),
      times the weights of their subjects.
  """

  jumps: onp.ndarray
  times: onp.ndarray
  starts: onp.ndarray
  phases: onp.ndarray


class _Bridges(NamedTuple):
  """Groups of paths of the chain from some phases to others.

  Attributes:
    design: which rates a group has, (g,).
    times: lengths, (g, n).
    weights: of the paths, (g, n).
    start: weights of phases at the start, (g, p).
    end: likewise at the end.
  """

  design: onp.ndarray
  times: onp.ndarray
  weights: onp.ndarray
  start: onp.ndarray
  end: onp.ndarray


def statistics(
  chain: chains.Chain, layout: layouts.Layout, known: evaluation.Evaluated
) -> Statistics:
  """Computes expected statistics of all paths: the E-step.

  Args:
    chain: the chain.
    layout: the data.
    known: rates and log densities at the parameters.
  """
  return _Sums(chain, layout, smoothing.on_host(known.rates)).added(known)


class _Sums:
  """Expected statistics as they are added up."""

  def __init__(
    self, chain: chains.Chain, layout: layouts.Layout, rates: onp.ndarray
  ):
    self._chain, self._layout, self._rates = chain, layout, rates
    size = len(rates)
    self._jumps = onp.zeros((size, len(chain.sources)))
    self._times = onp.zeros((size, chain.num_phases))
    self._starts = onp.zeros(chain.num_phases)
    emissions = layout.emissions
    count = 0 if emissions is None else len(emissions.design)
    self._phases = onp.zeros((count, chain.num_phases))

  def added(self, known: evaluation.Evaluated) -> Statistics:
    """Returns the statistics of all data."""
    layout = self._layout
    index = onp.asarray(layout.index)
    subjects = onp.asarray(layout.weights, onp.float64)[layout.subject]
    blocks = [(x, False) for x in layout.free] + [
      (x, True) for x in layout.held
    ]
    sizes = [onp.size(x.times) for x, _ in blocks]
    paths = layout.paths
    sizes.append(0 if paths is None else len(paths.start))
    counts = onp.bincount(index, subjects, sum(sizes))
    *parts, left = onp.split(counts, onp.cumsum(sizes)[:-1])
    for (block, is_held), weights in zip(blocks, parts, strict=True):
      self._add_intervals(block, weights, is_held)
    if paths is not None:
      self._add_paths(paths, left, known)
    return Statistics(self._jumps, self._times, self._starts, self._phases)

  def _add_intervals(
    self, block: layouts.Intervals, weights: onp.ndarray, held: bool
  ) -> None:
    """Adds intervals from a known phase to one observation."""
    chain = self._chain
    design, exits = onp.asarray(block.design), onp.asarray(block.exits)
    times = onp.asarray(block.times, onp.float64)
    leaving = self._rates[design] * exits
    end = onp.asarray(block.weights) + onp.matmul(leaving, chain.from_source)
    bridges = _Bridges(
      design,
      times,
      onp.reshape(weights, onp.shape(times)),
      onp.asarray(block.initial, onp.float64),
      end,
    )
    ends = self._add_bridges(bridges, held)
    # The last jump is along one of the edges from the phase at the end.
    share = leaving / onp.where(end > 0, end, 1.0)[:, chain.sources]
    onp.add.at(self._jumps, design, share * ends[:, chain.sources])

  def _add_bridges(self, bridges: _Bridges, held: bool) -> onp.ndarray:
    """Adds bridges; returns expected numbers of phases at the end, (g, p)."""
    chain = self._chain
    p, m = chain.num_phases, len(chain.sources)
    used = onp.any(bridges.weights > 0, axis=-1)
    bridges = _Bridges(*(onp.asarray(x)[used] for x in bridges))
    start, end = _scaled(bridges, chain.reached(held))
    rates = self._rates[bridges.design]
    # While a state is held, a path that leaves it never ends.
    size = p + held
    targets = chain.targets_of(held)
    eps = static.finfo_eps(static.wide_float()) ** 2
    tiny = eps * onp.max(rates, axis=-1, keepdims=True) * end
    edges = math_lib.EdgeRates(
      onp.asarray([*chain.sources, *range(p)], onp.int32),
      onp.asarray([*targets, *([size] * p)], onp.int32),
      _array(onp.concatenate([rates, tiny], axis=-1)),
    )
    given = math_lib.phase_type.expected_statistics(
      _array(onp.transpose(bridges.times)),
      _array(onp.pad(start, ((0, 0), (0, size - p)))),
      edges,
      weights=_array(onp.transpose(bridges.weights)),
    )
    jumps = smoothing.on_host(given.jumps)[:, :m]
    times = smoothing.on_host(given.sojourns)[:, :p]
    onp.add.at(self._jumps, bridges.design, jumps)
    onp.add.at(self._times, bridges.design, times)
    ends = onp.zeros((len(used), p))
    ends[used] = smoothing.on_host(given.exits)[:, :p]
    return ends

  def _add_paths(
    self,
    paths: layouts.Paths,
    weights: onp.ndarray,
    known: evaluation.Evaluated,
  ) -> None:
    """Adds paths with hidden phases."""
    chain = self._chain
    tables = smoothing.host_tables(chain, paths, known)
    passes = smoothing.passes(tables, paths)
    probs = passes.phase_probs() * weights[:, None]
    is_random = onp.asarray(paths.start) == len(chain.start_rows)
    self._starts = onp.sum(probs[0][is_random], axis=0)
    seen = onp.concatenate([paths.first[None], paths.weights])
    seen = seen - len(paths.masks)
    onp.add.at(self._phases, seen[seen >= 0], probs[seen >= 0])
    # Weights of phases before and after each move.
    start = passes.forward[:-1]
    end = passes.backward[1:] + tables.weights[onp.asarray(paths.weights)]
    first = 0
    for steps, held in ((paths.free, False), (paths.held, True)):
      if steps is None:
        continue
      times = onp.asarray(steps.times, onp.float64)
      at = onp.asarray(paths.matrices) - first
      chosen = (at >= 0) & (at < onp.size(times))
      place = at[chosen]
      bridges = _Bridges(
        onp.asarray(steps.design)[place // onp.shape(times)[-1]],
        onp.ravel(times)[place][:, None],
        onp.broadcast_to(weights, onp.shape(at))[chosen][:, None],
        start[chosen],
        end[chosen],
      )
      self._add_bridges(_from_logs(bridges, chain.reached(held)), held)
      first += onp.size(times)
    if paths.jumps is not None:
      at = onp.asarray(paths.matrices) - first
      chosen = (at >= 0) & (at < len(paths.jumps.design))
      many = onp.broadcast_to(weights, onp.shape(at))[chosen]
      self._add_jumps(paths.jumps, at[chosen], many, start[chosen], end[chosen])

  def _add_jumps(
    self,
    jumps: layouts.Jumps,
    at: onp.ndarray,
    weights: onp.ndarray,
    start: onp.ndarray,
    end: onp.ndarray,
  ) -> None:
    """Adds jumps at known times, with logs of weights before and after."""
    chain = self._chain
    design = onp.asarray(jumps.design)[at]
    with onp.errstate(divide="ignore"):
      log = onp.log(self._rates[design] * onp.asarray(jumps.edges)[at])
    log = log + start[:, chain.sources] + end[:, chain.targets]
    share = onp.exp(log - smoothing.log_sum(log)[:, None])
    onp.add.at(self._jumps, design, share * weights[:, None])


def _from_logs(bridges: _Bridges, reached: onp.ndarray) -> _Bridges:
  """Returns bridges whose weights of phases were given by their logs.

  The largest one is one, among phases that are on some path.
  """
  start, end = bridges.start, bridges.end
  end = onp.where(_leads(start > -onp.inf, reached), end, -onp.inf)
  back = onp.transpose(reached)
  start = onp.where(_leads(end > -onp.inf, back), start, -onp.inf)
  start = onp.exp(start - onp.max(start, axis=-1, keepdims=True))
  end = onp.exp(end - onp.max(end, axis=-1, keepdims=True))
  return bridges._replace(start=start, end=end)


def _scaled(
  bridges: _Bridges, reached: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns the distribution at the start, and weights at the end up to one."""
  start = bridges.start / onp.sum(bridges.start, axis=-1, keepdims=True)
  end = onp.where(_leads(start > 0, reached), bridges.end, 0.0)
  return start, end / onp.max(end, axis=-1, keepdims=True)


def _leads(some: onp.ndarray, reached: onp.ndarray) -> onp.ndarray:
  """Returns which phases paths from some phases reach, (g, p)."""
  return onp.matmul(some * 1.0, reached * 1.0) > 0


def _array(x: onp.ndarray) -> Any:
  return structures.as_array(x, static.wide_float(), "rates")
