"""Moments, transforms, quantiles and quadrature of absorption times with epochs.

Moments are sums of nonnegative terms. With c = E X and F = 1 - S the variance is
E (X - c)^2, which is

    2 times the integral of (c - t) F(t) over t < c
      + 2 times the integral of (t - c) S(t) over t > c,

so that it is right however small it is beside c^2.

Transforms E exp(-u X) and E exp(s X) need no subtraction. A stage of length D has
the density f of absorption. With an exponential clock of rate u, the integral of
exp(-u t) f(t) over t < D is the probability that the chain is absorbed before D
and before the clock rings. For exp(s t) with s > 0, absorbed mass is killed at the
rate s until D: the mass that is left then is exp(-s D) times the integral.

Quantiles are searched for within each stage. Quadrature goes stage by stage, as
densities jump at boundaries, and are smooth between them.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np
import numpy as onp

from phasic.distributions.epochs import epoch_stages
from phasic.distributions.epochs import epoch_values
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_calls
from phasic.math.elimination import moment_chains
from phasic.math.likelihood import phase_type
from phasic.math.moments import generating_functions
from phasic.math.moments import passages
from phasic.math.moments import renewals
from phasic.math.moments import truncated_moments
from phasic.math.numeric import array_utils
from phasic.math.numeric import special
from phasic.math.quadrature import quadrature
from phasic.math.quadrature import quadrature_points
from phasic.math.quantiles import quantiles

# The log of a placeholder probability, for stages that do not contain the
# quantile.
_SOME = math.log(0.25)


def moment(stages: epoch_values.Stages, order: int) -> Array:
  """Computes E X^k as k times the integral of t^(k - 1) P(X > t)."""
  first, *others = (_share(stage, order) for stage in stages)
  return sum(others, first)


def variance(stages: epoch_values.Stages) -> Array:
  """Computes the variance E (X - c)^2 with c = E X; it is inf if c is inf."""
  mean = moment(stages, 1)
  center = np.where(np.isfinite(mean), mean, 1.0)
  parts = []
  before: Array | float = 0.0
  for stage in stages:
    since = center - stage.start
    parts += [_below(stage, since, before), _above(stage, since)]
    if stage.length is not None:
      ended = epoch_values.kind_value("cdf", stage, stage.length)
      before = before + np.exp(stage.log_mass) * ended
  total = sum(parts[1:], parts[0])
  return np.where(np.isfinite(mean), total, mean)


def _share(stage: epoch_stages.Stage, order: int) -> Array:
  """Computes k times the integral of t^(k - 1) P(X > t) over one stage."""
  total: Array | float = 0.0
  shifted: Array | float = 1.0  # In the loop: start ** (order - k).
  first = isinstance(stage.start, float)
  for k in range(order, 0, -1):
    within = math.comb(order - 1, k - 1) * _time_within(stage, k)
    endless = within == math.inf
    finite = shifted * np.where(endless, 0.0, within)
    # If any term is inf, the first term is inf too, as it has the highest
    # order.
    total = total + np.where(endless, math.inf, finite)
    if first:  # The start is zero, and so are the other terms.
      break
    shifted = shifted * stage.start
  # A stage with a mass that underflowed is still reached, so an infinite total
  # counts.
  endless = (total == math.inf) & (stage.log_mass > -math.inf)
  finite = np.where(total == math.inf, 0.0, total)
  share = order * np.exp(stage.log_mass) * finite
  return np.where(endless, math.inf, share)


def _time_within(stage: epoch_stages.Stage, order: int) -> Array:
  """Integrates u^(order - 1) S(u) over a stage, u since the stage's start.

  S(u) is the probability to be unabsorbed at u, given that the stage is
  reached.
  """
  if stage.length is None:
    atom = structures.cast(stage.prob_zero, static.dtype_name(stage.initial))
    model = (stage.initial, stage.edges, None, atom)
    if order == 1:
      return chain_calls.spread_of_arrays(chain_calls.MEAN, model, False)
    moments = chain_calls.value_of_arrays(
      moment_chains.raw_moments, model, False, (order,)
    )
    return moments[..., order - 1] / order
  none = np.zeros_like(stage.initial[..., 0])
  model = (stage.initial, stage.edges, None, none)
  moments = renewals.limited_moment(model, stage.length, order)
  return math.factorial(order - 1) * moments


def _below(
  stage: epoch_stages.Stage, since: Array, before: Array | float
) -> Array:
  """Computes 2 times the integral of (c - t) F(t) over a stage's times t < c.

  Args:
    stage: the stage.
    since: c less its start, (...).
    before: F at its start, (...).
  """
  inside = since > 0.0
  rest: Array | float = 0.0
  if stage.length is None:
    limit = np.where(inside, since, epoch_stages.time_within(stage))
  else:
    ends = since > stage.length
    limit = np.where(inside & np.logical_not(ends), since, stage.length)
    rest = np.where(ends, since - stage.length, 0.0)
  atom = structures.cast(stage.prob_zero, static.dtype_name(stage.initial))
  model = (stage.initial, stage.edges, None, atom)
  first, second = (
    truncated_moments.early_moment(model, limit, order) for order in (1, 2)
  )
  in_stage = np.exp(stage.log_mass) * (rest * first + second)
  integral = before * (rest * limit + 0.5 * limit * limit) + in_stage
  return np.where(inside, 2.0 * integral, 0.0)


def limited_expected_value(stages: epoch_values.Stages, time: Array) -> Array:
  """Computes E[min(X, t)], the integral of P(X > u) over u < t."""
  total: Array | float = 0.0
  for stage in stages:
    since = length = time - stage.start
    if stage.length is not None:
      length = np.where(since <= stage.length, since, stage.length)
    # At a boundary the time is in the stage before, with its derivative.
    is_first = isinstance(stage.start, float)
    inside = (since >= 0.0) if is_first else (since > 0.0)
    length = np.where(inside, length, epoch_stages.time_within(stage))
    share = _share(stage._replace(start=0.0, length=length), 1)
    total = total + np.where(inside, share, 0.0)
  good = (time >= 0.0) & (time < math.inf)
  return np.where(good, total, math.nan)


def mean_residual_life(stages: epoch_values.Stages, time: Array) -> Array:
  """Computes E[X - t | X > t], the integral of P(X > u | X > t) over u > t."""
  log_left = epoch_values.log_survival_function(stages, time)
  total: Array | float = 0.0
  for stage in stages:
    since = time - stage.start
    log_mass = stage.log_mass - log_left
    if stage.length is not None:
      # A stage that is over adds nothing.
      log_mass = np.where(since >= stage.length, 0.0, log_mass)
    total = total + _above(stage._replace(log_mass=log_mass), since, 1)
  good = (time >= 0.0) & (time < math.inf) & (log_left > -math.inf)
  return np.where(good, total, math.nan)


def _above(stage: epoch_stages.Stage, since: Array, order: int = 2) -> Array:
  """Computes 2 times the integral of (t - c) S(t) over a stage's times t > c.

  With order one it is the integral of S(t).

  Args:
    stage: the stage.
    since: c less its start, (...).
    order: two or one.
  """
  # An integral without a factor (t - c) has a derivative in c at the start, too.
  inside = (since > 0.0) if order > 1 else (since >= 0.0)
  some = epoch_stages.time_within(stage)
  length: Array | None = None
  # An array of False: a stage without an end does not end before c.
  passed = since < -float("inf")
  if stage.length is not None:
    passed = since >= stage.length
    left = np.where(passed, stage.length, stage.length - since)
    length = np.where(inside, left, stage.length)
  time = np.where(inside & np.logical_not(passed), since, some)
  transient = epoch_stages.distribution_at(stage, time)
  rest = epoch_stages.Stage(
    np.where(inside[..., None], transient.probs, stage.initial),
    stage.edges,
    0.0,
    np.where(inside, 0.0, -since),
    length,
    stage.log_mass + np.where(inside, transient.log_mass, 0.0),
    None,
  )
  return np.where(passed, 0.0, _share(rest, order))


def quantile(stages: epoch_values.Stages, u: Array) -> Array:
  """Computes the quantile of a probability, see `quantile_of_both`."""
  return quantile_of_both(stages, *special.log_both(u))


def quantile_log_survival(
  stages: epoch_values.Stages, log_survival: Array
) -> Array:
  """Computes the time t at which log P(X > t) has a given value."""
  log_cdf = special.log1mexp(log_survival)
  return quantile_of_both(stages, log_cdf, log_survival)


def quantile_log_cdf(stages: epoch_values.Stages, log_cdf: Array) -> Array:
  """Computes the time t at which log P(X <= t) has a given value."""
  return quantile_of_both(stages, log_cdf, special.log1mexp(log_cdf))


def quantile_of_both(
  stages: epoch_values.Stages, log_cdf: Array, log_survival: Array
) -> Array:
  """Computes inf{t: F(t) >= u}; NaN where underflowed mass may change it.

  It is computed from the one of F and S = 1 - F that is below one half. In a
  stage they are

      F(t) = F(b) + m F_k(t - b),   S(t) = m S_k(t - b),

  with b its start and m the mass that reaches it.

  Args:
    stages: the stages.
    log_cdf: log u, (...).
    log_survival: log (1 - u), (...).
  """
  left = log_cdf < math.log(0.5)
  before = np.zeros_like(stages[0].log_mass) - float("inf")
  result = before
  for k, stage in enumerate(stages):
    below, above = log_cdf > before, log_survival < stage.log_mass
    later = (below & left) | (above & np.logical_not(left))
    if k == 0:
      later = later | True
    some = later & left & (before > -float("inf"))
    gone = np.where(some, before, -1.0) - np.where(some, log_cdf, 0.0)
    log_below = np.where(some, special.log1mexp(gone), 0.0)
    log_below = log_cdf + log_below - stage.log_mass
    log_below = np.where(later & left, log_below, _SOME)
    rest = np.where(
      later & np.logical_not(left), log_survival - stage.log_mass, _SOME
    )
    time = stage.start + np.where(
      left,
      epoch_values.stage_value(quantiles.quantile_log_cdf, stage, log_below),
      epoch_values.stage_value(quantiles.quantile_log_survival, stage, rest),
    )
    if k > 0:
      # Rounding must not move an earlier stage's quantile beyond the start of
      # this one. A quantile at this start is NaN if the stage's mass is NaN.
      unknown = np.isnan(stage.log_mass) & (result >= stage.start)
      early = np.where(unknown, math.nan, np.minimum(result, stage.start))
      time = np.where(later, time, early)
    if stage.log_lost is not None:
      p = static.shape(stage.initial)[-1]
      eps = static.finfo_eps(static.dtype_name(stage.log_mass))
      hidden = log_survival < stage.log_lost + math.log(p / eps)
      time = np.where(later & hidden & np.logical_not(left), math.nan, time)
    result = time
    if stage.length is not None:
      ended = epoch_values.kind_value("log_cdf", stage, stage.length)
      before = special.logaddexp(before, stage.log_mass + ended)
  return result


def laplace_transform(stages: epoch_values.Stages, u: Array) -> Array:
  """Computes E exp(-u X) for u >= 0; NaN for other u."""
  parts = []
  for stage in stages:
    if stage.length is None:
      value = epoch_values.stage_value(passages.laplace_transform, stage, u)
    else:
      value = _before_clock(stage, stage.length, u)
    with onp.errstate(invalid="ignore"):  # u may be inf.
      parts.append(np.exp(stage.log_mass - u * stage.start) * value)
  return array_utils.at_most(sum(parts[1:], parts[0]), 1.0)


def moment_generating_function(stages: epoch_values.Stages, s: Array) -> Array:
  """Computes E exp(s X); inf for s at or above the last stage's decay rate."""
  grows = s > 0
  # Each branch gets the argument zero where the other branch is selected, so
  # that its values and derivatives are finite.
  up = np.where(grows & (s < math.inf), s, 0.0)
  down = np.where(grows, 0.0, 0.0 - s)
  parts = []
  for stage in stages:
    if stage.length is None:
      function = generating_functions.moment_generating_function
      value = epoch_values.stage_value(function, stage, up)
      never = value == 0.0
      log_value = np.log(np.where(never, 1.0, value))
      log_value = np.where(never, -math.inf, log_value)
    else:
      log_value = _log_grown(stage, stage.length, up)
    log = stage.log_mass + up * stage.start + log_value
    # A stage that is never reached contributes zero.
    none = stage.log_mass == -math.inf
    with onp.errstate(over="ignore"):  # The value may be inf.
      parts.append(np.where(none, 0.0, np.exp(np.where(none, 0.0, log))))
  total = sum(parts[1:], parts[0])
  total = np.where(grows, total, laplace_transform(stages, down))
  return np.where(np.isfinite(s), total, math.nan)


def _before_clock(stage: epoch_stages.Stage, length: Array, u: Array) -> Array:
  """Integrates exp(-u t) f(t) over a stage, t since the stage's start."""
  good = (u >= 0) & (u < math.inf)
  rates = np.where(good, u, math.nan)[..., None]
  edges = epoch_stages.with_trap(
    stage.edges, static.shape(stage.initial)[-1], rates
  )
  none = np.zeros_like(stage.initial[..., :1])
  initial = np.concatenate([stage.initial, none], axis=-1)
  return phase_type.cdf(length, initial, edges, prob_zero=stage.prob_zero)


def _log_grown(stage: epoch_stages.Stage, length: Array, s: Array) -> Array:
  """Computes the log of the integral of exp(s t) f(t) over a stage, s >= 0."""
  p = static.shape(stage.initial)[-1]
  phases = onp.arange(p)
  absorbed, trap = onp.asarray([p]), onp.asarray([p + 1])
  clock = autodiff.stop_gradient(1.0 / length)[..., None]
  edges = epoch_stages.joined_edges(
    stage.edges,
    stage.edges.targets,
    [
      # The stage's chain is absorbed into phase p. From there the clock leads
      # to absorption, whose index is now p + 2. From other phases the clock
      # leads to the trap.
      (phases, phases * 0 + p + 1, clock),
      (absorbed, trap, s[..., None]),
      (absorbed, onp.asarray([p + 2]), clock),
    ],
  )
  batch = static.shape(stage.initial)[:-1]
  atom = np.broadcast_to(structures.cast(stage.prob_zero, s.dtype), batch)
  parts = [stage.initial, atom[..., None], np.zeros_like(atom[..., None])]
  log_density = phase_type.log_prob(
    length, np.concatenate(parts, axis=-1), edges, prob_zero=0.0
  )
  undone = clock[..., 0] * length - np.log(clock[..., 0])
  return log_density + undone + s * length


def nodes(
  stages: epoch_values.Stages,
  batch: static.Shape,
  log_prob: Callable[[Array], Array],
  dtype: str,
) -> quadrature_points.QuadraturePoints:
  """Concatenates the quadrature points of all stages.

  Args:
    stages: the stages.
    batch: what their batches broadcast to.
    log_prob: the log density, of times in the dtype, the batch last.
    dtype: the dtype of the distribution.
  """
  per_stage = [_nodes_of_stage(stage, batch, dtype) for stage in stages]
  wide = static.wide_float()
  atom = structures.cast(stages[0].prob_zero, wide)
  some = atom > 0
  log_atom = np.log(np.where(some, atom, 1.0))
  # An unknown atom is NaN, which the product 0 * atom keeps.
  log_atom = np.where(some, log_atom, 0.0 * atom - math.inf)
  log_atom = np.broadcast_to(log_atom, batch)

  def joined(*parts: Array) -> Array:
    return np.concatenate(list(parts), axis=0)

  rules = [nodes.rule for nodes in per_stage]
  rule = rules[0]._replace(
    points=joined(*(rule.points for rule in rules)),
    log_weights=joined(*(rule.log_weights for rule in rules)),
    coarse=joined(*(rule.coarse for rule in rules)),
    tolerance=max(rule.tolerance for rule in rules),
  )
  values = joined(*(nodes.values for nodes in per_stage))
  # All densities at the points come from one call. A divergence also computes
  # the densities of the other distribution in one call, so that the divergence
  # of equal distributions is exactly zero.
  logs = structures.cast(log_prob(values), wide)
  masses = quadrature.masses(logs, rule.log_weights)
  return quadrature_points.QuadraturePoints(
    rule, values, masses, logs, log_atom
  )


def _nodes_of_stage(
  stage: epoch_stages.Stage, batch: static.Shape, dtype: str
) -> quadrature_points.QuadraturePoints:
  """Returns the quadrature points of one stage, with log densities zero."""
  initial = structures.cast(stage.initial, dtype)
  initial = np.broadcast_to(initial, (*batch, static.shape(initial)[-1]))
  rates = structures.cast(stage.edges.parameters, dtype)
  atom = structures.cast(stage.prob_zero, dtype)
  model = (initial, stage.edges._replace(parameters=rates), None, atom)
  start = structures.cast(stage.start, static.wide_float())
  start = np.broadcast_to(start, batch)
  end = start + (math.inf if stage.length is None else stage.length)
  return quadrature_points.interval_points(
    model, False, start, end, np.zeros_like
  )
