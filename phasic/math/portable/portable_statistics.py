"""The portable path of expected path statistics, the E-step of EM.

A statistic is a rate times the derivative of log P(O) with respect to it, where
the rates of a chain, the totals of leaving its phases too, are independent
variables: E[jumps i to j | O] = S_ij d log P(O) / d S_ij, and E[time in i | O]
is minus the derivative with respect to the total of phase i. In uniformization
all of these are sums of nonnegative products, so nothing cancels.

The P(O) of intervals is that of `portable_intervals`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import chain as chain_lib
from phasic.math.model import edge_rates
from phasic.math.model import not_differentiable
from phasic.math.portable import elimination
from phasic.math.portable import portable
from phasic.math.portable import portable_edges
from phasic.math.portable import portable_intervals

_NO_DERIVATIVES = (
  "a derivative of expected statistics was asked for: the statistics have none. "
  "If they are constants, as in an E-step, apply stop_gradient to the arguments"
)


class _Slopes(NamedTuple):
  """Derivatives of weighted values with respect to the fields of a chain."""

  initial: Array
  off: Array
  totals: Array
  exits: Array
  atom: Array

  def plus(self, other: _Slopes) -> _Slopes:
    return _Slopes(*(x + y for x, y in zip(self, other, strict=True)))


def statistics(
  kind: str,
  initial_probs: Array,
  rates: Array,
  exit_rates: Array,
  prob_zero: Array,
  times: Array,
  weights: Array,
  *fixed: Array,
) -> tuple[Array, ...]:
  """Computes expected path statistics, see `kernel_ops.statistics`.

  Args:
    kind: one of `kernel_common.KINDS`; not used for observations.
    initial_probs: (batch..., p).
    rates: (batch..., p, p), or the parameters of the edges.
    exit_rates: as for `portable.phase_type`.
    prob_zero: as for `portable.phase_type`.
    times: (batch..., n).
    weights: (batch..., n), of the full batch shape.
    *fixed: the three arrays of the edges, if any; and kinds, if the times are
      pairs of bounds of observations.
  """
  is_paired, edges = len(fixed) % 3 == 1, fixed[: len(fixed) // 3 * 3]
  operands = (initial_probs, rates, exit_rates, prob_zero, times, weights)
  results = _evaluate(
    kind, is_paired, edges, *map(autodiff.stop_gradient, operands)
  )
  return tuple(
    not_differentiable.attach(_NO_DERIVATIVES, x, *operands) for x in results
  )


def _evaluate(
  kind: str,
  is_paired: bool,
  edges: tuple[Array, ...],
  initial_probs: Array,
  rates: Array,
  exit_rates: Array,
  prob_zero: Array,
  times: Array,
  weights: Array,
) -> tuple[Array, ...]:
  dtype, wide = static.dtype_name(times), static.wide_float()
  matrix, exits = rates, exit_rates
  if edges:
    phases = static.shape(initial_probs)[-1]
    matrix, exits = portable_edges.densified(phases, rates, *edges)
  model = [
    structures.cast(x, wide) for x in (initial_probs, matrix, exits, prob_zero)
  ]
  batch = static.shape(weights)[:-1]
  with onp.errstate(all="ignore"):
    chain = portable_intervals.with_batch(
      chain_lib.derive(tuple(model), static.finfo_eps(dtype)), batch
    )
    times = structures.cast(times, wide) + np.zeros_like(
      structures.cast(weights, wide)
    )
    weights = structures.cast(weights, wide)
    slopes, lost = _slopes(kind, is_paired, chain, times, weights)
    poison = np.where(chain.bad | np.any(lost, axis=-1), math.nan, 1.0)
    starts = chain.initial * slopes.initial
    ends = chain.exits * slopes.exits
    if edges:
      jumps = _passages(slopes, structures.cast(rates, wide), *edges)
      jumps = jumps * poison[..., None]
    else:
      jumps = chain.off * slopes.off * poison[..., None, None]
    # The sum with zero makes no time 0 instead of -0.
    sojourns, atom = 0.0 - slopes.totals, chain.atom * slopes.atom
    each = [x * poison[..., None] for x in (starts, sojourns, ends)]
    each.insert(2, jumps)
    results = (*each, (atom * poison)[..., None])
  return tuple(structures.cast(x, dtype) for x in results)


def _slopes(
  kind: str,
  is_paired: bool,
  chain: chain_lib.Chain,
  times: Array,
  weights: Array,
) -> tuple[_Slopes, Array]:
  """Computes the sums of slopes, and which times make them NaN (..., n)."""
  if not is_paired:
    return _of_kind(kind, chain, times, weights)
  shape = static.shape(times)
  pairs = np.reshape(times, (*shape[:-1], shape[-1] // 2, 2))
  lower, upper = pairs[..., 0], pairs[..., 1]
  weights = np.reshape(weights, static.shape(pairs))[..., 0]
  rising = lower < upper
  exact = lower == upper
  right = rising & (upper == math.inf)
  left = rising & (lower < 0) & np.logical_not(right)
  inside = rising & (lower >= 0) & (upper < math.inf)
  lost = (weights != 0) & np.logical_not(exact | rising)
  total: _Slopes | None = None
  for name, where, at in (
    ("log_density", exact, lower),
    ("log_survival", right, lower),
    ("log_cdf", left, upper),
  ):
    used = np.where(where, weights, 0.0)
    if not _is_nothing(used):
      slopes, bad = _of_kind(name, chain, at, used)
      total = slopes if total is None else total.plus(slopes)
      lost = lost | bad
  used = np.where(inside, weights, 0.0)
  if total is None or not _is_nothing(used):
    slopes, bad = _of_intervals(
      chain, np.where(inside, lower, 0.0), upper, used
    )
    total = slopes if total is None else total.plus(slopes)
    lost = lost | bad
  return total, lost


def _is_nothing(weights: Array) -> bool:
  """Returns whether all weights are known to be zero."""
  known = static.concrete(weights)
  return known is not None and not onp.any(known != 0)


def _of_kind(
  kind: str, chain: chain_lib.Chain, times: Array, weights: Array
) -> tuple[_Slopes, Array]:
  """Computes slopes where all times have one kind, as `_slopes` does."""
  used = weights != 0
  is_log, quantity = kind.startswith("log_"), kind.removeprefix("log_")
  finite = used & (times >= 0) & (times < math.inf)
  # Events that are certain: starts are those of the model.
  certain = used & (times < 0) if quantity == "survival" else used & False
  if quantity == "cdf":
    certain = used & (times == math.inf)
  at = np.where(finite, times, _harmless_time(chain))
  value, steps = portable.evaluate(
    kind, (*portable_intervals.operands(chain), at)
  )
  lost = used & np.logical_not(finite | certain)
  if not is_log:  # Impossible events have no statistics, but for logs NaN.
    impossible = times < 0
    if quantity == "density":
      impossible = impossible | (times == math.inf)
    lost = lost & np.logical_not(impossible)
  lost = lost | (finite & np.logical_not(value > -math.inf))

  def values(*fields: Array) -> tuple[Array, ...]:
    varied = chain_lib.Chain(*(*fields, chain.bad))
    return (portable.of_chain(kind, steps, varied, at, static.wide_float())[0],)

  _, pullback = autodiff.reverse(values, chain[:5])
  slopes = _Slopes(*pullback((np.where(finite, weights, 0.0),)))
  added = np.sum(np.where(certain, weights, 0.0), axis=-1)
  slopes = slopes._replace(
    initial=slopes.initial + added[..., None], atom=slopes.atom + added
  )
  if quantity == "cdf":  # Times and passages up to absorption are not computed.
    unknown = np.where(np.any(certain, axis=-1), math.nan, 0.0)[..., None]
    slopes = slopes._replace(
      off=slopes.off + unknown[..., None],
      totals=slopes.totals + unknown,
      exits=slopes.exits + unknown,
    )
  return slopes, lost


def _of_intervals(
  chain: chain_lib.Chain, lower: Array, upper: Array, weights: Array
) -> tuple[_Slopes, Array]:
  """Computes slopes of log P(lower < X <= upper), as `_slopes` does."""
  n = static.shape(weights)[-1]
  if not isinstance(n, int) or n <= portable_intervals.MOST:
    return _of_some_intervals(chain, lower, upper, weights)
  total: _Slopes | None = None
  lost = []
  for i in range(0, n, portable_intervals.MOST):
    slopes, bad = _of_some_intervals(
      chain,
      *(
        x[..., i : i + portable_intervals.MOST] for x in (lower, upper, weights)
      ),
    )
    total = slopes if total is None else total.plus(slopes)
    lost.append(bad)
  assert total is not None  # n is above zero.
  return total, np.concatenate(lost, axis=-1)


def _of_some_intervals(
  chain: chain_lib.Chain, lower: Array, upper: Array, weights: Array
) -> tuple[_Slopes, Array]:
  used = weights != 0
  harmless = _harmless_time(chain)
  lower = np.where(used, lower, harmless)
  upper = np.where(used, upper, 2.0 * lower)
  function, lost = portable_intervals.log_mass(chain, lower, upper)
  _, pullback = autodiff.reverse(
    lambda *fields: (function(*fields),), chain[:5]
  )
  return _Slopes(*pullback((weights,))), used & lost


def _harmless_time(chain: chain_lib.Chain) -> Array:
  """Returns a time at which all functions are finite, (..., 1)."""
  largest = np.max(chain.totals, axis=-1)
  usable = (largest > 0) & (largest < math.inf)
  return np.where(usable, 1.0 / np.where(usable, largest, 1.0), 1.0)[..., None]


def _passages(
  slopes: _Slopes,
  parameters: Array,
  indices: Array,
  constants: Array,
  coefficients: Array,
) -> Array:
  """Returns the expected number of passages of each edge, (..., m)."""
  phases = static.shape(slopes.totals)[-1]
  rates = edge_rates.values(parameters, constants, coefficients)
  sources, targets = indices[..., 0, :], indices[..., 1, :]
  by_source = np.concatenate([slopes.off, slopes.exits[..., None]], axis=-1)
  rows = np.matmul(elimination.one_hot(sources, phases, rates.dtype), by_source)
  to_phase = elimination.one_hot(targets, phases + 1, rates.dtype)
  per_rate = np.sum(rows * to_phase, axis=-1)
  return np.where(sources == targets, 0.0, per_rate * rates)
