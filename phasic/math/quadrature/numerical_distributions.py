"""Distributions with the densities and time scales that quadrature needs.

Time scales are the shortest and the longest times of a chain. Sums are in the
widest available dtype.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Given, Model
from phasic.math.quadrature import quadrature

# The kernel evaluates no function beyond this product of rate and time.
MOST = 1e17
# The kernel evaluates all functions up to this number of steps, or up to this
# product of rate and time.
_USUAL = 1e10
# With M the longest mean time, P(X > _SETTLED M) < exp(1 - 2000).
_SETTLED = 2000.0 * math.e


def latest(model: Model) -> Array:
  """Computes the latest times that the kernel evaluates.

  The result has shape (...), and is a constant for derivatives.

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
  # Divide before multiplying, so that no intermediate result overflows. The
  # ratio is NaN where both `high` and the longest time are inf: then `high`
  # stays.
  with onp.errstate(over="ignore", invalid="ignore"):
    ratio = (high - low) * np.exp(-log_longest) / _SETTLED
  return np.where(late & (ratio > 1.0), math.inf, high)


def ends_at_once(model: Model) -> Array:
  """Returns whether the density at zero, alpha . s, is positive.

  The result has shape (...).

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
  """Computes the logs of the largest rate and the longest mean time.

  The result has shape (..., 2). This is a rule for `chain_calls`.

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


# P(X > 170 M) < exp(-61), with M the longest expected time, see `log_scales`.
_LONGEST = 170.0
_LOG_NOTHING = -61.0

# Initial masses, matrix or edges, exits and mass at zero, as users give them;
# the last two may be None.
ModelLike: TypeAlias = tuple[
  ArrayLike,
  Given,
  ArrayLike | None,
  ArrayLike | None,
]


def convert(model: ModelLike, discrete: bool, name: str = "model") -> Model:
  """Converts the four arguments of a model to arrays.

  Args:
    model: a tuple of the four; the last two may be None.
    discrete: whether time is discrete.
    name: its name in messages.

  Raises:
    TypeError: it is not a tuple of four, dtypes differ, or are complex or
      bool.
    ValueError: shapes do not fit, or there are no phases.
  """
  names = operands.argument_names(discrete)
  is_tuple = isinstance(model, (tuple, list))
  if not is_tuple or len(model) != 4:
    kind = type(model).__name__
    what = f"a {kind} of {len(model)}" if is_tuple else kind
    raise TypeError(
      f"{name} is {what}: it must be a tuple of {', '.join(names)}, of which the "
      "last two may be None; for a distribution object call its method instead"
    )
  initial_probs, matrix, exits, prob_zero = operands.convert(
    *model, names=names
  )
  return initial_probs, matrix, exits, prob_zero


class NumericalDistribution:
  """The distribution of a model, with its time scales.

  Attributes:
    discrete: whether time is discrete.
    dtype: the name of the dtype.
    phases: the number of phases.
    log_rate: log of the largest rate, (...), a constant.
    last: a time beyond which the mass is negligible, (...), a constant.
    longest: the same for chains that start in any phase, (...), a constant.
  """

  def __init__(self, model: Model, discrete: bool) -> None:
    """Derives the time scales of a model that `convert` returned."""
    self.discrete = discrete
    self._model = model
    self.dtype = static.dtype_name(model[0])
    self.phases = static.shape(model[0])[-1]
    scales = chain_calls.value(log_scales, model, discrete)
    scales = structures.cast(scales, static.wide_float())
    self.log_rate = scales[..., 0]
    self.longest = _LONGEST * np.exp(scales[..., 1])
    if discrete:
      self.longest = np.floor(self.longest + _LONGEST)
    self.last = self._last()

  def value(self, kind: str, times: Array | float) -> Array:
    """Evaluates a function of the kernel, e.g. "cdf", at given times."""
    alpha, matrix, exits, atom = self._model
    times = structures.cast(times, self.dtype)
    arguments = (alpha, matrix, times, exits, atom)
    values = evaluation.value(kind, arguments, discrete=self.discrete)
    return structures.cast(values, static.wide_float())

  def log_density(
    self, rule: quadrature.QuadratureRule, until: Array | None = None
  ) -> Array:
    """Computes the log density at the points of a rule.

    It is -inf beyond the last relevant time, where the kernel may give NaN.

    Args:
      rule: the rule.
      until: a later time up to which log densities are needed, (...), or None.
    """
    last = self.last if until is None else np.maximum(self.last, until)
    gone = rule.points > last
    logs = self.value("log_density", np.where(gone, last, rule.points))
    return np.where(gone, -math.inf, logs)

  def log_atom(self) -> Array:
    """Computes the log of the mass at zero; -inf if there is no mass.

    The result has shape (...).
    """
    mass = self.value("cdf", 0.0)
    some = mass > 0
    log_mass = np.log(np.where(some, mass, 1.0))
    # Adding the mass keeps the NaN of an invalid model.
    return np.where(mass == 0, -math.inf, log_mass + np.where(some, 0.0, mass))

  def checked(
    self, rule: quadrature.QuadratureRule, logs: Array, x: Array
  ) -> Array:
    """Returns x, or NaN where the quadrature masses do not sum to one."""
    fixed = autodiff.stop_gradient
    masses = quadrature.masses(fixed(logs), rule.log_weights)
    expected_mass: Array | float = 1.0
    if not self.discrete:
      expected_mass = 1.0 - quadrature.masses(fixed(self.log_atom()), 0.0)
    missing = np.abs(np.sum(masses, axis=0) - expected_mass)
    return x * np.where(missing <= rule.tolerance, 1.0, math.nan)

  def undefined(self, where: Array) -> Array:
    """Returns zeros, with NaN as derivatives where `where` is true.

    The result has shape (...).
    """
    alpha, matrix, exits, atom = self._model
    if isinstance(matrix, edge_rates.EDGES):
      rates = matrix.parameters
    else:
      rates = np.sum(matrix, axis=-1)
    arrays = [x for x in (alpha, rates, exits) if x is not None]
    arrays += [] if atom is None else [atom[..., None]]
    wide = static.wide_float()
    return chain_solves.undefined(
      where, *(structures.cast(x, wide) for x in arrays)
    )

  def _last(self) -> Array:
    """Computes a time beyond which the mass is negligible, (...)."""
    # The bound `longest` is often far too late, and late times are slow to
    # evaluate. So earlier times are tried, and the first that suffices is
    # taken.
    longest = self.longest
    shape = (-1, *(1 for _ in static.shape(longest)))
    parts = onp.reshape(onp.exp(0.25 * onp.arange(-24.0, -3.0)), shape)
    trials = longest * structures.cast(parts, static.wide_float())
    if self.discrete:
      trials = np.floor(trials)
    log_left = autodiff.stop_gradient(self.value("log_survival", trials))
    gone = np.where(log_left < _LOG_NOTHING, trials, longest)
    return 0.0 - np.max(0.0 - gone, axis=0)


def common_rule(
  distribution: NumericalDistribution, second: NumericalDistribution
) -> quadrature.QuadratureRule:
  """Builds a quadrature rule that is fine enough for two distributions."""
  phases = max(distribution.phases, second.phases)
  last = np.maximum(distribution.last, second.last)
  if distribution.discrete:
    return quadrature.counts(last, phases, distribution.dtype)
  log_rate = np.maximum(distribution.log_rate, second.log_rate)
  return quadrature.times(log_rate, last, phases, distribution.dtype)
